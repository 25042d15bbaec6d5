import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Broker

/// A query beside a model that looks at every file, after each of many random acts.
@Suite struct CatalogModelRaceTests {
  /// AMBIT_CATALOG_STEPS says otherwise, as `make races` does.
  private static let steps = ProcessInfo.processInfo.environment["AMBIT_CATALOG_STEPS"].flatMap(Int.init) ?? 5_000

  private struct Fact: Hashable, CustomStringConvertible {
    var path: String
    var size: Int?
    var modified: Int?
    var kind: Wire.DocumentKind

    init(_ item: QueryInterface.Item) {
      (path, size, modified, kind) = (item.path, item.size, item.modified, item.kind)
    }

    init?(_ path: String, at place: String) {
      guard let status = try? Descriptor.open(place, flags: .place).status() else { return nil }
      self.path = path
      kind = status.kind == .directory ? .folder : .file
      self.size = kind == .file ? Int(status.size) : nil
      modified = Int(status.modified)
    }

    var description: String { "\(path) \(kind) \(size ?? -1) \(modified ?? -1)" }
  }

  /// A document of the user's, and where it is.
  private struct HostFile {
    var path: String?
    /// Grants for writing and for reading.
    var grants: [DocumentAccess: String] = [:]
  }

  private final class Model {
    let documents: String
    let host: String
    let trash: String
    var files: [HostFile] = []
    var random: Seeded

    init(_ documents: String, _ host: String, _ trash: String, seed: UInt64) {
      (self.documents, self.host, self.trash) = (documents, host, trash)
      random = Seeded(seed: seed)
    }

    var all: Set<Fact> {
      var facts: Set<Fact> = []
      let walk = FileManager.default.enumerator(atPath: documents)
      while let inner = walk?.nextObject() as? String {
        if inner.split(separator: "/").contains(where: { $0.hasPrefix(".") }) || inner.hasSuffix(".ambitref") {
          continue
        }
        if let fact = Fact("/home/user/Documents/\(inner)", at: "\(documents)/\(inner)") { facts.insert(fact) }
      }
      for file in files {
        guard let path = file.path, !path.hasPrefix(trash),
          let grant = file.grants[.readWrite] ?? file.grants[.readOnly],
          let fact = Fact("/documents/\(grant)/\(path.split(separator: "/").last ?? "")", at: path)
        else { continue }
        facts.insert(fact)
      }
      return facts
    }

    func pick<Element>(_ all: [Element]) -> Element? { all.randomElement(using: &random) }
    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    var name: String { pick(["a", "b", "c.txt", "d.md", "é", ".h", "x y"]) ?? "a" }

    var places: (files: [String], folders: [String]) {
      var (files, folders): ([String], [String]) = ([], [documents])
      let walk = FileManager.default.enumerator(atPath: documents)
      while let inner = walk?.nextObject() as? String {
        guard !inner.hasSuffix(".ambitref") else { continue }
        let kind = try? Descriptor.open("\(documents)/\(inner)", flags: .place).status().kind
        if kind == .directory { folders.append("\(documents)/\(inner)") } else { files.append("\(documents)/\(inner)") }
      }
      return (files, folders)
    }
  }

