import Foundation
import Kernel
import Testing

@testable import ScopedAccess

struct KeptDocumentsTests {
  private func found(_ path: String) throws -> FoundDocument {
    try FoundDocument(try Descriptor.open(path, flags: .place))
  }

  @Test func `Few documents are kept open, those that were used last`() throws {
    let folder = try Folder()
    var kept = KeptDocuments()
    let document = try found(folder.write("a.txt"))
    for number in 0..<(KeptDocuments.most + 10) { kept.keep(document, of: "\(number)", now: Int64(number)) }
    #expect(kept.count == KeptDocuments.most)
    #expect(kept["9"] == nil && kept["10"] != nil)
  }

  @Test func `A document without a name is closed and remembered as gone; its number's next owner is not`() throws {
    let folder = try Folder()
    var kept = KeptDocuments()
    let path = try folder.write("a.txt")
    let document = try found(path)
    let other = try found(folder.write("b.txt"))
    kept.keep(document, of: "a", now: 0)
    kept.keep(other, of: "b", now: 0)
    kept.sweep(now: KeptDocuments.pause)
    #expect(kept["a"] != nil && !kept.isGone(document.identity))
    try FileManager.default.removeItem(atPath: path)
    // Not looked at again at once.
    kept.sweep(now: KeptDocuments.pause + 1)
    #expect(kept["a"] != nil)
    kept.sweep(now: 2 * KeptDocuments.pause)
    #expect(kept["a"] == nil && kept["b"] != nil)
    #expect(kept.isGone(document.identity) && !kept.isGone(other.identity))
    #expect(!kept.isGone(try found(folder.write("a.txt", "anew")).identity))
    // A lookup for it looks nowhere but in its place.
    var lookup = Lookup(.init(subject: "a", identity: document.identity), path: path)
    lookup.isGone = true
    let looked = try #require(DocumentFinder(privileged: false).findQuickly(lookup))
    #expect(looked.found == nil)
  }

  @Test func `A document that is not used for a while is closed, and not gone`() throws {
    let folder = try Folder()
    var kept = KeptDocuments()
    let document = try found(folder.write("a.txt"))
    kept.keep(document, of: "a", now: 0)
    kept.sweep(now: KeptDocuments.patience)
    #expect(kept["a"] != nil)
    kept.sweep(now: KeptDocuments.patience + KeptDocuments.pause)
    #expect(kept["a"] == nil && !kept.isGone(document.identity))
  }
}
