internal import ArgumentParser
internal import Conformance
internal import Foundation
internal import Kernel
internal import Launcher
internal import Rulebook
internal import Scenario
internal import Terminal
internal import Wire

/// `ambit scenario check FILE…`: says whether files are scenarios, and runs nothing.
struct ScenarioCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say whether files are scenarios, without running them.",
    discussion: """
      Every fault is named with its file, line and column. A scenario of the conformance suite is also held against the catalogue.

      Exit status: 0 every file is a scenario, 2 one is not.
      """)

  @Argument(help: ArgumentHelp("Scenario files (TOML).", valueName: "file")) var files: [String]
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func run() throws {
    var faults: [ScenarioError] = []
    var lines = ""
    let style = Style(for: 1)
    for file in files {
      do {
        let scenario = try ScenarioReader.read(path: file)
        if scenario.entry != nil { _ = try Suite.item(file) }
        for rule in scenario.steps.flatMap(\.rules) where Rulebook.named(rule) == nil {
          throw ScenarioError(file: file, place: nil, message: "`rules`: the catalogue has no statement \(rule)")
        }
        let count = scenario.actions.count
        lines += "\(style.green("✓")) \(printable(file))  \(scenario.steps.count) steps, \(count) actions\n"
      } catch let error as ScenarioError {
        faults.append(error)
        lines += "\(style.red("✘")) \(printable(error.description))\n"
      }
    }
    switch format {
    case .table: try Output.standard.write(lines)
    case .json:
      let object: JSONObject = [
        "faults": .array(
          faults.map { fault in
            [
              "file": .string(fault.file), "line": fault.place.map { JSONValue($0.line) } ?? .null,
              "column": fault.place.map { JSONValue($0.column) } ?? .null, "message": .string(fault.message),
            ]
          })
      ]
      try Output.standard.write(json: object.text)
    }
    if !faults.isEmpty { throw ExitCode(2) }
  }
}

/// `ambit scenario format FILE…`
struct ScenarioFormatCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "format", abstract: "Lay scenario files out in the usual way, in place.",
    discussion: """
      Comments stay, and so does every value. With --check nothing is written.

      Exit status: 0 done, or every file has that layout; 1 with --check: one has another; 2 a file is no TOML.
      """)

  @Argument(help: ArgumentHelp("Scenario files (TOML).", valueName: "file")) var files: [String]
  @Flag(help: "Write nothing; name the files that have another layout.") var check = false

  func run() throws {
    var others = 0
    for file in files {
      let text: String
      do throws(KernelError) {
        text = String(decoding: try Descriptor.content(ofFile: file, limit: 1 << 22), as: UTF8.self)
      } catch { throw Failure("\(file): cannot be read: \(error.fileFault)", status: 2) }
      let formatted: String
      do { formatted = try ScenarioFormatter.format(text, file: file) } catch { throw Failure("\(error)", status: 2) }
      guard formatted != text else { continue }
      others += 1
      if check {
        try Output.standard.write("\(printable(file))\n")
      } else {
        do { try Data(formatted.utf8).write(to: URL(fileURLWithPath: file)) } catch {
          throw Failure("\(file): cannot be written: \(error.localizedDescription)", status: 2)
        }
      }
    }
    if check, others > 0 { throw ExitCode(1) }
  }
}

/// `ambit scenario words`: the language, a word a line.
struct ScenarioWordsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "words",
    abstract: "List the words of the scenario language; with --schema, its JSON Schema for editors.")

  @Argument(help: "Only words with this in their name.") var filter: String?
  @Flag(help: "Print the JSON Schema.") var schema = false

  func run() throws {
    if schema { return try Output.standard.write(json: ScenarioSchema.json.text) }
    let style = Style(for: 1)
    func rows(_ words: [(word: String, keys: [String], says: String)]) -> [[Table.Cell]] {
      words.filter { filter.map($0.word.contains) ?? true }
        .map { [Table.Cell($0.word, .bold), Table.Cell($0.says), Table.Cell($0.keys.joined(separator: ", "), .dim)] }
    }
    let table = Table(
      [Table.Column("WORD", minWidth: 14), Table.Column("DOES", minWidth: 30), Table.Column("KEYS", keeping: .start)],
      for: 1)
    let host = rows(HostWord.all.map { ($0.word, $0.keys, $0.says) })
    let app = rows(AppWord.all.map { ($0.word, $0.keys.map(\.name), $0.says) })
    if !host.isEmpty {
      try Output.standard.write("\(style.bold("The user, the host and the log"))\n\(table.render(host))")
    }
    if !app.isEmpty {
      try Output.standard.write(
        "\n\(style.bold("Acts of an app: { app = NAME, WORD = … }; as, expect, fails, may_fail, result, save, within go with all"))\n"
          + table.render(app))
    }
  }
}
