/// The type of a file, and how it was decided.
package struct TypeDecision: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file(size: Int64)
    case folder, symlink, characterDevice, blockDevice, pipe, socket

    var mimeType: String? {
      switch self {
      case .file: nil
      case .folder: "inode/directory"
      case .symlink: "inode/symlink"
      case .characterDevice: "inode/chardevice"
      case .blockDevice: "inode/blockdevice"
      case .pipe: "inode/fifo"
      case .socket: "inode/socket"
      }
    }
  }

  package enum Rule: String, Hashable, Sendable, CaseIterable {
    /// It is no regular file.
    case kind
    /// An app that is installed owns the extension.
    case exported = "exported type"
    case name
    case content
    /// An app that is installed knows the extension.
    case imported = "imported type"
    /// Neither name nor content is known, and the content is text, or is not.
    case fallback
    /// The extension has no type: it gets one of its own (`TYP-3`).
    case dynamic
  }

  /// One opinion.
  package struct Candidate: Hashable, Sendable {
    package let rule: Rule
    package let identifier: String
    package let mimeType: String?
    /// The evidence for it, for example `*.png`, weight 50.
    package let reason: String
    package var hasWon = false
  }

  package let identifier: String
  /// `nil` where the type has none.
  package let mimeType: String?
  package let rule: Rule
  /// In the order in which they were asked.
  package let candidates: [Candidate]
}

