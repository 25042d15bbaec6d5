import Foundation
import Kernel
import ScopedAccess
import SystemPackage
import TestSupport
import Testing

@Suite struct `Rules for versions` {
  private func version(
    _ id: String, kept: Int64, size: UInt64 = 10, cause: KeptVersion.Cause = .saved, unresolved: Bool = false,
    app: String? = "org.a"
  ) -> KeptVersion {
    KeptVersion(
      id: id, name: "a.txt", place: "/a.txt", modified: 0, kept: kept, app: app, device: "here", size: size,
      isPackage: false, cause: cause, isUnresolved: unresolved)
  }

  @Test func `keep one version of an app's burst of saves`() {
    let rules = VersionRules()
    let latest = version("1", kept: 0)
    #expect(rules.isWanted(.saved, by: "org.a", after: nil, now: 0))
    #expect(!rules.isWanted(.saved, by: "org.a", after: latest, now: rules.burst - 1))
    #expect(rules.isWanted(.saved, by: "org.a", after: latest, now: rules.burst))
    #expect(rules.isWanted(.saved, by: "org.b", after: latest, now: 1))
    #expect(rules.isWanted(.overwritten, by: nil, after: latest, now: 1))
    // What it replaces may be another content than the one that was kept as a conflict; the same is not kept twice.
    #expect(rules.isWanted(.saved, by: "org.a", after: version("1", kept: 0, cause: .conflict), now: 1))
    #expect(rules.isWanted(.saved, by: "org.a", after: version("1", kept: 0, cause: .overwritten, app: nil), now: 1))
  }

  @Test func `leave the room of other apps alone`() {
    var rules = VersionRules()
    (rules.total, rules.ofApp, rules.largest) = (1000, 100, 100)
    let conflicts = (1...10).map {
      version("\($0)", kept: Int64($0), size: 10, cause: .conflict, unresolved: true, app: "org.greedy")
    }
    let old = version("old", kept: 0, size: 90, app: "org.a")
    #expect(rules.removals(for: 1, by: "org.greedy", of: [], among: conflicts + [old]) == nil)
    #expect(rules.removals(for: 10, by: "org.a", of: [], among: conflicts + [old]) == [])
    #expect(rules.removals(for: 11, by: "org.a", of: [], among: conflicts + [old]) == ["old"])
  }

  @Test func `are counted for each app, empty ones too`() {
    var rules = VersionRules()
    rules.mostOfApp = 3
    let kept = (1...3).map { version("\($0)", kept: Int64($0), size: 0, app: "org.a") }
    #expect(rules.removals(for: 0, by: "org.a", of: [], among: kept) == ["1"])
    #expect(rules.removals(for: 0, by: "org.b", of: [], among: kept) == [])
    let conflicts = (1...3).map {
      version("\($0)", kept: Int64($0), size: 0, cause: .conflict, unresolved: true, app: "org.a")
    }
    #expect(rules.removals(for: 0, by: "org.a", of: [], among: conflicts) == nil)
  }

  @Test func `leave half of the room to contents that saves replace`() {
    var rules = VersionRules()
    (rules.total, rules.ofApp, rules.largest, rules.conflictsOfApp) = (1000, 250, 250, 200)
    func conflict(_ id: String, _ size: UInt64, _ app: String?) -> KeptVersion {
      version(id, kept: 1, size: size, cause: .conflict, unresolved: true, app: app)
    }
    let own = [conflict("1", 150, "org.a")]
    #expect(rules.removals(for: 50, by: "org.a", isConflict: true, of: [], among: own) == [])
    #expect(rules.removals(for: 51, by: "org.a", isConflict: true, of: [], among: own) == nil)
    #expect(rules.removals(for: 51, by: "org.b", isConflict: true, of: [], among: own) == [])
    #expect(rules.removals(for: 51, by: "org.a", of: [], among: own) == [])
    let resolved = [version("1", kept: 1, size: 150, cause: .conflict, app: "org.a")]
    #expect(rules.removals(for: 51, by: "org.a", isConflict: true, of: [], among: resolved) == [])
    let all = ["org.a", "org.b", nil].enumerated().map { conflict("\($0.offset)", 160, $0.element) }
    #expect(rules.removals(for: 20, by: "org.c", isConflict: true, of: [], among: all) == [])
    #expect(rules.removals(for: 21, by: "org.c", isConflict: true, of: [], among: all) == nil)
    #expect(rules.removals(for: 21, by: nil, isConflict: true, of: [], among: all) == nil)
    #expect(rules.removals(for: 250, by: "org.c", of: [], among: all) == [])
    // The user's own programs have no share.
    #expect(rules.removals(for: 240, by: nil, isConflict: true, of: [], among: [conflict("1", 250, nil)]) == [])
  }

