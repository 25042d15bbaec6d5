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

    @Test func `BMK-7 and what no bookmark can be made of is refused, before anybody is asked`() throws {
      try withBroker { broker in
        let url = try url(broker, "Folder")
        _ = url.startAccessingSecurityScopedResource()
        let refused: [(CocoaError.Code, String, () throws -> Void)] = [
          (.fileReadNoPermission, "user picked", { _ = try URL(fileURLWithPath: "/nowhere/a").bookmarkData() }),
          (
            .fileReadUnknown, "combined", { _ = try url.bookmarkData(options: [.withSecurityScope, .minimalBookmark]) }
          ),
          (
            .fileReadUnknown, "combined",
            { _ = try url.bookmarkData(options: [.withSecurityScope, .suitableForBookmarkFile]) }
          ),
          (
            .fileReadNoPermission, "no security scope",
            { _ = try url.bookmarkData(options: .withSecurityScope, relativeTo: URL(fileURLWithPath: "/tmp/a")) }
          ),
        ]
        for (code, words, body) in refused {
          let error = cocoa(body)
          #expect(error?.code == code && error?.localizedDescription.contains(words) == true, "\(words)")
        }
        #expect(broker.ledger.withLock { $0.calls } == ["Start"])
      }
    }

    @Test func `options become what the broker is asked for`() throws {
      try withBroker { broker in
        let url = try url(broker)
        let other = try self.url(broker, "b.txt")
        _ = url.startAccessingSecurityScopedResource()
        func asked(
          _ options: URL.BookmarkCreationOptions, _ keys: Set<URLResourceKey>? = nil, _ anchor: URL? = nil
        ) throws -> BookmarksInterface.CreateCall? {
          _ = try url.bookmarkData(options: options, includingResourceValuesForKeys: keys, relativeTo: anchor)
          return broker.ledger.withLock { $0.lastCreation }
        }
        #expect(try asked([])?.kind == .implicit)
        #expect(try asked(.minimalBookmark)?.minimal == true)
        #expect(try asked(.suitableForBookmarkFile)?.kind == .implicit)
        #expect(try asked(.withoutImplicitSecurityScope)?.kind == .app)
        #expect(try asked(.withSecurityScope)?.kind == .app)
        #expect(
          try asked(.withSecurityScope, [.nameKey, .fileSizeKey])?.values == ["NSURLFileSizeKey", "NSURLNameKey"])
        let relative = try asked(.withSecurityScope, nil, other)
        #expect(relative?.kind == .document && relative?.relativeTo == "launch1-2")
        // Without a scope to hand over there is nothing that another document could open.
        #expect(try asked([], nil, other)?.relativeTo == nil)

        let data = try url.bookmarkData()
        func resolving(_ options: URL.BookmarkResolutionOptions, _ anchor: URL? = nil) throws
          -> BookmarksInterface.ResolveCall?
        {
          _ = try BookmarkResolution(resolving: data, options: options, relativeTo: anchor)
          return broker.ledger.withLock { $0.lastResolution }
        }
        #expect(try resolving([])?.implicitStart == true)
        #expect(try resolving(.withoutImplicitStartAccessing)?.implicitStart == false)
        #expect(try resolving(.withoutMounting)?.withoutMounting == true)
        #expect(try resolving(.withoutUI, other)?.relativeTo == "launch1-2")
      }
    }

    @Test func `BMK-19: the bookmark of a URL that is no file's holds the URL, and asks nobody`() throws {
      try withBroker { broker in
        let page = try #require(URL(string: "https://example.org/a?b=c#d"))
        let data = try page.bookmarkData(
          options: [.withSecurityScope, .minimalBookmark], includingResourceValuesForKeys: [.nameKey])
        var isStale = true
        #expect(try URL(resolvingBookmarkData: data, bookmarkDataIsStale: &isStale) == page)
        #expect(!isStale)
        #expect(broker.ledger.withLock { $0.calls } == [])
        // What says that it is a file's is none of these.
        let forged = Data("ambit-url\0file:///etc/passwd".utf8)
        #expect(cocoa { _ = try URL(resolvingBookmarkData: forged, bookmarkDataIsStale: &isStale) } != nil)
      }
    }

    @Test func `BMK-22: values that were asked for come back, and no others but name, path and kind`() throws {
      try withBroker { broker in
        _ = try url(broker)
        let all: Set<URLResourceKey> = [
          .nameKey, .pathKey, .isDirectoryKey, .fileSizeKey, .creationDateKey, .volumeNameKey, .typeIdentifierKey,
        ]
        let values = try #require(URL.resourceValues(forKeys: all, fromBookmarkData: Data()))
        #expect(values.name == "a.txt" && values.path == "/documents/1/a.txt" && values.isDirectory == false)
        #expect(values.fileSize == 7 && values.contentType == .plainText)
        #expect(values.creationDate == nil && values.volumeName == nil)
        let few = try #require(URL.resourceValues(forKeys: [.fileSizeKey], fromBookmarkData: Data()))
        #expect(few.name == nil && few.allValues.keys == [URLResourceKey.fileSizeKey: 0].keys)
        broker.ledger.withLock { $0.grants = [:] }
        #expect(URL.resourceValues(forKeys: all, fromBookmarkData: Data()) == nil)
      }
    }

    @Test func `a bookmark is kept in a file and read again`() throws {
      try withBroker { broker in
        let url = try url(broker)
        _ = url.startAccessingSecurityScopedResource()
        let data = try url.bookmarkData(options: .suitableForBookmarkFile)
        let file = URL(fileURLWithPath: "\(broker.folder)/kept")
        try URL.writeBookmarkData(data, to: file)
        #expect(try URL.bookmarkData(withContentsOf: file) == data)
        try Data(count: 60_000).write(to: file)
        #expect(cocoa { _ = try URL.bookmarkData(withContentsOf: file) }?.code == .fileReadCorruptFile)
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
