import BrokerCore
import Foundation
import Kernel
import ScopedAccess
import TestSupport
import Testing

@testable import Broker

#if canImport(Glibc)
  import Glibc
#endif

/// The broker's leases, on the loop of this test process and on real files.
@Suite struct LeaseKeeperTests {
  private let folder: TemporaryFolder
  private let leases: HeldLeases

  init() async throws {
    TestLoop.start()
    folder = try TemporaryFolder()
    leases = await onLoopWithoutError { HeldLeases() }
  }

  private func document(_ content: String = "old") throws -> FoundDocument {
    let path = try folder.write("document", content)
    try TemporaryFolder.awaitWriters(of: path)
    return try FoundDocument(try Descriptor.open(path, flags: .place))
  }

  private func reader() -> OwnThread<String> {
    OwnThread { [path = "\(folder.path)/document"] in try plainText(path) }
  }

  private func writer() -> OwnThread<Void> {
    OwnThread { [path = "\(folder.path)/document"] in
      try Descriptor.open(path, flags: [.write, .append]).writeAll(Array(" and more".utf8))
    }
  }

  @Test func `COO-22: a reader that waits for nobody goes on before its break is told, and a writer does not`()
    async throws
  {
    let document = try document()
    await leases.free(document.identity)
    #expect(try await leases.hold(document, .write) == .leased(.write))
    #expect(try reader().value() == "old")
    try await leases.awaitBreaks(1)
    #expect(await leases.breaks.map(\.opener) == [.reads])
    #expect(await leases.heldAtBreaks == [0])
    #expect(try await leases.hold(document, .write) == .leased(.write))
    let writer = writer()
    try await leases.awaitBreaks(2)
    #expect(await leases.breaks.last?.opener == .writes)
    #expect(await leases.heldAtBreaks == [0, 1])
    #expect(!writer.isOver)
    await leases.release(document.identity)
    try writer.value()
  }

  @Test func `a reader waits until the presenter has saved through the leased descriptor`() async throws {
    let document = try document()
    let identity = document.identity
    #expect(try await leases.hold(document, .write) == .leased(.write))
    #expect(await leases.awaited(identity) == nil)
    let reader = reader()
    try await leases.awaitBreaks(1)
    #expect(await leases.breaks.map(\.opener) == [.reads])
    #expect(await leases.breaks.map(\.identity) == [identity])
    #expect(await leases.isBreaking(identity) && !reader.isOver)
    let shown = try #require(await leases.held.first)
    #expect(shown.kind == .write && shown.path == document.path && shown.sinceBreak == 0)
    // Nothing changes while it waits.
    #expect(try await leases.hold(document, .read) == .leased(.write))
    try #require(await leases.awaited(identity)).writeAll(Array("new".utf8))
    await leases.release(identity)
    #expect(try reader.value() == "new")
    #expect(await leases.held.isEmpty)
    #expect(await leases.breaks.count == 1)
  }

  @Test func `without unsaved changes readers go on and a writer waits`() async throws {
    let document = try document()
    #expect(try await leases.hold(document, .read) == .leased(.read))
    #expect(try reader().value() == "old")
    let writer = writer()
    try await leases.awaitBreaks(1)
    #expect(await leases.breaks.map(\.opener) == [.writes])
    #expect(!writer.isOver)
    // There is nothing to save, and nothing to save through.
    #expect(await leases.awaited(document.identity) == nil)
    await leases.release(document.identity)
    try writer.value()
    #expect(try reader().value() == "old and more")
  }

  @Test func `a writer that joins a reader is told as well`() async throws {
    let document = try document()
    #expect(try await leases.hold(document, .write) == .leased(.write))
    let reader = reader()
    try await leases.awaitBreaks(1)
    let writer = writer()
    try await leases.awaitBreaks(2)
    #expect(await leases.breaks.map(\.opener) == [.reads, .writes])
    await leases.release(document.identity)
    try writer.value()
    #expect(try reader.value().hasPrefix("old"))
  }

  @Test func `the kind follows the presenter's changes`() async throws {
    let document = try document()
    for kind in [FileLease.read, .write, .read, .write] {
      #expect(try await leases.hold(document, kind) == .leased(kind))
      #expect(await leases.held.map(\.kind) == [kind])
      #expect(await leases.leased(document.identity)?.lease == kind)
    }
    await leases.release(document.identity)
    #expect(try reader().value() == "old")
    #expect(await leases.breaks.isEmpty)
  }

  @Test func `where no lease can be had the reason is told`() async throws {
    let document = try document()
    let open = try Descriptor.open("\(folder.path)/document", flags: .read)
    #expect(await leases.holdOnce(document, .write) == .watchOnly(reason: "another program has it open"))
    #expect(await leases.holdOnce(document, .read) == .leased(.read))
    withExtendedLifetime(open) {}
    let directory = try FoundDocument(try Descriptor.open(folder.path, flags: .place))
    #expect(await leases.holdOnce(directory, .read) == .watchOnly(reason: "it is no regular file"))
  }

