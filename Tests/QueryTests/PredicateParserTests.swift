import Query
import TestSupport
import Testing

@Suite struct `The parser of predicates` {
  /// A format and the text of the predicate that it stands for.
  static let forms: [(String, String)] = [
    ("TRUEPREDICATE", "TRUEPREDICATE"),
    ("falsepredicate", "FALSEPREDICATE"),
    ("kMDItemFSName == 'a'", "kMDItemFSName == \"a\""),
    ("kMDItemFSName = \"a\"", "kMDItemFSName == \"a\""),
    ("kMDItemFSName <> 'a'", "kMDItemFSName != \"a\""),
    ("kMDItemFSSize => 5", "kMDItemFSSize >= 5"),
    ("kMDItemFSSize =< -5.5", "kMDItemFSSize <= -5.5"),
    ("kMDItemFSSize BETWEEN {1, 1e3}", "kMDItemFSSize BETWEEN {1, 1000.0}"),
    ("kMDItemFSName beginswith[c] 'A'", "kMDItemFSName BEGINSWITH[c] \"A\""),
    ("kMDItemFSName CONTAINS[dc] 'é'", "kMDItemFSName CONTAINS[cd] \"é\""),
    ("kMDItemFSName ENDSWITH[d]'x'", "kMDItemFSName ENDSWITH[d] \"x\""),
    ("kMDItemFSName LIKE '*.t?t'", "kMDItemFSName LIKE \"*.t?t\""),
    ("kMDItemFSName MATCHES '[a-z]+\\\\.txt'", "kMDItemFSName MATCHES \"[a-z]+\\\\.txt\""),
    ("kMDItemFSName IN {'a', 'b'}", "kMDItemFSName IN {\"a\", \"b\"}"),
    ("kMDItemFSName IN {}", "kMDItemFSName IN {}"),
    ("'a' IN kMDItemContentTypeTree", "\"a\" IN kMDItemContentTypeTree"),
    ("ANY kMDItemContentTypeTree == 'public.text'", "kMDItemContentTypeTree == \"public.text\""),
    ("a == 1 AND b == 2 AND c == 3", "a == 1 AND b == 2 AND c == 3"),
    ("a == 1 && b == 2 || c == 3", "(a == 1 AND b == 2) OR c == 3"),
    ("a == 1 AND (b == 2 or c == 3)", "a == 1 AND (b == 2 OR c == 3)"),
    ("NOT a == 1", "NOT (a == 1)"),
    ("!(a == 1) AND !b == 2", "NOT (a == 1) AND NOT (b == 2)"),
    ("NOT (a == 1 OR b == 2)", "NOT (a == 1 OR b == 2)"),
    ("((a == 1))", "a == 1"),
    ("a == YES AND b == no AND c == NIL", "a == TRUE AND b == FALSE AND c == nil"),
    ("#size == 1", "#size == 1"),
    ("a.b.c == 1", "a.b.c == 1"),
    ("a == 'it\\'s\\n\\u0041'", "a == \"it's\\nA\""),
    ("a == CAST(12.5, 'NSDate')", "a == CAST(12.5, \"NSDate\")"),
    ("  a  ==  1  ", "a == 1"),
  ]

  @Test(arguments: forms) func `reads each form, and what it prints as the same`(_ form: (String, String)) throws {
    let predicate = try PredicateParser.parse(form.0)
    #expect(predicate.description == form.1)
    #expect(try PredicateParser.parse(form.1) == predicate)
  }

