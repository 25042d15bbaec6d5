import AmbitKit
import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

/// The address of the broker is one for the whole process, so these tests run one after the other.
@Suite(.serialized) enum AmbitKitTests {}

/// The Cocoa error that a body throws.
func cocoa(_ body: () throws -> Void) -> CocoaError? {
  do {
    try body()
    return nil
  } catch {
    return error as? CocoaError
  }
}

extension CocoaError {
  var posix: POSIXErrorCode? { unsafe (userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code }
}

extension AmbitKitTests {
  @Suite struct `Security-scoped URLs` {
    func url(_ broker: ScriptedBroker, _ name: String = "My notes.txt") throws -> URL {
      try #require(URL(string: broker.ledger.withLock { $0.grant(name).url }))
    }
    func count(_ broker: ScriptedBroker, _ grant: Int = 1) -> Int? {
      broker.ledger.withLock { $0.grants[grant]?.count }
    }

    @Test func `TOK-4, TOK-5: starts are counted, stops balance them, and one too many does nothing`() throws {
      try withBroker { broker in
        let url = try url(broker)
        #expect(url.path == "/documents/1/My notes.txt")
        for expected in 1...3 {
          #expect(url.startAccessingSecurityScopedResource())
          #expect(count(broker) == expected)
        }
        for expected in [2, 1, 0, 0, 0] {
          url.stopAccessingSecurityScopedResource()
          #expect(SecurityScope.lastError == nil)
          #expect(count(broker) == expected)
        }
      }
    }

    @Test func `TOK-7: a URL made of the path has no scope, and nobody is asked`() throws {
      try withBroker { broker in
        let url = try url(broker)
        let copy = URL(fileURLWithPath: url.path)
        #expect(!copy.startAccessingSecurityScopedResource())
        #expect(SecurityScope.lastError?.code == .fileReadNoPermission)
        #expect(SecurityScope.lastError?.localizedDescription.contains("carries no security scope") == true)
        copy.stopAccessingSecurityScopedResource()
        #expect(broker.ledger.withLock { $0.calls } == [])
      }
    }

    @Test func `TOK-8: a copy has the scope, also one that was extended or went through an array`() throws {
      try withBroker { broker in
        let url = try url(broker, "Folder")
        for copy in [url, [url][0], url.appendingPathComponent("ä b/c.txt"), url.appending(path: "x")] {
          #expect(copy.startAccessingSecurityScopedResource())
        }
        #expect(count(broker) == 4)
        #expect(try SecurityScope.path(of: url.appending(path: "ä b/c.txt")) == "/documents/1/Folder/ä b/c.txt")
        #expect(try SecurityScope.path(of: url) == "/documents/1/Folder")
      }
    }

    @Test func `TOK-9, RST-2: a URL saved as a string does not work in the next launch`() throws {
      try withBroker { broker in
        let saved = try url(broker).absoluteString
        #expect(try #require(URL(string: saved)).startAccessingSecurityScopedResource())
        broker.ledger.withLock { $0.launch = "launch2" }
        let url = try #require(URL(string: saved))
        #expect(!url.startAccessingSecurityScopedResource())
        #expect(SecurityScope.lastError?.code == .fileReadNoPermission)
        #expect(SecurityScope.lastError?.posix == .EPERM)
        #expect(SecurityScope.lastError?.localizedDescription.contains("save a bookmark") == true)
      }
    }

    @Test func `TOK-10: a URL in the app's own container needs no start, and start and stop do nothing`() throws {
      try withBroker { broker in
        let file = URL(fileURLWithPath: broker.folder).appendingPathComponent("own.txt")
        try Data("x".utf8).write(to: file)
        #expect(!file.startAccessingSecurityScopedResource())
        #expect(try Data(contentsOf: file) == Data("x".utf8))
        file.stopAccessingSecurityScopedResource()
        #expect(try Data(contentsOf: file) == Data("x".utf8))
        #expect(broker.ledger.withLock { $0.calls } == [])
      }
    }

    @Test func `LIM-1, LIM-2, LIM-8: the ninth of eight is refused with the names of those that hold them`() throws {
      try withBroker { broker in
        let urls = try (1...9).map { try url(broker, "\($0).txt") }
        for url in urls.prefix(8) {
          #expect(url.startAccessingSecurityScopedResource(fileID: "Editor/Open.swift", line: 41))
        }
        #expect(!urls[8].startAccessingSecurityScopedResource())
        let error = try #require(SecurityScope.lastError)
        #expect(error.posix == .EMFILE)
        for number in 1...8 {
          #expect(error.localizedDescription.contains("“\(number).txt” (started at Editor/Open.swift:41)"))
        }
        let status = try SecurityScope.status()
        #expect(status.used == 8 && status.limit == 8)
        #expect(status.holders.map(\.name) == (1...8).map { "\($0).txt" })
        let inside = unsafe error.userInfo[SecurityScope.statusErrorKey] as? SecurityScope.Status
        #expect(inside == status)
        urls[2].stopAccessingSecurityScopedResource()
        #expect(urls[8].startAccessingSecurityScopedResource())
        #expect(
          try SecurityScope.status().holders.last?.caller?.hasPrefix("AmbitKitTests/AmbitKitTests.swift:") == true)
        #expect(SecurityScope.lastError == nil)
      }
    }

