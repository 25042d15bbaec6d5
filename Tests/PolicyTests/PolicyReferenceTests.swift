import Foundation
import Sandbox
import Testing

@testable import Policy

/// What is written about the language is made from it, and the schema says of a file what the decoder says.
@Suite struct PolicyReferenceTests {
  private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/reference")

  @Test(arguments: [("policy.md", PolicyReference.markdown), ("policy.schema.json", PolicySchema.text)])
  func `what is in docs is what the fields say`(name: String, text: String) throws {
    let written = try String(contentsOf: Self.docs.appendingPathComponent(name), encoding: .utf8)
    #expect(written == text, "docs/reference/\(name) has drifted; “make docs” writes it anew")
    #expect(text.hasSuffix("\n") && text.count > 5000)
  }

  @Test func `every field is in both`() throws {
    let schema = try Self.schema()
    for field in PolicyField.all {
      #expect(PolicyReference.markdown.contains("### `\(field.name)`\n"))
      #expect(PolicyReference.markdown.contains(field.meaning))
      let table = field.table.map { Self.property($0, of: schema) } ?? schema
      #expect(Self.property(field.key, of: table)["description"] != nil, "\(field.name)")
    }
  }

  @Test func `the schema takes every policy that comes with Ambit, and each field's example`() throws {
    let schema = try Self.schema()
    for (name, text) in BuiltinPolicies.all {
      let value = Self.json(try StrictTOML.parse(text, file: name).node)
      #expect(Self.fault(value, schema) == nil, "\(name)")
    }
    for field in PolicyField.all {
      let value = Self.json(try StrictTOML.parse("\(field.name) = \(field.example)", file: "x").node)
      #expect(Self.fault(value, schema) == nil, "\(field.name)")
    }
  }

  /// Of what is only wrong in its form, the schema says the same as the decoder: nothing that the decoder takes is refused by it.
  @Test func `what the decoder takes the schema takes, and a wrong form neither`() throws {
    let schema = try Self.schema()
    let values = [
      "true", "1", "0", "-1", "1.5", "100000", "\"\"", "\"none\"", "\"host\"", "\"any\"", "\"forever\"", "\"8h\"",
      "\"8h30m\"", "\"1h1d\"", "\"50%\"", "\"1 GiB\"", "\"1.5GB\"", "\"standard\"", "\"default\"", "\"launch\"", "[]",
      "[\"open\"]", "[\"open\", \"open\"]", "[\"txt\", \"public.text\"]", "[\"/opt/a\"]", "[\"LANG\", \"LC_*\"]",
      "[\"seccomp\"]", "[\"launch\", \"8h\"]", "[1]", "{ A = \"1\" }", "{ A = 1 }", "{}", "2020-01-01",
    ]
    var taken = 0
    for field in PolicyField.all {
      for value in values {
        let text = "\(field.name) = \(value)"
        let json = Self.json(try StrictTOML.parse(text, file: "x").node)
        guard complaint(text) == nil else { continue }
        taken += 1
        #expect(Self.fault(json, schema) == nil, "\(text)")
      }
      // No field takes all of these.
      let refused = try ["true", "-1", "2020-01-01", "[1]", "{ A = 1 }"].filter { value in
        let json = Self.json(try StrictTOML.parse("\(field.name) = \(value)", file: "x").node)
        return Self.fault(json, schema) != nil
      }
      #expect(refused.count >= 3, "\(field.name) takes nearly anything by the schema")
    }
    #expect(taken > 60)
    for wrong in ["[scopes]\nlimt = 8", "colour = 1", "[limits]\nprocesses = 0", "network.access = \"hosts\""] {
      #expect(Self.fault(Self.json(try StrictTOML.parse(wrong, file: "x").node), schema) != nil, "\(wrong)")
      #expect(complaint(wrong) != nil)
    }
  }

  // MARK: - A validator of as much of JSON Schema as the schema uses

  private static func schema() throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(PolicySchema.text.utf8)) as? [String: Any])
  }

  private static func property(_ key: String, of schema: [String: Any]) -> [String: Any] {
    (schema["properties"] as? [String: Any])?[key] as? [String: Any] ?? [:]
  }

  private enum Value {
    case string(String), number(Double, isInteger: Bool), boolean(Bool), array([Value]), object([String: Value]), date
  }

  private static func json(_ node: TOMLNode) -> Value {
    switch node.value {
    case .string(let text): .string(text)
    case .integer(let number): .number(Double(number), isInteger: true)
    case .float(let number): .number(number, isInteger: false)
    case .boolean(let flag): .boolean(flag)
    case .date: .date
    case .array(let nodes): .array(nodes.map(json))
    case .table(let entries): .object([String: Value](entries.map { ($0.key, json($0.node)) }) { $1 })
    }
  }

  /// Why a value does not fit a schema; `nil` when it does.
  private static func fault(_ value: Value, _ schema: [String: Any]) -> String? {
    if let forms = schema["anyOf"] as? [[String: Any]] {
      return forms.contains { fault(value, $0) == nil } ? nil : "none of \(forms.count) forms"
    }
    if let words = schema["enum"] as? [String] {
      if case .string(let text) = value, words.contains(text) { return nil }
      return "not one of \(words)"
    }
    switch (schema["type"] as? String, value) {
    case ("boolean", .boolean): return nil
    case ("string", .string(let text)):
      guard let pattern = schema["pattern"] as? String else { return nil }
      return text.range(of: pattern, options: .regularExpression) == nil ? "not \(pattern)" : nil
    case ("integer", .number(let number, true)), ("number", .number(let number, _)):
      if let minimum = schema["minimum"] as? Double, number < minimum { return "less than \(minimum)" }
      if let maximum = schema["maximum"] as? Double, number > maximum { return "more than \(maximum)" }
      return nil
    case ("array", .array(let values)):
      let texts = values.map { "\($0)" }
      if schema["uniqueItems"] as? Bool == true, Set(texts).count != texts.count { return "twice" }
      let items = schema["items"] as? [String: Any] ?? [:]
      return values.compactMap { fault($0, items) }.first
    case ("object", .object(let members)):
      let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
      for (key, member) in members {
        if let names = schema["propertyNames"] as? [String: Any],
          let fault = fault(.string(key), names.merging(["type": "string"]) { old, _ in old })
        {
          return fault
        }
        if let property = properties[key] {
          if let fault = fault(member, property) { return "\(key): \(fault)" }
        } else if let other = schema["additionalProperties"] as? [String: Any] {
          if let fault = fault(member, other) { return "\(key): \(fault)" }
        } else if schema["additionalProperties"] as? Bool == false {
          return "unknown \(key)"
        }
      }
      return nil
    default: return "not of type \(schema["type"] ?? "")"
    }
  }
}

