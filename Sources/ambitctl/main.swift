internal import ArgumentParser
internal import CommandParsing

do {
  var command = try AmbitControl.parseCalled(Array(CommandLine.arguments.dropFirst()))
  try command.run()
} catch {
  AmbitControl.exit(withError: error)
}
