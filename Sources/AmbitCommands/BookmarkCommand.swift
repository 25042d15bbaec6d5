internal import ArgumentParser
internal import Folders
internal import Foundation
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit bookmark`: what apps keep, for the user.
struct BookmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bookmark", abstract: "Look into the bookmarks and document references that apps keep.",
    subcommands: [Inspect.self])

  /// `ambit bookmark inspect`.
  struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show what a bookmark or a document reference holds, and what it would lead to now.",
      discussion: """
        A bookmark is sealed: the app that keeps it cannot read it, and nobody can change it. The broker that sealed it \
        can open it for you. Looking changes nothing, and gives nobody access.

          ambit bookmark inspect ~/.local/share/ambit/containers/ID/Library/last
          ambit bookmark inspect ~/.local/share/ambit/containers/ID/Documents/Letter.txt.ambitref
        """)

    @Argument(help: "A file with the bookmark, as bytes or in base64; or a document reference. “-”: standard input.")
    var file: String

    @Option(help: "How to print: table or json.")
    var format: OutputFormat = .table

    /// Bookmarks are short.
    private static let longest = 1 << 20

    func run() throws {
      let folders = AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
      let reply = try ask(try sealed(), folders)
      switch format {
      case .json: print(reply.json.text)
      case .table: try Output.standard.write(Self.table(reply))
      }
    }

    /// The bytes as the broker takes them, in base64.
    private func sealed() throws -> String {
      let bytes: Data
      var isFolder: ObjCBool = false
      if file != "-", unsafe FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), isFolder.boolValue {
        throw Failure("\(file): is a folder, not a file with a bookmark.")
      }
      do {
        let handle = try file == "-" ? FileHandle.standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        bytes = try handle.read(upToCount: Self.longest) ?? Data()
      } catch {
        throw Failure("\(file): cannot be read: \(error.localizedDescription)")
      }
      // Sealed bytes are random, and not by chance letters from the first to the last.
      if let decoded = Data(base64Encoded: bytes, options: .ignoreUnknownCharacters), !decoded.isEmpty,
        bytes.allSatisfy({ $0 < 0x80 })
      {
        return decoded.base64EncodedString()
      }
      return bytes.base64EncodedString()
    }

    private func ask(_ sealed: String, _ folders: AmbitFolders) throws -> InspectorInterface.BookmarkReply {
      do {
        return try BrokerConnection.ask(folders) {
          try $0.call(InspectorInterface.bookmark, InspectorInterface.BookmarkCall(sealed: sealed))
        }
      } catch WireError.remote(InspectorInterface.Failure.badSealName, let parameters) {
        let reason = (try? parameters.string("reason")) ?? "it cannot be opened"
        throw Failure("\(file): no bookmark of yours: \(reason).")
      }
    }

    private static func table(_ reply: InspectorInterface.BookmarkReply) -> String {
      var rows: [[Table.Cell]] = []
      func row(_ name: String, _ text: String?, _ attribute: Style.Attribute? = nil) {
        guard let text else { return }
        var cell = Table.Cell(printable(text))
        cell.attributes = attribute.map { [$0] } ?? []
        rows.append([Table.Cell(name, .dim), cell])
      }
      row("what", reply.purpose == .bookmark ? "bookmark" : "document reference")
      row("app", reply.app, .bold)
      row("resolvable by", audience(reply))
      row("grant", "\(reply.grant), \(state(reply))")
      row("access", reply.access == .readOnly ? "read only" : "read and write")
      row("kind", reply.kind?.rawValue)
      row("made", reply.made)
      row("last seen at", reply.path)
      row("file", reply.identity.map(describe))
      row("in folder", reply.place.map { describe($0.folder) })
      row("relative to", reply.relativeTo.map(describe))
      row("values", reply.values.isEmpty ? nil : reply.values.joined(separator: ", "))
      if let found = reply.found {
        row("now at", found.path ?? "a place that the kernel has no path for", .green)
        row("found by", "\(found.matchedBy.rawValue) (\(found.by))")
        row("stale", found.isStale ? "yes" : "no")
        row("location", found.location)
      } else {
        row("now at", "not found", .red)
      }
      row("note", reply.problem)
      return Table([.init(""), .init("", keeping: .end)], for: 1).render(rows)
    }

    private static func audience(_ reply: InspectorInterface.BookmarkReply) -> String {
      switch reply.scope {
      case .app: "this app alone"
      case .implicit: reply.until.map { "this app alone: \($0)" } ?? "any app, until the machine is started anew"
      case .document: "any app that has access to the document that it was made relative to"
      }
    }

    private static func state(_ reply: InspectorInterface.BookmarkReply) -> String {
      let origin = reply.origin.map { " (\($0))" } ?? ""
      return switch reply.state {
      case .inForce: "in force\(origin)"
      case .withdrawn: "withdrawn\(origin)"
      case .unknown: "not known"
      }
    }

    private static func describe(_ identity: InspectorInterface.Identity) -> String {
      "inode \(UInt64(bitPattern: Int64(identity.inode))), handle \(identity.handleType):\(identity.handle), volume "
        + identity.volume + (identity.birth.map { ", born \($0)" } ?? "")
    }
  }
}