  @Test func `puts arguments in the place of placeholders`() throws {
    let arguments: [PredicateArgument] = [
      .value(.text("kMDItemFSName")), .value(.text("a\"b\\")), .value(.integer(5)), .value(.number(1.5)),
      .value(.date(100)), .value(.list([.text("x"), .integer(1)])), .value(.none),
    ]
    let predicate = try PredicateParser.parse(
      "%K == %@ AND b > %ld AND c < %f AND d > %@ AND e IN %@ AND f != %@", arguments)
    #expect(
      predicate.description
        == "kMDItemFSName == \"a\\\"b\\\\\" AND b > 5 AND c < 1.5 AND d > CAST(100.0, \"NSDate\") AND e IN {\"x\", 1} AND f != nil"
    )
    #expect(try PredicateParser.parse(predicate.description) == predicate)
  }

  /// A format, its problem and where it is.
  static let faults: [(String, PredicateFault.Problem, Int)] = [
    ("", .syntax("the end stands where a key or a value could be"), 0),
    ("a", .syntax("the end stands where a comparison could be"), 1),
    ("a ==", .syntax("the end stands where a key or a value could be"), 4),
    ("a == 1 b == 2", .syntax("“b” stands where the predicate could end"), 7),
    ("(a == 1", .syntax("the end stands where a parenthesis could close"), 7),
    ("a == 'x", .syntax("a quotation mark is missing"), 5),
    ("a BETWEEN {1}", .syntax("BETWEEN takes two values, as in {1, 9}"), 10),
    ("a == {1, 2}", .syntax("a list needs IN or BETWEEN"), 5),
    ("a CONTAINS[x] 'b'", .syntax("the options are [c], [d] and [cd]"), 10),
    ("a CONTAINS[n] 'b'", .unsupported("the option [n]"), 10),
    ("a == %@", .argument("an argument is missing for “%@”"), 5),
    ("ALL a == 1", .unsupported("ALL"), 0),
    ("SELF == 1", .unsupported("SELF"), 0),
    ("SUBQUERY(a, $x, $x == 1)", .unsupported("SUBQUERY"), 0),
    ("a.@count == 1", .syntax("“a.” is no key"), 0),
    ("@avg.a == 1", .unsupported("a collection operator (“@…”)"), 0),
    ("$x == 1", .unsupported("a variable (“$…”)"), 0),
    ("a + 1 == 2", .unsupported("arithmetic"), 2),
    ("sum(a) == 2", .unsupported("a function (“sum(…)”)"), 0),
    ("a UTI-CONFORMS-TO 'b'", .unsupported("UTI-CONFORMS-TO"), 2),
    ("a MATCHES '('", .pattern("a parenthesis is missing"), 10),
    ("a MATCHES '(?=x)'", .pattern("groups with “(?” are not supported, but for “(?:”"), 10),
    ("a MATCHES b", .unsupported("a pattern that is no text"), 10),
    ("a == 99999999999999999999", .syntax("“99999999999999999999” is too large a number"), 5),
    ("a == 1\u{0}", .syntax("“\u{0}” means nothing here"), 6),
  ]

  @Test(arguments: faults) func `says what is wrong, and where`(
    _ fault: (format: String, problem: PredicateFault.Problem, at: Int)
  ) {
    #expect(throws: PredicateFault(fault.problem, at: fault.at)) { try PredicateParser.parse(fault.format) }
  }

  @Test func `refuses arguments that are too many or of another kind`() {
    #expect(throws: PredicateFault.self) { try PredicateParser.parse("a == 1", [.value(.integer(1))]) }
    #expect(throws: PredicateFault.self) { try PredicateParser.parse("a == %d", [.value(.text("x"))]) }
    #expect(throws: PredicateFault.self) { try PredicateParser.parse("%K == 1", [.value(.text("a b"))]) }
    #expect(throws: PredicateFault.self) { try PredicateParser.parse("a == %@", [.other("Data")]) }
    #expect(throws: PredicateFault.self) { try PredicateParser.parse("a == %f", [.value(.number(.nan))]) }
  }

  @Test func `has limits for every size`() throws {
    func isTooLarge(_ text: String) -> Bool {
      do throws(PredicateFault) { _ = try PredicateParser.parse(text) } catch {
        if case .tooLarge = error.problem { return true }
      }
      return false
    }
    #expect(isTooLarge("a == '" + String(repeating: "x", count: 1 << 20) + "'"))
    #expect(isTooLarge(String(repeating: "(", count: 5000) + "a == 1"))
    #expect(isTooLarge(String(repeating: "!", count: 5000) + "a == 1"))
    #expect(isTooLarge(Array(repeating: "a == 1", count: 513).joined(separator: " OR ")))
    #expect(isTooLarge("a IN {" + Array(repeating: "1", count: 513).joined(separator: ",") + "}"))
    #expect(isTooLarge(Array(repeating: "a LIKE 'x*'", count: 17).joined(separator: " OR ")))
    // The same just within the limits, and printed within them as well.
    let deep = String(repeating: "!", count: 32) + "a == 1"
    #expect(try PredicateParser.parse(try PredicateParser.parse(deep).description) == PredicateParser.parse(deep))
  }

  /// Any text ends in a value or an error; and what is printed is read as the same.
  @Test func `reads any text`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = Seeded(seed: seed)
    let pieces = [
      "a", "kMDItemFSName", "==", "!", "(", ")", "AND", "OR", "NOT", "'x'", "\"", "'", "\\", "{", "}", ",", "1", "-",
      "2.5", "%@", "%K",
      "IN", "LIKE", "MATCHES", "'[a-'", "'a*'", "[cd]", "[", "BETWEEN", "TRUEPREDICATE", "CAST(", "NSDate", "é",
      "\u{0}", "#", "@", "$",
    ]
    for _ in 0..<20_000 {
      let count = Int.random(in: 0..<12, using: &random)
      let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined(separator: " ")
      guard let predicate = try? PredicateParser.parse(text) else { continue }
      #expect(try PredicateParser.parse(predicate.description) == predicate, "seed \(seed): \(text)")
    }
  }
}
