import Audit
import Foundation
import Review
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// `AUD-5`: what the log alone says of any moment is what the broker's own books said then.
@Suite(.serialized, .waiting)
struct ReplayTests {
  /// One run; more of them, over night, by `AMBIT_REPLAY_SEEDS=1,2,3`.
  private static let seeds =
    ProcessInfo.processInfo.environment["AMBIT_REPLAY_SEEDS"]?.split(separator: ",").compactMap { UInt64($0) } ?? [58]

  @Test(arguments: TestUser.one(.root), seeds)
  func `AUD-5: rights recomputed from the log are those of the broker's own ledger, at random times in random runs`(
    user: TestUser, seed: UInt64
  ) throws {
    try Workspace.with(user) { world in
      var run = try RealRun(world, seed: seed)
      for _ in 0..<24 { try run.step() }
      #expect(run.kinds.count > 5, "a run that does something: \(run.kinds)")
      try run.end()
      try run.checkMoments()
      try run.checkSimulations()
    }
  }

  @Test(arguments: TestUser.one(.ordinary), seeds)
  func `AUD-5: and so they are when the log is small, and what comes before is removed all the time`(
    user: TestUser, seed: UInt64
  ) throws {
    try Workspace.with(user) { world in
      try world.makeFolder("\(world.ambitHome)/config")
      try world.write(
        "segment = \"64 KiB\"\nkeep_size = \"128 KiB\"\n", to: "\(world.ambitHome)/config/audit.toml")
      var run = try RealRun(world, seed: seed)
      for _ in 0..<24 {
        try run.step()
        try run.startAndStop(times: 12)
      }
      try run.end()
      #expect(try run.checkMoments(fromCarried: true) > 0)
      let log = try AuditReader(path: "\(world.ambitHome)/state/audit.sqlite")
      #expect(try log.removedThrough() > 0)
      #expect(try log.verified().begins != nil)
    }
  }
}

/// Random operations on a real broker, with real apps; and after each of them the books beside the log.
struct RealRun {
  /// What the books say, in words that compare.
  struct Books: Equatable {
    var instances: [String: String] = [:]
    var grants: [String: String] = [:]
    var scopes: Set<String> = []

    /// What only one of two has.
    func difference(from other: Books) -> String {
      func all(_ books: Books) -> Set<String> {
        Set(books.instances.map { "\($0) \($1)" } + books.grants.map { "\($0) \($1)" }).union(books.scopes)
      }
      return all(self).symmetricDifference(all(other)).sorted().joined(separator: "; ")
    }
  }

  let world: Workspace
  private var random: Seeded
  private var apps: [String: AppRun] = [:]
  private var urls: [String: [String]] = [:]
  private var documents: [String] = []
  private var moments: [(sequence: Int64, time: Date, books: Books)] = []
  private var made = 0
  private(set) var kinds: Set<String> = []
  private let names = ["One", "Two", "Three"]