  @Test func `a query is equal to a model after every step`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    let world = try await BrokerWorld()
    let app = try world.launch()
    let other = try world.launch("org.example.other")
    let documents = try app.documents(world)
    let foreign = try other.documents(world)
    let host = try world.temporary.folder("host")
    try makeFolder("\(host)/sub")
    let trash = "\(world.temporary.path)/.local/share/Trash/files"
    try makeFolder(trash)
    let model = Model(documents, host, trash, seed: seed)
    let query = try TestQuery(app)
    let reading = try TestQuery(app, "kMDItemFSName CONTAINS[cd] '.T' OR kMDItemFSSize > 3", [.local])
    try query.gather()
    try reading.gather()
    for step in 0..<Self.steps {
      // A connection has an allowance of calls, which comes back with time.
      if step % 500 == 499 { world.wait(seconds: 1) }
      let act = try await carryOut(model, world, app, foreign)
      do { try query.barrier() } catch {
        Issue.record("seed \(seed), step \(step), \(act): \(error)")
        break
      }
      let expected = model.all
      let seen = Set(query.items.values.map { Fact($0) })
      guard seen == expected else {
        Issue.record(
          "seed \(seed), step \(step), \(act): missing \(expected.subtracting(seen)), too many \(seen.subtracting(expected))"
        )
        break
      }
      #expect(query.items.count == expected.count)
      guard step % 10 == 0 else { continue }
      do { try reading.barrier() } catch {
        Issue.record("seed \(seed), step \(step), reading, after \(act): \(error)")
        break
      }
      let some = expected.filter { fact in
        fact.path.hasPrefix("/home")
          && (fact.path.split(separator: "/").last?.lowercased().contains(".t") == true || (fact.size ?? 0) > 3)
      }
      guard Set(reading.items.values.map { Fact($0) }) == some else {
        Issue.record("seed \(seed), step \(step), \(act): \(reading.names) and not \(some)")
        break
      }
      // A query that begins now finds the same.
      if step % 50 == 0 {
        let fresh = try TestQuery(app)
        try fresh.gather()
        #expect(Set(fresh.items.values.map { Fact($0) }) == expected, "seed \(seed), step \(step)")
      }
    }
    try await world.end()
  }

  private func carryOut(
    _ model: Model, _ world: BrokerWorld, _ app: TestApp, _ foreign: String
  ) async throws -> String {
    let (files, folders) = model.places
    func place() -> String { "\(model.pick(folders) ?? model.documents)/\(model.name)" }
    func isFree(_ path: String) -> Bool { !FileManager.default.fileExists(atPath: path) }
    let text = String(repeating: "x", count: Int.random(in: 0..<9, using: &model.random))
    let index = model.files.indices.randomElement(using: &model.random)
    let present = index.flatMap { model.files[$0].path }
    switch Int.random(in: 0..<18, using: &model.random) {
    case 0, 1, 2:
      let path = place()
      guard files.count < 60, isFree(path) || files.contains(path) else { return "nothing" }
      try put(text, path)
      return "write \(path)"
    case 3:
      let path = place()
      guard folders.count < 12, isFree(path), path.split(separator: "/").count < 24 else { return "nothing" }
      try makeFolder(path)
      return "folder \(path)"
    case 4, 5:
      let to = place()
      guard let from = model.pick(files), isFree(to) else { return "nothing" }
      try move(from, to)
      return "move \(from) \(to)"
    case 6:
      let to = place()
      guard let from = model.pick(Array(folders.dropFirst())), isFree(to), !to.hasPrefix(from + "/") else {
        return "nothing"
      }
      try move(from, to)
      return "move folder \(from) \(to)"
    case 7:
      guard let path = model.pick(files) else { return "nothing" }
      try remove(path)
      return "remove \(path)"
    case 8:
      guard model.chance(3), let path = model.pick(Array(folders.dropFirst())) else { return "nothing" }
      try remove(path)
      return "remove folder \(path)"
    case 9:
      // As editors save.
      guard let path = model.pick(files) else { return "nothing" }
      try put(text, "\(path).tmp")
      _ = unsafe rename("\(path).tmp", path)
      return "save \(path)"
    case 10, 11:
      guard model.files.count(where: { $0.path != nil }) < 20 else { return "nothing" }
      let path = "\(model.host)/\(UUID().uuidString.prefix(6)).txt"
      try put(text, path)
      model.files.append(HostFile(path: path))
      return "host file \(path)"
    case 12, 13:
      guard let index, let present, !present.hasPrefix(model.trash) else { return "nothing" }
      let access: DocumentAccess = Bool.random(using: &model.random) ? .readWrite : .readOnly
      model.files[index].grants[access] = try world.grant(present, to: app.identifier, access)
      return "grant \(present) \(access)"
    case 14:
      guard let index, let (access, grant) = model.files[index].grants.randomElement(using: &model.random) else {
        return "nothing"
      }
      try world.revoke(grant: grant)
      model.files[index].grants[access] = nil
      return "revoke \(grant)"
    case 15:
      guard let index, let present else { return "nothing" }
      let folder = model.pick([model.host, "\(model.host)/sub", model.trash]) ?? model.host
      let to = "\(folder)/\(UUID().uuidString.prefix(6)).txt"
      try move(present, to)
      model.files[index].path = to
      return "move \(present) \(to)"
    case 16:
      guard let index, let present else { return "nothing" }
      if model.chance(3) {
        try remove(present)
        model.files[index].path = nil
        return "remove \(present)"
      }
      let handle = try Foundation.FileHandle(forWritingTo: URL(fileURLWithPath: present))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("more".utf8))
      try handle.close()
      return "append \(present)"
    default:
      try put(text, "\(foreign)/\(model.name)")
      return "foreign"
    }
  }
}