  @Test func `another user's document is watched only`() async throws {
    await #expect(processExitsWith: .success) {
      let user = TestUser.ordinary.id
      if geteuid() == 0 { try #require(setgid(user) == 0 && setuid(user) == 0) }
      TestLoop.start()
      let leases = await onLoopWithoutError { HeldLeases() }
      let document = try FoundDocument(try Descriptor.open("/etc/passwd", flags: .place))
      #expect(await leases.holdOnce(document, .read) == .watchOnly(reason: "it belongs to another user"))
    }
  }

  @Test func `when the kernel's time is over the lease is lost, and that is told`() async throws {
    let document = try document()
    #expect(try await leases.hold(document, .write) == .leased(.write))
    let reader = reader()
    try await leases.awaitBreaks(1)
    let seconds = Int64(try #require(FileLease.breakTime))
    #expect(await leases.timeLeft(document.identity) == seconds * 1_000_000_000)
    await leases.wait(seconds: seconds - 1)
    #expect(await leases.isBreaking(document.identity))
    #expect(await leases.lapses.isEmpty)
    await leases.wait(seconds: 1)
    #expect(await leases.awaited(document.identity) == nil)
    #expect(try reader.value() == "old")
    #expect(await leases.lapses == [document.identity])
    #expect(await leases.held.isEmpty)
  }

  @Test func `of two brokers in a process each hears of its own documents`() async throws {
    let (document, second) = (try document(), await onLoopWithoutError { HeldLeases() })
    let path = try folder.write("other", "other")
    try TemporaryFolder.awaitWriters(of: path)
    let other = try FoundDocument(try Descriptor.open(path, flags: .place))
    #expect(try await leases.hold(document, .write) == .leased(.write))
    #expect(try await second.hold(other, .write) == .leased(.write))
    let reader = OwnThread { try plainText(path) }
    try await second.awaitBreaks(1)
    #expect(await second.breaks.map(\.identity) == [other.identity])
    #expect(await leases.breaks.isEmpty)
    await second.release(other.identity)
    #expect(try reader.value() == "other")
  }
}

private func onLoopWithoutError<Value: Sendable>(
  _ body: @escaping @BrokerLoop @Sendable () -> Value
) async -> Value { await Task { @BrokerLoop in body() }.value }

/// A keeper on the loop, and a record of its calls.
@BrokerLoop
private final class HeldLeases {
  private let keeper: LeaseKeeper
  private let clock = ManualClock()
  private(set) var breaks: [(identity: FileIdentity, opener: LeaseKeeper.Opener)] = []
  /// How many leases there were at each break.
  private(set) var heldAtBreaks: [Int] = []
  private(set) var lapses: [FileIdentity] = []

  init() {
    keeper = LeaseKeeper(MountState(), clock)
    let loop = EventLoop(clock: clock)
    loop.add(keeper)
    TestLoop.root.add(loop)
    keeper.onBreak = { [weak self] in
      self?.breaks.append(($0, $1))
      self?.heldAtBreaks.append(self?.keeper.held.count ?? -1)
    }
    keeper.onLapse = { [weak self] in self?.lapses.append($0) }
  }

  func holdOnce(_ document: FoundDocument, _ kind: FileLease) -> LeaseKeeper.Holding { keeper.hold(document, as: kind) }

  /// A child in the making may have the file open for a moment.
  func hold(_ document: FoundDocument, _ kind: FileLease) async throws -> LeaseKeeper.Holding {
    let deadline = Deadline(in: .seconds(10))
    while true {
      let holding = holdOnce(document, kind)
      if case .leased = holding { return holding }
      if deadline.isOver { return holding }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  func free(_ identity: FileIdentity) { keeper.isFree = { $0 == identity } }
  func release(_ identity: FileIdentity) { keeper.release(identity) }
  func isBreaking(_ identity: FileIdentity) -> Bool { keeper.isBreaking(identity) }
  func awaited(_ identity: FileIdentity) -> Descriptor? { keeper.awaited(identity) }
  func leased(_ identity: FileIdentity) -> Descriptor? { keeper.leased(identity) }
  func timeLeft(_ identity: FileIdentity) -> Int64? { keeper.timeLeft(identity) }
  var held: [LeaseKeeper.Lease] { keeper.held }

  func wait(seconds: Int64) {
    clock.advance(seconds * 1_000_000_000)
    keeper.handle([], now: clock.monotonic)
  }

  func awaitBreaks(_ count: Int) async throws {
    let deadline = Deadline(in: .seconds(10))
    while breaks.count < count {
      if deadline.isOver { throw HarnessError("\(breaks.count) breaks were told, not \(count)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

/// Reads as `cat` does. Foundation opens with `O_NONBLOCK`, and is refused where others wait.
func plainText(_ path: String) throws -> String {
  String(decoding: try Descriptor.open(path, flags: .read).readAll(), as: UTF8.self)
}