/// The policies for common kinds of app say what their names promise.
@Suite struct ReadyMadePolicyTests {
  private func settings(_ name: String) throws -> PolicySettings {
    try PolicyLibrary(directories: []).load(name).settings
  }

  @Test func `all of them can be read and say what they are for`() throws {
    let library = PolicyLibrary(directories: [])
    for name in library.names {
      let resolved = try library.resolve(name)
      #expect(resolved.policy.description?.isEmpty == false, "\(name)")
      #expect(BuiltinPolicies.all[name]?.hasPrefix("# ") == true, "\(name)")
      // Each is good as a machine-wide one as well.
      _ = try MachinePolicy(contentsOf: resolved)
    }
  }

  @Test(arguments: ["viewer", "media-player", "browser", "untrusted"])
  func `with these nothing of the user's is changed`(name: String) throws {
    let settings = try settings(name)
    #expect(settings.access == .readOnly && settings.passing == .none && settings.executing == .none)
    #expect(!settings.execute && !settings.picker.modes.contains(.move))
  }

  @Test(arguments: ["viewer", "editor", "game", "untrusted", "batch", "kiosk"])
  func `with these nothing leaves the machine`(name: String) throws {
    #expect([NetworkAccess.none, .loopback].contains(try settings(name).network))
  }

  @Test(arguments: ["browser", "game", "untrusted", "batch", "kiosk"])
  func `with these nothing is kept beyond the launch`(name: String) throws {
    let settings = try settings(name)
    #expect(settings.lifetime.withLaunch && !settings.bookmarks.create)
  }

  @Test func `the one for the unknown permits nothing that strict does not`() throws {
    let (untrusted, strict) = (try settings("untrusted"), try settings("strict"))
    let machine = try MachinePolicy(Array("inherits = 'strict'".utf8), file: "strict")
    #expect(untrusted.narrowed(by: machine, memory: 64 << 30) == untrusted)
    #expect(strict.narrowed(by: machine, memory: 64 << 30) == strict)
    #expect(untrusted != strict)
  }
}

/// Several parents.
@Suite struct PolicyParentsTests {
  @Test func `of several parents each is laid over those before it, and what two of them inherit counts once`() throws {
    let temporary = try TemporaryFolder()
    try temporary.write("base.toml", "scopes.limit = 1\nnetwork.access = 'host'\nfiles.execute = true")
    try temporary.write("left.toml", "inherits = 'base'\nscopes.limit = 2\nnetwork.access = 'none'")
    try temporary.write("right.toml", "inherits = 'base'\nscopes.limit = 3")
    try temporary.write("both.toml", "inherits = ['left', 'right']\naudit.observe = true")
    let resolved = try PolicyLibrary(directories: [temporary.url]).resolve("both")
    #expect(
      resolved.policy.lineage.map { ($0 as NSString).lastPathComponent } == [
        "both.toml", "right.toml", "left.toml", "base.toml",
      ])
    let settings = resolved.policy.settings
    // What base says does not come back with the second one.
    #expect(settings.scopeLimit == 3 && settings.network == .none && settings.execute && settings.observe)
    let network = try #require(PolicyOrigins(of: resolved)["network.access"])
    #expect(network.file == temporary.path + "/left.toml" && network.position.line == 3)
  }

  @Test func `a circle through any of them is named, at the name that closes it`() throws {
    let temporary = try TemporaryFolder()
    try temporary.write("a.toml", "inherits = ['teach', 'b']")
    try temporary.write("b.toml", "\ninherits = ['default',\n  'a']")
    let library = PolicyLibrary(directories: [temporary.url])
    #expect {
      try library.load("a")
    } throws: { error in
      let folder = temporary.path
      return "\(error)"
        == "\(folder)/b.toml:3:3: inherits goes round in a circle: \(folder)/a.toml → \(folder)/b.toml → \(folder)/a.toml; "
        + "take one of the steps out"
    }
  }
}
