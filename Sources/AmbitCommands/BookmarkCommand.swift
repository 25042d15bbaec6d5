internal import ArgumentParser
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import SystemPackage
internal import Terminal
internal import Wire

/// `ambit bookmark`: apps' bookmarks, for the user.
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
          ambit bookmark inspect \\
            ~/.local/share/ambit/containers/ID/Documents/Letter.txt.ambitref
        """)

    @Argument(help: "A file with the bookmark, as bytes or in base64; or a document reference. “-”: standard input.")
    var file: String

    @Option(help: "How to print: table or json.")
    var format: OutputFormat = .table

    /// Bookmarks are short.
    private static let longest = 1 << 20

    func run() throws {
      let folders = try AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
      let reply = try ask(try sealed(), folders)
      switch format {
      case .json: try Output.standard.write(json: reply.json.text)
      case .table: try Output.standard.write(Self.table(reply))
      }
    }

    /// The bytes as the broker takes them, in base64.
    private func sealed() throws -> String {
      let bytes = Data(try content())
      // Sealed bytes are random, and not by chance letters from the first to the last.
      if let decoded = Data(base64Encoded: bytes, options: .ignoreUnknownCharacters), !decoded.isEmpty,
        bytes.allSatisfy({ $0 < 0x80 })
      {
        return decoded.base64EncodedString()
      }
      return bytes.base64EncodedString()
    }

    private func content() throws -> [UInt8] {
      if file == "-" { return try Array(FileHandle.standardInput.read(upToCount: Self.longest) ?? Data()) }
      do throws(KernelError) {
        return try Descriptor.content(ofFile: file, limit: Self.longest)
      } catch {
        switch error.errno {
        case .invalidArgument:
          throw Failure("\(printable(file)): is no regular file, and so no bookmark; “-” reads standard input.")
        case .isDirectory: throw Failure("\(printable(file)): is a folder, not a file with a bookmark.")
        case .fileTooLarge: throw Failure("\(printable(file)): is too long to be a bookmark.")
        default: throw Failure("\(printable(file)): cannot be read: \(error.errno).")
        }
      }
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
