import Audit
import Foundation
import TestSupport
import Testing

@testable import Review

func report(
  _ events: [AuditEvent], _ selection: ReportBuilder.Selection = .init(), limits: ReportLimits = .init()
) -> ReportModel {
  var builder = ReportBuilder(selection, limits: limits)
  for event in events { guard builder.take(event) else { break } }
  return builder.finish(log: "audit.sqlite", integrity: .init(.verified, "all of it"))
}

@Suite("Report: what it counts")
struct ReportBuilderTests {
  @Test("A report says who reached what, what was refused and why, and what leaked")
  func story() throws {
    let model = report(Recording.story.events)
    #expect(model.totals.apps == 2 && model.totals.launches == 2 && model.totals.documents == 3)
    #expect(model.totals.starts == 2 && model.totals.refused == 2 && model.totals.leaks == 1)
    #expect(model.apps.map(\.id) == ["org.example.editor", "org.example.snooper"])
    #expect(model.places.map(\.path) == (1...3).map { "/home/alice/Notes/\($0).txt" })
    #expect(model.reaches.map(\.outcome) == [.used, .used, .granted])
    #expect(model.reaches.map(\.access) == [.readWrite, .readOnly, .readWrite])
    #expect(model.reaches.map(\.refused) == [0, 0, 1])
    #expect(model.reaches.map(\.leaks) == [0, 1, 0])

    let launch = try #require(model.launches.first)
    #expect(launch.limit == 2 && launch.mostInUse == 2 && launch.leaks == 1)
    #expect(launch.inUse.map(\.used) == [1, 2, 1, 0])
    #expect(launch.refusals.map(\.rule) == ["LIM-1"])
    #expect(launch.lanes.map(\.ending) == ["stopped", "not stopped: its process ended"])
    #expect(launch.lanes.map { $0.bars.map(\.isLeak) } == [[false], [true]])
    #expect(launch.lanes.map(\.seconds) == [3, 3])

    #expect(model.denials.map(\.rule) == ["LIM-1", "SBX-2"])
    #expect(model.denials.map(\.remedy).last == "the user picks it")
    #expect(model.leaks.map(\.path) == ["/home/alice/Notes/2.txt"])
    #expect(model.policies.map(\.name) == ["strict", "teach"])
  }

  @Test(
    "What no rule of the catalogue explains is told apart by the entry's own reason, and of many apps eight are named")
  func reasons() {
    func refusal(_ number: Int, _ app: String, _ rule: String?, _ reason: String) -> AuditEvent {
      AuditEvent(.grant, .refused, app: app, rule: rule, reason: reason, sequence: Int64(number))
    }
    var events = ["one", "one", "two"].enumerated().map { refusal($0 + 1, "org.example.a", nil, $1) }
    events += ["one", "two"].enumerated().map { refusal($0 + 4, "org.example.a", "SBX-15", $1) }
    events += (0..<12).map { refusal($0 + 6, "org.example.\($0)", "PCK-9", "closed") }
    let denials = report(events).denials
    #expect(denials.filter { $0.rule == nil }.map(\.why).sorted() == ["one", "two"])
    #expect(denials.filter { $0.rule == nil }.map(\.count).sorted() == [1, 2])
    #expect(denials.filter { $0.rule == "SBX-15" }.map(\.count) == [2])
    #expect(denials.first { $0.rule == "PCK-9" }.map { [$0.count, $0.apps.count] } == [12, 8])
  }

  @Test("With --app it tells of that app alone")
  func oneApp() {
    let model = report(Recording.story.events, .init(app: "org.example.snooper"))
    #expect(model.apps.map(\.id) == ["org.example.snooper"])
    #expect(model.reaches.isEmpty && model.leaks.isEmpty && model.totals.refused == 1)
    #expect(model.source.entries == 3 && model.source.read == 15)
  }

  @Test("What was started before --since and still open then is in it, and what was over is not")
  func since() throws {
    let model = report(Recording.story.events, .init(since: Recording.start.addingTimeInterval(10)))
    #expect(model.totals.starts == 0 && model.totals.leaks == 1)
    let launch = try #require(model.launches.first)
    #expect(launch.lanes.map(\.path) == ["/home/alice/Notes/2.txt"])
    #expect(launch.inUse.first?.used == 1)
  }

  @Test("With --since it does not tell of a grant whose time was over before, though no broker ran to say so")
  func expired() {
    var log = Recording()
    log.add(.brokerStarted)
    let end = Timestamp(Recording.start.addingTimeInterval(4)).text
    log.add(.grant, .allowed, "a", "i", grant: "g", path: "/short", how: "user", ["access": "readOnly", "until": end])
    log.grant("a", "i", "h", "/long")
    for _ in 0..<4 { log.add(.brokerStarted) }
    func places(_ seconds: Double) -> [String] {
      report(log.events, .init(since: Recording.start.addingTimeInterval(seconds))).places.map(\.path)
    }
    #expect(places(0) == ["/long", "/short"])
    #expect(places(5) == ["/long"])
  }

