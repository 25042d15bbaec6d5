/// Where one setting of a policy stands.
package struct SettingOrigin: Equatable, Hashable, Sendable {
  /// The file as messages call it, `built-in:NAME` for one of Ambit's own.
  package let file: String
  package let position: SourcePosition
  /// With the table that it is in: `network.access`.
  package let key: String
  /// The value as TOML has it, in short.
  package let value: String

  package init(file: String, position: SourcePosition, key: String, value: String) {
    self.file = file
    self.position = position
    self.key = key
    self.value = value
  }
}

/// Which file and line decided each setting of a policy: among the policy's files, the nearest one with that setting.
///
/// Worked out on demand, and not at each launch: a launch needs the decisions and not their sources.
package struct PolicyOrigins: Equatable, Sendable {
  private var settings: [String: SettingOrigin] = [:]

  /// Nothing is said anywhere.
  package static let none = PolicyOrigins()

  private init() {}

  /// - Parameter words: limits of a command line, which come before every file.
  package init(of policy: ResolvedPolicy, limitedBy words: [String] = []) {
    let limits = words.reversed().compactMap { word -> PolicyText? in
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { return nil }
      let isPlain = Double(parts[1]) != nil || ["true", "false"].contains(parts[1])
      let text = "limits.\(parts[0]) = " + (isPlain ? parts[1] : "\"\(parts[1])\"")
      return PolicyText(file: "--limit \(word)", bytes: Array(text.utf8))
    }
    self.init(limits + policy.links.map { PolicyText(file: $0.source.file, bytes: $0.source.bytes) })
  }

  package init(of machine: MachinePolicy) { self.init(machine.texts) }

  /// - Parameter file: the text's name.
  package init(text: String, file: String) { self.init([PolicyText(file: file, bytes: Array(text.utf8))]) }

  /// - Parameter texts: the files that went into a policy, nearest first.
  init(_ texts: [PolicyText]) {
    for text in texts {
      let own = Self.builtin[text.file] ?? Self.settings(of: text)
      // Lists and tables take the place of inherited ones whole: so do their elements.
      for (key, origin) in own where settings[Self.whole(key)] == nil || settings[Self.whole(key)]?.file == text.file {
        settings[key] = origin
      }
    }
  }

  /// - Parameter key: `scopes.limit`; an element of a list of strings as `system.read_only: /opt/fonts`.
  package subscript(_ key: String) -> SettingOrigin? { settings[key] }

  /// An element of a list, or else the list.
  package subscript(_ key: String, element: String) -> SettingOrigin? {
    settings["\(key): \(element)"] ?? settings["\(key).\(element)"] ?? settings[key]
  }

  /// The setting that a key is a part of: tables have two levels, and deeper keys are parts.
  private static func whole(_ key: String) -> String {
    let list = key.split(separator: ":", maxSplits: 1).first.map(String.init) ?? key
    return list.split(separator: ".", maxSplits: 2).prefix(2).joined(separator: ".")
  }

  private static let builtin: [String: [String: SettingOrigin]] = Dictionary(
    uniqueKeysWithValues: BuiltinPolicies.all.map { name, text in
      let file = "built-in:\(name)"
      return (file, settings(of: PolicyText(file: file, bytes: Array(text.utf8))))
    })

  private static func settings(of text: PolicyText) -> [String: SettingOrigin] {
    var found: [String: SettingOrigin] = [:]
    guard let top = try? StrictTOML.parse(text.bytes, file: text.file), case .table(let entries) = top.node.value else {
      return found
    }
    func note(_ entry: TOMLEntry, _ key: String) {
      found[key] = SettingOrigin(
        file: text.file, position: entry.position, key: key, value: entry.node.shortText)
      switch entry.node.value {
      case .table(let inner): for entry in inner { note(entry, "\(key).\(entry.key)") }
      case .array(let elements):
        for element in elements {
          guard case .string(let word) = element.value else { continue }
          found["\(key): \(word)"] = SettingOrigin(
            file: text.file, position: element.position, key: key, value: element.shortText)
        }
      default: break
      }
    }
    for entry in entries { note(entry, entry.key) }
    return found
  }
}

/// A policy file's text.
struct PolicyText: Equatable, Sendable {
  let file: String
  let bytes: [UInt8]
}

extension TOMLNode {
  /// The value in short: a list as it is if it takes no more than half a line; otherwise, and for tables, only its kind.
  fileprivate var shortText: String {
    switch value {
    case .string(let text): "\"\(text)\""
    case .integer(let number): "\(number)"
    case .float(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .date(let text): text
    case .array(let elements): Self.short(elements)
    case .table: "{…}"
    }
  }

  private static func short(_ elements: [TOMLNode]) -> String {
    guard elements.count <= 8 else { return "[…]" }
    let text = "[" + elements.map(\.shortText).joined(separator: ", ") + "]"
    return text.count <= 60 ? text : "[…]"
  }
}
