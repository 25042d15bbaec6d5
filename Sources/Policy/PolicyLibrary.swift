internal import AppModel
package import Foundation
internal import Paths
internal import Sandbox

/// Finds policies by name or path, and resolves their inheritance.
package struct PolicyLibrary: Sendable {
  /// The folders in which `NAME.toml` is looked for, in this order, before the built-in policies.
  package let directories: [URL]

  package init(directories: [URL]) { self.directories = directories }

  /// Loads a policy with everything that it inherits.
  ///
  /// - Parameter nameOrPath: a name (no `/`, no `.toml` at its end), or else the path of a file.
  package func load(_ nameOrPath: String) throws(PolicyError) -> Policy { try resolve(nameOrPath).policy }

  /// The same, with the settings of each file.
  package func resolve(_ nameOrPath: String) throws(PolicyError) -> ResolvedPolicy {
    if Self.isPath(nameOrPath) {
      let name = nameOrPath.lastPathName
      let stem = name.hasSuffix(".toml") ? String(name.dropLast(".toml".count)) : name
      return try resolve(file: try PolicySource(file: nameOrPath), name: stem)
    }
    guard Self.problem(withName: nameOrPath) == nil, let source = try find(nameOrPath, after: nil) else {
      throw .unknownName(name: nameOrPath, known: names, searched: directories.map(\.path))
    }
    return try resolve(file: source, name: nameOrPath)
  }

  /// The names there are, sorted: in the folders, and built in.
  package var names: [String] {
    var names = Set(BuiltinPolicies.all.keys)
    for directory in directories {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
      for file in files where file.hasSuffix(".toml") {
        let name = String(file.dropLast(".toml".count))
        if Self.problem(withName: name) == nil { names.insert(name) }
      }
    }
    return names.sorted()
  }

  /// Whether a command line's word is a path rather than a name.
  package static func isPath(_ nameOrPath: String) -> Bool {
    nameOrPath.hasSlash || nameOrPath.hasSuffix(".toml")
  }

  /// Why a text cannot be a policy's name, as the end of a sentence; `nil` when it can.
  static func problem(withName name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if isPath(name) { return "a path is not taken here; put the file into a policy folder and name it without .toml" }
    if name.hasPrefix(".") { return "a name cannot begin with '.'" }
    if name.utf8.count > 200 { return "it is longer than 200 bytes" }
    if name.unicodeScalars.contains(where: \.changesTerminal) { return "it has control characters" }
    return nil
  }

  // MARK: - Resolving

  /// Follows `inherits` to its ends, then lays each file over those that it inherits from.
  func resolve(file source: PolicySource, name: String) throws(PolicyError) -> ResolvedPolicy {
    var links: [ResolvedPolicy.Link] = []
    try follow(source, from: [], into: &links)
    let settings = links.reduce(PolicySettings.closed) { $0.overridden(by: $1.overrides) }
    links.reverse()
    for contradiction in Contradiction.all(in: settings) {
      // A field that no file sets is off by default, and a matter for the launch: its command line may turn it on.
      guard let requiring = links.first(where: { $0.overrides.requiredLayers != nil })?.source,
        let setting = links.first(where: { contradiction.isSet(by: $0.overrides) })?.source
      else { continue }
      throw Self.wrong(contradiction, requiring, setting)
    }
    let policy = Policy(
      name: name, file: source.file, description: links.first?.overrides.description,
      lineage: links.map(\.source.file), settings: settings)
    return ResolvedPolicy(policy: policy, links: links)
  }

  /// Adds a file behind everything that it inherits, each file once.
  ///
  /// - Parameter path: the files that led here.
  private func follow(
    _ source: PolicySource, from path: [PolicySource], into links: inout [ResolvedPolicy.Link]
  ) throws(PolicyError) {
    if links.contains(where: { $0.source.file == source.file }) { return }
    let overrides = try read(source)
    let path = path + [source]
    for (number, parent) in (overrides.inherits ?? []).enumerated() {
      // A file that inherits its own name means the one that it stands before: so a user's default.toml can be the
      // built-in one with a few changes.
      guard let found = try find(parent, after: parent == source.name ? source.place : nil) else {
        throw Self.wrong(source, number, Self.missing(parent, of: source, known: names, in: directories))
      }
      if path.contains(where: { $0.file == found.file }) {
        let circle = (path.map(\.file) + [found.file]).joined(separator: " → ")
        throw Self.wrong(source, number, "goes round in a circle: \(circle); take one of the steps out")
      }
      try follow(found, from: path, into: &links)
    }
    links.append(.init(source: source, overrides: overrides))
  }

  /// The settings of a file; built-in ones are read once.
  private func read(_ source: PolicySource) throws(PolicyError) -> PolicyOverrides {
    if case .builtin = source.place, let name = source.name, let known = BuiltinPolicies.overrides(name) {
      return known
    }
    do { return try PolicyOverrides(StrictTOML.parse(source.bytes, file: source.file)) } catch { throw .invalid(error) }
  }

  /// The error in a file's `inherits`, with its place in the file.
  ///
  /// - Parameter number: the index of the name.
  private static func wrong(_ source: PolicySource, _ number: Int, _ fault: String) -> PolicyError {
    do throws(SourceError) {
      let top = try StrictTOML.parse(source.bytes, file: source.file)
      guard case .array(let names) = top.value("inherits")?.value, number < names.count else {
        return .invalid(top.error("inherits", fault))
      }
      return .invalid(top.error(at: names[number].position, "inherits \(fault)"))
    } catch {
      return .invalid(error)
    }
  }

  private static func wrong(
    _ contradiction: Contradiction, _ requiring: PolicySource, _ setting: PolicySource
  ) -> PolicyError {
    let layer = contradiction.layer.rawValue
    do throws(SourceError) {
      let other = try StrictTOML.parse(setting.bytes, file: setting.file).table(contradiction.table)
      let place = other?.value(contradiction.key)?.position ?? .start
      guard let table = try StrictTOML.parse(requiring.bytes, file: requiring.file).table("require") else {
        return .invalid(SourceError(file: requiring.file, position: .start, message: "[require] is missing"))
      }
      let position = try table.stringNodes("layers")?.first { $0.text == layer }?.position ?? table.position
      return .invalid(
        table.error(
          at: position,
          "\(table.name("layers")) has \(layer.quoted), and \(contradiction.table).\(contradiction.key) = "
            + "\(contradiction.value) (\(setting.file):\(place.line):\(place.column)) turns it off; change one of the two"
        ))
    } catch {
      return .invalid(error)
    }
  }

  private static func missing(
    _ parent: String, of source: PolicySource, known: [String], in directories: [URL]
  ) -> String {
    parent == source.name
      ? "names the policy itself, and there is no other called \(parent.quoted) that it stands before; take it out"
      : "names no policy: there is none called \(parent.quoted)"
        + PolicyError.hint(parent, known, directories.map(\.path))
  }

  /// - Parameter place: look only behind this one; `nil` for everywhere.
  private func find(_ name: String, after place: PolicySource.Place?) throws(PolicyError) -> PolicySource? {
    let start: Int
    switch place {
    case nil, .path: start = 0
    case .directory(let index): start = index + 1
    case .builtin: return nil
    }
    for (index, directory) in directories.enumerated().dropFirst(start) {
      let path = directory.appendingPathComponent("\(name).toml", isDirectory: false).path
      if let bytes = try PolicySource.read(path) {
        return PolicySource(name: name, file: path, place: .directory(index), bytes: bytes)
      }
    }
    guard let text = BuiltinPolicies.all[name] else { return nil }
    return PolicySource(name: name, file: "built-in:\(name)", place: .builtin, bytes: Array(text.utf8))
  }
}