/// Decides on the types of files, by their names and, where these say nothing or too much, by their first bytes.
package struct TypeDecider: Sendable {
  package let tree: TypeTree
  private let database: MimeDatabase

  /// Bytes of a content that are looked at: as many as other programs look at.
  package static let extent = 4096

  package init(_ tree: TypeTree, _ database: MimeDatabase) { (self.tree, self.database) = (tree, database) }

  /// This machine's types, for a user with that environment.
  package init(environment: [String: String]) {
    let database = MimeDatabase(folders: MimeDatabase.folders(environment: environment))
    self.init(TypeTree(database), database)
  }

  /// The same with the declarations of apps.
  package func adding(_ declarations: [TypeDeclaration]) -> TypeDecider {
    var tree = tree
    for one in declarations { tree.add(one) }
    return TypeDecider(tree, database)
  }

  /// The type of files with an extension that conforms to another type; a dynamic one where no type has it.
  package func type(ofExtension suffix: String, in parent: String = "public.data") -> String {
    let found = decide("x.\(suffix)", .file(size: 1)).identifier
    return tree.conforms(found, to: parent) ? found : tree.type(.filenameExtension, suffix, in: parent).identifier
  }

  /// The English name of a type of the database.
  package func comment(ofMimeType type: String) -> String? { database.comment(of: database.canonical(type)) }

  private struct Opinion {
    let rule: TypeDecision.Rule
    let identifier: String
    let mimeType: String?
    let reason: String
  }

  /// - Parameters:
  ///   - name: the last part of the path.
  ///   - head: the first ``extent`` bytes, asked for if the name is not enough; `nil`: they cannot be read.
  package func decide(_ name: String, _ kind: TypeDecision.Kind, head: () -> [UInt8]? = { nil }) -> TypeDecision {
    let suffix = Self.suffix(of: name)
    if let mime = kind.mimeType {
      // A folder whose name an app's type or the system's has is a package.
      if kind == .folder, let suffix,
        let package = tree.types(.filenameExtension, suffix, in: "com.apple.package").first
      {
        return end([opinion(package, .name, "*.\(suffix), a folder")])
      }
      return end([Opinion(rule: .kind, identifier: identifier(mime), mimeType: mime, reason: mime)])
    }
    var opinions: [Opinion] = []
    let known = suffix.map { tree.types(.filenameExtension, $0, in: "public.data") } ?? []
    func declared(_ rule: TypeDecision.Rule) -> [Opinion] {
      known.compactMap { name in
        switch (tree[name]?.origin, rule) {
        case (.exported(let app), .exported): opinion(name, rule, "*.\(suffix ?? ""), exported by \(app)")
        case (.imported(let app), .imported): opinion(name, rule, "*.\(suffix ?? ""), imported by \(app)")
        default: nil
        }
      }
    }
    opinions += declared(.exported)
    let named = database.matches(ofName: name)
    opinions += named.map { match in
      Opinion(
        rule: .name, identifier: identifier(match.type), mimeType: database.canonical(match.type),
        reason: "\(match.pattern), weight \(match.weight)")
    }
    if opinions.count == 1 { return end(opinions + declared(.imported)) }
    if opinions.first?.rule == .exported { return end(opinions + declared(.imported)) }
    // An empty file has no content that could say more.
    let bytes = kind == .file(size: 0) ? [] : head()
    let isText = bytes.map { Self.looksLikeText($0) } ?? false
    // The system's own types are in the database, but for a few that no other program knows.
    if named.isEmpty, let own = known.first(where: { tree[$0]?.origin == .system }) {
      return end([opinion(own, .name, "*.\(suffix ?? "")")] + opinions + declared(.imported))
    }
    var sniffed = bytes.flatMap { $0.isEmpty ? nil : database.sniff($0) }
    // Between several names it counts that the content is any text.
    if sniffed == nil, !named.isEmpty, isText, bytes?.isEmpty == false { sniffed = ("text/plain", 0) }
    if let sniffed {
      let content = Opinion(
        rule: .content, identifier: identifier(sniffed.type), mimeType: database.canonical(sniffed.type),
        reason: "its first bytes, priority \(sniffed.priority)")
      if named.isEmpty || sniffed.priority >= 80 { return end([content] + opinions + declared(.imported)) }
      // Between several names the content decides, if one of them is a kind of it.
      if let index = named.firstIndex(where: { database.isSubclass($0.type, of: sniffed.type) }) {
        var ordered = opinions
        ordered.insert(ordered.remove(at: index), at: 0)
        return end(ordered + [content] + declared(.imported))
      }
      opinions.append(content)
    }
    if !named.isEmpty { return end(opinions + declared(.imported)) }
    opinions += declared(.imported)
    if !opinions.isEmpty { return end(opinions) }
    let (mime, why) =
      isText ? ("text/plain", "its first bytes are text") : ("application/octet-stream", "nothing else is known")
    let fallback = Opinion(rule: .fallback, identifier: identifier(mime), mimeType: mime, reason: why)
    if let suffix, opinions.isEmpty, !isText, suffix.utf8.count <= 64 {
      let type = DynamicType.declaration(.filenameExtension, suffix, in: "public.data")
      return end([
        Opinion(rule: .dynamic, identifier: type.identifier, mimeType: nil, reason: "*.\(suffix), which no type has"),
        fallback,
      ])
    }
    return end(opinions + [fallback])
  }

  private func opinion(_ identifier: String, _ rule: TypeDecision.Rule, _ reason: String) -> Opinion {
    Opinion(rule: rule, identifier: identifier, mimeType: tree[identifier]?.mimeTypes.first, reason: reason)
  }

  private func identifier(_ mimeType: String) -> String { tree.identifier(ofMimeType: database.canonical(mimeType)) }

  private func end(_ opinions: [Opinion]) -> TypeDecision {
    let winner = opinions[0]
    return TypeDecision(
      identifier: winner.identifier, mimeType: winner.mimeType, rule: winner.rule,
      candidates: opinions.enumerated().map { index, one in
        TypeDecision.Candidate(
          rule: one.rule, identifier: one.identifier, mimeType: one.mimeType, reason: one.reason, hasWon: index == 0)
      })
  }

  /// An extension, without dot and in lower case. A name that begins with its only dot has none.
  package static func suffix(of name: String) -> String? {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
    let suffix = name[name.index(after: dot)...]
    return suffix.isEmpty ? nil : suffix.lowercased()
  }

  /// Whether there are no control characters but those that texts have.
  static func looksLikeText(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { byte in
      switch byte {
      case 8...13, 27: true
      case 0..<32, 127: false
      default: true
      }
    }
  }
}

extension TypeDecider {
  /// This machine's types, without those of a single user: what an app in its sandbox sees as well.
  package static let system = TypeDecider(environment: [:])
}
