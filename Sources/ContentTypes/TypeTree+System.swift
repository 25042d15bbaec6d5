extension TypeTree {
  /// The system's types, with those of a database: each of its types is in the tree, under a name of its own where Apple has none.
  package init(_ database: MimeDatabase) {
    self = .standard
    var extensions: [String: [(name: String, weight: Int)]] = [:]
    for (name, type, weight) in database.extensions {
      extensions[type, default: []].append((name.lowercased(), weight))
    }
    func suffixes(_ type: String) -> [String] {
      var seen: Set<String> = []
      return (extensions[type] ?? []).sorted {
        ($1.weight, $0.name.utf8.count, $0.name) < ($0.weight, $1.name.utf8.count, $1.name)
      }.map(\.name).filter { seen.insert($0).inserted }
    }
    var others: [String] = []
    for type in database.types {
      let names = [type] + database.aliases(of: type)
      if let known = names.compactMap({ types(.mimeType, $0).first }).first {
        addTags(known, extensions: suffixes(type), mimeTypes: names)
      } else {
        others.append(type)
      }
    }
    // Parents first, so that a circle is seen where it closes.
    var done: Set<String> = []
    func enter(_ type: String, _ depth: Int) {
      guard depth < 32, done.insert(type).inserted else { return }
      for parent in database.parents(of: type) where others.contains(parent) { enter(parent, depth + 1) }
      add(declaration(of: type, database, suffixes(type)))
    }
    for type in others { enter(type, 0) }
  }

  private func declaration(of type: String, _ database: MimeDatabase, _ extensions: [String]) -> TypeDeclaration {
    var parents = database.parents(of: type).map(identifier(ofMimeType:))
    func join(_ parent: String) {
      if !parents.contains(where: { conforms($0, to: parent) }) { parents.append(parent) }
    }
    let media = type.prefix { $0 != "/" }
    if let kind = Self.media[String(media)] { join(kind) }
    if let kind = database.genericIcons[type].flatMap({ Self.icons[$0] }) { join(kind) }
    if media == "inode" || media == "x-content" { join("public.item") } else { join("public.data") }
    // Behind a nearer parent a far one says nothing.
    parents = parents.filter { one in !parents.contains { $0 != one && conforms($0, to: one) } }
    return TypeDeclaration(
      identifier: Self.identifier(forMimeType: type), conformsTo: parents, extensions: extensions,
      mimeTypes: [type] + database.aliases(of: type), origin: .mimeDatabase)
  }

  private static let media = [
    "text": "public.plain-text", "image": "public.image", "audio": "public.audio", "video": "public.movie",
    "font": "public.font", "model": "public.3d-content", "message": "public.message",
  ]

  /// The functional type, which the database tells by the icon of a kind.
  private static let icons = [
    "x-office-document": "public.composite-content", "x-office-spreadsheet": "public.spreadsheet",
    "x-office-presentation": "public.presentation", "x-office-drawing": "public.composite-content",
    "x-office-calendar": "public.calendar-event", "x-office-address-book": "public.contact",
    "package-x-generic": "public.archive", "application-x-executable": "public.executable",
    "font-x-generic": "public.font", "image-x-generic": "public.image", "audio-x-generic": "public.audio",
    "video-x-generic": "public.movie", "text-x-generic": "public.text", "text-x-script": "public.script",
  ]

  // MARK: MIME types

  private static let mimePrefix = "org.freedesktop.mime."

  /// The identifier of a MIME type that Apple has no name for.
  package static func identifier(forMimeType type: String) -> String {
    mimePrefix
      + type.lowercased().reduce(into: "") { text, character in
        switch character {
        case "/": text += "."
        case "+": text += "-plus-"
        case "_": text += "-underline-"
        default: text.append(character)
        }
      }
  }

  /// The uniform type of a MIME type.
  package func identifier(ofMimeType type: String) -> String {
    types(.mimeType, type).first ?? Self.identifier(forMimeType: type)
  }

  /// The preferred MIME type of a uniform type, or of the nearest one that it conforms to.
  package func mimeType(of identifier: String) -> String? {
    ancestors(of: identifier).lazy.compactMap { self[$0]?.mimeTypes.first }.first
  }
}
