import Testing

@testable import Policy

@Suite struct StrictTOMLTests {
  private func complaint(_ text: String, _ read: (TOMLReader) throws -> Void) -> String? {
    do {
      let top = try StrictTOML.parse(text, file: "s.toml")
      try read(top)
      try top.finish()
      return nil
    } catch {
      return "\(error)"
    }
  }

  // MARK: - Where things are

  /// Every key and value of a document with its place, as `path key-place value-place`.
  private func places(_ node: TOMLNode, _ path: String = "") -> [String] {
    func text(_ position: SourcePosition) -> String { "\(position.line):\(position.column)" }
    switch node.value {
    case .table(let entries):
      return entries.flatMap { entry in
        ["\(path)\(entry.key) \(text(entry.position)) \(text(entry.node.position))"]
          + places(entry.node, "\(path)\(entry.key).")
      }
    case .array(let elements):
      return elements.enumerated().flatMap { index, element in
        ["\(path)\(index) \(text(element.position))"] + places(element, "\(path)\(index).")
      }
    default:
      return []
    }
  }

  @Test(
    arguments: [
      ("a = 1", ["a 1:1 1:5"]),
      ("\u{FEFF}a = 1", ["a 1:1 1:5"]),
      ("\r\n  a   =\t'x' # b = 2\r\nb=2", ["a 2:3 2:9", "b 3:1 3:3"]),
      ("a.b.c = 1\na.d = 2", ["a 1:1 1:1", "a.b 1:3 1:3", "a.b.c 1:5 1:9", "a.d 2:3 2:7"]),
      ("[a . \"b c\"]\nd = 1", ["a 1:2 1:2", "a.b c 1:6 1:6", "a.b c.d 2:1 2:5"]),
      ("'é' = 'é'\n\"\\u00e9x\" = 1", ["é 1:1 1:7", "éx 2:1 2:13"]),
      (
        "a = { b = 1, 'c' = [1, { d = 2 }] }",
        [
          "a 1:1 1:5", "a.b 1:7 1:11", "a.c 1:14 1:20", "a.c.0 1:21", "a.c.1 1:24", "a.c.1.d 1:26 1:30",
        ]
      ),
      (
        "[[s]]\nx = 1\n[s.t]\ny = 2\n[[s]]\nx = 3\n[[s.u]]\n[[s.u]]\nz = 4",
        [
          "s 1:3 1:3", "s.0 1:3", "s.0.x 2:1 2:5", "s.0.t 3:4 3:4", "s.0.t.y 4:1 4:5", "s.1 5:3", "s.1.x 6:1 6:5",
          "s.1.u 7:5 7:5", "s.1.u.0 7:5", "s.1.u.1 8:5", "s.1.u.1.z 9:1 9:5",
        ]
      ),
      (
        "a = \"\"\"\n[b]\nc = 1 \\\" \"\"\" # x\nd = '''\n'e = ''' \nf = [ # g = 1\n 1, # ]\n\n 2,\n]\nh = 1979-05-27 07:32:00",
        [
          "a 1:1 1:5", "d 4:1 4:5", "f 6:1 6:5", "f.0 7:2", "f.1 9:2", "h 11:1 11:5",
        ]
      ),
      ("a = \"\"\"\"x\"\"\"\"\"\nb = ''\nc = \"\\\\\"\nd = 1", ["a 1:1 1:5", "b 2:1 2:5", "c 3:1 3:5", "d 4:1 4:5"]),
    ] as [(String, [String]?)])
  func `every key and value has the place where it is written`(text: String, expected: [String]?) throws {
    guard let expected else { return }
    #expect(places(try StrictTOML.parse(text, file: "s.toml").node) == expected)
  }

  // MARK: - Accessors

