internal import ArgumentParser
internal import ContentTypes
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit share`: the share sheet.
struct ShareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share",
    abstract: "List the apps that take a document, as the share sheet does.",
    discussion: """
      “Open in” an app that opens documents in place: it gets the original. “Copy to” any other one: it gets a copy in its Documents/Inbox.

        ambit share notes.md
        ambit open --with org.example.Ed notes.md    choose one

      Exit status: 0, or 1 if no app takes it.
      """)
  @Argument(help: "A file.") var file: String
  @OptionGroup var apps: AppFolders
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table

  func run() throws {
    let choices = try Opener(apps).choices(for: file)
    switch format {
    case .json:
      var object = JSONObject()
      object["file"] = .string(file)
      object["apps"] = .array(
        choices.map { choice in
          var one: JSONObject = [
            "title": .string(choice.title), "app": .string(choice.app.identifier), "name": .string(choice.app.name),
            "openInPlace": .bool(choice.app.opensInPlace),
          ]
          one["rank"] = choice.handler.map { .string($0.rank.rawValue) }
          return .object(one)
        })
      try Output.standard.write(json: object.text)
    case .table:
      let style = Style(for: 1)
      try Output.standard.write("\(style.bold(printable(file)))\n")
      for choice in choices {
        try Output.standard.write(
          "  \(printable(choice.title))  \(style.dim("ambit open --with \(printable(choice.app.identifier))"))\n")
      }
      if choices.isEmpty { try Output.standard.write("  No app takes it.\n") }
    }
    if choices.isEmpty { throw ExitCode(1) }
  }
}

/// `ambit drop`: dropping documents onto a running app.
struct DropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Hand documents to a running app, as by dropping them onto its window.",
    discussion: """
      As “ambit open” does with an app that runs, whatever types it claims. The app hears of it (ambitctl opened).

        ambit drop a.txt b.txt org.example.Ed

      Exit status: 0 done; 1 the app does not run, or may not have one of them; then it got none.
      """)
  @Flag(name: .customLong("read-only"), help: "The app may not change them.") var readOnly = false
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table
  @Argument(help: ArgumentHelp("Files, and at the end the app: its identifier, name or instance.", valueName: "file"))
  var words: [String]

  func validate() throws {
    if words.count < 2 { throw ValidationError("say which documents, and then which app") }
  }

  func run() throws {
    let (files, app) = (Array(words.dropLast()), words[words.count - 1])
    guard let reply = try Opener.open(files, withRunning: app, readOnly: readOnly) else {
      throw Failure("No app called \(printable(app)) runs. “ambit open --with” launches one.", status: 1)
    }
    try Opener.tell(reply, files, app: app, format)
  }
}
