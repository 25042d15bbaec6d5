import Policy
import Testing

@testable import Scenario

@Suite struct TemplateTests {
  static let cases: [(String, String)] = [
    ("", ""), ("plain", "plain"), ("${home}", "/h"), ("a${home}b${x}c", "a/hb1c"), ("$home {x}", "$home {x}"),
    ("$${home}", "${home}"), ("${container:io.ambit.demo}/Documents", "/c/io.ambit.demo/Documents"),
  ]

  private var variables: Variables {
    var variables = Variables(
      home: "/h", here: "/w", apps: "/a", scratch: "/s", ambit: "/x", agent: "", containers: "/c")
    variables["x"] = "1"
    return variables
  }

  @Test(arguments: cases) func `variables are replaced and nothing else`(example: (String, String)) throws {
    #expect(try variables.expand(Template(parsing: example.0)) == example.1)
  }

  @Test func `a value is not expanded again`() throws {
    var variables = variables
    variables["y"] = "${home}"
    #expect(try variables.expand(Template(parsing: "${y}")) == "${home}")
  }

  @Test func `a variable without value is an error that names it`() throws {
    #expect(throws: Variables.Undefined(name: "z")) { try variables.expand(Template(parsing: "${z}")) }
  }
}

@Suite struct ExpectationTests {
  private let variables = Variables(home: "/h.e", here: "", apps: "", scratch: "", ambit: "", agent: "", containers: "")

  private func expectation(_ build: (inout TextExpectation) -> Void) -> TextExpectation {
    var expectation = TextExpectation.anything
    build(&expectation)
    return expectation
  }

  private func holds(_ expectation: TextExpectation, _ text: String) -> Bool {
    (try? expectation.judge(text, variables)) != nil
  }

  @Test func `each condition tells texts apart`() throws {
    let home = try Template(parsing: "${home}")
    let json = #"{"used": 8, "holders": [{"name": "a.txt", "ok": true}], "document.path": "/d"}"#
    func field(_ path: String, _ value: String) -> TextExpectation {
      expectation { $0.json = [TextExpectation.JSONField(path: path, value: Template(text: value))] }
    }
    let table: [(TextExpectation, String, Bool)] = [
      (.anything, "x", true),
      (.equal(to: "a"), "a", true), (.equal(to: "a"), "a\n", true), (.equal(to: "a\n"), "a", true),
      (.equal(to: "a"), "a\n\n", false), (.equal(to: "a"), "b", false),
      (expectation { $0.contains = [home] }, "x /h.e y", true), (expectation { $0.contains = [home] }, "/hxe", false),
      (expectation { $0.lacks = [home] }, "x /h.e y", false), (expectation { $0.lacks = [home] }, "/hxe", true),
      (expectation { $0.starts = home }, "/h.e y", true), (expectation { $0.starts = home }, "y /h.e", false),
      (expectation { $0.matches = home }, "/h.e", true), (expectation { $0.matches = home }, "/hxe", false),
      (expectation { $0.lines = 0 }, "", true), (expectation { $0.lines = 2 }, "a\nb\n", true),
      (expectation { $0.lines = 2 }, "a", false),
      (field("used", "8"), json, true), (field("used", "9"), json, false), (field("unused", "8"), json, false),
      (field("holders.0.name", "a.txt"), json, true), (field("holders.1.name", "a.txt"), json, false),
      (field("holders.0.ok", "true"), json, true), (field("document.path", "/d"), json, true),
      (field("used", "8"), "no json", false),
    ]
    for (expectation, text, isRight) in table {
      #expect(holds(expectation, text) == isRight, "\(expectation) on \(text)")
    }
  }

  @Test func `what is kept is the first group of the pattern, or the text`() throws {
    #expect(try TextExpectation.anything.judge("ab\n", variables) == "ab")
    #expect(try expectation { $0.matches = Template(text: "a(.)c") }.judge("xabc", variables) == "b")
    #expect(try expectation { $0.matches = Template(text: "b") }.judge("abc", variables) == "abc")
  }
}

@Suite struct SmallTextTests {
  @Test func `any text that is quoted is read back from TOML unchanged`() throws {
    var generator = SystemRandomNumberGenerator()
    let alphabet: [Unicode.Scalar] = [
      "a", "\"", "\\", "\n", "\t", "\u{0}", "\u{1f}", "\u{7f}", "é", "😀", "'", "#", "]",
    ]
    for _ in 0..<500 {
      var text = ""
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        text.unicodeScalars.append(alphabet.randomElement(using: &generator) ?? "a")
      }
      // No file may hold NUL, and no path either.
      text = text.replacing("\u{0}", with: "")
      let top = try StrictTOML.parse("x = \(TOMLText.quoted(text))", file: "t")
      #expect(try top.string("x") == text)
    }
  }

  @Test func `signals have the names and numbers of the manual`() {
    let table: [(String, Int32?)] = [
      ("KILL", 9), ("SIGTERM", 15), ("INT", 2), ("SYS", 31), ("34", 34), ("0", nil), ("65", nil), ("KILT", nil),
    ]
    for (name, number) in table { #expect(SignalName.number(of: name) == number, "\(name)") }
    #expect(SignalName.name(of: 9) == "SIGKILL")
    #expect(SignalName.name(of: 40) == "signal 40")
  }

  @Test func `what is shown has short paths, no escape codes and a bounded length`() {
    let display = Display(home: "/tmp/s/home", apps: "/tmp/apps", scratch: "/tmp/s", containers: "/tmp/s/c")
    #expect(display.line("/tmp/s/c/io.x/Library") == "container:io.x/Library")
    #expect(display.line("/tmp/s/home/a in /tmp/s/x of /tmp/apps/T.app") == "~/a in ${scratch}/x of T.app")
    #expect(!display.line("\u{1b}[2Jgone\u{202e}").unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x202e })
    #expect(display.line(String(repeating: "x", count: 500)).count == 100)
    #expect(display.tail("1\n2\n3\n", lines: 2) == ["… 1 lines before", "2", "3"])
  }
}
