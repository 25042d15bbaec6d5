import AmbitKit
import Foundation
import Synchronization
import Testing
import Wire

extension AmbitKitTests {
  @Suite struct Bookmarks {
    func url(_ broker: ScriptedBroker, _ name: String = "a.txt") throws -> URL {
      try #require(URL(string: broker.ledger.withLock { $0.grant(name).url }))
    }

    @Test func `BMK-1, BMK-2, RST-3: one finds the renamed document in the next launch, and is stale until renewed`()
      throws
    {
      try withBroker { broker in
        let url = try url(broker)
        #expect(url.startAccessingSecurityScopedResource())
        let saved = try url.bookmarkData(
          options: .withSecurityScope, includingResourceValuesForKeys: nil, relativeTo: nil)
        var isStale = true
        #expect(try URL(resolvingBookmarkData: saved, bookmarkDataIsStale: &isStale) == url)
        #expect(!isStale)
        broker.ledger.withLock {
          $0.launch = "launch2"
          $0.grants[1]?.name = "b.txt"
          $0.grants[1]?.version = 1
          $0.grants[1]?.count = 0
        }
        let found = try URL(
          resolvingBookmarkData: saved, options: [.withSecurityScope, .withoutUI], relativeTo: nil,
          bookmarkDataIsStale: &isStale)
        #expect(isStale)
        #expect(found.lastPathComponent == "b.txt")
        // Resolving starts nothing.
        #expect(try SecurityScope.status().used == 0)
        #expect(found.startAccessingSecurityScopedResource())
        let renewed = try found.bookmarkData()
        _ = try URL(resolvingBookmarkData: renewed, bookmarkDataIsStale: &isStale)
        #expect(!isStale)
      }
    }

    @Test func `BMK-18: none is made of a document that is not started`() throws {
      try withBroker { broker in
        let url = try url(broker)
        let error = cocoa { _ = try url.bookmarkData() }
        #expect(error?.code == .fileReadNoPermission)
        #expect(error?.localizedDescription.contains("startAccessingSecurityScopedResource") == true)
      }
    }

    @Test func `BMK-20: bytes that were changed, and no bytes at all, are refused`() throws {
      try withBroker { broker in
        for bytes in [Data(), Data("nonsense".utf8), Data([0, 0xFF])] {
          var isStale = false
          let error = cocoa { _ = try URL(resolvingBookmarkData: bytes, bookmarkDataIsStale: &isStale) }
          #expect(error?.code == .fileReadCorruptFile)
          #expect(error?.localizedDescription.contains("it was changed") == true)
        }
      }
    }

    @Test func `BMK-9: the bookmark of a deleted document names it`() throws {
      try withBroker { broker in
        let url = try url(broker)
        _ = url.startAccessingSecurityScopedResource()
        let saved = try url.bookmarkData()
        broker.ledger.withLock { $0.grants = [:] }
        var isStale = false
        let error = cocoa { _ = try URL(resolvingBookmarkData: saved, bookmarkDataIsStale: &isStale) }
        #expect(error?.code == .fileNoSuchFile && error?.posix == .ENOENT)
        #expect(error?.localizedDescription.contains("lost.txt") == true)
      }
    }

    @Test func `what this version does not do is refused by name, before anybody is asked`() throws {
      try withBroker { broker in
        let url = try url(broker, "Folder")
        _ = url.startAccessingSecurityScopedResource()
        var isStale = false
        let refused: [(CocoaError.Code, String, () throws -> Void)] = [
          (
            .featureUnsupported, "suitableForBookmarkFile",
            { _ = try url.bookmarkData(options: .suitableForBookmarkFile) }
          ),
          (
            .featureUnsupported, "withoutImplicit", { _ = try url.bookmarkData(options: .withoutImplicitSecurityScope) }
          ),
          (.featureUnsupported, "relative", { _ = try url.bookmarkData(relativeTo: url) }),
          (
            .featureUnsupported, "resource values",
            { _ = try url.bookmarkData(includingResourceValuesForKeys: [.nameKey]) }
          ),
          (.featureUnsupported, "did not pick", { _ = try URL(fileURLWithPath: "/tmp/a").bookmarkData() }),
          (.featureUnsupported, "one of the folder", { _ = try url.appending(path: "child").bookmarkData() }),
          (
            .fileReadUnknown, "combined", { _ = try url.bookmarkData(options: [.withSecurityScope, .minimalBookmark]) }
          ),
          (
            .featureUnsupported, "relative",
            { _ = try URL(resolvingBookmarkData: Data(), relativeTo: url, bookmarkDataIsStale: &isStale) }
          ),
        ]
        for (code, words, body) in refused {
          let error = cocoa(body)
          #expect(error?.code == code && error?.localizedDescription.contains(words) == true, "\(words)")
        }
        #expect(broker.ledger.withLock { $0.calls } == ["Start"])
        _ = try url.bookmarkData(options: .minimalBookmark)
        _ = try url.bookmarkData(includingResourceValuesForKeys: [])
      }
    }

    @Test func `the read-only option has a meaning only together with the scope`() throws {
      try withBroker { broker in
        let url = try url(broker)
        _ = url.startAccessingSecurityScopedResource()
        func isReadOnly(_ options: URL.BookmarkCreationOptions) throws -> Bool {
          String(decoding: try url.bookmarkData(options: options), as: UTF8.self).hasSuffix("true")
        }
        #expect(try isReadOnly([.withSecurityScope, .securityScopeAllowOnlyReadAccess]))
        #expect(try !isReadOnly(.securityScopeAllowOnlyReadAccess))
        #expect(try !isReadOnly(.withSecurityScope))
      }
    }
  }

  @Suite struct References {
    @Test func `REF-2, REF-3: those in Documents are listed, resolve after being renamed, and a broken one says why`()
      throws
    {
      try withBroker { broker in
        let documents = URL(fileURLWithPath: broker.folder).appendingPathComponent("Documents")
        try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
        let url = broker.ledger.withLock { $0.grant("Notes.txt").url }
        try Data("bookmark 1 0 false".utf8).write(to: documents.appendingPathComponent("renamed.ambitref"))
        try Data("nonsense".utf8).write(to: documents.appendingPathComponent("broken.ambitref"))
        try Data("x".utf8).write(to: documents.appendingPathComponent("own.txt"))
        try Data(count: 60_000).write(to: documents.appendingPathComponent("long.ambitref"))
        let references = try DocumentReference.references(in: documents)
        #expect(references.map(\.name) == ["broken", "long", "renamed"])
        let found = try references[2].resolve()
        #expect(found.url.absoluteString == url && !found.isStale)
        #expect(found.url.startAccessingSecurityScopedResource())
        #expect(cocoa { _ = try references[0].resolve() }?.code == .fileReadCorruptFile)
        #expect(cocoa { _ = try references[1].resolve() }?.localizedDescription.contains("too long") == true)
        #expect(
          cocoa { _ = try DocumentReference(fileURL: documents.appendingPathComponent("none.ambitref")).resolve() }
            != nil)
      }
    }
  }
}
