internal import AppModel
internal import Sandbox

extension PolicyOverrides {
  /// Decodes a policy file. Everything in it has to be known (``PolicyField/all``), of the right type, in range and without
  /// contradiction.
  init(_ top: TOMLReader) throws(SourceError) {
    var faults = SourceFaults()
    var table: (name: String, reader: TOMLReader?)?
    for field in PolicyField.all {
      guard let name = field.table else {
        faults.gather { () throws(SourceError) in try field.access.decode(top, &self) }
        continue
      }
      if table?.name != name {
        table = (name, faults.gather { () throws(SourceError) in try top.table(name) } ?? nil)
      }
      guard let reader = table?.reader else { continue }
      faults.gather { () throws(SourceError) in try field.access.decode(reader, &self) }
    }
    faults.gather { () throws(SourceError) in try top.finish() }
    try faults.check()
  }

  // MARK: - Values

  static func inherits(_ top: TOMLReader) throws(SourceError) -> [String]? {
    guard let node = top.value("inherits") else { return nil }
    var names: [(text: String, position: SourcePosition)] = []
    switch node.value {
    case .string(let name): names = [(name, node.position)]
    case .array: names = try top.stringNodes("inherits") ?? []
    default: throw top.wrong("inherits", node, "the name of a policy, or an array of names")
    }
    for (index, (name, position)) in names.enumerated() {
      if let problem = PolicyLibrary.problem(withName: name) {
        throw top.error(at: position, "inherits must be the name of a policy, and is \(name.quoted): \(problem)")
      }
      if names[..<index].contains(where: { $0.text == name }) {
        throw top.error(at: position, "inherits has \(name.quoted) twice; take one out")
      }
    }
    return names.map(\.text)
  }

  /// Not empty: one, or all that hold together; ``SeccompFile/none`` stands alone.
  static func profiles(_ table: TOMLReader) throws(SourceError) -> [String]? {
    guard let node = table.value("profile") else { return nil }
    guard case .array = node.value else {
      guard let text = try table.string("profile") else { return nil }
      if let problem = SeccompFile.check(text) {
        throw table.error("profile", "cannot be \(text.quoted): \(problem)")
      }
      return [SeccompFile.resolve(text, besides: table.file)]
    }
    var profiles: [String] = []
    for (text, position) in try table.stringNodes("profile") ?? [] {
      if let problem = SeccompFile.check(text) ?? (text == SeccompFile.none ? SeccompFile.alone : nil) {
        throw table.error(at: position, "\(table.name("profile")) cannot have \(text.quoted): \(problem)")
      }
      let path = SeccompFile.resolve(text, besides: table.file)
      if profiles.contains(path) {
        throw table.error(at: position, "\(table.name("profile")) has \(text.quoted) twice; take one out")
      }
      profiles.append(path)
    }
    if profiles.isEmpty {
      throw table.wrong("profile", node, "a file's path, an array of such, or \(SeccompFile.none.quoted)")
    }
    return profiles
  }

  static func layers(_ table: TOMLReader) throws(SourceError) -> [Layer]? {
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

  static func scopeLimit(_ table: TOMLReader) throws(SourceError) -> Int? {
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

  static func folders(_ table: TOMLReader) throws(SourceError) -> [String]? {
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

  static func passed(_ table: TOMLReader) throws(SourceError) -> [String]? {
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

  static func set(_ table: TOMLReader, passed: [String]) throws(SourceError) -> [String: String]? {
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
