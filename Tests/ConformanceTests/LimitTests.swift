import Audit
import TestSupport
import Testing

/// Group D of the catalogue: the limit on active scopes.
@Suite(.serialized, .waiting)
struct LimitTests {
  /// A probe under the preset `teach` that has picked nine documents, `d1` to `d9`, and started eight.
  private func withEightStarted(_ user: TestUser, _ body: (Workspace, AppRun, [String]) throws -> Void) throws {
    try Workspace.with(user) { world in
      let documents = try (1...10).map { try world.document("\($0).txt", "\($0)") }
      let app = try world.probe(picks: documents, options: ["--policy", "teach"])
      for number in 1...9 { try app.pick(as: "d\(number)") }
      for number in 1...8 { #expect(try app.start("d\(number)")) }
      try body(world, app, documents)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `LIM-1: the ninth start of eight is refused and changes nothing`(user: TestUser) throws {
    try withEightStarted(user) { (world, app, _) throws in
      let before = try app.tell("status")
      let answer = try app.tell("start", ["of": "d9"])
      #expect(answer["done"] == false)
      #expect(answer["posix"] == "EMFILE")
      // It says which eight.
      let sentence = try #require(answer["sentence"]?.string)
      for number in 1...8 { #expect(sentence.contains("“\(number).txt”")) }
      #expect(!sentence.contains("“9.txt”"))
      #expect(try app.tell("status") == before)
      #expect(try app.read("d9").errno == refusedObserved)
      for number in 1...8 { #expect(try app.read("d\(number)").content == "\(number)") }
      let refusals = try world.audit(.start).filter { $0.result == .refused }
      #expect(refusals.map(\.rule) == ["LIM-1"])
      // A second start of one that is active needs no slot.
      #expect(try app.start("d1"))
    }
  }

  @Test(arguments: TestUser.one(.ordinary), [[], ["--limit", "memory=2GiB"]])
  func `LIM-1: by default 256 can be started; the 257th is refused and told who has them, whatever else is limited`(
    user: TestUser, options: [String]
  ) throws {
    try Workspace.with(user) { world in
      let documents = try (0...256).map { try world.document("\($0).txt", "\($0)") }
      // Answers from a file: a command line has an end.
      let answers = "\(world.home)/answers.toml"
      try world.write(documents.map { "[[answer]]\npick = [\"\($0)\"]\n" }.joined(), to: answers)
      let app = try world.probe(options: ["--answers", answers] + options)
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

  @Test(arguments: TestUser.one(.root))
  func `TOK-6: a stop after a start that was refused takes no count from another document`(user: TestUser) throws {
    try withEightStarted(user) { (_, app, _) throws in
      #expect(try app.start("d1"))
      #expect(try !app.start("d9"))
      for _ in 0..<3 { try app.stop("d9") }
      #expect(try app.tell("status")["used"] == 8)
      for number in 1...8 { #expect(try app.read("d\(number)").content == "\(number)") }
      // The control: the second start of this one is still owed.
      try app.stop("d1")
      #expect(try app.read("d1").content == "1")
      try app.stop("d1")
      #expect(try app.read("d1").errno == refusedObserved)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `LIM-2: after one stop, the next start succeeds`(user: TestUser) throws {
    try withEightStarted(user) { (_, app, _) throws in
      #expect(try !app.start("d9"))
      try app.stop("d3")
      #expect(try app.start("d9"))
      #expect(try app.read("d9").content == "9")
      #expect(try !app.start("d3"))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `LIM-3: an app that leaks all its scopes cannot add a picked file or a bookmark until it stops one`(
    user: TestUser
  ) throws {
    try withEightStarted(user) { (_, app, _) throws in
      let bookmark = try app.bookmark("d1")
      try app.stop("d1")
      #expect(try app.start("d9"))
      // Full again: what a bookmark resolves to, and what is picked anew, cannot be used.
      #expect(try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"]).url != nil)
      #expect(try !app.start("b"))
      try app.pick(as: "new")
      #expect(try !app.start("new"))
      #expect(try app.read("b").errno == refusedObserved)
      #expect(try app.read("new").errno == refusedObserved)
      try app.stop("d9")
      #expect(try app.start("new"))
      #expect(try app.read("new").content == "10")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `LIM-4: a relaunched app has its full budget`(user: TestUser) throws {
    try withEightStarted(user) { (world, app, documents) throws in
      #expect(try !app.start("d9"))
      #expect(try app.finish() == .status(0))
      let next = try world.probe(picks: documents, options: ["--policy", "teach"])
      #expect(try next.tell("status")["used"] == 0)
      for number in 1...9 { try next.pick(as: "d\(number)") }
      for number in 1...8 { #expect(try next.start("d\(number)")) }
      #expect(try !next.start("d9"))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `LIM-1, TOK-4: with many instances and many connections at once, the books agree in the end`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let documents = try (0..<12).map { try world.document("\($0).txt", "\($0)") }
      let apps = try ["One", "Two", "Three", "Three"].map { name in
        try world.probe(name, picks: documents, options: ["--policy", "teach"])
      }
      for app in apps { for number in 0..<12 { try app.pick(as: "d\(number)") } }
      for app in apps { try app.process.send("{\"do\": \"hammer\", \"rounds\": 120}\n") }
      var refused = 0
      for app in apps {
        let line = try app.process.readLine(patience: .seconds(120))
        let answer = try #require(JSON(line))
        #expect(answer["agrees"] == true && answer["wrong"] == 0 && answer["left"] == 0, "\(line)")
        refused += answer["refused"]?.int ?? 0
      }
      // They went where the rule is decided.
      #expect(refused > 0)
      #expect(try world.instances().allSatisfy { $0["used"] == 0 })
      let broker = try #require(try world.brokerProcess())
      #expect(ProcessTable.mounts(broker).allSatisfy { !$0.contains(world.home) })
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `LIM-8: an app can ask how much is used, by what and from where it was started`(user: TestUser) throws {
    try withEightStarted(user) { (_, app, _) throws in
      _ = try app.tell("stop", ["of": "d8"])
      _ = try app.tell("countedStart", ["of": "d9", "caller": "Editor.swift:41"])
      _ = try app.tell("countedStart", ["of": "d9", "caller": "Editor.swift:42"])
      let status = try app.tell("status")
      #expect(status["used"] == 8)
      #expect(status["limit"] == 8)
      let holders = try #require(status["holders"]?.array)
      #expect(Set(holders.compactMap { $0["name"]?.string }) == Set((1...7).map { "\($0).txt" } + ["9.txt"]))
      let last = try #require(holders.first { $0["name"] == "9.txt" })
      #expect(last["count"] == 2)
      #expect(last["caller"]?.string?.hasPrefix("Editor.swift:4") == true)
      #expect(last["since"]?.string?.hasSuffix("Z") == true)
      #expect(
        holders.filter { $0["name"] != "9.txt" }.allSatisfy { $0["caller"]?.string?.contains("Session.swift:") == true }
      )
    }
  }
}
