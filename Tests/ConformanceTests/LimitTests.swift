import Audit
import TestSupport
import Testing

/// Group D of the catalogue: the limit on active scopes.
@Suite(.serialized, .waiting)
struct LimitTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `LIM-1: by default 256 can be started; the 257th is refused and told who has them, whatever else is limited`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let documents = try (0...256).map { try world.document("\($0).txt", "\($0)") }
      // Answers from a file: a command line has an end.
      let answers = "\(world.home)/answers.toml"
      try world.write(documents.map { "[[answer]]\npick = [\"\($0)\"]\n" }.joined(), to: answers)
      let app = try world.probe(options: ["--answers", answers, "--limit", "memory=2GiB"])
      for number in 0...256 { try app.pick(as: "d\(number)") }
      for number in 0..<256 { #expect(try app.start("d\(number)"), "\(number)") }
      let answer = try app.tell("start", ["of": "d256"])
      #expect(answer["done"] == false && answer["posix"] == "EMFILE", "\(answer.text)")
      let sentence = try #require(answer["sentence"]?.string)
      for number in 0..<256 { #expect(sentence.contains("“\(number).txt”"), "\(number): \(sentence)") }
      #expect(!sentence.contains("“256.txt”"))
      let status = try app.tell("status")
      #expect(status["used"] == 256 && status["limit"] == 256)
      #expect(Set(status["holders"]?.array?.compactMap { $0["name"]?.string } ?? []).count == 256)
      #expect(try app.read("d256").errno == refused)
      let refusals = try world.audit(.start).filter { $0.result == .refused }
      #expect(refusals.map(\.rule) == ["LIM-1"])
      #expect(try world.audit(.launch).map { $0.detail[AuditEvent.Fact.limit] } == ["256"])
      try app.stop("d0")
      #expect(try app.start("d256"))
    }
  }
}
