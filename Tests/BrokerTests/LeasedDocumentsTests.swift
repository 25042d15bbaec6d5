import BrokerCore
import Foundation
import Kernel
import Paths
import ScopedAccess
import TestSupport
import Testing

@testable import Broker

/// Which leases presented documents want, on real files.
@Suite struct `Leased documents` {
  private let folder: TemporaryFolder
  private let path: PathKey

  init() throws {
    TestLoop.start()
    folder = try TemporaryFolder()
    path = PathKey(try folder.write("document", "text"))
    try TemporaryFolder.awaitWriters(of: path.text)
  }

  /// Two acquisitions took a tenth of the time of opening a document.
  @Test func `a document that is being opened is leased when its presenter's access has ended`() async throws {
    let kinds = try await onLoop { [path] in
      let (documents, _) = Self.make()
      documents.present(1, path, unsaved: false, isOpening: true)
      let before = documents.lease(on: path).kind
      documents.begin(path, isAnswer: false)
      let within = documents.lease(on: path).kind
      documents.end(path)
      return [before, within, documents.lease(on: path).kind]
    }
    #expect(kinds == [nil, nil, .read])
  }

  @Test func `without an access it is leased a second later`() async throws {
    let kinds = try await onLoop { [path] in
      let (documents, clock) = Self.make()
      documents.present(1, path, unsaved: true, isOpening: true)
      clock.advance(999_999_999)
      documents.finishTurn(now: clock.monotonic)
      let before = documents.lease(on: path).kind
      clock.advance(1)
      let isDue = documents.nextDue(now: clock.monotonic) == clock.monotonic
      documents.finishTurn(now: clock.monotonic)
      return [before, isDue ? documents.lease(on: path).kind : nil]
    }
    #expect(kinds == [nil, .write])
  }

  @Test func `the lease of another presenter stays while a second one opens`() async throws {
    let kinds = try await onLoop { [path] in
      let (documents, _) = Self.make()
      documents.present(1, path, unsaved: true)
      let before = documents.lease(on: path).kind
      documents.present(2, path, unsaved: false, isOpening: true)
      return [before, documents.lease(on: path).kind]
    }
    #expect(kinds == [.write, .write])
  }

  @BrokerLoop
  private static func make() -> (LeasedDocuments, ManualClock) {
    let clock = ManualClock()
    return (LeasedDocuments(LeaseKeeper(MountState(), clock), clock), clock)
  }
}