  @Test func `make room by the oldest, and never by an unresolved conflict`() {
    var rules = VersionRules()
    (rules.total, rules.ofDocument, rules.largest) = (100, 3, 60)
    let all = [
      version("1", kept: 1, size: 40, cause: .conflict, unresolved: true), version("2", kept: 2, size: 30),
      version("3", kept: 3, size: 30),
    ]
    #expect(rules.removals(for: 0, by: "org.z", of: [], among: all) == [])
    #expect(rules.removals(for: 20, by: "org.z", of: [], among: all) == ["2"])
    #expect(rules.removals(for: 60, by: "org.z", of: [], among: all) == ["2", "3"])
    #expect(rules.removals(for: 61, by: "org.z", of: [], among: all) == nil)
    #expect(rules.removals(for: 10, by: "org.z", of: all, among: all) == ["2"])
    #expect(
      rules.removals(
        for: 60, by: "org.z", of: [], among: [version("1", kept: 1, size: 41, cause: .conflict, unresolved: true)])
        == nil)
  }
}

@Suite struct `A store of versions` {
  private let temporary: TemporaryFolder
  private let store: VersionStore
  private var table: String { "\(temporary.path)/versions.sqlite" }
  private var contents: String { "\(temporary.path)/versions" }

  init() throws {
    temporary = try TemporaryFolder()
    _ = try temporary.folder("versions")
    store = try VersionStore(path: "\(temporary.path)/versions.sqlite", contents: "\(temporary.path)/versions")
  }

  private func document(_ path: String) throws -> FoundDocument {
    try FoundDocument(try Descriptor.open(path, flags: .place))
  }

  @discardableResult
  private func keep(_ path: String, _ id: String, at moment: Int64 = 0, in store: VersionStore? = nil) throws
    -> KeptVersion
  {
    let (document, store) = (try document(path), store ?? self.store)
    let draft = store.draft(of: document, id: id)
    let (size, modified) = try draft.fill { true }
    let version = KeptVersion(
      id: id, name: "a.txt", place: path, modified: modified, kept: moment, app: "org.a", device: "here", size: size,
      isPackage: draft.isPackage, cause: .saved, isUnresolved: false)
    try store.add(draft, of: document.identity, as: version)
    return version
  }

  private func awaitContents(_ names: [String]) throws {
    try Deadline.wait(for: "\(names) to be all that is left") {
      try FileManager.default.contentsOfDirectory(atPath: contents).sorted() == names
    }
  }

  private func bounded(_ largest: UInt64) throws -> VersionStore {
    var rules = VersionRules()
    rules.largest = largest
    return try VersionStore(path: table, contents: contents, rules: rules)
  }

  private func isTooLarge(_ path: String, in store: VersionStore) throws -> Bool {
    let draft = store.draft(of: try document(path))
    do throws(KernelError) { _ = try draft.fill { true } } catch { return error.errno == .fileTooLarge }
    return false
  }

  private func text(_ version: KeptVersion) throws -> String {
    String(decoding: try store.open(version).readAll(limit: 1000), as: UTF8.self)
  }

  @Test func `keeps a content when the file gets another one`() throws {
    let path = try temporary.write("a.txt", "one")
    let first = try keep(path, "v1", at: 1)
    _ = try temporary.write("a.txt", "two")
    let second = try keep(path, "v2", at: 2)
    #expect(try store.versions(of: try document(path).identity) == [second, first])
    #expect(try text(first) == "one" && text(second) == "two")
    try store.remove("v1")
    #expect(try store.versions(of: try document(path).identity) == [second])
    try awaitContents(["v2"])
  }

  @Test func `keeps packages`() throws {
    let folder = try temporary.folder("p")
    _ = try temporary.write("p/inner.txt", "inside")
    let version = try keep(folder, "v1")
    #expect(version.isPackage && version.size == 4096 + 6)
    let file = try Descriptor.open("inner.txt", below: try store.open(version), flags: .read)
    #expect(String(decoding: try file.readAll(limit: 100), as: UTF8.self) == "inside")
  }

  @Test func `adds a content that was being copied to the file that is the document by then`() throws {
    let (one, two, three) = (
      try temporary.write("a.txt", "one"), try temporary.write("b.txt", "two"), try temporary.write("c.txt", "three")
    )
    let (first, second, third) = (
      try document(one).identity, try document(two).identity, try document(three).identity
    )
    // A draft for the second file, while that one is replaced as well.
    let draft = store.draft(of: try document(one), id: "1")
    let (size, modified) = try draft.fill { true }
    try store.succeed(first, by: second)
    try store.succeed(second, by: third)
    let version = KeptVersion(
      id: "1", name: "a.txt", place: one, modified: modified, kept: 1, app: nil, device: "here", size: size,
      isPackage: false, cause: .overwritten, isUnresolved: false)
    try store.add(draft, of: second, as: version)
    #expect(try store.versions(of: third).map(\.id) == ["1"] && store.versions(of: second).isEmpty)
    // One that comes back is the document again.
    try store.succeed(third, by: first)
    try keep(one, "2")
    #expect(try store.versions(of: first).map(\.id).sorted() == ["1", "2"])
  }

