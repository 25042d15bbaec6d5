import Foundation
import Query
import Testing
import Wire

@testable import AmbitKit

@Suite struct `A predicate by format` {
  private static let letter = NSMetadataItem(
    MetadataRecord(path: "/home/user/Documents/Letter.txt", size: 1200, modified: 2_000_000_000_000_000_000), query: 1,
    item: 1)

  @Test func `is made of placeholders of every kind`() {
    let date = Date(timeIntervalSince1970: 2_000_000_000)
    let predicate = NSPredicate(
      format: "%K BEGINSWITH[c] %@ AND %K >= %d AND %K == %@ AND %K IN %@", NSMetadataItemFSNameKey, "letter",
      NSMetadataItemFSSizeKey, 1200, NSMetadataItemFSContentChangeDateKey, date, NSMetadataItemContentTypeKey,
      ["public.plain-text"])
    #expect(predicate.evaluate(with: Self.letter))
    #expect(!predicate.evaluate(with: "Letter.txt"))
    #expect(NSPredicate(format: "kMDItemFSSize > %lf", 1199.5).evaluate(with: Self.letter))
    #expect(NSPredicate(format: "kMDItemFSSize == %@", NSNumber(value: 1200)).evaluate(with: Self.letter))
    #expect(NSPredicate(format: "kMDItemFSName == %@", argumentArray: ["Letter.txt"]).evaluate(with: Self.letter))
  }

  @Test func `keeps its meaning in copies and in compounds`() throws {
    let text = NSPredicate(format: "kMDItemFSName ENDSWITH '.txt'")
    let large = NSPredicate(format: "kMDItemFSSize > 5000")
    let copy = try #require(text.copy() as? NSPredicate)
    #expect(try copy.metadataPredicate().description == "kMDItemFSName ENDSWITH \".txt\"")
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
      text, NSCompoundPredicate(notPredicateWithSubpredicate: large),
    ])
    #expect(
      try both.metadataPredicate().description == "kMDItemFSName ENDSWITH \".txt\" AND NOT (kMDItemFSSize > 5000)")
    #expect(both.evaluate(with: Self.letter))
    #expect(try NSPredicate(value: true).metadataPredicate() == .constant(true))
    #expect(try NSPredicate(value: false).metadataPredicate() == .constant(false))
  }

  @Test func `that cannot be used is true of nothing, and says why`() {
    #expect(!NSPredicate(format: "kMDItemFSName ==").evaluate(with: Self.letter))
    #expect(throws: PredicateFormatError.self) { try NSPredicate(checking: "kMDItemFSName LIKES 'x'") }
    #expect(throws: PredicateFormatError.self) { try NSPredicate { _, _ in true }.metadataPredicate() }
    do throws(PredicateFormatError) { _ = try NSPredicate(checking: "SUBQUERY(a, $x, TRUEPREDICATE)") } catch {
      #expect(error.localizedDescription == error.description)
      #expect(error.problem == .unsupported && error.position == 0)
    }
    let query = NSMetadataQuery()
    #expect(!query.start() && query.lastError is PredicateFormatError)
    query.predicate = NSPredicate(format: "kMDItemFSName ==")
    #expect(!query.start() && !query.isStarted)
  }

  @Test func `goes to the broker with the scopes of the query`() throws {
    let predicate = MetadataPredicate.constant(true)
    func words(_ scopes: [Any]) throws -> [String] {
      let call = try NSMetadataQuery.call(predicate, scopes)
      return call.scopes.map(\.rawValue) + (call.places ?? [])
    }
    #expect(try words([]) == ["external", "local"])
    #expect(try words([NSMetadataQueryUbiquitousDocumentsScope]) == ["local"])
    #expect(
      try words([
        NSMetadataQueryUbiquitousDocumentsScope, NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope,
      ]) == ["external", "local"])
    #expect(try words([NSMetadataQueryLocalComputerScope]) == ["external", "local"])
    #expect(
      try words([URL(fileURLWithPath: "/home/user/Documents/Work"), "/documents/x"]) == [
        "/home/user/Documents/Work", "/documents/x",
      ])
    #expect(throws: PredicateFormatError.self) { try words([5]) }
  }
}

@Suite struct `A result` {
  @Test func `has values as Foundation's users know them`() {
    let item = NSMetadataItem(
      MetadataRecord(path: "/home/user/Documents/Letter.txt", size: 1200, modified: 2_000_000_000_000_000_000),
      query: 1,
      item: 1)
    #expect(item.value(forAttribute: NSMetadataItemFSNameKey) as? String == "Letter.txt")
    #expect(item.value(forAttribute: NSMetadataItemDisplayNameKey) as? String == "Letter")
    #expect(item.value(forAttribute: NSMetadataItemFSSizeKey) as? NSNumber == 1200)
    #expect(item.value(forAttribute: NSMetadataItemFSSizeKey) as? Int == 1200)
    #expect(
      item.value(forAttribute: NSMetadataItemFSContentChangeDateKey) as? Date
        == Date(timeIntervalSince1970: 2_000_000_000))
    #expect((item.value(forAttribute: NSMetadataItemURLKey) as? URL)?.path == "/home/user/Documents/Letter.txt")
    #expect(item.value(forAttribute: NSMetadataUbiquitousItemIsExternalDocumentKey) as? Bool == false)
    #expect(item.value(forAttribute: NSMetadataItemFSCreationDateKey) == nil)
    #expect(item.value(forAttribute: "nonsense") == nil)
    #expect(
      item.attributes.contains(NSMetadataItemContentTypeKey)
        && !item.attributes.contains(NSMetadataItemFSCreationDateKey))
  }

  @Test func `is sorted by keys`() {
    func item(_ name: String, _ size: Int64) -> NSMetadataItem {
      NSMetadataItem(MetadataRecord(path: "/d/\(name)", size: size), query: 1, item: 1)
    }
    let descriptor = NSSortDescriptor(key: NSMetadataItemFSSizeKey, ascending: false)
    #expect(descriptor.resultOrder == ResultOrder(.size, ascending: false))
    #expect(NSSortDescriptor(key: "nonsense", ascending: true).resultOrder == nil)
    let other = NSSortDescriptor(keyPath: \String.count, ascending: true)
    #expect(other.resultOrder == nil)
    #expect(descriptor.compare(SortedItem(item("a", 1)), to: SortedItem(item("b", 2))) == .orderedDescending)
  }

  /// Two rooms know types by extensions: the picker's, which apps link, and the query's.
  @Test func `has the type that its extension has for the picker`() {
    for suffix in [
      "txt", "text", "md", "markdown", "csv", "html", "htm", "xml", "json", "rtf", "pdf", "png", "jpg", "jpeg", "gif",
      "tif",
      "tiff", "webp", "heic", "xyz",
    ] {
      #expect(ContentType(ofName: "a.\(suffix)", .file).identifier == UTType(filenameExtension: suffix)?.identifier)
    }
    #expect(ContentType(ofName: "a", .file).identifier == UTType.data.identifier)
    #expect(ContentType(ofName: "a", .folder).identifier == UTType.folder.identifier)
    #expect(ContentType(ofName: "a.rtfd", .package).identifier == UTType.rtfd.identifier)
  }

  @Test func `that is here has its values without its content`() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("four".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    #expect(try url.promisedItemResourceValues(forKeys: [.fileSizeKey]).fileSize == 4)
    #expect(try url.checkPromisedItemIsReachable())
  }
}
