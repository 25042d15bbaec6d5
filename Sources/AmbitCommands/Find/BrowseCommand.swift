internal import ArgumentParser
internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import PickerUI
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit browse`: the user's own document browser.
struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Browse your documents, and open one with the app that it belongs to.",
    discussion: """
      The same browser that apps have as their first screen. A chosen document is opened as “ambit open” does; when its app ends, the \
      browser is back. Ctrl-O leads to the recent documents, your favourites, tagged files, the trash, and the documents of apps that \
      share theirs. Ctrl-E has actions: rename, duplicate, move, trash, tag and more. ? shows all keys.

        ambit browse ~/Letters
        ambit browse --plain       numbered lines, for screen readers
        ambit browse --web         a page in your web browser
      """)
  @Flag(help: "Numbered lines instead of a screen. TERM=dumb and AMBIT_PICKER=plain do the same.") var plain = false
  @Flag(help: "A page in your web browser. AMBIT_PICKER=web does the same.") var web = false
  @Option(help: ArgumentHelp("Open documents with this app, and no other.", valueName: "app")) var with: String?
  @OptionGroup var apps: AppFolders
  @Argument(help: "Where to begin; the working folder, if it is not said.") var folder: String?

  func run() throws {
    var start = try folder.map { try Self.beginning($0) } ?? ThisProcess.directory
    let environment = ThisProcess.environment
    let face = web ? .web : plain ? .plain : PickerFace(environment: environment)
    let terminal: Descriptor?
    do { terminal = face == .web ? nil : try Descriptor.open("/dev/tty", flags: [.readWrite]) } catch {
      throw Failure("There is no terminal to browse in. “ambit search” and “ambit recents” print lists.")
    }
    var view = PickerView()
    while true {
      var request = PickerRequest(appName: "Ambit", startFolder: start)
      request.isBrowser = true
      request.acts = .all
      request.recents = try RecentsCommand.items(apps, most: 100).map(\.path)
      let number = terminal?.rawValue ?? -1
      let outcome =
        switch face {
        case .web: try WebPicker().run(request, abandoned: nil) { _ in nil }
        case .plain:
          try PlainPicker(input: number, output: number, environment: environment, actor: .inProcess).run(request)
        case .screen:
          try TerminalPicker(
            input: number, output: number, environment: environment, actor: .inProcess, previews: .ofAmbit
          ).run(request, view: &view)
        }
      if case .acted(let action, let app, let documents) = outcome, let document = documents.first {
        start = URL(fileURLWithPath: document.path).deletingLastPathComponent().path
        if action == FileAction.share.rawValue {
          try ambit(["share"], document.path)
          try? Output.error.write("Press Enter to go on.\n")
          _ = readLine()
        } else {
          try open(document.path, with: app.isEmpty ? with : app)
        }
        continue
      }
      guard case .picked(let documents) = outcome, let document = documents.first else { return }
      start = URL(fileURLWithPath: document.path).deletingLastPathComponent().path
      try open(document.path, with: with)
    }
  }

  /// Where the browser begins.
  private static func beginning(_ folder: String) throws -> String {
    guard HostPath.kind(folder) != nil else {
      throw Failure(
        "\(printable(folder)) is not there. Name a folder to begin in, or none for the working folder.", status: 64)
    }
    return try HostPath.resolved(folder)
  }

  /// The app has the terminal meanwhile.
  private func open(_ path: String, with app: String?) throws {
    // Without an app “ambit open” says so itself, and so does a launch that fails.
    let isLaunched = try app != nil || !Opener(apps).choices(for: path).isEmpty
    let status = try ambit(["open"] + (app.map { ["--with", $0] } ?? []), path)
    guard status != 0 else { return }
    let hasEnded = isLaunched && !(125...127).contains(status)
    let ending = hasEnded ? "its app ended with status \(status)" : "it was not opened"
    try? Output.error.write("ambit: \(printable(path)): \(ending). Press Enter to go on.\n")
    _ = readLine()
  }

  @discardableResult
  private func ambit(_ command: [String], _ path: String) throws -> Int32 {
    guard let ambit = Programs.ambit.path else {
      throw Failure("\(Programs.ambit.rawValue) is not where this program is; install Ambit again, whole.")
    }
    let words = ["ambit"] + command + apps.folders.flatMap { ["--apps", $0] } + [path]
    let process = try ThisProcess.start(ambit, words)
    var ended: Int32 = 0
    while unsafe waitpid(process, &ended, 0) < 0, errno == EINTR {}
    // As wait(2) has it: the exit status, or the signal.
    return ended & 0x7F == 0 ? ended >> 8 & 0xFF : 128 + (ended & 0x7F)
  }
}
