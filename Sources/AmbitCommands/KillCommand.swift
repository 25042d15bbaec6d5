internal import ArgumentParser
internal import Broker
internal import Foundation
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit kill`: a system that runs short of memory.
struct KillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kill", abstract: "Play a system that runs short of memory: suspended apps are ended.",
    discussion: """
      The system ends suspended apps without telling them, the largest first. An app that is not suspended is never ended. What \
      an app wants to keep it has to save when it goes to the background.

        ambit suspend org.example.Ed
        ambit kill --memory-pressure org.example.Ed        one suspended app
        ambit kill --memory-pressure --until 200MiB        until all use 200 MiB

      Exit status: 0 done, also if there was nothing to end; 1 the app does not run, or is not suspended.
      """)

  @Argument(
    help: ArgumentHelp("Bundle identifier, name, or instance; all suspended apps without it.", valueName: "app"))
  var app: String?
  @Flag(help: "The reason; there is no other one.") var memoryPressure = false
  @Option(help: ArgumentHelp("How much memory all apps may use together.", valueName: "size")) var until: String?
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func validate() throws {
    guard memoryPressure else {
      throw ValidationError("Say --memory-pressure. “ambit suspend” stops an app for a while.")
    }
    if app == nil, until == nil { throw ValidationError("Name an app, or say --until SIZE.") }
    _ = try bytes()
  }

  private func bytes() throws -> Int? {
    guard let until else { return nil }
    guard let bytes = Self.bytes(until) else {
      throw ValidationError("“\(printable(until))” is no size; write for example 200MiB, 64KiB or 1GiB.")
    }
    return bytes
  }

  /// `200MiB`, `64 KiB`, `1GiB`, `4096`.
  static func bytes(_ text: String) -> Int? {
    let text = text.replacing(" ", with: "")
    let units: [(String, Int)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1), ("", 1)]
    guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
      let number = Int(text.dropLast(unit.count)),
      number >= 0
    else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor)
    return isTooLarge ? nil : product
  }

  func run() throws {
    _ = try BrokerConnection.running(UserSide.folders)
    let reply = try UserSide.call(
      LauncherInterface.pressMemory, LauncherInterface.PressMemoryCall(app: app, until: try bytes()),
      answer: LauncherInterface.PressMemoryReply.self)
    guard format == .table else { return try Output.standard.write(json: reply.json.text) }
    let style = Style(for: 1)
    for each in reply.instances {
      let mark = each.ended ? style.red("✗") : style.green("✓")
      try Output.standard.write(
        "\(mark) \(style.cyan(printable(each.bundleIdentifier))) \(style.dim("(instance \(printable(each.instance)))")) "
          + "\(each.ended ? "was ended" : "stays"), \(Self.size(each.memory))\n")
    }
    if reply.instances.isEmpty { try Output.standard.write("No app is suspended.\n") }
    try Output.standard.write("All apps use \(Self.size(reply.memory)).\n")
  }

  private static func size(_ bytes: Int) -> String { "\((bytes + (1 << 19)) >> 20) MiB" }
}
