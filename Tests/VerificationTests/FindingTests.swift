import Testing

@testable import Verification

/// The rules that make a verdict of attempts, as values.
@Suite struct `A finding` {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var inside: [Attempt]
    var controls: [Attempt] = []
    var allowances: Set<Allowance> = []
    var verdict: Finding.Verdict
    var evidence: String
    var control: String?
  }

  private static func attempt(
    _ name: String, _ outcome: Attempt.Outcome, _ error: String? = nil, _ text: String = "text"
  ) -> Attempt {
    Attempt("F5", name, outcome, error: error, text)
  }

  private static let cases = [
    Case(
      testDescription: "refused inside, reached outside",
      inside: [attempt("a", .refused, "EPERM")], controls: [attempt("a", .reached)],
      verdict: .contained, evidence: "a EPERM", control: "works outside"),
    Case(
      testDescription: "reached inside, whatever the other attempts did",
      inside: [attempt("a", .refused, "EPERM"), attempt("b", .reached, nil, "in")], controls: [attempt("b", .reached)],
      verdict: .escaped, evidence: "b: in", control: "1 of 2 work outside"),
    Case(
      testDescription: "reached inside and not outside is an escape all the same",
      inside: [attempt("a", .reached, nil, "in")], controls: [attempt("a", .refused, "EPERM")],
      verdict: .escaped, evidence: "a: in"),
    Case(
      testDescription: "refused on both sides: contained, and what it is worth is said",
      inside: [attempt("a", .refused, "EPERM")], controls: [attempt("a", .refused, "EACCES")],
      verdict: .contained, evidence: "a EPERM (control not possible: a EACCES)"),
    Case(
      testDescription: "a control of another attempt proves nothing",
      inside: [attempt("a", .refused, "EPERM")], controls: [attempt("b", .reached)],
      verdict: .contained, evidence: "a EPERM (control not possible: b: text)"),
    Case(
      testDescription: "no control at all",
      inside: [attempt("a", .refused, nil, "not there")],
      verdict: .contained, evidence: "a: not there (control not possible: it was not run)"),
    Case(
      testDescription: "the control may be made inside, beside the attempt",
      inside: [attempt("a", .control), attempt("a", .refused, "EACCES")],
      verdict: .contained, evidence: "a EACCES", control: "works outside"),
    Case(
      testDescription: "a second control counts as well as the first",
      inside: [attempt("a", .refused, "EPERM")], controls: [attempt("a", .refused, "EPERM"), attempt("a", .reached)],
      verdict: .contained, evidence: "a EPERM", control: "works outside"),
    Case(
      testDescription: "what could not be tried inside says nothing, though it works outside",
      inside: [attempt("a", .unable, nil, "no such thing")], controls: [attempt("a", .reached)],
      verdict: .notApplicable, evidence: "no such thing"),
    Case(
      testDescription: "no answer is no containment",
      inside: [], controls: [attempt("a", .reached)],
      verdict: .notApplicable, evidence: "the probe did not run"),
    Case(
      testDescription: "a control inside by itself is none either",
      inside: [attempt("a", .control)], verdict: .notApplicable, evidence: "the probe did not run"),
    Case(
      testDescription: "some could be tried: those count",
      inside: [attempt("a", .unable), attempt("b", .refused, "EPERM")], controls: [attempt("b", .reached)],
      verdict: .contained, evidence: "b EPERM", control: "works outside"),
    Case(
      testDescription: "what the policy allows is no escape",
      inside: [attempt("inet tcp", .reached), attempt("packet", .refused, "EPERM")],
      controls: [attempt("packet", .reached)], allowances: [.network],
      verdict: .contained, evidence: "packet EPERM; allowed by the policy: inet tcp", control: "works outside"),
    Case(
      testDescription: "what the policy allows hides no other escape",
      inside: [attempt("inet tcp", .reached), attempt("packet", .reached, nil, "in")], allowances: [.network],
      verdict: .escaped, evidence: "packet: in; allowed by the policy: inet tcp"),
    Case(
      testDescription: "nothing but what the policy allows",
      inside: [attempt("inet tcp", .reached)], allowances: [.network],
      verdict: .notApplicable, evidence: "allowed by the policy: inet tcp"),
    Case(
      testDescription: "an allowance is for its own attempts only",
      inside: [attempt("inet tcp", .reached, nil, "in")], allowances: [.execution],
      verdict: .escaped, evidence: "inet tcp: in"),
    Case(
      testDescription: "running what is picked is no network either",
      inside: [attempt("inet tcp", .reached, nil, "in")], allowances: [.pickedExecution],
      verdict: .escaped, evidence: "inet tcp: in"),
    Case(
      testDescription: "ended by the filter is proof enough of a filter",
      inside: [attempt("probe", .refused, nil, "ended by SIGSYS")],
      verdict: .contained, evidence: "probe: ended by SIGSYS"),
  ]

  @Test(arguments: cases) func `follows from the attempts on both sides`(example: Case) throws {
    let entry = try #require(Entry.named("F5"))
    // Another entry's attempts change nothing.
    let noise = [Attempt("F6", "a", .reached, "in"), Attempt("F50", "b", .reached, "in")]
    let finding = Finding.evaluate(
      entry, inside: example.inside + noise, controls: noise + example.controls, allowances: example.allowances)
    #expect(finding == Finding(entry, example.verdict, example.evidence, control: example.control))
  }

  @Test func `is contained only if something was refused and nothing reached, for any attempts`() throws {
    let entry = try #require(Entry.named("B16"))
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      func some() -> [Attempt] {
        (0..<Int.random(in: 0...5, using: &generator)).map { _ in
          Attempt("B16", ["a", "b", "c"].randomElement()!, Attempt.Outcome.allCases.randomElement()!, "text")
        }
      }
      let (inside, controls) = (some(), some())
      let verdict = Finding.evaluate(entry, inside: inside, controls: controls).verdict
      let outcomes = Set(inside.map(\.outcome))
      let expected: Finding.Verdict =
        outcomes.contains(.reached) ? .escaped : outcomes.contains(.refused) ? .contained : .notApplicable
      #expect(verdict == expected, "\(inside) \(controls)")
    }
  }

  @Test func `has an entry for every row of the catalogue, once and in order`() {
    let ids = Entry.catalogue.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(ids.map { $0.prefix(1) } == ids.map { $0.prefix(1) }.sorted())
    #expect(Set(ids.map { $0.prefix(1) }) == ["A", "B", "C", "D", "E", "F", "G", "H", "I"])
    for id in ["A1", "B6", "B16", "C10", "D1", "E1", "F9", "G10", "H8", "I6"] { #expect(Entry.named(id) != nil) }
  }
}