  @Test func `leaves a document its versions that was asked for where it was moved to`() throws {
    let path = try temporary.write("a.txt", "one")
    try keep(path, "1")
    let moved = "\(temporary.path)/b.txt"
    try FileManager.default.moveItem(atPath: path, toPath: moved)
    let identity = try document(moved).identity
    try store.follow(identity, at: moved)
    let other = try document(try temporary.write("a.txt", "another")).identity
    try store.follow(other, at: path)
    #expect(try store.versions(of: identity).map(\.id) == ["1"] && store.versions(of: other).isEmpty)
  }

  @Test func `follows a document to the file that takes its place`() throws {
    let path = try temporary.write("a.txt", "one")
    let old = try document(path).identity
    let first = try keep(path, "v1")
    try FileManager.default.moveItem(atPath: try temporary.write("b.txt", "two"), toPath: "\(temporary.path)/c.txt")
    let new = try document("\(temporary.path)/c.txt").identity
    try store.succeed(old, by: new)
    #expect(try store.versions(of: new) == [first] && store.versions(of: old) == [])
  }

  @Test func `is found by its last path`() throws {
    let path = try temporary.write("a.txt", "one")
    let first = try keep(path, "v1")
    try FileManager.default.removeItem(atPath: path)
    _ = try temporary.write("a.txt", "another file")
    #expect(try store.versions(at: path) == [first])
  }

  @Test func `has no contents without rows after a crash`() throws {
    let path = try temporary.write("a.txt", "one")
    try keep(path, "v1")
    _ = try temporary.write("versions/.new-x", "half")
    _ = try temporary.write("versions/v9", "no row")
    let again = try VersionStore(path: table, contents: contents)
    try awaitContents(["v1"])
    #expect(try again.versions(of: try document(path).identity).count == 1)
  }

  @Test func `does not begin with a content that is too large`() throws {
    let store = try bounded(2)
    let path = try temporary.write("a.txt", "one")
    #expect(throws: KernelError.self) { try keep(path, "v1", in: store) }
    #expect(try isTooLarge(path, in: store))
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents).isEmpty)
  }

  @Test func `counts each name of a file in a package, and each file that has nothing in it`() throws {
    let store = try bounded(3 * (10_000 + 4096))
    let folder = try temporary.folder("p")
    let file = try temporary.write("p/1", String(repeating: "x", count: 10_000))
    for name in ["2", "3"] { try FileManager.default.linkItem(atPath: file, toPath: "\(folder)/\(name)") }
    #expect(try keep(folder, "v1", in: store).size == 3 * (10_000 + 4096))
    try FileManager.default.linkItem(atPath: file, toPath: "\(folder)/4")
    #expect(try isTooLarge(folder, in: store))
    let empty = try temporary.folder("empty")
    for name in 0..<11 { _ = try temporary.write("empty/\(name)", "") }
    #expect(try isTooLarge(empty, in: store))
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents) == ["v1"])
  }

  @Test func `removes packages, with all in them`() throws {
    let folder = try temporary.folder("p")
    for name in 0..<20 { _ = try temporary.write("p/\(name)", "") }
    try keep(folder, "v1", at: 1)
    try keep(folder, "v2", at: 2)
    try store.remove("v1")
    try awaitContents(["v2"])
    let draft = store.draft(of: try document(folder))
    _ = try draft.fill { true }
    store.discard(draft)
    try awaitContents(["v2"])
  }

  @Test func `removes a content that makes room for another one`() throws {
    var rules = VersionRules()
    rules.ofDocument = 1
    let store = try VersionStore(path: table, contents: contents, rules: rules)
    let path = try temporary.write("a.txt", "one")
    try keep(path, "v1", at: 1, in: store)
    try keep(path, "v2", at: 2, in: store)
    try awaitContents(["v2"])
  }

  @Test func `has a content under its version's name before there is a row`() throws {
    let draft = store.draft(of: try document(try temporary.write("a.txt", "one")), id: "v1")
    _ = try draft.copy { true }
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents) == [".new-v1"])
    try draft.synchronize()
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents) == ["v1"])
  }

  /// Its blocks are freed by a thread; its name is gone at once, and open files have it still.
  @Test func `a large file that was taken from an app is gone at once`() throws {
    let (folder, area) = (try temporary.folder("app"), try temporary.folder("area"))
    let path = try temporary.write("app/new", "text")
    try KernelError.check("truncate", path) { unsafe truncate(path, 65 << 20) }
    let open = try Descriptor.open(path, flags: .read)
    let taken = try TakenFile(
      "new", from: Descriptor.open(folder, flags: [.read, .directory]),
      through: Descriptor.open(area, flags: [.read, .directory]), as: "taken")
    taken.remove(reading: try taken.open())
    #expect(try FileManager.default.contentsOfDirectory(atPath: area).isEmpty)
    #expect(try open.status().links == 0 && open.readAll(limit: 1).prefix(4) == Array("text".utf8)[...])
  }
}
