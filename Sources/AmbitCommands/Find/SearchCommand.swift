internal import ArgumentParser
internal import Audit
internal import ContentTypes
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import ScopedAccess
internal import Terminal
internal import Wire

/// `ambit search`: everything that opted in.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find documents by name and text: those of apps that opted in, and the recent ones.",
    discussion: """
      Looked through are the items that apps have indexed (CSSearchableIndex), the Documents of apps that show them to others (UISupportsDocumentBrowser, or UIFileSharingEnabled with \
      LSSupportsOpeningDocumentsInPlace), and the documents that apps used last. A document is found once, however many ways lead to it. \
      Words may stand in the name, or in the text where the type gives text; all of them have to be there.

        ambit search meeting notes
        ambit search --type public.image holiday

      Without words: the documents that were used last. Exit status: 0, or 1 if nothing is found.
      """)
  @Option(help: ArgumentHelp("Only documents that conform to this type.", valueName: "type")) var type: String?
  @Option(help: ArgumentHelp("At most so many.", valueName: "number")) var count = 20
  @OptionGroup var apps: AppFolders
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table
  @Argument(help: "Words.") var words: [String] = []

  func run() throws {
    let types = TypeDecider.ofUser(try apps.read())
    if let type, types.tree[type] == nil {
      throw ValidationError("--type \(printable(type)): there is no such type; “ambit types tree” lists all")
    }
    let index = try SearchIndex(apps, types)
    let found = try merged(index.search(words.map { $0.lowercased() }, type: type, most: count), types)
    switch format {
    case .json:
      let list = found.map { item -> JSONValue in
        var object: JSONObject = [
          "path": item.path.isEmpty ? .null : .string(item.path), "type": .string(item.type),
          "by": .string(item.by.rawValue),
          "source": .string(item.source),
        ]
        object.set("title", item.title)
        object.set("line", item.line)
        return .object(object)
      }
      try Output.standard.write(json: (["documents": .array(list)] as JSONObject).text)
    case .table:
      let style = Style(for: 1)
      for item in found {
        let name = item.path.isEmpty ? item.title ?? "" : item.path
        let app = item.by == .item ? "  \(style.cyan(printable(item.source)))" : ""
        try Output.standard.write(
          "\(style.bold(printable(name)))  \(style.dim(printable(types.words(item.type))))\(app)\n")
        if let line = item.line { try Output.standard.write("    \(truncated(printable(line), to: 100))\n") }
      }
      if found.isEmpty { try Output.standard.write("Nothing is found.\n") }
    }
    if found.isEmpty { throw ExitCode(1) }
  }

  /// With the items that apps have indexed. A document that an item is about is there once.
  private func merged(_ documents: [SearchIndex.Found], _ types: TypeDecider) throws -> [SearchIndex.Found] {
    guard !words.isEmpty else { return documents }
    let reply = try UserSide.call(
      InspectorInterface.searchItems, InspectorInterface.SearchItemsCall(words: words, most: count),
      answer: InspectorInterface.SearchItemsReply.self)
    var seen = Set(documents.map(\.path))
    let items = reply.items.compactMap { item -> SearchIndex.Found? in
      let found = SearchIndex.Found(
        path: item.path ?? "", type: item.contentType ?? "public.item", by: .item, line: item.about,
        source: item.app, title: item.title)
      if let type, !types.tree.conforms(found.type, to: type) { return nil }
      guard let path = item.path else { return found }
      return seen.insert(path).inserted ? found : nil
    }
    return Array((documents + items).prefix(count))
  }
}

/// What can be searched, by the places that say so.
struct SearchIndex {
  struct Found {
    enum Match: String {
      case name, text, recent
      /// An app has indexed it.
      case item
    }

    let path: String
    let type: String
    let by: Match
    /// The first line of the text with a word.
    let line: String?
    /// Where it comes from: `recent`, the name of the app that shows it, or the identifier of the one that has indexed it.
    let source: String
    /// What its app calls it.
    var title: String?
  }

