internal import AppModel

/// The document fields of `[picker]`, `[grants]`, `[bookmarks]` and `[coordination]`.
extension PolicyOverrides {
  static func persisted(_ table: TOMLReader) throws(SourceError) -> PersistedGrants? {
    guard let node = table.value("persisted") else { return nil }
    func one(_ node: TOMLNode) -> PersistedGrants? {
      switch node.value {
      case .integer(let number) where PersistedGrants.range.contains(number): .refusing(number)
      case .string(let text): PersistedGrants.names.first { $0.name == text }?.value
      default: nil
      }
    }
    if let rule = one(node) { return rule }
    let words = PersistedGrants.names.map { $0.name.quoted }.joined(separator: ", ")
    let expected = "an integer from 1 to \(PersistedGrants.range.upperBound), one of \(words), or an array of these"
    guard case .array(let members) = node.value, !members.isEmpty else {
      throw table.wrong("persisted", node, expected)
    }
    var result = PersistedGrants.unlimited
    var seen: [PersistedGrants] = []
    for member in members {
      guard let rule = one(member) else {
        throw table.error(
          at: member.position, "\(table.name("persisted")) must be \(expected), and has in it \(member.description)")
      }
      if seen.contains(rule) {
        throw table.error(
          at: member.position, "\(table.name("persisted")) has \(member.description) twice; take one out")
      }
      seen.append(rule)
      result = result.narrowed(by: rule)
    }
    return result
  }

  static func modes(_ table: TOMLReader) throws(SourceError) -> [PickerMode]? {
    guard let nodes = try table.stringNodes("modes") else { return nil }
    let words = PickerMode.allCases.map(\.rawValue)
    var modes: [PickerMode] = []
    for (name, position) in nodes {
      guard let mode = PickerMode(rawValue: name) else {
        let hint = words.nearest(to: name).map { "; did you mean \($0.quoted)?" } ?? "."
        throw table.error(
          at: position,
          "\(table.name("modes")) has \(name.quoted), which is no mode\(hint) Modes: \(words.joined(separator: ", ")).")
      }
      if modes.contains(mode) {
        throw table.error(at: position, "\(table.name("modes")) has \(name.quoted) twice; take one out")
      }
      modes.append(mode)
    }
    return PickerMode.allCases.filter(modes.contains)
  }

  static func pickedTypes(_ table: TOMLReader) throws(SourceError) -> PickedTypes? {
    guard let node = table.value("types") else { return nil }
    if case .string(PickedTypes.anyWord) = node.value { return .any }
    guard case .array = node.value else {
      throw table.wrong(
        "types", node, "\(PickedTypes.anyWord.quoted), or an array of content types and extensions without dot")
    }
    var names: [String] = []
    for (name, position) in try table.stringNodes("types") ?? [] {
      if let problem = PickableTypes.check(name) {
        throw table.error(at: position, "\(table.name("types")) cannot have \(name.quoted): \(problem)")
      }
      if names.contains(name) {
        throw table.error(at: position, "\(table.name("types")) has \(name.quoted) twice; take one out")
      }
      names.append(name)
    }
    return .only(names)
  }

  static func lifetime(_ table: TOMLReader) throws(SourceError) -> GrantLifetime? {
    guard let node = table.value("lifetime") else { return nil }
    let expected =
      "\"forever\", \"launch\", a duration such as \"8h\" or \"30d\", or an array of \"launch\" and a duration"
    func one(_ text: String) -> GrantLifetime? {
      switch text {
      case "forever": return .forever
      case "launch": return GrantLifetime(withLaunch: true)
      default:
        guard let seconds = Amount.seconds(text), GrantLifetime.range.contains(seconds) else { return nil }
        return GrantLifetime(seconds: seconds)
      }
    }
    switch node.value {
    case .string(let text):
      guard let lifetime = one(text) else { throw table.wrong("lifetime", node, expected) }
      return lifetime
    case .array:
      var result = GrantLifetime.forever
      for (text, position) in try table.stringNodes("lifetime") ?? [] {
        guard let lifetime = one(text), !lifetime.isForever else {
          throw table.error(
            at: position, "\(table.name("lifetime")) must be \(expected), and has in it \(text.quoted)")
        }
        result = result.narrowed(by: lifetime)
      }
      // No end at all would read as one.
      if result.isForever { throw table.wrong("lifetime", node, expected) }
      return result
    default: throw table.wrong("lifetime", node, expected)
    }
  }

  static func bookmarkLifetime(_ table: TOMLReader) throws(SourceError) -> Ceiling<Int>? {
    try foreverOrSeconds("lifetime", table)
  }

  static func patience(_ table: TOMLReader) throws(SourceError) -> Ceiling<Int>? {
    try foreverOrSeconds("patience", table)
  }

  private static func foreverOrSeconds(_ key: String, _ table: TOMLReader) throws(SourceError) -> Ceiling<Int>? {
    guard let node = table.value(key) else { return nil }
    if case .string(let text) = node.value {
      if text == "forever" { return Ceiling.none }
      if let seconds = Amount.seconds(text), GrantLifetime.range.contains(seconds) { return .at(seconds) }
    }
    throw table.wrong(key, node, "\"forever\" or a duration such as \"90s\", \"8h\" or \"30d\"")
  }
}
