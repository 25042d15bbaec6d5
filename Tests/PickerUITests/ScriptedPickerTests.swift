import Testing

@testable import PickerUI

@Suite struct ScriptedPickerTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func paths(_ result: Result<PickerOutcome, PickerError>) throws -> [String]? {
    guard case .picked(let documents) = try result.get() else { return nil }
    return documents.map(\.path)
  }

  @Test func `PCK-22: answers are given in order, by the same opening as the user's`() throws {
    let first = try folder.file("a.txt")
    let second = try folder.file("b.txt")
    try folder.link("link", to: "b.txt")
    var picker = ScriptedPicker(answers: [.pick([first]), .cancel, .pick([first, "\(folder.path)/link"])])
    #expect(try paths(picker.next(for: request())) == [first])
    #expect(try paths(picker.next(for: request())) == nil)
    #expect(picker.remaining == 1)
    #expect(try paths(picker.next(for: request(multiple: true))) == [first, second])
    #expect(
      throws: PickerError(
        "“TextEdit” asks for a document to open, read and write, and the script has no answer left (it had 3).")
    ) {
      try picker.next(for: request()).get()
    }
  }

  @Test func `An answer that does not fit is an error that says why, and is used up`() throws {
    let file = try folder.file("a.txt")
    let fifo = try folder.fifo("pipe")
    let table: [(PickerRequest, [String], String)] = [
      (request(), [], "Answer 1: it picks nothing; name a path, or cancel."),
      (request(), [file, file], "Answer 1: the app asks for one document, and 2 are given."),
      (request(kind: .folder), [file], "Answer 1: “a.txt” is a file; the app asks for a folder."),
      (request(), [folder.path], "is a folder; the app asks for a file."),
      (request(types: ["md"]), [file], "Answer 1: “a.txt” cannot be chosen; the app asks for .md."),
      (request(), [fifo], "is neither a file nor a folder."),
      (request(), ["\(folder.path)/missing"], "does not exist."),
      (request(multiple: true), [file, "\(folder.path)/missing"], "does not exist."),
      (
        request(multiple: true), Array(repeating: file, count: 201),
        "Answer 1: no more than 200 can be chosen at once, and 201 are given."
      ),
    ]
    for (request, answer, sentence) in table {
      var picker = ScriptedPicker(picks: [answer, [file]])
      switch picker.next(for: request) {
      case .success: Issue.record("\(answer) was accepted")
      case .failure(let error):
        #expect(error.description.hasSuffix(sentence), "\(error)")
        #expect(error.description.hasPrefix("Answer 1: "))
      }
      #expect(picker.remaining == 1)
    }
  }
}