  @Test(
    "What a broker had that died, and nobody was heard of since, is shown up to the next one, and as certain up to its last entry"
  )
  func unheard() throws {
    func launch(_ more: (inout Recording) -> Void) throws -> ReportModel.Launch {
      var log = Recording()
      log.add(.brokerStarted)
      log.launch("a", "i")
      log.grant("a", "i", "g", "/d")
      log.start("a", "i", "g", "/d", used: 1)
      log.add(.refuse, .refused, "b", rule: "SBX-2")
      log.add(.brokerStarted)
      more(&log)
      log.add(.revoke, .allowed, "a", grant: "g", path: "/d", how: "lifetime")
      log.add(.refuse, .refused, "b", rule: "SBX-2")
      let model = report(log.events)
      #expect(model.leaks.isEmpty && model.launches.count == 1)
      let page = ReportPage(model).text
      #expect(page.contains("to, at the latest, ") && page.contains("class=\"bar unsure\""))
      return try #require(model.launches.first)
    }
    func second(_ number: Double) -> Date { Recording.start.addingTimeInterval(number) }
    let unheard = ReportModel.Bar(since: second(4), until: second(6), certain: second(5), isLeak: false)
    // Whether or not yet another broker has begun.
    for more in [{ _ in }, { $0.add(.brokerStarted) }] as [(inout Recording) -> Void] {
      let launch = try launch(more)
      #expect(launch.until == second(6) && !launch.isEndKnown && launch.ending.contains("not heard of since"))
      #expect(launch.lanes.map(\.bars) == [[unheard]] && launch.lanes.map(\.seconds) == [1])
      #expect(launch.lanes.map(\.ending) == ["not heard of since its broker died"])
    }
    // The next one has found that it was over.
    let found = try launch { $0.add(.exit, .allowed, "a", "i", how: AuditEvent.recovery, reason: "it is gone") }
    #expect(found.until == second(7) && !found.isEndKnown && found.ending == "it is gone")
    #expect(found.lanes.flatMap(\.bars).map(\.until) == [second(7)])
    #expect(found.lanes.flatMap(\.bars).map(\.certain) == [second(5)])
  }

  @Test("Until --until, a scope that ends later is still open")
  func until() throws {
    let model = report(Recording.story.events, .init(until: Recording.start.addingTimeInterval(8)))
    let launch = try #require(model.launches.first)
    #expect(launch.until == nil && launch.lanes.flatMap(\.bars).allSatisfy { $0.until == nil })
    #expect(model.leaks.isEmpty && model.source.read == 8)
  }

  @Test("A document that is renamed is one, under its last name; two spellings of one letter are two")
  func identity() {
    var log = Recording()
    log.launch("a", "i")
    log.grant("a", "i", "g1", "/old")
    log.add(.bookmarkResolved, .allowed, "a", "i", grant: "g1", path: "/new")
    log.grant("a", "i", "g2", "/e\u{301}")
    log.grant("a", "i", "g3", "/\u{e9}")
    #expect(report(log.events).places.map(\.path).count == 3)
    #expect(report(log.events).places.contains { $0.path == "/new" })
  }

  @Test("However much happened, a report has no more of it than its limits say, and counts the rest")
  func bounds() {
    var generator = Seeded(seed: 3)
    var log = Recording()
    var limits = ReportLimits()
    (limits.apps, limits.places, limits.launches, limits.lanes) = (3, 5, 4, 6)
    (limits.marks, limits.bars, limits.levels, limits.denials, limits.leaks) = (7, 8, 9, 10, 11)
    for round in 0..<40 {
      let (app, instance) = ("app\(Int.random(in: 0..<9, using: &generator))", "i\(round)")
      log.launch(app, instance)
      for number in 0..<12 {
        let (grant, path) = ("g\(round).\(number)", "/home/folder\(number % 4)/\(round)/\(number)")
        log.grant(app, instance, grant, path)
        for _ in 0..<6 {
          log.start(app, instance, grant, path, used: Int.random(in: 1...2, using: &generator))
          log.add(
            .refuse, .refused, app, instance, rule: "R\(Int.random(in: 0..<30, using: &generator))", reason: "no")
          log.stop(app, instance, grant, path, used: 0)
        }
        log.start(app, instance, grant, path, used: 1)
        log.add(.scopeEnded, .allowed, app, instance, grant: grant, path: path, rule: "TOK-11", ["process": "2"])
      }
      log.add(.exit, .allowed, app, instance)
    }
    let model = report(log.events, limits: limits)
    #expect(model.apps.count == 3 && model.apps.count + model.appsLeftOut == model.totals.apps)
    #expect(model.places.count <= 5 && model.reaches.count <= 15)
    #expect(model.places.reduce(0) { $0 + $1.documents } == model.folding.documents)
    #expect(model.launches.count == 4 && model.launches.count + model.launchesLeftOut == 40)
    #expect(model.launches.allSatisfy { $0.lanes.count == 7 && $0.lanes.reduce(0) { $0 + $1.documents } == 12 })
    #expect(model.launches.allSatisfy { $0.lanes.allSatisfy { $0.bars.count <= 8 } && $0.inUse.count <= 9 })
    #expect(model.launches.allSatisfy { $0.refusals.count == 7 && $0.refusalsLeftOut == 65 })
    #expect(model.denials.count == 10)
    #expect(model.denials.reduce(0) { $0 + $1.count } + model.denialsLeftOut == 40 * 72)
    #expect(model.leaks.count == 11 && model.leaks.count + model.leaksLeftOut == 480)
    #expect(model.totals.starts == 40 * 12 * 7)
  }

