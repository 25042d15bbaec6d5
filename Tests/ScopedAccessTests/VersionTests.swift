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
    #expect(!rules.isWanted(.saved, by: "org.a", after: version("1", kept: 0, cause: .conflict), now: 1))
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
    let draft = store.draft(of: document)
    let (size, modified) = try draft.fill { true }
    let version = KeptVersion(
      id: id, name: "a.txt", place: path, modified: modified, kept: moment, app: "org.a", device: "here", size: size,
      isPackage: draft.isPackage, cause: .saved, isUnresolved: false)
    try store.add(draft, of: document.identity, as: version)
    return version
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
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents) == ["v2"])
  }

  @Test func `keeps packages`() throws {
    let folder = try temporary.folder("p")
    _ = try temporary.write("p/inner.txt", "inside")
    let version = try keep(folder, "v1")
    #expect(version.isPackage && version.size == 6)
    let file = try Descriptor.open("inner.txt", below: try store.open(version), flags: .read)
    #expect(String(decoding: try file.readAll(limit: 100), as: UTF8.self) == "inside")
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
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents) == ["v1"])
    #expect(try again.versions(of: try document(path).identity).count == 1)
  }

  @Test func `does not begin with a content that is too large`() throws {
    var rules = VersionRules()
    rules.largest = 2
    let store = try VersionStore(path: table, contents: contents, rules: rules)
    let path = try temporary.write("a.txt", "one")
    #expect(throws: KernelError.self) { try keep(path, "v1", in: store) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: contents).isEmpty)
  }
}
