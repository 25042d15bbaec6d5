import Foundation
import Paths
import Query
import TestSupport
import Testing

@testable import Catalog

@Suite struct `A catalog` {
  static func item(
    _ path: String, _ folder: String = "", kind: MetadataRecord.Kind = .file, size: Int64? = 1, modified: Int64 = 1,
    external: Bool = false
  ) -> CatalogItem {
    CatalogItem(
      record: MetadataRecord(
        isExternal: external, path: external ? "/documents/\(path)" : "/home/user/Documents/\(path)", kind: kind,
        size: size, modified: modified, grant: external ? "g" : nil),
      folder: external ? nil : folder, stamp: CatalogStamp(inode: 1, changed: modified))
  }

  private func names(_ table: CatalogTable, _ format: String, _ scope: QueryScope = .all) throws -> [String] {
    let predicate = try PredicateParser.parse(format)
    let matcher = PredicateMatcher(predicate)
    var found: [String] = []
    try table.candidates(for: Narrowing(predicate, scope), batch: 2) { items in
      found += items.filter { scope.contains($0.record) && matcher.matches($0.record) }.map(\.record.name)
      return true
    }
    return found
  }

  @Test func `finds names by any part, and follows changes`() throws {
    let folder = try TemporaryFolder()
    let store = try CatalogStore(path: "\(folder.path)/catalog.sqlite", key: "k")
    let table = try store.table(of: "org.example.a")
    let ids = try table.put([Self.item("Résumé.txt"), Self.item("notes.md", size: 9), Self.item("Work", kind: .folder)])
    #expect(ids.map(\.isNews) == [true, true, true])
    #expect(try names(table, "kMDItemFSName CONTAINS[cd] 'esum'") == ["Résumé.txt"])
    #expect(try names(table, "kMDItemFSName CONTAINS 'esum'").isEmpty)
    #expect(try names(table, "kMDItemFSName CONTAINS[cd] 'o'") == ["Work", "notes.md"])
    #expect(try table.put([Self.item("notes.md", size: 9)]).map(\.isNews) == [false])
    let moved = try table.move(from: "/home/user/Documents/notes.md", to: Self.item("ideas.md", size: 9))
    #expect(moved == [ids[1].id])
    #expect(try names(table, "kMDItemFSName CONTAINS[cd] 'otes'").isEmpty)
    #expect(try names(table, "kMDItemFSName BEGINSWITH[c] 'IDEA' AND kMDItemFSSize >= 9") == ["ideas.md"])
    #expect(try table.remove(["/home/user/Documents/ideas.md", "/nowhere"]) == [ids[1].id])
    #expect(try table.count() == 2)
  }