  @Test func `values of every type are read`() throws {
    let top = try StrictTOML.parse(
      """
      s = "x"
      i = -3
      f = 1.5
      b = true
      a = ["x", "y"]
      t = { z = "1", a = "2" }
      w = "two"
      [[step]]
      open = "a"
      [[step]]
      open = "b"
      """, file: "s.toml")
    #expect(try top.string("s") == "x")
    #expect(try top.integer("i") == -3)
    #expect(try top.number("i") == -3)
    #expect(try top.number("f") == 1.5)
    #expect(try top.boolean("b") == true)
    #expect(try top.strings("a") == ["x", "y"])
    #expect(try top.stringTable("t")?.map(\.key) == ["z", "a"])
    #expect(try top.stringTable("t")?.map(\.value) == ["1", "2"])
    #expect(try top.choice("w", of: ["one", "two"]) == "two")
    let steps = try #require(try top.tables("step"))
    #expect(try steps.map { step in try step.require("open", step.string("open")) } == ["a", "b"])
    #expect(top.keys == ["s", "i", "f", "b", "a", "t", "w", "step"])
    #expect(try top.string("none") == nil)
    #expect(try top.integer("none") == nil)
    #expect(try top.boolean("none") == nil)
    #expect(try top.strings("none") == nil)
    #expect(try top.table("none") == nil)
    #expect(try top.tables("none") == nil)
    try top.finish()
  }

