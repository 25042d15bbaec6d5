import Audit
import Foundation
import TestSupport
import Testing

/// Many scopes, many processes, many apps, many grants.
@Suite(.serialized, .waiting)
struct ManyTests {
  // MARK: Concurrently

  /// The documents that the kernel shows inside, as the app's mount table has them.
  private func shown(_ app: AppRun) throws -> Set<String> {
    let table = try #require(try app.tell("mounts").content)
    let points = table.split(separator: "\n").map { $0.split(separator: " ")[4] }
    // Around a file that may be written there is a mount for its folder as well.
    return Set(points.filter { $0.hasPrefix("/documents/") && $0.split(separator: "/").count == 3 }.map(String.init))
  }

  private func counts(_ holders: [JSON], _ key: String) -> [String: Int] {
    Dictionary(holders.map { ("\(key) \($0["path"]?.string ?? "")", $0["count"]?.int ?? 0) }) { $0 + $1 }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-4, LIM-1: many processes and connections of many instances start and stop, and all books agree in the end`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let documents = try (0..<12).map { try world.document("\($0).txt", "\($0)") }
      let apps = try ["One", "Two", "Two"].map {
        try world.probe($0, picks: documents, options: ["--policy", "teach"])
      }
      for app in apps {
        let urls = try app.pickAll(12)
        for name in ["b", "c", "d"] { try app.second(name, documents: urls) }
      }
      let hammer = JSON.object(["do": "hammer", "rounds": .number(Double(Rounds.few(40, of: 150))), "leaving": true])
      for app in apps { try app.process.send(JSON.object(["do": "tellAll", "request": hammer]).text + "\n") }
      var (refused, held) = (0, 0)
      for app in apps {
        let answers = try #require(JSON(try app.process.readLine(patience: .seconds(120)))?["answers"]?.object)
        #expect(answers.count == 3)
        // Each process's own books, against what the broker told it at the end.
        var expected: [String: Int] = [:]
        for (name, answer) in answers {
          #expect(answer["agrees"] == true && answer["wrong"] == 0, "\(answer.text)")
          refused += answer["refused"]?.int ?? 0
          let number = try #require(try app.tell(name, "pid")["pid"]?.int)
          let status = try app.tell(name, "status")
          let told = counts(status["holders"]?.array ?? [], "\(number)")
          #expect(status["used"]?.int == told.count && told.count <= 8)
          for (path, count) in answer["left"]?.object ?? [:] { #expect(told["\(number) \(path)"] == count.int) }
          expected.merge(told) { $1 }
        }
        held += expected.count
        // What the user is told, and what the kernel shows.
        let books = try world.instances().map { instance in
          (instance["scopes"]?.array ?? []).reduce(into: [String: Int]()) { all, scope in
            all.merge(counts([scope], "\(scope["process"]?.int ?? 0)")) { $0 + $1 }
          }
        }
        #expect(books.contains(expected), "nobody has \(expected): \(books)")
        let paths = Set(expected.keys.compactMap { $0.split(separator: " ", maxSplits: 1).last.map(String.init) })
        // What was stopped last may still be on its way out.
        try Deadline.wait(for: "the kernel to show \(paths)") { try shown(app) == paths }
      }
      #expect(refused > 0 && held > 10, "it went where the rule is decided")
      // Half of them die, and the others stop.
      for app in apps {
        for name in ["b", "c"] { _ = try app.tell("endSecond", ["who": .string(name), "signal": 9]) }
        while try app.tell("d", "status")["used"] != 0 { _ = try app.tell("d", "stopAll") }
      }
      try Deadline.wait(for: "every scope to end") {
        try world.instances().allSatisfy { $0["used"] == 0 && $0["scopes"]?.array?.isEmpty == true }
      }
      for app in apps { try Deadline.wait(for: "nothing to be shown") { try shown(app).isEmpty } }
      let broker = try #require(try world.brokerProcess())
      #expect(ProcessTable.mounts(broker).allSatisfy { !$0.contains(world.home) })
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `LIM-1: three hundred scopes of one instance are active at a time`(user: TestUser) throws {
    try Many().scopes(user, 300)
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `twenty-five apps run at a time, and have grants of their own`(user: TestUser) throws {
    try Many().apps(user, 25)
  }

  @Test(arguments: TestUser.one(.root))
  func `six hundred grants of one app are listed, started and ended`(user: TestUser) throws {
    try Many().grants(user, 600)
  }
}

/// The same in its full number.
@Suite(.serialized, .waiting)
struct ManyRaceTests {
  @Test(arguments: TestUser.all)
  func `LIM-1: a thousand scopes of one instance are active at a time`(user: TestUser) throws {
    try Many().scopes(user, 1000)
  }

  @Test(arguments: TestUser.all)
  func `a hundred apps have grants of their own, twenty-five of them running at a time`(user: TestUser) throws {
    try Many().apps(user, 100)
  }

  @Test(arguments: TestUser.all)
  func `ten thousand grants of one app are listed, started and ended`(user: TestUser) throws {
    try Many().grants(user, 10_000)
  }
}

private struct Many {
  /// Makes small documents, and answers that give them out two hundred at a time, as many as can be chosen at once.
  ///
  /// - Returns: the file for `--answers`, and how many answers there are.
  private func documents(_ world: Workspace, _ count: Int) throws -> (answers: String, count: Int) {
    try world.makeFolder("\(world.home)/m")
    for number in 0..<count {
      let path = "\(world.home)/m/\(number)"
      try #require(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
      try world.user.own(path)
    }
    let batches = stride(from: 0, to: count, by: 200).map { $0..<min($0 + 200, count) }
    let text = batches.map { "[[answer]]\npick = [\($0.map { "\"m/\($0)\"" }.joined(separator: ","))]\n" }.joined()
    let file = "\(world.home)/answers.toml"
    try world.write(text, to: file)
    return (file, batches.count)
  }

  /// So many scopes of one instance are active at a time (`LIM-1`).
  func scopes(_ user: TestUser, _ number: Int) throws {
    try Workspace.with(user) { world in
      let (file, batches) = try documents(world, number)
      let app = try world.probe(options: ["--policy", "stress", "--answers", file])
      let picked = try app.tell("pickMany", ["count": .number(Double(batches))], patience: .seconds(60))
      #expect(picked["picked"] == JSON.number(Double(number)), "\(picked.text)")
      let started = try app.tell("startAll", patience: .seconds(60))
      #expect(
        started["started"] == JSON.number(Double(number)) && started["read"] == JSON.number(Double(number)),
        "\(started.text)")
      #expect(try app.tell("status", patience: .seconds(30))["used"] == JSON.number(Double(number)))
      #expect(try world.instances().first?["scopes"]?.array?.count == number)
      let stopped = try app.tell("stopAll", patience: .seconds(60))
      #expect(stopped["stopped"] == JSON.number(Double(number)) && stopped["read"] == 0, "\(stopped.text)")
      #expect(try world.instances().first?["used"] == 0)
    }
  }

  /// So many apps have grants of their own, twenty-five of them running at a time.
  func apps(_ user: TestUser, _ number: Int) throws {
    try Workspace.with(user) { world in
      let document = try world.document("shared.txt", "x")
      for round in 0..<number / 25 {
        let apps = try (0..<25).map { try world.probe("App\(round * 25 + $0)", picks: [document]) }
        for app in apps {
          try app.pick()
          #expect(try app.start())
        }
        let running = try world.instances()
        #expect(running.count == 25 && running.allSatisfy { $0["used"] == 1 })
        for app in apps { #expect(try app.read().content == "x") }
        for app in apps { #expect(try app.finish() == .status(0)) }
      }
      let grants = try #require(JSON(try world.ambit("grants", "--format", "json").output)?["grants"]?.array)
      #expect(Set(grants.compactMap { $0["bundleIdentifier"]?.string }).count == number && grants.count == number)
      let one = try world.ambit("grants", "--app", Workspace.identifier("App7"), "--format", "json")
      #expect(JSON(one.output)?["grants"]?.array?.count == 1)
    }
  }

  /// So many grants of one app are listed, started and ended.
  func grants(_ user: TestUser, _ number: Int) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/many.toml"
      try world.write("inherits = \"stress\"\n[scopes]\nreferences = false\n", to: policy)
      let (file, batches) = try documents(world, number)
      let app = try world.probe(options: ["--policy", policy, "--answers", file])
      let picked = try app.tell(
        "pickMany", ["count": .number(Double(batches)), "readOnly": true], patience: .seconds(120))
      #expect(picked["picked"] == JSON.number(Double(number)), "\(picked.text)")
      let listed = try world.ambit("grants", "--format", "json")
      #expect(JSON(listed.output)?["grants"]?.array?.count == number)
      let many = JSON.number(Double(min(1000, number)))
      let used = try app.tell("startAll", ["count": many, "stopping": true], patience: .seconds(120))
      #expect(used["started"] == many && used["read"] == many, "\(used.text)")
      #expect(try app.tell("status")["used"] == 0)
      let started = try app.tell("startAll", ["count": 200], patience: .seconds(60))
      #expect(started["started"] == 200 && started["read"] == 200, "\(started.text)")
      let ended = try world.ambit("revoke", "--all", "--format", "json", patience: .seconds(120))
      #expect(ended.exit == .status(0), "\(ended.errors)")
      #expect(JSON(try world.ambit("grants", "--format", "json").output)?["grants"]?.array?.isEmpty == true)
      #expect(try app.tell("status", patience: .seconds(30))["used"] == 0)
      let again = try app.tell("startAll", ["count": 500], patience: .seconds(60))
      #expect(again["started"] == 0 && again["refused"]?.array?.count == 1, "\(again.text)")
    }
  }
}