  @Test func `moves and removes folders with all in them`() throws {
    let folder = try TemporaryFolder()
    let store = try CatalogStore(path: "\(folder.path)/catalog.sqlite", key: "k")
    let table = try store.table(of: "a")
    _ = try table.put([
      Self.item("A", kind: .folder), Self.item("A/x", "A"), Self.item("A/B", "A", kind: .folder),
      Self.item("A/B/y", "A/B"),
      Self.item("Ab", kind: .folder), Self.item("Ab/z", "Ab"),
    ])
    #expect(try table.moveTree(from: "A", to: "C/D", root: "/home/user/Documents").count == 3)
    #expect(
      try table.local().map(\.record.path).sorted()
        == ["A", "Ab", "Ab/z", "C/D/B", "C/D/B/y", "C/D/x"].map { "/home/user/Documents/\($0)" })
    #expect(try table.sweep(folder: "C/D", keeping: [PathKey("/home/user/Documents/C/D/x")]).count == 2)
    #expect(try table.removeTree("Ab").count == 1)
    // Two spellings of one name are two files.
    #expect(try table.put([Self.item("\u{e9}"), Self.item("e\u{301}")]).map(\.isNews) == [true, true])
    #expect(try table.sweep(folder: "", keeping: [PathKey("/home/user/Documents/\u{e9}")]).count == 3)
  }

  @Test func `of one app says nothing of another app's`() throws {
    let folder = try TemporaryFolder()
    let store = try CatalogStore(path: "\(folder.path)/catalog.sqlite", key: "k")
    let one = try store.table(of: "one")
    let two = try store.table(of: "two")
    _ = try one.put([Self.item("secret.txt")])
    #expect(try names(two, "TRUEPREDICATE").isEmpty && two.count() == 0)
    #expect(try two.put([Self.item("own.txt")]).map(\.id) == [1])
    #expect(try names(two, "kMDItemFSName CONTAINS 'secret'").isEmpty)
    try store.remove("one")
    #expect(try names(two, "TRUEPREDICATE") == ["own.txt"])
  }

  @Test func `goes on after an end in order, and is made anew after any other`() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/catalog.sqlite"
    func count(_ key: String, close: String?) throws -> Int {
      let store = try CatalogStore(path: path, key: key)
      let table = try store.table(of: "a")
      let count = try table.count()
      if count == 0 { _ = try table.put([Self.item("x")]) }
      if let close { store.close(key: close) }
      return count
    }
    #expect(try count("k", close: "k") == 0)
    #expect(try count("k", close: "k") == 1)
    // Other grants, a broker that was killed, another file, a damaged one.
    #expect(try count("other", close: "k") == 0)
    #expect(try count("k", close: nil) == 1)
    #expect(try count("k", close: "k") == 0)
    try? FileManager.default.removeItem(atPath: path + "-wal")
    try Data("no database".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try count("k", close: "k") == 0)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try #require(bytes.count > 8192)
    bytes.replaceSubrange(4096..<8192, with: Data(repeating: 0x5A, count: 4096))
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try count("k", close: "k") == 0)
  }

  /// The database narrows down, and the evaluator decides: no item that matches is left out.
  @Test func `leaves out no item that matches`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = Seeded(seed: seed)
    let folder = try TemporaryFolder()
    let store = try CatalogStore(path: "\(folder.path)/catalog.sqlite", key: "k")
    let table = try store.table(of: "a")
    let parts = [
      "Re\u{301}s", "rés", "RES", "\"", "a", "İ", "ß", "Σ", "σ", "K\u{212A}", "1", ".txt", ".JPG", "*", "?", "x\u{301}",
      "日本",
    ]
    func text() -> String {
      (0..<Int.random(in: 1..<5, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }
    var all: [CatalogItem] = []
    for number in 0..<300 {
      let external = Int.random(in: 0..<3, using: &random) == 0
      all.append(
        Self.item(
          external ? "g\(number)/\(text())" : "\(number % 7)/\(text())\(number)", "\(number % 7)",
          size: Int64.random(in: 0..<6, using: &random),
          modified: Int64.random(in: 0..<5, using: &random) * 1_000_000_000,
          external: external))
    }
    _ = try table.put(all)
    let records = try (table.local() + table.external()).map(\.record)
    func comparison() -> MetadataPredicate {
      let options: TextOptions =
        [[], .caseInsensitive, .diacriticInsensitive, .both].randomElement(using: &random) ?? []
      let relations: [MetadataComparison.Relation] = [
        .equal, .notEqual, .contains, .beginsWith, .endsWith, .like, .less,
      ]
      let sizes: [MetadataComparison.Relation] = [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual]
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        return .comparison(
          .init(
            .key("kMDItemFSSize"), sizes.randomElement(using: &random) ?? .equal,
            .value(.integer(Int64.random(in: 0..<6, using: &random)))))
      case 1:
        return .comparison(
          .init(
            .key("kMDItemFSContentChangeDate"), sizes.randomElement(using: &random) ?? .equal,
            .value(MetadataValue(nanoseconds: Int64.random(in: 0..<5, using: &random) * 1_000_000_000))))
      case 2:
        let type = ["public.plain-text", "public.jpeg", "dyn.x", "public.data"].randomElement(using: &random) ?? ""
        return .comparison(.init(.key("kMDItemContentType"), .equal, .value(.text(type)), options))
      case 3:
        return .comparison(
          .init(
            .key("NSMetadataUbiquitousItemIsExternalDocumentKey"), .equal,
            .value(.flag(Bool.random(using: &random)))))
      default:
        return .comparison(
          .init(
            .key("kMDItemFSName"), relations.randomElement(using: &random) ?? .equal, .value(.text(text())), options))
      }
    }
    func predicate(_ depth: Int) -> MetadataPredicate {
      switch depth == 0 ? 3 : Int.random(in: 0..<5, using: &random) {
      case 0: .and([predicate(depth - 1), predicate(depth - 1)])
      case 1: .or([predicate(depth - 1), predicate(depth - 1)])
      case 2: .not(predicate(depth - 1))
      default: comparison()
      }
    }
    var found = 0
    for _ in 0..<600 {
      let predicate = predicate(2)
      let scope = QueryScope(
        local: Bool.random(using: &random), external: Bool.random(using: &random),
        places: Bool.random(using: &random) ? ["/home/user/Documents/3"] : [])
      let matcher = PredicateMatcher(predicate)
      var seen: Set<PathKey> = []
      try table.candidates(for: Narrowing(predicate, scope)) { items in
        for item in items where scope.contains(item.record) && matcher.matches(item.record) {
          seen.insert(PathKey(item.record.path))
        }
        return true
      }
      let expected = Set(records.filter { scope.contains($0) && matcher.matches($0) }.map { PathKey($0.path) })
      #expect(seen == expected, "seed \(seed): \(predicate)")
      found += seen.count
    }
    #expect(found > 0)
  }
}