  @Test func `errors name the place and the path of the key`() {
    let steps = "[[step]]\nopen = 'a'\n[[step]]\nopn = 'b'\n"
    #expect(
      complaint(steps) { top in for step in try top.tables("step") ?? [] { _ = try step.string("open") } }
        == "s.toml:4:1: unknown key \"opn\" in [[step]] 2; did you mean \"open\"? Known keys: open.")
    #expect(
      complaint(steps) { top in
        for step in try top.tables("step") ?? [] { _ = try step.require("open", step.string("open")) }
      } == "s.toml:4:1: step[2].open is missing; is it meant by \"opn\"?")
    #expect(
      complaint("step = [{ open = 1 }]") { top in
        for step in try top.tables("step") ?? [] { _ = try step.string("open") }
      }
        == "s.toml:1:18: step[1].open must be a string, and is an integer (1)")
    #expect(
      complaint("step = [1]") { _ = try $0.tables("step") }
        == "s.toml:1:9: step must hold tables ([[step]]), and has in it an integer (1)")
    #expect(
      complaint("[[a]]\n[[a.b]]\nc = 1") { top in for a in try top.tables("a") ?? [] { _ = try a.tables("b") } }
        == "s.toml:3:1: unknown key \"c\" in [[a[1].b]] 1. No keys are known here.")
    #expect(
      complaint("n = nan") { _ = try $0.number("n") }
        == "s.toml:1:5: n must be a number, and is a number with a fraction (nan)")
    #expect(
      complaint("'a b' = 1") { top in throw top.error("a b", "is no good") } == "s.toml:1:9: \"a b\" is no good")
    #expect(
      complaint("\n[t]\n") { top in _ = try top.table("t").map { t in throw t.error("x", "is no good") } }
        == "s.toml:2:2: t.x is no good")
  }

  @Test func `a key is as long as a word, and a text has no endless row of marks`() {
    let long = String(repeating: "a", count: 257)
    let errors = ["\n[\(long)]", "\n\(long) = 1", "x = \"a\(String(repeating: "\u{301}", count: 129))\""].map { text in
      #expect(throws: SourceError.self) { try StrictTOML.parse(text, file: "x.toml") }?.description ?? ""
    }
    #expect(errors[0].hasPrefix("x.toml:2:2: "), "\(errors[0])")
    #expect(errors[1].hasPrefix("x.toml:2:1: "), "\(errors[1])")
    #expect(errors[2].contains("combining marks"), "\(errors[2])")
    #expect(throws: Never.self) { try StrictTOML.parse("\(long.dropLast()) = 1", file: "x.toml") }
  }

  @Test func `of a file that is not one at all as much is named as anybody reads, the first of it first`() {
    let text = (0..<20_000).map { "k\($0) = 1" }.joined(separator: "\n")
    let error = #expect(throws: SourceError.self) { try StrictTOML.parse(Array(text.utf8), file: "s.toml").finish() }
    #expect(error?.all.map(\.position.line) == Array(1...100))
  }

  @Test func `of several unknown keys the first in the file is named, and where the others are`() {
    #expect(
      complaint("[b]\nx = 1\n[a]\ny = 1") { top in _ = (try top.table("a"), try top.table("b")) }
        == "s.toml:2:1: unknown key \"x\" in [b]. No keys are known here. More is wrong in line 4.")
  }

  // MARK: - What is no TOML

  @Test(arguments: [
    ("a = ", 1), ("a = 1\nb = \n", 2), ("a = 1\na = 2", 2), ("[a]\n[a]", 2), ("a = \"x", 1), ("\n\n]", 3),
    ("a = 01", 1),
    ("a", 1), ("= 1", 1), ("a = {", 1), ("a = [1,\n\n", 3), ("a = 99999999999999999999", 1), ("a = \"\\q\"", 1),
    ("a = 1 b = 2", 1), ("[a.]", 1), ("a.b = 1\na = 2", 2), ("a = { b = 1 }\n[a.c]", 2),
  ])
  func `a mistake in TOML itself has its line`(text: String, line: Int) {
    let message = complaint(text) { _ in }
    #expect(message?.hasPrefix("s.toml:\(line):") == true, "\(message ?? "taken")")
    #expect(message?.contains(": this is not valid TOML: ") == true, "\(message ?? "taken")")
    #expect(message?.contains("\n") == false)
  }

  @Test(arguments: [
    (
      "a = yes",
      "1:5: this is not valid TOML: \"yes\" is no number, boolean or date; if it is text, put quotes around it"
    ),
    ("a = ", "1:5: this is not valid TOML: expected a value, and the file ends"),
    ("a =\nb = 1", "1:4: this is not valid TOML: expected a value, and the line ends"),
    ("a = \"x\nb = 1", "1:5: this is not valid TOML: a string begins here and does not end"),
    ("a 1", "1:3: this is not valid TOML: expected '=', found \"1\""),
    ("a = 1 b = 2", "1:7: this is not valid TOML: expected the end of the line, found \"b\""),
    ("[=]", "1:2: this is not valid TOML: expected a key, found \"=\""),
    ("[a", "1:3: this is not valid TOML: expected ']', and the file ends"),
    ("a = [1 2]", "1:8: this is not valid TOML: expected ',' or ']', found \"2\""),
    (
      "a = \"\\q\"",
      "1:6: this is not valid TOML: a string has an escape that TOML does not know; write \\\\ for a backslash"
    ),
    ("é = 1", "1:1: this is not valid TOML: expected a key, found \"é\""),
    ("a = 1\r", "1:6: this is not valid TOML: expected the end of the line, found \"\\r\""),
  ])
  func `a mistake in TOML itself is explained`(text: String, message: String) {
    #expect(complaint(text) { _ in } == "s.toml:" + message)
  }

  @Test(arguments: [
    "0", "-0", "+1", "1_000", "0xDEAD_beef", "0o17", "0b1", "1.5", "1e3", "-1.5E+3", "6.626e-34", "inf", "-inf", "+nan",
    "true",
    "false", "1979-05-27", "07:32:00", "07:32:00.999", "1979-05-27T07:32:00", "1979-05-27 07:32:00Z",
    "1979-05-27t07:32:00.5-07:00", "1979-05-27T07:32:00+00:00",
  ])
  func `every form of a plain value is taken`(text: String) {
    #expect(complaint("a = \(text)\nb = [\(text), \(text)]") { _ = ($0.value("a"), $0.value("b")) } == nil)
  }

  @Test(arguments: [
    "01", "1__0", "_1", "1_", "0x", "0xG", "-0x1", "0X1", "1.", ".5", "1.e3", "1e", "1_.5", "True", "infinity",
    "1979-5-27",
    "1979-05-27T", "1979-05-27T:32:00", "07:32", "07:32:00.", "07:32:00Z", "1979-05-27T07:32:00+1",
    "1979-05-27  07:32:00",
    "1979-05-27 0,7", "99999999999999999999", "1979-13-01", "1979-02-30", "25:00:00",
  ])
  func `every other form is an error`(text: String) {
    #expect(complaint("a = \(text)") { _ = $0.value("a") }?.hasPrefix("s.toml:1:") == true)
  }

  @Test func `text that is not UTF-8 is refused where it stops being so`() {
    for (bytes, place) in [
      ([0x61, 0x20, 0x3D, 0x0A, 0xC3, 0xA9, 0xFF], "2:2"), ([0xFF], "1:1"), ([0xC3], "1:1"),
      ([0x61, 0xED, 0xA0, 0x80], "1:2"),
    ] as [([UInt8], String)] {
      do {
        _ = try StrictTOML.parse(bytes, file: "s.toml")
        Issue.record("taken")
      } catch {
        #expect(error.description == "s.toml:\(place): the text is not UTF-8; save the file as UTF-8")
      }
    }
  }

  @Test func `the character NUL is refused, written and escaped`() {
    #expect(complaint("a = 1\n\0b = 2") { _ in } == "s.toml:2:1: the character NUL cannot stand here; take it out")
    let expected = "a string cannot hold the character NUL; take it out"
    #expect(complaint("a = \"x\\u0000y\"") { _ in } == "s.toml:1:7: \(expected)")
    #expect(complaint("a = [{\"x\\U00000000\" = 1}]") { _ in } == "s.toml:1:9: \(expected)")
    #expect(complaint("a = \"\"\"\n\\u0000\"\"\"") { _ in } == "s.toml:2:1: \(expected)")
    #expect(complaint("a = '\\u0000'") { _ = try $0.string("a") } == nil)
  }

  // In parts: the arguments of a case are printed, and the whole text would be a line of megabytes.
  @Test(arguments: [
    ("[", "a.", "a]"), ("", "a.", "a = 1"), ("", "'a'.", "a = 1"), ("a = ", "[", ""), ("a = ", "{ a = ", ""),
    ("a = [", "a.", "a"), ("a = { ", "a . ", "a = 1 }"), ("[[", "a.", "a]]"),
  ])
  func `a document nested without end is an error and no crash`(before: String, repeated: String, after: String) {
    let text = before + String(repeating: repeated, count: 150_000) + after
    let message = complaint(text) { _ in }
    #expect(message?.hasPrefix("s.toml:1:") == true)
  }

  @Test func `a document of ordinary depth is taken`() {
    let deep = "[" + (0..<20).map { "k\($0)" }.joined(separator: ".") + "]\na.b.c = [[[1]]]"
    #expect(complaint(deep) { _ = $0.value("k0") } == nil)
  }

  @Test func `a document larger than any is refused`() {
    #expect(
      complaint(String(repeating: "#", count: (1 << 20) + 1)) { _ in }
        == "s.toml:1:1: the file is larger than 1 MiB; is it the right one?")
  }

  // MARK: - Distances

  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("", "ab", 2), ("limt", "limit", 1), ("ilmit", "limit", 1), ("limit", "limit", 0),
    ("kitten", "sitting", 3), ("ab", "ba", 1), ("abc", "xyz", 3),
  ])
  func `the distance between words counts single changes`(left: String, right: String, distance: Int) {
    #expect(editDistance(left, right) == distance)
    #expect(editDistance(right, left) == distance)
  }

  @Test func `a hint is given only for what is near`() {
    let words = ["limit", "references"]
    #expect(words.nearest(to: "limits") == "limit")
    #expect(words.nearest(to: "LIMIT") == "limit")
    #expect(words.nearest(to: "refrences") == "references")
    #expect(words.nearest(to: "colour") == nil)
    #expect(words.nearest(to: String(repeating: "x", count: 100_000)) == nil)
    #expect(["b", "a"].nearest(to: "c") == "a")
  }
}
