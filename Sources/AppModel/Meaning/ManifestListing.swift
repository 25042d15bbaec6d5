/// Every key of a manifest or of entitlements, with its effect here. No key of the file is left out.
package struct ManifestListing: Equatable, Sendable {
  package enum Kind: String, Equatable, Sendable {
    case manifest, entitlements
  }

  package struct Row: Equatable, Sendable {
    package let path: KeyPath
    /// The key's; `nil` in a binary list.
    package let line: Int?
    /// The value in short, for people.
    package let value: String
    package let meaning: KeyMeaning
    /// A necessary remark on the form of the value, as the end of a sentence.
    package let note: String?
  }

  package let file: String
  package let kind: Kind
  /// In the file's order; a key before those within it.
  package let rows: [Row]

  package init(_ list: PropertyListFile, as kind: Kind? = nil) {
    file = list.path
    let kind = kind ?? Kind(of: list)
    self.kind = kind
    var rows: [Row] = []
    Self.append(list.entries, below: KeyPath(), as: kind, to: &rows)
    self.rows = rows
  }

  private static func append(
    _ entries: [PropertyListEntry], below path: KeyPath, as kind: Kind, to rows: inout [Row]
  ) {
    for entry in entries {
      let path = path.key(entry.key)
      rows.append(
        Row(
          path: path, line: entry.line, value: entry.node.summary, meaning: kind.vocabulary.meaning(of: path),
          note: note(entry.node, path, kind)))
      append(within: entry.node, at: path, as: kind, to: &rows)
    }
  }

  private static func append(within node: PropertyListNode, at path: KeyPath, as kind: Kind, to rows: inout [Row]) {
    switch node.value {
    case .dictionary(let entries): append(entries, below: path, as: kind, to: &rows)
    case .array(let members):
      for (index, member) in members.enumerated() { append(within: member, at: path.index(index), as: kind, to: &rows) }
    default: break
    }
  }

  private static func note(_ node: PropertyListNode, _ path: KeyPath, _ kind: Kind) -> String? {
    guard node.boolean == nil, let flag = node.looseBoolean, KeyShape.of(path, as: kind) == .looseBoolean else {
      return nil
    }
    return "written as \(node.kind); read as \(flag)"
  }
}

extension ManifestListing.Kind {
  /// By signs that only entitlements have: a signature's header, a file's name, or keys of theirs
  /// and none of a manifest's.
  package init(of list: PropertyListFile) {
    let isNamed = ["Entitlements.plist", ".entitlements", ".xcent"].contains { list.path.hasSuffix($0) }
    let marks = ["com.apple.security.", "com.apple.developer.", "com.apple.private.", "io.ambit."]
    let names: Set = [
      "application-identifier", "com.apple.application-identifier", "keychain-access-groups", "get-task-allow",
    ]
    let isKeyed =
      !list.entries.contains { $0.key.hasPrefix("CFBundle") }
      && list.entries.contains { entry in names.contains(entry.key) || marks.contains { entry.key.hasPrefix($0) } }
    self = list.isBlob || isNamed || isKeyed ? .entitlements : .manifest
  }

  package var vocabulary: KeyVocabulary { self == .manifest ? .manifest : .entitlements }
}

extension PropertyListNode {
  /// The value on one line: itself if it is simple, and its size if not. Not made printable.
  package var summary: String {
    switch value {
    case .string(let text): text.quoted
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .real(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .date(let seconds): "a date, \(Int64(exactly: seconds.rounded()).map { "\($0)" } ?? "\(seconds)") s after 2001"
    case .data(let bytes): "\(bytes.count) bytes"
    case .reference(let number): "reference \(number)"
    case .array(let members): Self.summary(of: members)
    case .dictionary(let entries): entries.count == 1 ? "1 key" : "\(entries.count) keys"
    }
  }

  private static func summary(of members: [PropertyListNode]) -> String {
    let scalars = members.filter { $0.array == nil && $0.dictionary == nil }
    guard scalars.count == members.count, !members.isEmpty else {
      return members.isEmpty ? "empty" : "\(members.count) \(members.count == 1 ? "member" : "members")"
    }
    let shown = members.prefix(4).map(\.summary).joined(separator: ", ")
    return members.count > 4 ? "\(shown), … (\(members.count))" : shown
  }
}