    @Test func `FSF-11: a URL has a name to show, and a place on the host where the policy lets it be told`() throws {
      try withBroker { broker in
        let url = try url(broker, "Für Anna.txt")
        let inside = url.appending(path: "ä b/c.txt")
        #expect(try SecurityScope.displayName(of: url) == "Für Anna.txt")
        #expect(try SecurityScope.displayName(of: inside) == "c.txt")
        #expect(cocoa { _ = try SecurityScope.hostPath(of: url) }?.code == .fileReadNoPermission)
        broker.ledger.withLock { $0.host = "/home/anna" }
        #expect(try SecurityScope.hostPath(of: url) == "/home/anna/Für Anna.txt")
        #expect(try SecurityScope.hostPath(of: inside) == "/home/anna/Für Anna.txt/ä b/c.txt")
        broker.ledger.withLock { $0.host = "" }
        #expect(try SecurityScope.hostPath(of: url) == nil && SecurityScope.hostPath(of: inside) == nil)
        #expect(cocoa { _ = try SecurityScope.displayName(of: URL(fileURLWithPath: "/x")) }?.posix == .EPERM)
      }
    }

    @Test func `a withdrawn grant says so`() throws {
      try withBroker { broker in
        let url = try url(broker)
        broker.ledger.withLock { $0.grants[1]?.isRevoked = true }
        #expect(cocoa { try SecurityScope.start(url) }?.localizedDescription.contains("withdrawn") == true)
      }
    }

    @Test func `the last error is the thread's own`() throws {
      try withBroker { broker in
        #expect(!URL(fileURLWithPath: "/x").startAccessingSecurityScopedResource())
        let elsewhere = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          #expect(SecurityScope.lastError == nil)
          elsewhere.signal()
        }
        elsewhere.wait()
        #expect(SecurityScope.lastError != nil)
      }
    }
  }

  @Suite struct `The way to the broker` {
    @Test func `outside of Ambit, everything says so`() {
      let error = cocoa { _ = try SecurityScope.status() }
      #expect(error?.code == .featureUnsupported)
      #expect(error?.localizedDescription.contains("not running under Ambit") == true)
      let url = URL(string: "file:///documents/1/a#ambit-scope=x")
      #expect(url?.startAccessingSecurityScopedResource() == false)
      #expect(cocoa { _ = try DocumentPicker.pick() }?.code == .featureUnsupported)
    }

    @Test func `a broker that cannot be reached is an error with the system's reason`() {
      Broker.addressInTests.withLock { $0 = "unix:/nowhere/broker" }
      defer { Broker.addressInTests.withLock { $0 = nil } }
      let error = cocoa { _ = try SecurityScope.status() }
      #expect(error?.posix == .ENOENT)
      #expect(error?.localizedDescription.contains("/nowhere/broker") == true)
    }

    @Test func `AUD-10: after the broker was restarted, the next call finds it`() throws {
      try withBroker { broker in
        _ = try SecurityScope.status()
        try broker.stop()
        try broker.start()
        #expect(try SecurityScope.status().limit == 8)
        #expect(broker.ledger.withLock { $0.calls } == ["Status", "Status"])
        try broker.stop()
        #expect(cocoa { _ = try SecurityScope.status() }?.localizedDescription.contains("cannot be reached") == true)
        try broker.start()
      }
    }

    @Test func `one thread uses one connection; errors that the broker answers do not break it`() throws {
      try withBroker { broker in
        let url = try #require(URL(string: "file:///documents/1/a#ambit-scope=nonsense"))
        for _ in 0..<50 {
          _ = try SecurityScope.status()
          #expect(!url.startAccessingSecurityScopedResource())
        }
        #expect(broker.ledger.withLock { $0.connections } == 1)
      }
    }

    @Test func `threads do not wait for each other's turn, and none loses its answer`() throws {
      try withBroker { broker in
        let urls = try (1...4).map { number in
          try #require(URL(string: broker.ledger.withLock { $0.grant("\(number)").url }))
        }
        try onOwnThreads(4) { index in
          for _ in 0..<100 {
            try #require(urls[index].startAccessingSecurityScopedResource())
            urls[index].stopAccessingSecurityScopedResource()
          }
          try #require(urls[index].startAccessingSecurityScopedResource())
        }
        #expect(broker.ledger.withLock { $0.grants.values.map(\.count) } == [1, 1, 1, 1])
      }
    }
  }
}
