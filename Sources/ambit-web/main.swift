import Folders
import Foundation
import Kernel
import Launcher
import PickerUI
import Terminal
import WebPicker
import Wire

#if canImport(Glibc)
  import Glibc
#endif

// Serves the picker's page for a launcher, and tells it what was chosen. Nothing types its name: its arguments are the descriptors of
// the question and of the answer.

let numbers = CommandLine.arguments.dropFirst().compactMap { Int32($0) }
guard numbers.count == 2, numbers.allSatisfy({ $0 > 2 }) else {
  try? Output.error.write("ambit-web: it is for Ambit's own use; see “ambit browse --web”.\n")
  exit(64)
}

// The page is of no use without its launcher.
let answerNumber = numbers[1]
Thread.detachNewThread {
  var reader = pollfd(fd: answerNumber, events: 0, revents: 0)
  while unsafe poll(&reader, 1, -1) < 0, errno == EINTR {}
  exit(0)
}

do {
  try await serve(Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
} catch {
  try? Output.error.write("ambit: the picker's page cannot be served: \(error)\n")
  exit(1)
}

func serve(_ question: Descriptor, _ answer: Descriptor) async throws {
  guard case .object(let json) = try JSONValue(parsing: try MemoryFile.content(of: question)) else {
    throw PickerError("The question is not an object.")
  }
  let request = try PickerRequest(json: json)
  let environment = ThisProcess.environment
  let rules = try AmbitFolders.current(environment: environment).grantRules
  let server = try WebPickerServer(
    request, home: environment["HOME"], actor: request.acts == .none ? nil : .inProcess,
    refuse: request.refusal(under: rules))
  func file(_ choice: WebPickerServer.Choice) -> JSONValue {
    .object(["path": .string(choice.path), "file": .string(choice.file)])
  }
  let chosen = try await server.ask { address in
    try? Output.error.write("ambit: choose in your web browser: \(address)\n")
  }
  let reply: JSONObject =
    switch chosen {
    case .picked(let choices): ["picked": .array(choices.map(file))]
    case .create(let folder): ["picked": .array(folder.map { [file($0)] } ?? []), "creates": .bool(true)]
    case .acted(let action, let line, let choices):
      ["picked": .array(choices.map(file)), "action": .string(action), "line": .string(line)]
    case .endApp: ["picked": .array([]), "end": .bool(true)]
    case .cancelled: ["picked": .array([])]
    }
  try answer.writeAll(Array(reply.text.utf8))
}
