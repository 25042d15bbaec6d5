import Audit
import Foundation
import Kernel
import ScopedAccess
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A broker that dies, or cannot write, between any two changes of what it keeps and shows.
@Suite(.serialized, .waiting)
struct RecoveryTests {
  /// What an app does with documents, step by step. Each answers whether it was told that it had worked.
  private static let steps: [(name: String, act: @Sendable (Story) throws -> Bool)] = [
    ("pick", { try $0.picked("a") }),
    ("start", { try $0.app.start() }),
    ("save", { try $0.saved() }),
    ("bookmark", { try $0.bookmarked() }),
    ("stop", { try $0.app.tell("stop", ["of": "a"]).isDone }),
    ("resolve after a move", { try $0.resolved() }),
    ("start what was resolved", { try $0.app.start("r") }),
    ("pick again", { try $0.picked("b") }),
    ("withdraw", { try $0.withdraw() }),
  ]

  /// Its saves are not copied, and none goes in place; it has no database, picks one document at a time, and its log stays in one file.
  private static let elsewhere: Set<FaultPoint> = [
    .contentDue, .picksDue, .sidecarsTaken, .sidecarsDue, .sidecarsCopied, .sidecarsKept,
    .segmentEnded, .segmentMade, .somethingCarried, .removalSaid, .removalSigned,
    .oldContentKept, .contentWriting, .contentWritten, .recordRemoved, .contentRestoring,
  ]

  private static let points = FaultPoint.allCases.filter { !elsewhere.contains($0) }.enumerated()
    .filter { Rounds.areAll || $0.offset.isMultiple(of: 3) }.map(\.element)