  init(_ world: Workspace, seed: UInt64) throws {
    self.world = world
    random = Seeded(seed: seed)
    documents = try (0..<6).map { try world.document("\($0).txt", "\($0)") }
    let entitled = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>io.ambit.pass-grants</key><true/></dict></plist>
      """
    for name in names { try world.bundle(name, identifier: Workspace.identifier(name), entitlements: entitled) }
    try world.write("inherits = \"default\"\n[scopes]\nlimit = 2\n", to: "\(world.home)/two.toml")
  }

  // MARK: Operations

  mutating func step() throws {
    let acts: [(String, Int, (inout RealRun) throws -> Void)] = [
      ("launch", 3, { try $0.launch() }), ("pick", 4, { try $0.pick() }), ("start", 6, { try $0.start() }),
      ("stop", 3, { try $0.stop() }), ("bookmark", 2, { try $0.bookmark() }), ("pass", 2, { try $0.pass() }),
      ("revoke", 2, { try $0.revoke() }), ("replace", 2, { try $0.replace() }), ("kill app", 1, { try $0.killApp() }),
      ("finish", 1, { try $0.finish() }), ("kill broker", 1, { try $0.killBroker() }),
      ("remove", 1, { try $0.remove() }),
    ]
    var number = Int.random(in: 0..<acts.reduce(0) { $0 + $1.1 }, using: &random)
    // With nothing running nothing else can be done.
    let chosen = acts.first { act in
      number -= act.1
      return number < 0
    }
    let act = apps.isEmpty ? acts[0] : chosen ?? acts[0]
    kinds.insert(act.0)
    try act.2(&self)
    try compare(after: act.0)
  }

  private mutating func any() -> (name: String, app: AppRun)? {
    apps.keys.sorted().randomElement(using: &random).flatMap { name in apps[name].map { (name, $0) } }
  }

  private mutating func url(of name: String) -> String? { urls[name]?.randomElement(using: &random) }

  private mutating func newURL(of name: String) -> String {
    made += 1
    urls[name, default: []].append("u\(made)")
    return "u\(made)"
  }

  private mutating func launch() throws {
    guard let name = names.filter({ apps[$0] == nil }).randomElement(using: &random) else { return }
    let picks = (0..<20).compactMap { _ in documents.randomElement(using: &random) }
    apps[name] = try world.probe(
      name, picks: picks,
      // Each time: what was said of an app goes when it is removed.
      options: ["--policy", "\(world.home)/two.toml", "--allow-entitlement", "pass-grants"])
    urls[name] = []
    _ = try apps[name]?.tell("status", patience: .seconds(30))
    try pick(in: name)
  }

  private mutating func pick() throws {
    guard let (name, _) = any() else { return }
    try pick(in: name)
  }

  private mutating func pick(in name: String) throws {
    let url = newURL(of: name)
    _ = try apps[name]?.pick(as: url, ["readOnly": .bool(Bool.random(using: &random))])
  }

  private mutating func start() throws {
    guard let (name, app) = any(), let url = url(of: name) else { return }
    _ = try app.start(url)
  }

  private mutating func stop() throws {
    guard let (name, app) = any(), let url = url(of: name) else { return }
    try app.stop(url)
  }

  /// What fills a log.
  mutating func startAndStop(times: Int) throws {
    guard let (name, app) = any(), let url = url(of: name) else { return }
    for _ in 0..<times where try app.start(url) { try app.stop(url) }
  }

  private mutating func bookmark() throws {
    guard let (name, app) = any(), let url = url(of: name) else { return }
    _ = try app.start(url)
    let made = try app.tell("bookmark", ["of": .string(url), "readOnly": true])
    guard let bookmark = made["bookmark"] else { return }
    let answer = try app.tell("resolve", ["bookmark": bookmark, "as": .string("r\(self.made)")])
    if answer.url != nil { urls[name]?.append("r\(self.made)") }
    self.made += 1
  }

  private mutating func pass() throws {
    guard let (name, app) = any(), let url = url(of: name),
      let other = names.filter({ $0 != name && apps[$0] != nil }).randomElement(using: &random)
    else { return }
    let passed = try app.tell("pass", ["of": .string(url), "to": .string(Workspace.identifier(other))])
    guard let transfer = passed["transfer"] else { return }
    let target = newURL(of: other)
    if try apps[other]?.tell("redeem", ["transfer": transfer, "as": .string(target)]).url == nil {
      urls[other]?.removeLast()
    }
  }

  private mutating func revoke() throws {
    guard let grant = try world.grants().randomElement(using: &random)?["grant"]?.string else { return }
    _ = try world.ambit("revoke", grant)
  }

  /// A program on the host saves a document by writing it anew.
  private mutating func replace() throws {
    guard let document = documents.randomElement(using: &random) else { return }
    try world.write("new", to: "\(document).new")
    try world.rename("\(document).new", to: document)
  }

  private mutating func killApp() throws {
    guard let (name, app) = any() else { return }
    app.process.kill()
    apps[name] = nil
  }

  private mutating func finish() throws {
    guard let (name, app) = any() else { return }
    _ = try app.finish()
    apps[name] = nil
  }

  private mutating func remove() throws {
    guard let name = names.randomElement(using: &random) else { return }
    _ = try world.ambit("app", "remove", Workspace.identifier(name), "--kill")
    if let app = apps.removeValue(forKey: name) { _ = try app.process.waitForExit(patience: .seconds(30)) }
  }

  private mutating func killBroker() throws {
    guard let broker = try world.brokerProcess() else { return }
    #expect(kill(broker, SIGKILL) == 0)
    try Deadline.wait(.seconds(30), for: "another broker") {
      guard let next = try world.brokerProcess() else { return false }
      return next != broker
    }
  }

  mutating func end() throws {
    for name in apps.keys.sorted() { _ = try apps.removeValue(forKey: name)?.finish() }
    try compare(after: "the end")
  }

  // MARK: The books

  /// What the broker says of itself.
  private func ledger() throws -> Books {
    var books = Books()
    for instance in try world.instances() {
      let id = instance["instance"]?.string ?? ""
      books.instances[id] = instance["bundleIdentifier"]?.string
      for scope in instance["scopes"]?.array ?? [] {
        books.scopes.insert(
          "\(id) \(scope["process"]?.int ?? -1) \(scope["grant"]?.string ?? "") ×\(scope["count"]?.int ?? 0)")
      }
    }
    for grant in try world.grants() {
      let words = ["bundleIdentifier", "path", "access", "kind", "origin", "parent"].map { grant[$0]?.string ?? "–" }
      books.grants[grant["grant"]?.string ?? ""] = words.joined(separator: " ")
    }
    return books
  }

  private static func books(_ history: AccessHistory) -> Books {
    var books = Books()
    for instance in history.instances.values where !instance.isOrphaned { books.instances[instance.id] = instance.app }
    for grant in history.grants.values {
      let words = [grant.app, grant.document?.path, grant.access?.rawValue, grant.kind, grant.how, grant.parent]
      books.grants[grant.id] = words.map { $0 ?? "–" }.joined(separator: " ")
    }
    for scope in history.scopes where !scope.isOrphaned {
      books.scopes.insert("\(scope.key.instance) \(scope.key.process ?? -1) \(scope.key.grant) ×\(scope.count)")
    }
    return books
  }

  private func history(upTo last: Int64 = .max) throws -> AccessHistory {
    var history = AccessHistory()
    for event in try world.audit().prefix(while: { $0.sequence <= last }) { history.take(event) }
    return history
  }

  /// Apps that ended, and those that another broker takes over, are noticed in their own time: then the two agree.
  private mutating func compare(after act: String) throws {
    var difference = ""
    do {
      try Deadline.wait(.seconds(20), for: "the books to agree") {
        let before = try history()
        let said = try ledger()
        let after = try history()
        difference = Self.books(after).difference(from: said)
        // Nothing was written down while the broker was asked.
        guard before.sequence == after.sequence, difference.isEmpty, said.instances.count == apps.count,
          let time = after.time
        else { return false }
        moments.append((after.sequence, time, said))
        return true
      }
    } catch { throw HarnessError("after “\(act)”: only one of log and broker says: \(difference)\n\(error)") }
  }

  /// Under the policy that held, everything comes out as it did; with half the slots, those starts do not that had no other one.
  func checkSimulations() throws {
    let same = try world.ambit("audit", "simulate", "--policy", "\(world.home)/two.toml", "--format", "json")
    let lines = same.output.split(separator: "\n").compactMap { JSON(String($0)) }
    #expect(lines.count == 1 && lines[0]["differences"] == 0, "\(same)")
    #expect(lines.first?["notJudged"]?["fields"]?.object?.isEmpty == true, "\(same)")
    #expect(lines.first?["notJudged"]?["launchesWithoutPolicy"] == 0)
    try world.write("inherits = \"default\"\n[scopes]\nlimit = 1\n", to: "\(world.home)/one.toml")
    let less = try world.ambit("audit", "simulate", "--policy", "\(world.home)/one.toml", "--format", "json")
    let found = less.output.split(separator: "\n").compactMap { JSON(String($0)) }.dropLast()
    #expect(found.allSatisfy { $0["field"] == "scopes.limit" }, "\(less)")
    let refused = found.filter { $0["because"] == nil }.compactMap { $0["entry"]?.int.map(Int64.init) }
    #expect(refused == Self.refusals(try world.audit(), limit: 1), "\(less)")
  }

  /// Which starts find no slot free, if those before them that found none have not started anything.
  private static func refusals(_ events: [AuditEvent], limit: Int) -> [Int64] {
    var held: [String: [String: Int]] = [:]
    var refused: [Int64] = []
    for event in events {
      let (instance, grant) = (event.instance ?? "", event.grant ?? "")
      let process = "\(instance) \(event.detail["process"] ?? "")"
      switch (event.kind, event.result) {
      case (.start, .allowed):
        if held[process]?[grant] == nil, (held[process]?.count ?? 0) >= limit {
          refused.append(event.sequence)
        } else {
          held[process, default: [:]][grant, default: 0] += 1
        }
      case (.stop, .allowed):
        let left = Int(event.detail["count"] ?? "") ?? 0
        guard let count = held[process]?[grant] else { continue }
        held[process]?[grant] = left > 0 && count > 1 ? min(count - 1, left) : nil
      case (.scopeEnded, .allowed):
        for key in held.keys where event.detail["process"] == nil ? key.hasPrefix("\(instance) ") : key == process {
          held[key]?[grant] = nil
        }
      case (.start, .failed), (.exit, _), (.attach, _):
        for key in held.keys where key.hasPrefix("\(instance) ") {
          if event.kind == .start { held[key]?[grant] = nil } else { held[key] = nil }
        }
      default: break
      }
    }
    return refused
  }

  /// The log as it is now says of every moment what the broker said then; and so does `ambit audit at`.
  ///
  /// - Parameter fromCarried: of those since all that was in force has been written down again.
  /// - Returns: how many moments there were.
  @discardableResult
  func checkMoments(fromCarried: Bool = false) throws -> Int {
    let since = fromCarried ? try world.audit(.carriedAll).first?.sequence ?? .max : 0
    let moments = moments.filter { $0.sequence >= since }
    for moment in moments {
      let said = Self.books(try history(upTo: moment.sequence))
      #expect(said == moment.books, "after entry \(moment.sequence): \(said.difference(from: moment.books))")
    }
    let entries = try world.audit()
    for moment in stride(from: 0, to: moments.count, by: 7).map({ moments[$0] }) {
      // Another entry of the same microsecond would belong to it.
      guard !entries.contains(where: { $0.time == moment.time && $0.sequence > moment.sequence }) else { continue }
      let answer = try world.ambit("audit", "at", Timestamp(moment.time).text, "--format", "json")
      let picture = try #require(JSON(answer.output), "\(answer)")
      #expect(picture["entry"]?.int == Int(moment.sequence))
      let grants = picture["grants"]?.array ?? []
      #expect(Set(grants.compactMap { $0["grant"]?.string }) == Set(moment.books.grants.keys))
      let scopes = grants.flatMap { grant in
        (grant["scopes"]?.array ?? []).filter { $0["isOrphaned"] == false }.map { scope in
          "\(scope["instance"]?.string ?? "") \(scope["process"]?.int ?? -1) \(grant["grant"]?.string ?? "") "
            + "×\(scope["count"]?.int ?? 0)"
        }
      }
      #expect(Set(scopes) == moment.books.scopes)
    }
    return moments.count
  }
}
