import Audit
import Foundation
import TestSupport
import Testing

extension AppRun {
  /// Makes another process in the sandbox, and gives it the documents that this one has.
  func second(_ name: String = "b", documents: [String: String]) throws {
    _ = try tell("second", ["who": .string(name)])
    for (document, url) in documents {
      _ = try tell(name, "fromString", ["string": .string(url), "as": .string(document)])
    }
  }

  /// Has another process carry a request out.
  @discardableResult
  func tell(_ name: String, _ act: String, _ fields: [String: JSON] = [:]) throws -> JSON {
    let request = JSON.object(fields.merging(["do": .string(act)]) { $1 })
    let answer = try tell("tell", ["who": .string(name), "request": request], patience: .seconds(60))
    if let usage = answer["usage"]?.string { throw process.seen("\(request.text): \(usage)") }
    return answer
  }

  /// Picks documents, named `d1` to `dN`; their URLs by name.
  func pickAll(_ count: Int) throws -> [String: String] {
    var urls: [String: String] = [:]
    for number in 1...count { urls["d\(number)"] = try pick(as: "d\(number)").url }
    return urls
  }
}

/// Groups C and D of the catalogue, with several processes in a sandbox: scopes are each process's own.
@Suite(.serialized, .waiting)
struct OwnerTests {
  /// A probe of two processes that have picked some documents and started none. The second is called `b`.
  private func withTwo(
    _ user: TestUser, documents count: Int = 2, _ body: (Workspace, AppRun) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let documents = try (1...count).map { try world.document("\($0).txt", "\($0)") }
      let app = try world.probe(picks: documents, options: ["--policy", "teach", "--trace"])
      try app.second(documents: try app.pickAll(count))
      try body(world, app)
      #expect(try app.finish() == .status(0))
    }
  }

  private func names(_ status: JSON) -> [String] { (status["holders"]?.array ?? []).compactMap { $0["name"]?.string } }

  private func scopes(_ world: Workspace) throws -> [JSON] {
    try world.instances().flatMap { $0["scopes"]?.array ?? [] }
  }

  // MARK: Counting

  @Test(arguments: TestUser.one(.ordinary))
  func `LIM-8: a process is told of its own scopes, and the user of everybody's`(user: TestUser) throws {
    try withTwo(user) { (world, app) throws in
      let own = try #require(try app.tell("pid")["pid"]?.int)
      let other = try #require(try app.tell("b", "pid")["pid"]?.int)
      _ = try app.tell("countedStart", ["of": "d1", "caller": "Editor.swift:1"])
      for caller in ["Helper.swift:2", "Helper.swift:3"] {
        _ = try app.tell("b", "countedStart", ["of": "d1", "caller": .string(caller)])
      }
      _ = try app.tell("b", "countedStart", ["of": "d2", "caller": "Helper.swift:4"])

      let mine = try app.tell("status")
      #expect(mine["used"] == 1 && mine["limit"] == 8 && names(mine) == ["1.txt"])
      #expect(mine["holders"]?.array?.first?["caller"] == "Editor.swift:1")
      let its = try app.tell("b", "status")
      #expect(its["used"] == 2 && its["limit"] == 8 && names(its) == ["1.txt", "2.txt"])
      #expect(its["holders"]?.array?.map { $0["count"]?.int } == [2, 1])

      let instance = try #require(try world.instances().first)
      #expect(instance["used"] == 2 && instance["limit"] == 8)
      let all = (instance["scopes"]?.array ?? []).map { scope in
        "\(scope["process"]?.int ?? 0) \(scope["caller"]?.string ?? "") \(scope["count"]?.int ?? 0)"
      }
      #expect(
        Set(all) == ["\(own) Editor.swift:1 1", "\(other) Helper.swift:2 2", "\(other) Helper.swift:4 1"], "\(all)")
      let table = try world.ambit("ps").output
      #expect(table.contains("1.txt (process \(own))") && table.contains("1.txt ×2 (process \(other))"), "\(table)")
      let grants = try #require(JSON(try world.ambit("grants", "--format", "json").output)?["grants"]?.array)
      let uses = grants.first { $0["path"]?.string?.hasSuffix("/1.txt") == true }?["uses"]?.array ?? []
      #expect(Set(uses.map { $0["process"]?.int }) == [own, other])
      #expect(try world.ambit("grants").output.contains(", process \(other)) ×2"))
    }
  }

  // MARK: What a process is

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-4: a program that a process becomes goes on with its counts; a process that it makes has none`(
    user: TestUser
  ) throws {
    try withTwo(user) { (_, app) throws in
      let url = try #require(try app.tell("copy", ["of": "d1"]).url)
      _ = try app.tell("countedStart", ["of": "d1"])
      _ = try app.tell("countedStart", ["of": "d1"])
      #expect(try app.tell("b", "status")["used"] == 0)
      let number = try app.tell("pid")["pid"]
      #expect(try app.tell("become").isDone)
      // It knows nothing of what its predecessor had; the broker does.
      #expect(try app.tell("pid")["pid"] == number)
      #expect(names(try app.tell("status")) == ["1.txt"])
      _ = try app.tell("fromString", ["string": .string(url), "as": "d1"])
      #expect(try app.tell("countedStart", ["of": "d1"])["count"] == 3)
      for left in [2, 1, 0] { #expect(try app.tell("countedStop", ["of": "d1"])["count"]?.int == left) }
      #expect(try app.read("d1").errno == refusedObserved)
    }
  }

  private func call(_ method: String, _ url: String) -> String {
    let scope = url.split(separator: "#ambit-scope=").last.map(String.init) ?? ""
    return "{\"method\":\"io.ambit.Access.\(method)\",\"parameters\":{\"scope\":\"\(scope)\"}}"
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-4: a child that uses its parent's connection is counted as itself`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("1.txt", "1")], options: ["--policy", "teach"])
      let url = try #require(try app.pick(as: "d1").url)
      let socket = try #require(try app.tell("connect")["descriptor"])
      try app.second(documents: ["d1": url])
      func exchange(_ method: String) -> [String: JSON] {
        ["descriptor": socket, "text": .string(call(method, url))]
      }
      // The control: by the one that made the connection.
      #expect(try app.tell("exchangeOn", exchange("Start"))["reply"]?.string?.contains("\"count\":1") == true)
      for count in 1...2 {
        let reply = try app.tell("b", "exchangeOn", exchange("Start"))["reply"]?.string
        #expect(reply?.contains("\"count\":\(count)") == true, "\(reply ?? "")")
      }
      #expect(try app.tell("status")["holders"]?.array?.first?["count"] == 1)
      #expect(try app.tell("b", "status")["holders"]?.array?.first?["count"] == 2)
      #expect(try app.tell("exchangeOn", exchange("Stop"))["reply"]?.string?.contains("\"count\":0") == true)
      #expect(try app.tell("exchangeOn", exchange("Stop"))["reply"]?.string?.contains("\"count\":0") == true)
      #expect(try app.tell("b", "status")["holders"]?.array?.first?["count"] == 2)
      // Half a call of each is nobody's, and ends the connection.
      _ = try app.tell("exchangeOn", exchange("Stop").merging(["part": true]) { $1 })
      let broken = try app.tell("b", "exchangeOn", ["descriptor": socket, "text": ""])
      #expect(broken["reply"]?.string?.contains("two processes") == true, "\(broken.text)")
      try Deadline.wait(for: "the log") {
        try world.audit(.protocolError).last?.reason?.contains("two processes") == true
      }
      #expect(try app.tell("b", "status")["holders"]?.array?.first?["count"] == 2)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a process that says it is another is refused by the kernel, and gains nothing`(user: TestUser) throws {
    try withTwo(user) { (_, app) throws in
      let url = try #require(try app.tell("copy", ["of": "d1"]).url)
      let socket = try #require(try app.tell("connect")["descriptor"])
      let own = try #require(try app.tell("pid")["pid"])
      let other = try #require(try app.tell("b", "pid")["pid"])
      #expect(try app.tell("b", "countedStart", ["of": "d1"])["count"] == 1)
      for pid in [other, 1] {
        let lie = try app.tell("forge", ["descriptor": socket, "pid": pid, "text": .string(call("Stop", url))])
        #expect(lie["done"] == false && lie["errno"] == "EPERM", "\(lie.text)")
      }
      #expect(try app.tell("b", "status")["used"] == 1)
      // The control: the same, and true. It is this process's stop, and stops nothing.
      #expect(try app.tell("forge", ["descriptor": socket, "pid": own, "text": .string(call("Stop", url))]).isDone)
      #expect(try app.tell("status")["used"] == 0)
      #expect(try app.tell("b", "status")["used"] == 1)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `what a command starts for the script that runs it is the script's, and ends with it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let script = try world.bundle(
        "Script", identifier: "io.ambit.tests.script",
        script: """
          #!/bin/sh
          url=$(ambitctl pick) && path=$(ambitctl path "$url") || exit 90
          sh -c 'ambitctl start "$0" || exit 91; cat "$1" || exit 92; ambitctl scopes | head -1; :' "$url" "$path" || exit 93
          # That script has ended, and what it had started with it.
          until ! cat "$path" >/dev/null 2>&1; do sleep 0.02; done
          ambitctl scopes | head -1
          ambitctl start "$url" && cat "$path" || exit 94
          sh -c 'ambitctl stop "$0"; :' "$url"
          cat "$path" || exit 95
          ambitctl scopes | head -1
          ambitctl stop "$url" || exit 96
          cat "$path" 2>/dev/null && exit 97
          exit 0
          """)
      let document = try world.document("letter.txt", "text\n")
      let outcome = try world.ambit("run", "--policy", "teach", "--pick", document, script)
      #expect(outcome.exit == .status(0), "\(outcome)")
      let (one, none) = ("1 of 8 scopes in use", "0 of 8 scopes in use")
      #expect(outcome.output.split(separator: "\n").map(String.init) == ["text", one, none, "text", "text", one])
    }
  }

  // MARK: The end of one

  @Test(arguments: TestUser.one(.root))
  func `TOK-11: when one process of an app dies, its accesses end and its slots come back, and the others go on`(
    user: TestUser
  ) throws {
    try withTwo(user, documents: 8) { (world, app) throws in
      let other = try #require(try app.tell("b", "pid")["pid"]?.int)
      #expect(try app.start("d1"))
      for number in 1...8 {
        let at: [String: JSON] = ["of": .string("d\(number)"), "caller": .string("Helper.swift:\(number)")]
        #expect(try app.tell("b", "countedStart", at)["count"] == 1)
      }
      #expect(try app.read("d8").content == "8")
      #expect(try app.tell("endSecond", ["who": "b", "signal": 9]).isDone)
      // With nothing else asked of the broker: it notices by itself.
      try Deadline.wait(for: "the scopes of the process to end") { try world.audit(.scopeEnded).count == 8 }
      let ended = try world.audit(.scopeEnded)
      #expect(ended.allSatisfy { $0.rule == "TOK-11" && $0.detail[AuditEvent.Fact.process] == "\(other)" })
      #expect(Set(ended.compactMap { $0.detail[AuditEvent.Fact.caller] }) == Set((1...8).map { "Helper.swift:\($0)" }))
      for number in 2...8 { #expect(try app.read("d\(number)").errno == refusedObserved) }
      #expect(try app.read("d1").content == "1")
      // Nothing of theirs stays mounted, and what the other process has does.
      try Deadline.wait(for: "what it had started to be unmounted") {
        let table = try #require(try app.tell("mounts").content)
        let shown = table.split(separator: "\n").map { $0.split(separator: " ")[4] }
        return shown.filter { $0.hasPrefix("/documents/") && $0.hasSuffix(".txt") }.map { $0.suffix(6) } == ["/1.txt"]
      }
      #expect(names(try app.tell("status")) == ["1.txt"])
      #expect(try scopes(world).count == 1)
      // Another process has the whole limit, though it may have the number of the dead one.
      try app.second("c", documents: ["d8": try #require(try app.tell("copy", ["of": "d8"]).url)])
      #expect(try app.tell("c", "status")["used"] == 0)
      #expect(try app.tell("c", "countedStart", ["of": "d8"])["count"] == 1)

      // What it left is reported with what the app leaves, by file and line.
      #expect(try app.tell("c", "countedStop", ["of": "d8"])["count"] == 0)
      try app.stop("d1")
      #expect(try app.finish() == .status(0))
      let told = app.process.allErrors.split(separator: "\n").filter { $0.contains("leaked") }
      #expect(told.count == 8, "\(app.process.allErrors)")
      for number in 1...8 { #expect(told.contains { $0.contains("Helper.swift:\(number),") }, "\(told)") }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-11: processes that start and die, one after the other, leave no scope and no slot taken`(user: TestUser)
    throws
  {
    let rounds = Rounds.few(50, of: 150)
    try withTwo(user) { (world, app) throws in
      let broker = try #require(try world.brokerProcess())
      let url = try #require(try app.tell("copy", ["of": "d1"]).url)
      _ = try app.tell("endSecond", ["who": "b"])
      for round in 1...rounds {
        try app.second("c", documents: ["d1": url])
        #expect(try app.tell("c", "countedStart", ["of": "d1"])["count"] == 1, "round \(round)")
        _ = try app.tell("endSecond", ["who": "c", "signal": round % 2 == 0 ? 9 : 0])
      }
      try Deadline.wait(for: "the last scope to end") { try scopes(world).isEmpty }
      #expect(try world.audit(.scopeEnded).count == rounds)
      #expect(try app.read("d1").errno == refusedObserved)
      let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(broker)/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(broker)/fd/\($0)"))?.contains("pidfd")
          == true
      }
      #expect(held.count < 8, "\(held.count) processes are still held")
    }
  }
}
