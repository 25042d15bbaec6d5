internal import ArgumentParser
internal import Foundation
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit grant`: giving documents to an app.
struct GrantCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant",
    abstract: "Let an app use documents, without it asking: as by dragging them onto it.",
    discussion: """
      The app finds a reference to each of them in its container's Documents, at once if it runs, or at its next launch. The \
      grant lasts until you withdraw it (ambit revoke). What you cannot write yourself, the app can only read; what you cannot \
      read is not granted, nor are keys and settings of other programs (~/.ssh, ~/.config).

        ambit grant org.example.Ed ~/notes.txt              to read and write
        ambit grant --read-only org.example.Ed ~/Pictures   a folder, to read

      Exit status: 0 done, 1 there is no such app or document, or it may not be granted; then none was.
      """)

  @Argument(help: ArgumentHelp("An app that was launched before (ambit app list).", valueName: "bundle-id"))
  var app: String
  @Argument(help: ArgumentHelp("Files and folders.", valueName: "document")) var documents: [String]
  @Flag(name: .customLong("read-only"), help: "It may not change them.") var readOnly = false
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func validate() throws {
    if documents.isEmpty { throw ValidationError("say which documents") }
    // As many as come with one message.
    if documents.count > 253 { throw ValidationError("at most 253 documents at a time; these are \(documents.count)") }
  }

  func run() throws {
    let opened = try documents.map { path throws -> Descriptor in
      do { return try Descriptor.open(path, flags: .path) } catch { throw Failure("\(error)", status: 1) }
    }
    let reply = try UserSide.call(
      GrantsInterface.add, GrantsInterface.AddCall(app: app, access: readOnly ? .readOnly : .readWrite),
      descriptors: opened, answer: GrantsInterface.AddReply.self)
    switch format {
    case .json: try Output.standard.write(json: reply.json.text)
    case .table: try Output.standard.write(sentences(reply, Style(for: 1)))
    }
  }

  private func sentences(_ reply: GrantsInterface.AddReply, _ style: Style) -> String {
    zip(documents, zip(reply.grants, reply.access)).map { document, granted in
      let (grant, access) = granted
      let rights = access == .readOnly ? "read" : "read and write"
      let remark = access == .readOnly && !readOnly ? "; you cannot write it yourself" : ""
      return "\(style.green("✓")) \(style.cyan(printable(app))) may \(rights) \(style.bold(printable(document))) "
        + style.dim("(\(grant))") + remark + "\n"
    }.joined()
  }
}
