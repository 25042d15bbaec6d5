import Sandbox
import Testing

@testable import Policy

/// The description of the fields is what everything else is made from, so it has to be whole.
@Suite struct PolicyFieldTests {
  private static func overrides(_ field: PolicyField) throws -> PolicyOverrides {
    try PolicyOverrides(StrictTOML.parse("\(field.name) = \(field.example)", file: "/p/x.toml"))
  }

  @Test func `the example of every field is read, and sets that field and no other`() throws {
    for field in PolicyField.all {
      let overrides = try Self.overrides(field)
      let set = PolicyField.all.filter { $0.access.isSet(overrides) }.map(\.name)
      #expect(set == [field.name])
    }
  }

  @Test func `the decoder asks for the keys that are described and for no others`() throws {
    for field in PolicyField.all {
      let table = try StrictTOML.parse("", file: "x.toml")
      var overrides = PolicyOverrides()
      try field.access.decode(table, &overrides)
      #expect(table.asked == [field.key], "\(field.name)")
    }
    let names = PolicyField.all.map(\.name)
    #expect(Set(names).count == names.count)
    // A key is known by these names alone.
    #expect(complaint("[limits]\nmemory_ = 1")?.contains("unknown key \"memory_\"") == true)
  }

  @Test func `whatever a file can say has a field, and whatever settings hold`() throws {
    var said: Set<String> = []
    var held: Set<String> = []
    let closed = Self.leaves(PolicySettings.closed)
    for field in PolicyField.all {
      let overrides = try Self.overrides(field)
      for (label, value) in Mirror(reflecting: overrides).children {
        if let label, !Self.isNil(value) { said.insert(label) }
      }
      // From a start that differs from each example.
      let changed = Self.leaves(PolicySettings.closed.overridden(by: overrides))
      held.formUnion(changed.filter { closed[$0.key] != $0.value }.map(\.key))
    }
    let sayable = Mirror(reflecting: PolicyOverrides()).children.compactMap(\.label)
    #expect(Set(sayable).subtracting(said) == [])
    #expect(Set(closed.keys).subtracting(held) == ["furtherSeccompProfiles"])
  }

  /// Stored properties by path, as text.
  private static func leaves(_ value: Any, _ path: String = "") -> [String: String] {
    var result: [String: String] = [:]
    for (label, child) in Mirror(reflecting: value).children {
      guard let label else { continue }
      let name = path.isEmpty ? label : "\(path).\(label)"
      if child is Capabilities.Limits || child is PickerRules || child is BookmarkRules {
        result.merge(leaves(child, name)) { $1 }
      } else {
        result[name] = "\(child)"
      }
    }
    return result
  }

  private static func isNil(_ value: Any) -> Bool {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
  }

  @Test func `every field says what it means and what a machine-wide policy does to it`() {
    for field in PolicyField.all {
      #expect(field.meaning.hasSuffix("."), "\(field.name)")
      #expect(!field.narrowing.isEmpty && !field.narrowing.hasSuffix("."), "\(field.name)")
      #expect(!field.forms.isEmpty, "\(field.name)")
    }
  }

  @Test func `what settings have is written as it is read`() throws {
    for name in PolicyLibrary(directories: []).names {
      let settings = try PolicyLibrary(directories: []).load(name).settings
      let text = PolicyField.all.compactMap { field in field.text(in: settings).map { "\(field.name) = \($0)\n" } }
        .joined()
      let again = try PolicyOverrides(StrictTOML.parse(text, file: "/p/x.toml"))
      #expect(PolicySettings.closed.overridden(by: again) == settings, "\(name)")
    }
    for field in PolicyField.all where field.table != nil {
      let settings = PolicySettings.closed.overridden(by: try Self.overrides(field))
      let text = try #require(field.text(in: settings))
      let again = try PolicyOverrides(StrictTOML.parse("\(field.name) = \(text)", file: "/p/x.toml"))
      #expect(PolicySettings.closed.overridden(by: again) == settings, "\(field.name) = \(text)")
    }
  }

  @Test(arguments: [
    (
      "grants.lifetime = \"8 h\"",
      "x.toml:1:19: grants.lifetime must be \"forever\", \"launch\", a duration such as \"8h\" or \"30d\", or an array of \"launch\" and a duration, and is a string (\"8 h\")"
    ),
    (
      "grants.lifetime = []",
      "x.toml:1:19: grants.lifetime must be \"forever\", \"launch\", a duration such as \"8h\" or \"30d\", or an array of \"launch\" and a duration, and is an array"
    ),
    (
      "grants.lifetime = [\"forever\"]",
      "x.toml:1:20: grants.lifetime must be \"forever\", \"launch\", a duration such as \"8h\" or \"30d\", or an array of \"launch\" and a duration, and has in it \"forever\""
    ),
    (
      "picker.modes = [\"opne\"]",
      "x.toml:1:17: picker.modes has \"opne\", which is no mode; did you mean \"open\"? Modes: open, import, export, move."
    ),
    (
      "picker.types = \"txt\"",
      "x.toml:1:16: picker.types must be \"any\", or an array of content types and extensions without dot, and is a string (\"txt\")"
    ),
    (
      "picker.types = [\".txt\"]",
      "x.toml:1:17: picker.types cannot have \".txt\": an extension is written without its dot"
    ),
    (
      "picker.types = [\"public.imag\"]",
      "x.toml:1:17: picker.types cannot have \"public.imag\": this version knows no such content type; did you mean \"public.image\"? Name its extensions instead"
    ),
    (
      "grants.access = \"readonly\"",
      "x.toml:1:17: grants.access must be \"read-only\" or \"read-write\", and is a string (\"readonly\"); did you mean \"read-only\"?"
    ),
    (
      "bookmarks.lifetime = 5",
      "x.toml:1:22: bookmarks.lifetime must be \"forever\" or a duration such as \"90s\", \"8h\" or \"30d\", and is an integer (5)"
    ),
    ("inherits = [\"a\", \"a\"]", "x.toml:1:18: inherits has \"a\" twice; take one out"),
    ("inherits = 5", "x.toml:1:12: inherits must be the name of a policy, or an array of names, and is an integer (5)"),
  ])
  func `a mistake in a newer field is named with its place`(text: String, message: String) {
    #expect(complaint(text) == message)
  }
}
