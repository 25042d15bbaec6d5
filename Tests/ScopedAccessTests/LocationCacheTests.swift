import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

private func identity(_ number: UInt64) -> FileIdentity {
  FileIdentity(volume: [1], handle: .init(type: 1, bytes: []), inode: number, birth: 0)
}

/// Documents in folders that a test moves about, with the events and the surveys that a kernel and a thread would make of it.
private final class World {
  var catalog = LocationCache()
  /// Where each document is; `nil`: it was deleted.
  var places: [UInt64: String] = [:]
  /// Watches by folder, as inotify numbers them.
  var watches: [String: Int32] = [:]
  var asked: [LocationCache.Asked] = []
  var now: Int64 = 0
  private var lastWatch: Int32 = 0

  static func split(_ path: String) -> (folder: String, name: String) {
    let parts = path.split(separator: "/").map(String.init)
    return ("/" + parts.dropLast().joined(separator: "/"), parts.last ?? "")
  }

  func enter(_ number: UInt64, at path: String) {
    catalog.enter("\(number)", identity(number), at: path, now: now)
  }

  func move(_ number: UInt64, to path: String?) {
    for place in [places[number], path] {
      guard let (folder, name) = place.map(Self.split), let watch = watches[folder] else { continue }
      catalog.happened(watch, name, now: now)
    }
    places[number] = path
  }

  func beginSurvey() { asked = catalog.next(now: now) }

  func watch(_ path: String) -> Int32 {
    let folder = Self.split(path).folder
    if let known = watches[folder] { return known }
    lastWatch += 1
    watches[folder] = lastWatch
    return lastWatch
  }

  /// - Parameter between: what happens after the documents have been seen, and before that is known.
  func survey(between: () -> Void = {}) {
    var sightings: [String: LocationCache.Sighting] = [:]
    for each in asked {
      let number = each.identity.inode
      let place = places[number]
      let isFound = each.mayBeFar || place == each.path || each.guesses.contains { $0 == place }
      let path = isFound ? place : nil
      sightings[each.grant] = .init(path: path, watch: watch(path ?? each.path))
    }
    between()
    for unneeded in catalog.finished(sightings, now: now, took: 1_000_000) {
      watches = watches.filter { $0.value != unneeded }
    }
    asked = []
  }

  func settle() {
    for _ in 0..<200 {
      if asked.isEmpty {
        guard let due = catalog.nextDue else { return }
        now = max(now, due)
        beginSurvey()
      }
      survey()
    }
  }
}

@Suite struct `BMK-1: the catalog` {
  @Test func `looks again when a document has left its name, and knows where it is before it is asked`() {
    let world = World()
    world.places[1] = "/home/a"
    world.enter(1, at: "/home/a")
    #expect(world.catalog.nextDue == LocationCache.pause)
    world.settle()
    #expect(world.catalog.nextDue == nil)
    world.move(1, to: "/far/b")
    #expect(world.catalog.lost == [identity(1)])
    world.settle()
    #expect(world.catalog.place(of: "1") == "/far/b" && world.catalog.lost.isEmpty)
    // It is followed from there, and its old folder is not watched any more.
    world.move(1, to: "/c")
    world.settle()
    #expect(world.catalog.place(of: "1") == "/c")
    #expect(Set(world.watches.keys) == ["/"])
  }

  @Test func `what comes to where a lost document was is looked at, and nothing else is searched`() {
    let world = World()
    world.places = [1: "/home/a", 2: "/home/new"]
    world.enter(1, at: "/home/a")
    world.settle()
    world.move(1, to: nil)
    world.settle()
    #expect(world.catalog.lost == [identity(1)] && world.catalog.nextDue == nil)
    world.move(2, to: "/home/other")
    world.now += 1_000_000_000
    world.beginSurvey()
    #expect(world.asked.map(\.mayBeFar) == [false])
    #expect(world.asked.first?.guesses.contains("/home/other") == true)
    world.survey()
    // A lost one that comes back is found by it.
    world.move(1, to: "/home/again")
    world.settle()
    #expect(world.catalog.place(of: "1") == "/home/again" && world.catalog.lost.isEmpty)
  }

  @Test func `what happens during a survey is not lost`() {
    let world = World()
    world.places[1] = "/home/a"
    world.enter(1, at: "/home/a")
    world.now = LocationCache.pause
    world.beginSurvey()
    // The folder is watched by then, and nobody knows yet for whom.
    world.survey { world.move(1, to: "/home/b") }
    #expect(world.catalog.lost == [identity(1)])
    world.settle()
    #expect(world.catalog.place(of: "1") == "/home/b")
  }

  @Test func `surveys rest for nine times as long as they took`() {
    let world = World()
    world.places[1] = "/home/a"
    world.enter(1, at: "/home/a")
    world.now = LocationCache.pause
    world.beginSurvey()
    let took: Int64 = 1_000_000_000
    _ = world.catalog.finished(["1": .init(path: "/home/a", watch: 1)], now: world.now, took: took)
    world.catalog.happened(1, "a", now: world.now)
    #expect(world.catalog.nextDue == world.now + 9 * took)
    world.now += 9 * took - 1
    world.beginSurvey()
    #expect(world.asked.isEmpty)
  }

  @Test func `is bounded in documents and in folders`() {
    let world = World()
    for number in 0..<UInt64(LocationCache.mostDocuments + 100) {
      world.places[number] = "/\(number)/a"
      world.enter(number, at: "/\(number)/a")
    }
    world.settle()
    #expect(world.watches.count == LocationCache.mostFolders)
    #expect(
      (0..<UInt64(LocationCache.mostDocuments + 100)).count { world.catalog.place(of: "\($0)") != nil }
        == LocationCache.mostDocuments)
    for number in 0..<UInt64(LocationCache.mostDocuments) {
      if let watch = world.catalog.remove("\(number)") { world.watches = world.watches.filter { $0.value != watch } }
    }
    #expect(world.watches.isEmpty && world.catalog.nextDue == nil)
  }

  /// The model is the world itself: once everything has come to rest, the catalog knows each document that was moved where its
  /// folder could tell.
  @Test(arguments: 0..<60) func `knows every document's place once it has come to rest, whatever happened`(
    seed: UInt64
  ) {
    var random = Seeded(seed: seed)
    let world = World()
    var entered: Set<UInt64> = []
    func path() -> String {
      "/\(Int.random(in: 0..<4, using: &random))/\(Int.random(in: 0..<1_000_000, using: &random))"
    }
    for _ in 0..<400 {
      world.now += Int64.random(in: 0..<50_000_000, using: &random)
      let number = UInt64.random(in: 0..<12, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<2 where world.places[number] != nil:
        world.enter(number, at: world.places[number] ?? "")
        entered.insert(number)
      case 0..<5: world.move(number, to: path())
      case 5 where !entered.contains(number): world.move(number, to: nil)
      case 6:
        if let watch = world.catalog.remove("\(number)") { world.watches = world.watches.filter { $0.value != watch } }
        entered.remove(number)
      case 7: world.catalog.happened(-1, "", now: world.now)
      default:
        if world.asked.isEmpty { world.beginSurvey() } else { world.survey() }
      }
    }
    world.settle()
    for number in entered { #expect(world.catalog.place(of: "\(number)") == world.places[number], "\(number)") }
    #expect(world.catalog.lost.isEmpty)
    let needed = Set(entered.compactMap { world.places[$0].map { World.split($0).folder } })
    #expect(needed.isSubset(of: Set(world.watches.keys)))
  }
}