  private let types: TypeDecider
  private var documents: [(path: String, source: String)] = []
  private static let most = 50_000
  /// Bytes of a text that are looked through.
  private static let longestText = 1 << 20

  init(_ apps: AppFolders, _ types: TypeDecider) throws {
    self.types = types
    for item in try RecentsCommand.items(apps, most: .max) { documents.append((item.path, "recent")) }
    for app in try Self.sharing() { collect(app.folder, app.name) }
  }

  /// The Documents of apps that opted in. No link is followed: an app may have put one there.
  private static func sharing() throws -> [(name: String, folder: Descriptor)] {
    let folders = try UserSide.folders
    guard (try? Descriptor.open(folders.grants, flags: .path)) != nil,
      let containers = try? Descriptor.open(folders.containers, flags: [.path, .directory])
    else { return [] }
    let apps = try GrantStore.copy(of: folders.grants) { store in try store.sharingApps() }
    return apps.compactMap { app in
      guard let container = try? Descriptor.open(app.bundleIdentifier, below: containers, flags: [.path, .noFollow]),
        let documents = try? Descriptor.open("Documents", below: container, flags: [.read, .directory, .noFollow])
      else { return nil }
      return (app.name, documents)
    }
  }

  private mutating func collect(_ folder: Descriptor, _ source: String) {
    guard documents.count < Self.most, let place = folder.currentPath,
      let entries = try? DirectoryReader.entries(of: folder, limit: 20_000)
    else { return }
    for entry in entries where !entry.name.isHiddenName {
      let path = place.path(of: entry.name)
      if entry.kind == .directory,
        !types.tree.conforms(types.decide(entry.name, .folder).identifier, to: "com.apple.package")
      {
        if let inner = try? Descriptor.open(entry.name, below: folder, flags: [.read, .directory, .noFollow]) {
          collect(inner, source)
        }
      } else if entry.kind == .regular || entry.kind == .directory {
        documents.append((path, source))
      }
    }
  }

  /// The best first: names that begin with the first word, then names, then texts; recent ones before others.
  func search(_ words: [String], type: String?, most: Int) -> [Found] {
    var seen: Set<FileIdentityKey> = []
    var tiers: [[Found]] = [[], [], [], []]
    for (path, source) in documents {
      guard let opened = try? Descriptor.open(path, flags: .place), let status = try? opened.status(),
        seen.insert(FileIdentityKey(status)).inserted, let decision = try? types.decide(path: path)
      else { continue }
      if let type, !types.tree.conforms(decision.identifier, to: type) { continue }
      let name = path.lastPathName.lowercased()
      func found(_ by: Found.Match, _ line: String? = nil) -> Found {
        Found(path: path, type: decision.identifier, by: by, line: line, source: source)
      }
      if words.isEmpty {
        if source == "recent" { tiers[0].append(found(.recent)) }
      } else if words.allSatisfy({ name.contains($0) }) {
        tiers[name.hasPrefix(words[0]) ? 1 : 2].append(found(.name))
      } else if let line = line(in: path, decision.identifier, words, name) {
        tiers[3].append(found(.text, line))
      }
    }
    return Array(tiers.joined().prefix(most))
  }

  /// The first line with a word that is not in the name, if all words are in name and text.
  private func line(in path: String, _ type: String, _ words: [String], _ name: String) -> String? {
    guard types.tree.conforms(type, to: "public.text"),
      let bytes = try? Descriptor.regularFile(path, followsLink: false).readAll(limit: Self.longestText)
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    let missing = words.filter { !name.contains($0) }
    guard missing.allSatisfy({ text.contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { line in
      missing.contains { line.lowercased().contains($0) }
    }.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private struct FileIdentityKey: Hashable {
    let device: UInt64
    let inode: UInt64
    init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
  }
}
