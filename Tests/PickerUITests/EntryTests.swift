import TestSupport
import Testing

@testable import PickerUI

@Suite struct EntryTests {
  @Test func `Folders come first, then names without regard to case, numbers by value`() {
    let sorted = entries("b.txt", "A.txt", "file10", "file2", "file02", "zoo/", "Archive/", "éa", ".hidden", "file2b")
    #expect(
      sorted.map(\.name.text)
        == ["Archive", "zoo", ".hidden", "A.txt", "b.txt", "éa", "file02", "file2", "file2b", "file10"])
  }

  @Test func `The order is total for random names`() {
    var random = Seeded(seed: 3)
    let letters = Array("aAbB019é.")
    let names = (0..<60).map { _ in
      String((0..<Int.random(in: 1...5, using: &random)).compactMap { _ in letters.randomElement(using: &random) })
    }
    let all = Set(names).map { Entry(name: FileName($0), kind: .file) }
    for left in all {
      for right in all where left.name != right.name {
        #expect(Entry.precedes(left, right) != Entry.precedes(right, left), "\(left.name.text) \(right.name.text)")
        for third in all where Entry.precedes(left, right) && Entry.precedes(right, third) {
          #expect(Entry.precedes(left, third))
        }
      }
    }
  }

  @Test func `The fast order is the same`() {
    var random = Seeded(seed: 4)
    let letters = Array("aAbB0019é. _日")
    for _ in 0..<40 {
      let names = Set(
        (0..<60).map { _ in
          String((0..<Int.random(in: 1...20, using: &random)).compactMap { _ in letters.randomElement(using: &random) })
        })
      let all = names.sorted().map {
        Entry(name: FileName("longer prefix \($0)"), kind: Bool.random(using: &random) ? .file : .folder)
      }
      #expect(NameOrder.sorted(all) == all.sorted(by: Entry.precedes))
    }
  }
}

@Suite struct ChoiceRuleTests {
  @Test(arguments: [
    ("notes.txt", ["txt"], true), ("NOTES.TXT", ["txt"], true), ("notes.txt", [".TXT"], true),
    ("notes.md", ["txt", "md"], true), ("notes.txt.exe", ["txt"], false), ("txt", ["txt"], false),
    (".txt", ["txt"], false), ("a.tar.gz", ["tar.gz"], true), ("a.tar.gz", ["gz"], true), ("targz", ["gz"], false),
    ("notes", ["txt"], false), ("anything", [], true),
  ])
  func `PCK-7: only files of a wanted type can be chosen`(name: String, types: [String], allowed: Bool) {
    let rule = ChoiceRule(request(types: types))
    #expect(rule.allows(.file, named: name) == allowed)
    #expect((rule.refusal(of: .file, named: name) == nil) == allowed)
  }

  @Test(arguments: [PickerRequest.Kind.file, .folder])
  func `Only what is asked for can be chosen, and every refusal gives a reason`(kind: PickerRequest.Kind) {
    let rule = ChoiceRule(request(kind: kind))
    for entry in [EntryKind.file, .folder, .special, .broken] {
      let wanted = (entry == .file && kind == .file) || (entry == .folder && kind == .folder)
      #expect(rule.allows(entry, named: "x") == wanted)
      #expect((rule.refusal(of: entry, named: "x") == nil) == wanted)
    }
  }

  @Test func `Types do not stand in the way of folders`() {
    #expect(ChoiceRule(request(kind: .folder, types: ["txt"])).allows(.folder, named: "Letters"))
    // What the policy does not allow cannot be chosen, whatever the app asks for, and the sentence says whose doing it is.
    var asked = request(types: ["txt", "gz"])
    asked.allowed = ["tar.gz", "TXT"]
    let rule = ChoiceRule(asked)
    #expect(rule.allows(.file, named: "a.txt") && rule.allows(.file, named: "b.tar.gz"))
    #expect(!rule.allows(.file, named: "b.gz") && !rule.allows(.package, named: "b.gz"))
    #expect(rule.refusal(of: .file, named: "b.gz")?.contains("policy") == true)
    #expect(rule.refusal(of: .file, named: "b.png")?.contains("the app asks for") == true)
    asked.allowed = []
    #expect(!ChoiceRule(asked).allows(.file, named: "a.txt"))
  }

  @Test func `Types are named in sentences, however the app spelled them`() {
    #expect(ChoiceRule(request(types: ["txt"])).typeList == ".txt")
    #expect(ChoiceRule(request(types: ["a", ".b", "C\u{1B}"])).typeList == ".a, .b or .c␛")
    #expect(ChoiceRule(request()).typeList == nil)
  }
}
