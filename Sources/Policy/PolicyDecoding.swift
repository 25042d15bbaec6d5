internal import AppModel
internal import Sandbox

extension PolicyOverrides {
  /// Decodes a policy file. Everything in it has to be known, of the right type, in range and without contradiction.
  init(_ top: TOMLReader) throws(SourceError) {
    description = try top.string("description")
    inherits = try top.string("inherits")
    if let name = inherits, let problem = PolicyLibrary.problem(withName: name) {
      throw top.error("inherits", "must be the name of a policy, and is \(name.quoted): \(problem)")
    }
    if let table = try top.table("scopes") {
      scopeLimit = try Self.scopeLimit(table)
      references = try table.boolean("references")
      startsPicked = try table.boolean("start_picked")
      outlived = try table.choice("outlived", of: OutlivedScopes.allCases.map(\.rawValue))
        .flatMap(OutlivedScopes.init(rawValue:))
    }
    if let table = try top.table("grants") {
      try decodeGrants(table)
    }
    if let table = try top.table("bookmarks") {
      replacedDocuments = try table.choice("replaced", of: ReplacedDocuments.allCases.map(\.rawValue))
        .flatMap(ReplacedDocuments.init(rawValue:))
    }
    if let table = try top.table("system") {
      readOnlyPaths = try Self.folders(table)
    }
    if let table = try top.table("environment") {
      environmentPass = try Self.passed(table)
      environmentSet = try Self.set(table, passed: environmentPass ?? [])
    }
    if let table = try top.table("network") {
      let words = NetworkAccess.allCases.map(\.rawValue)
      network = try table.choice("access", of: words).flatMap(NetworkAccess.init(rawValue:))
      entitledNetwork = try table.choice("entitled", of: EntitledNetwork.allCases.map(\.rawValue))
        .flatMap(EntitledNetwork.init(rawValue:))
    }
    if let table = try top.table("files") {
      execute = try table.boolean("execute")
    }
    if let table = try top.table("limits") {
      // Linux has no more process identifiers than the first, and hands out no more descriptors than the second
      // unless told to; a program needs a few of either to start at all.
      processes = try table.integer("processes", in: 1...4_194_304)
      openFiles = try table.integer("open_files", in: 16...1_048_576)
      fileSize = try table.integer("file_size", in: 0...Int.max)
      try decodeUsage(table)
    }
    if let table = try top.table("audit") {
      observe = try table.boolean("observe")
    }
    if let table = try top.table("seccomp"), let text = try table.string("profile") {
      if let problem = SeccompFile.check(text) {
        throw table.error("profile", "cannot be \(text.quoted): \(problem)")
      }
      seccompProfile = SeccompFile.resolve(text, besides: top.file)
    }
    if let table = try top.table("landlock") {
      landlockFiles = try table.boolean("files")
    }
    if let table = try top.table("require") {
      requiredLayers = try Self.layers(table)
    }
    try top.finish()
  }

  private static func layers(_ table: TOMLReader) throws(SourceError) -> [Layer]? {
    guard let nodes = try table.stringNodes("layers") else { return nil }
    var layers: [Layer] = []
    for (name, position) in nodes {
      guard let layer = Layer(rawValue: name) else {
        throw table.error(
          at: position, "\(table.name("layers")) has \(name.quoted), which is no layer\(Layer.hint(for: name))")
      }
      if layers.contains(layer) {
        throw table.error(at: position, "\(table.name("layers")) has \(name.quoted) twice; take one out")
      }
      layers.append(layer)
    }
    return layers
  }

  private static func scopeLimit(_ table: TOMLReader) throws(SourceError) -> Int? {
    guard let node = table.value("limit") else { return nil }
    let presets = ScopeLimit.presets.sorted { $0.value < $1.value }
    switch node.value {
    case .integer(let number) where ScopeLimit.range.contains(number):
      return number
    case .string(let text):
      if let preset = ScopeLimit.presets[text] { return preset }
    default:
      break
    }
    let words = presets.map { "\($0.key.quoted) (\($0.value))" }.joined(separator: ", ")
    throw table.wrong(
      "limit", node,
      "an integer from \(ScopeLimit.range.lowerBound) to \(ScopeLimit.range.upperBound), or one of \(words)")
  }

  private static func folders(_ table: TOMLReader) throws(SourceError) -> [String]? {
    guard let nodes = try table.stringNodes("read_only") else { return nil }
    var seen: Set<String> = []
    for (path, position) in nodes {
      if let problem = HostFolder.check(path) {
        throw table.error(at: position, "\(table.name("read_only")) cannot have \(path.quoted): \(problem)")
      }
      if !seen.insert(path).inserted {
        throw table.error(at: position, "\(table.name("read_only")) has \(path.quoted) twice; take one out")
      }
    }
    return nodes.map(\.text)
  }

  private static func passed(_ table: TOMLReader) throws(SourceError) -> [String]? {
    guard let nodes = try table.stringNodes("pass") else { return nil }
    var seen: Set<String> = []
    for (name, position) in nodes {
      if let problem = EnvironmentName.checkPattern(name) {
        throw table.error(at: position, "\(table.name("pass")) cannot have \(name.quoted): \(problem)")
      }
      if !seen.insert(name).inserted {
        throw table.error(at: position, "\(table.name("pass")) has \(name.quoted) twice; take one out")
      }
    }
    return nodes.map(\.text)
  }

  private static func set(_ table: TOMLReader, passed: [String]) throws(SourceError) -> [String: String]? {
    guard let entries = try table.stringTable("set") else { return nil }
    var result: [String: String] = [:]
    for (name, value, position) in entries {
      if let problem = EnvironmentName.check(name) {
        throw table.error(at: position, "\(table.name("set")) cannot have \(name.quoted): \(problem)")
      }
      // A pattern that covers the name is no contradiction: it reads as "these, but that one so".
      if passed.contains(name) {
        throw table.error(
          at: position,
          "\(name.quoted) is both in \(table.name("set")) and in \(table.name("pass")); take it out of one of them")
      }
      result[name] = value
    }
    return result
  }
}