  @Test(arguments: TestUser.inTurn(points))
  func `the broker is killed at any change: what was answered is there after, nothing is invented, nothing stays shown`(
    user: TestUser, point: FaultPoint
  ) throws {
    try Workspace.with(user) { world in
      let story = try Story(world, fault: "kill \(point.rawValue)")
      var deaths = 0
      for step in Self.steps {
        let broker = try world.brokerProcess()
        // Without all rounds the broker dies once, in the first step that comes by the point, and the story ends with that step.
        let dies = deaths == 0 || Rounds.areAll
        if dies { try story.arm() }
        var isDone = try step.act(story)
        // Where it was seen is written down when it has been answered, and a grant comes into the database.
        let isLate =
          point == .grantMoved && step.name == "resolve after a move"
          || [.grantsDue, .grantsSettled].contains(point) && step.name == "pick"
        if dies, isLate {
          try Deadline.wait(for: "the broker to reach \(point)") { !story.isArmed }
        }
        if dies, !story.disarm() {
          deaths += 1
          try story.takenOver(from: broker)
          try story.checkBooks()
          // What was started is over, and what was shown is gone; the same again, with nobody in the way. A call that was
          // under way the app may have made once more by itself.
          if ["save", "bookmark"].contains(step.name) { #expect(try story.app.start()) }
          if step.name != "stop" || !isDone { isDone = try step.act(story) }
        }
        #expect(isDone, "\(step.name): \(story.last)")
        if deaths > 0, !Rounds.areAll { break }
      }
      let dies = deaths == 0 || Rounds.areAll
      if dies { try story.arm() }
      #expect(try story.app.finish() == .status(0))
      // Events are moved and brought to the disk, and an ended app is taken note of, when nobody waits for it.
      if dies, [.eventsMoved, .ended, .syncDue].contains(point) {
        try Deadline.wait(for: "the broker to reach \(point)") { !story.isArmed }
      }
      if dies, !story.disarm() { deaths += 1 }
      try story.checkBooks()
      if point != .attached { #expect(deaths > 0, "no step came by \(point)") }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a pick that cannot be written down grants nothing`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let story = try Story(world, fault: "fail eventsDue")
      try story.arm()
      #expect(try !story.picked("a"))
      #expect(!story.disarm())
      #expect(try world.audit(.grant).isEmpty)
      #expect(try story.grants().isEmpty)
      #expect(try story.references().isEmpty)
      // Nothing is in the way of the next one.
      #expect(try story.picked("a"))
      try story.checkBooks()
      #expect(try story.grants().count == 1)
    }
  }
}

/// One app, its document, and a broker in which something is going to happen.
private final class Story {
  let world: Workspace
  let app: AppRun
  private let fault: String
  private let trigger: String
  private var document: String
  private var bookmark: JSON?
  /// The grants that the app was told of, and of which no withdrawal was asked for.
  private var told: Set<String> = []
  /// The grants of which the withdrawal was answered.
  private var withdrawn: Set<String> = []
  /// What the document may hold.
  private var contents: Set<String> = ["text"]
  private var moves = 0
  /// What the app answered last, for who reads why it was not done.
  private(set) var last = ""

  init(_ world: Workspace, fault: String) throws {
    self.world = world
    self.fault = fault
    document = try world.document("letter.txt", "text")
    // Where an app's identity can take it away as well: the broker makes some things with that.
    trigger = "\(world.home)/triggers/now"
    try world.makeFolder("\(world.home)/triggers")
    _ = unsafe chmod("\(world.home)/triggers", 0o777)
    app = try world.probe(
      picks: Array(repeating: document, count: 12),
      environment: ["AMBIT_FAULT": "\(fault) \(trigger)"])
    _ = try app.tell("status")
  }

  /// In one step: whoever waits for it may take it at once.
  func arm() throws {
    try world.write("", to: "\(trigger).new")
    try world.rename("\(trigger).new", to: trigger)
  }

  var isArmed: Bool { unsafe access(trigger, F_OK) == 0 }

  /// Whether nothing has happened.
  func disarm() -> Bool { unsafe unlink(trigger) == 0 }

  func takenOver(from broker: Int32?) throws {
    try Deadline.wait(for: "another broker") {
      guard let next = try world.brokerProcess() else { return false }
      return next != broker
    }
    try Deadline.wait(for: "the app to be taken over") { try !world.instances().isEmpty }
  }

  func picked(_ name: String) throws -> Bool {
    let answer = try app.tell("pick", ["as": .string(name)])
    last = answer.text
    guard answer["didPick"] == 1, let path = answer["path"]?.string else { return false }
    told.insert(String(path.split(separator: "/")[1]))
    return true
  }

  /// By a new file that takes its place: it is the old one or the new one, whole, and once that was answered the new one.
  func saved() throws -> Bool {
    contents.insert("saved")
    let path = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
    _ = try app.tell("create", ["path": .string("\(path).new"), "text": "saved"])
    let answer = try app.tell("rename", ["path": .string("\(path).new"), "to": .string(path)])
    last = answer.text
    if answer.isDone { contents = ["saved"] }
    return answer.isDone
  }

  /// By the user, of the newest grant.
  func withdraw() throws -> Bool {
    let newest = try books().max { $0.created < $1.created }
    guard let grant = newest?.id, withdrawn.isEmpty else { return true }
    told.remove(grant)
    // If it finds no broker it starts one.
    let outcome = try world.ambit("revoke", grant, environment: ["AMBIT_FAULT": "\(fault) \(trigger)"])
    last = "\(outcome)"
    if outcome.exit == .status(0) { withdrawn.insert(grant) }
    return outcome.exit == .status(0)
  }

  func bookmarked() throws -> Bool {
    let answer = try app.tell("bookmark", ["of": "a"])
    guard let made = answer["bookmark"] else { return false }
    bookmark = made
    return true
  }

  func resolved() throws -> Bool {
    moves += 1
    let place = "\(world.home)/Papers/moved \(moves).txt"
    try world.rename(document, to: place)
    document = place
    // Another takes its name, which is no reason to take it for the document, and the next to be picked.
    try world.document("letter.txt", "another")
    let answer = try app.tell("resolve", ["bookmark": try #require(bookmark), "as": "r"])
    last = answer.text
    return answer["urls"] != nil
  }

  /// In force, by the broker's books.
  func grants() throws -> Set<String> { Set(try books().map(\.id)) }

  /// As a broker would find them that is started now. Of a copy: only one may have them open.
  private func books() throws -> [Grant] {
    let copy = "\(world.ambitHome)-books-\(UUID())"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    for name in ["grants.journal", "grants.sqlite-wal", "grants.sqlite"] {
      let original = "\(world.ambitHome)/state/\(name)"
      guard FileManager.default.fileExists(atPath: original) else { continue }
      try FileManager.default.copyItem(atPath: original, toPath: "\(copy)/\(name)")
    }
    return try GrantStore(path: "\(copy)/grants.sqlite").grants()
  }

  func references() throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: "\(world.container(Workspace.identifier("Probe")))/Documents"
    ).filter { !$0.hasPrefix(".") }
  }

  /// What is shown is what somebody holds.
  private func checkMounts() throws {
    let status = try app.tell("status")
    let used = try #require(status["used"]?.int, "\(status.text)")
    let mounts = try #require(try app.tell("mounts").content)
    // /documents/<grant>/<name>; around a single file there is a mount of its folder as well.
    let places = mounts.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst(4).first }
    let shown = places.filter { $0.hasPrefix("/documents/") && $0.split(separator: "/").count == 3 }
    #expect(shown.count == used, "\(shown), \(status.text)")
  }

  /// What was answered is there; what is there was written down; and every document that the app was given has its reference.
  func checkBooks() throws {
    let events = try world.audit(.grant)
    let written = Set(events.filter { $0.result == .allowed }.compactMap(\.grant))
    let ended = Set(try world.audit(.revoke).filter { $0.result == .allowed }.compactMap(\.grant))
    let grants = try grants()
    #expect(told.isSubset(of: grants))
    #expect(grants == written.subtracting(ended))
    #expect(withdrawn.isSubset(of: ended))
    #expect(contents.contains(try world.read(document)))
    #expect(try world.names().allSatisfy { $0.hasSuffix(".txt") })
    #expect(try references().count >= told.count)
    if !app.process.hasEnded { try checkMounts() }
  }
}