  @Test("Policies are those that the latest launch of each app went by, as its entry has them")
  func policies() {
    var log = Recording()
    func launch(_ app: String, _ instance: String, _ policy: String, _ text: String?) {
      var facts = ["policy": policy]
      facts["settings"] = text
      log.add(.launch, .allowed, app, instance, facts)
    }
    launch("a", "a1", "default", "one")
    launch("b", "b1", "default", "two")
    launch("c", "c1", "mine", nil)
    launch("a", "a2", "default", "two")
    // What is carried on is older.
    log.add(.carried, .allowed, "b", "b0", ["carries": "launch", "policy": "strict", "settings": "three"])
    func words(_ since: Double? = nil) -> [String] {
      report(log.events, .init(since: since.map { Recording.start.addingTimeInterval($0) })).policies.map {
        "\($0.name) \($0.text ?? "–") \($0.launch ?? "–") \($0.entry ?? 0) \($0.apps) \($0.varied)"
      }
    }
    #expect(words() == [#"default two a2 4 ["a", "b"] ["a"]"#, #"mine – c1 3 ["c"] []"#])
    // Of what ran before already, and does so still, as well.
    log.add(.refuse, .refused, "c", "c1", rule: "SBX-2")
    #expect(words(6) == [#"mine – c1 3 ["c"] []"#])
    #expect(words(4) == [#"default two a2 4 ["a", "b"] ["a"]"#, #"mine – c1 3 ["c"] []"#])
    // But not of what was over by then.
    var over = Recording()
    for (instance, text) in [("a1", "one"), ("a2", "two")] {
      over.add(.launch, .allowed, "a", instance, ["policy": "default", "settings": text])
      over.add(.exit, .allowed, "a", instance)
    }
    #expect(report(over.events, .init(since: Recording.start.addingTimeInterval(3))).policies.map(\.varied) == [[]])
    #expect(report(over.events).policies.map(\.varied) == [["a"]])
  }

  @Test("The model comes back from its JSON")
  func json() throws {
    let model = report(Recording.story.events)
    #expect(try JSONDecoder().decode(ReportModel.self, from: JSONEncoder().encode(model)) == model)
  }
}

@Suite("Report: folding of documents into folders")
struct PlaceFoldingTests {
  @Test("Few documents stay as they are")
  func few() {
    let folded = PlaceFolding.fold(["/a/1", "/a/2", "/b"], most: 3)
    #expect(folded.places.map(\.path) == ["/a/1", "/a/2", "/b"] && folded.indices == [0, 1, 2])
    #expect(!folded.places.contains { $0.isFolded })
  }

  @Test("The folder that holds most is folded first, and single documents elsewhere stay")
  func most() {
    let mails = (0..<500).map { "/home/alice/Mail/\($0)" }
    let folded = PlaceFolding.fold(mails + ["/home/alice/Taxes/2024.pdf", "/home/alice/plan.txt"], most: 5)
    #expect(folded.places.map(\.path) == ["/home/alice/Mail", "/home/alice/Taxes/2024.pdf", "/home/alice/plan.txt"])
    #expect(folded.places.map(\.documents) == [500, 1, 1] && folded.places.map(\.isFolded) == [true, false, false])
  }

  @Test("Each document is in one place that is itself or a folder above it, and there are never too many")
  func random() {
    var generator = Seeded(seed: 11)
    for _ in 0..<300 {
      let paths = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
        (0..<Int.random(in: 1...5, using: &generator)).reduce(into: Bool.random(using: &generator) ? "/" : "") {
          path, _ in
          path += ["a", "b", "é", "e\u{301}", "c"].randomElement(using: &generator) ?? ""
          path += Bool.random(using: &generator) ? "/" : ""
        }
      }
      let most = Int.random(in: 1...8, using: &generator)
      let folded = PlaceFolding.fold(paths, most: most)
      #expect(folded.places.count <= most)
      #expect(folded.places.reduce(0) { $0 + $1.documents } == paths.count)
      for (path, index) in zip(paths, folded.indices) {
        let place = folded.places[index].path.utf8
        #expect(place.isEmpty || path.utf8.starts(with: place), "\(path) is not below \(folded.places[index].path)")
      }
    }
  }
}
