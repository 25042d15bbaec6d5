import Decisions
import Testing

/// Whether a start is allowed, as a pure rule.
@Suite struct `Whether a grant may be used` {
  private func refusal(
    _ rules: DocumentRules, _ name: String = "a.txt", folder: Bool = false, decided: Int64? = 0,
    ofThisLaunch: Bool = true,
    now: Int64 = 0
  ) -> Refusal? {
    rules.refusal(ofUsingFolder: folder, named: name, decided: decided, isOfThisLaunch: ofThisLaunch, now: now)
  }

  @Test func `PCK-7: by the type that its document has now`() {
    var rules = DocumentRules()
    rules.types = ["md"]
    #expect(refusal(rules)?.rule == "PCK-7")
    #expect(refusal(rules)?.field == "picker.types")
    #expect(refusal(rules, "a.md") == nil)
  }

  @Test func `PCK-10: a folder only where the policy allows whole folders`() {
    var rules = DocumentRules()
    #expect(refusal(rules, "Papers", folder: true) == nil)
    rules.folders = false
    #expect(refusal(rules, "Papers", folder: true)?.rule == "PCK-10")
    #expect(refusal(rules) == nil)
  }

  @Test func `AUD-1: for no longer than the policy allows after the decision`() {
    var rules = DocumentRules()
    rules.lifetime = 60
    #expect(refusal(rules, decided: 1_000_000_000, now: 60_999_999_999) == nil)
    #expect(refusal(rules, decided: 1_000_000_000, now: 61_000_000_000)?.rule == "AUD-1")
    #expect(rules.end(ofGrantDecided: 1_000_000_000) == 61_000_000_000)
    // What is not known does not refuse; a span beyond all time does not overflow.
    #expect(refusal(rules, decided: nil, now: .max) == nil)
    rules.lifetime = .max
    #expect(refusal(rules, decided: 1, now: 1 << 62) == nil)
  }

  @Test func `AUD-1: in the launch of its decision alone, where the policy says so`() {
    var rules = DocumentRules()
    rules.endsWithLaunch = true
    #expect(refusal(rules, ofThisLaunch: false)?.rule == "AUD-1")
    #expect(refusal(rules) == nil)
  }
}

/// Whether the picker is shown, and a bookmark made or opened.
@Suite struct `Whether an app may ask` {
  @Test func `PCK-1: the mode has to be the policy's, and its words name those that are`() {
    var rules = DocumentRules()
    #expect(rules.refusal(ofAsking: "open", folder: false) == nil)
    rules.modes = []
    #expect(rules.refusal(ofAsking: "open", folder: false)?.reason.contains("it allows: none") == true)
    rules.missingSelections = ["a", "b"]
    #expect(rules.refusal(ofAsking: "open", folder: false)?.reason.hasSuffix("with neither a nor b") == true)
  }

  @Test func `BMK-1, BMK-5, BMK-8: each kind of bookmark has its field`() {
    var rules = DocumentRules()
    rules.documentBookmarks = false
    rules.implicitBookmarks = false
    #expect(rules.refusal(ofMaking: .app) == nil)
    #expect(rules.refusal(ofMaking: .document)?.field == "bookmarks.document_scoped")
    #expect(rules.refusal(ofMaking: .implicit)?.rule == "BMK-8")
    #expect(rules.refusal(ofMaking: .implicit, ofSomethingInside: true) == nil)
    rules.makesBookmarks = false
    #expect(rules.refusal(ofMaking: .app)?.rule == "BMK-1")
    // One that was made before can be opened.
    #expect(rules.refusal(ofOpening: .app, made: 0, now: .max) == nil)
  }

  @Test func `BMK-3: a bookmark is opened for as long as the policy says`() {
    var rules = DocumentRules()
    rules.bookmarkLifetime = 10
    #expect(rules.refusal(ofOpening: .app, made: 0, now: 9_999_999_999) == nil)
    #expect(rules.refusal(ofOpening: .app, made: 0, now: 10_000_000_000)?.rule == "BMK-3")
    #expect(rules.refusal(ofOpening: .app, made: nil, now: .max) == nil)
  }
}
