internal import ArgumentParser
internal import Foundation
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit revoke`: taking grants back.
struct RevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Take back what apps may use: at once, also from those that are running.",
    discussion: """
      From then on no app opens the document by that grant, nor by a bookmark or reference of it; only picking it again gives \
      it back. What a process has open already it keeps until it closes it, and who stands in a folder goes on reading what is \
      in it: who does is said here and in the log, also of another launch of the app that it was passed to, and of a watch on the \
      document (inotify). Under a policy with outlived = "end" ([scopes], as strict has it) all of these are ended.

        ambit revoke x9cvk4tmab              one grant; ambit grants has their names
        ambit revoke --document ~/notes.txt  everybody's grants of a document
        ambit revoke --app org.example.Ed    all grants of an app
        ambit revoke --all                   all grants of all apps

      It takes effect at once, also when it cannot be written down because the disk is full; that is said then.

      Exit status: 0 done, 1 there is no such grant.
      """)

  @Argument(help: "A grant, by its name.") var grant: String?
  @Option(help: ArgumentHelp("The grants of this app.", valueName: "bundle-id")) var app: String?
  @Option(help: ArgumentHelp("The grants of this document.", valueName: "path")) var document: String?
  @Flag(help: "All grants of all apps.") var all = false
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func validate() throws {
    let isNarrowed = grant != nil || app != nil || document != nil
    if !isNarrowed && !all { throw ValidationError("say which: a grant, --app, --document, or --all") }
    if isNarrowed && all { throw ValidationError("--all takes no grant, --app or --document") }
  }

  func run() throws {
    let path = document.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    // The path means the present file, even if it was elsewhere when it was granted. Its content is not read.
    let opened = path.flatMap { try? Descriptor.open($0, flags: .path) }
    let reply = try UserSide.call(
      GrantsInterface.revoke, GrantsInterface.RevokeCall(grant: grant, app: app, path: path, all: all),
      descriptors: opened.map { [$0] } ?? [], answer: GrantsInterface.RevokeReply.self)
    if let note = reply.note { Failure.say(note) }
    switch format {
    case .json: try Output.standard.write(json: reply.json.text)
    case .table:
      try Output.standard.write(EndedGrants.describe(reply.ended, style: Style(for: 1)))
      if !reply.through.isEmpty {
        try Output.error.write("Still within reach, through the folders of these grants:\n")
        try Output.error.write(GrantTable.render(reply.through, descriptor: 2))
      }
    }
  }
}

/// The grants that have ended, in sentences.
enum EndedGrants {
  static func describe(_ ended: [GrantsInterface.Ended], style: Style) -> String {
    ended.map { grant in
      let rights = grant.access == .readOnly ? "read" : "read and write"
      var lines = [
        "\(style.green("✓")) \(style.cyan(printable(grant.bundleIdentifier))) may no longer \(rights) "
          + style.bold(printable(grant.path))
          + (grant.scopes == 0
            ? "" : style.dim(grant.scopes == 1 ? " (was in use)" : " (was in use, \(grant.scopes)×)"))
      ]
      for holder in grant.outlived where !grant.killed {
        let process = "process \(holder.pid)" + (holder.instance.map { " of launch \(printable($0))" } ?? "")
        let isOpen = holder.reads || holder.writes || holder.folder
        if isOpen { lines.append("  \(style.yellow("!")) \(process) still has it open: \(abilities(of: holder))") }
        if holder.watches {
          lines.append("  \(style.yellow("!")) \(process) still watches it: it is told when it is opened and changed")
        }
      }
      if grant.killed { lines.append("  \(style.yellow("!")) the app still had it open and was ended") }
      return lines.map { $0 + "\n" }.joined()
    }.joined()
  }

  private static func abilities(of holder: GrantsInterface.Holder) -> String {
    var words: [String] = []
    if holder.reads { words.append("read") }
    if holder.writes { words.append("write") }
    if holder.folder {
      words.append("open what is in the folder\(holder.changesFolder ? " and change it" : " for reading")")
    }
    return "it can \(words.joined(separator: " and ")) until it closes it"
      + (holder.mapped ? ", or its memory of it" : "")
  }
}
