import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

/// Leases of the running kernel. Each test is one thread from its beginning to its end: breaks are told to it alone.
@Suite struct FileLeaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A file that has been closed again, also by children that were in the making meanwhile.
  private func file(_ content: String = "old") throws -> String {
    let path = try folder.write("document", content)
    try TemporaryFolder.awaitWriters(of: path)
    return path
  }

  /// An open file with a lease.
  private struct Held {
    let file: Descriptor
    let breaks: LeaseBreaks

    init(_ path: String, _ lease: FileLease) throws {
      breaks = try LeaseBreaks()
      file = try Descriptor.open(path, flags: lease == .write ? .readWrite : .read)
      let file = file
      try Deadline.wait(for: "the lease") {
        do throws(KernelError) { try file.take(lease) } catch {
          if error.errno == .wouldBlock { return false }
          throw error
        }
        return true
      }
    }

    var lease: FileLease? { file.lease }

    /// The breaks of earlier tests on this thread are passed over.
    var isTold: Bool {
      get throws {
        while let next = try breaks.next() { if next == .of(file.rawValue) { return true } }
        return false
      }
    }

    func awaitBreak() throws {
      var entries = [PollEntry(breaks.descriptor, .read)]
      let deadline = Deadline(in: .seconds(10))
      while !deadline.isOver {
        try Poll.wait(&entries, timeout: .milliseconds(100))
        if try isTold { return }
      }
      throw HarnessError("no break was told")
    }

    func write(_ text: String) throws { try file.writeAll(Array(text.utf8)) }
    func giveBack() { file.giveBackLease() }
  }

  private func content(_ path: String) throws -> String {
    String(decoding: try Descriptor.open(path, flags: .read).readAll(limit: 1024), as: UTF8.self)
  }

  @Test func `a reader waits for the holder's last word, and reads it`() throws {
    let path = try file()
    let held = try Held(path, .write)
    #expect(held.lease == .write)
    let reader = OwnThread { try content(path) }
    try held.awaitBreak()
    #expect(!reader.isOver && held.lease == .read)
    try held.write("new")
    held.giveBack()
    #expect(try reader.value() == "new")
    #expect(held.lease == nil)
  }

  @Test func `a program that knows nothing of leases waits as well`() throws {
    let path = try file()
    let held = try Held(path, .write)
    let reader = try ChildProcess(["/bin/cat", path], user: .root, environment: [:], directory: "/")
    try held.awaitBreak()
    #expect(!reader.hasEnded)
    try held.write("new")
    held.giveBack()
    #expect(try reader.waitForExit() == .status(0))
    #expect(reader.allOutput == "new")
  }

  @Test func `with a lease for reading only a writer waits`() throws {
    let path = try file()
    let held = try Held(path, .read)
    #expect(try content(path) == "old")
    #expect(try !held.isTold && held.lease == .read)
    let writer = OwnThread {
      try Descriptor.open(path, flags: [.write, .append]).writeAll(Array(" and more".utf8))
    }
    try held.awaitBreak()
    #expect(!writer.isOver && held.lease == nil)
    held.giveBack()
    try writer.value()
    #expect(try content(path) == "old and more")
  }

  @Test func `a writer that joins a reader breaks the lease once more`() throws {
    let path = try file()
    let held = try Held(path, .write)
    let reader = OwnThread { try content(path) }
    try held.awaitBreak()
    #expect(held.lease == .read)
    let writer = OwnThread { _ = try Descriptor.open(path, flags: .write) }
    try held.awaitBreak()
    #expect(held.lease == nil && !reader.isOver && !writer.isOver)
    held.giveBack()
    #expect(try reader.value() == "old")
    try writer.value()
  }

  @Test func `an open that does not wait fails, and breaks the lease all the same`() throws {
    let path = try file()
    let held = try Held(path, .write)
    #expect(throws: KernelError("open", path, errno: .wouldBlock)) {
      try Descriptor.open(path, flags: [.read, .nonBlocking])
    }
    try held.awaitBreak()
    #expect(held.lease == .read)
  }

  @Test func `renames and questions about the file break nothing`() throws {
    let path = try file()
    let held = try Held(path, .write)
    _ = try Descriptor.open(path, flags: .path).status()
    let other = try folder.write("other", "other")
    #expect(unsafe rename(other, path) == 0)
    #expect(try !held.isTold && held.lease == .write)
    #expect(try content(path) == "other")
  }

  @Test func `is refused where the file is open in the way, and where it is no file`() throws {
    let path = try file()
    let other = try Descriptor.open(path, flags: .read)
    let held = try Descriptor.open(path, flags: .readWrite)
    let busy = KernelError("fcntl", "F_SETLEASE, descriptor \(held.rawValue)", errno: .wouldBlock)
    #expect(throws: busy) { try held.take(.write) }
    // The holder's own writing counts: nobody comes down from one lease to the other on the same descriptor.
    #expect(throws: busy) { try held.take(.read) }
    withExtendedLifetime(other) {}
    let directory = try Descriptor.open(folder.path, flags: [.read, .directory])
    #expect(throws: KernelError("fcntl", "F_SETLEASE, descriptor \(directory.rawValue)", errno: .invalidArgument)) {
      try directory.take(.read)
    }
  }

  @Test func `is refused for a file of another owner`() async throws {
    await #expect(processExitsWith: .success) {
      let user = TestUser.ordinary.id
      if geteuid() == 0 { try #require(setgid(user) == 0 && setuid(user) == 0) }
      #expect(!FileLease.coversOtherOwners)
      let file = try Descriptor.open("/etc/passwd", flags: .read)
      #expect(throws: KernelError("fcntl", "F_SETLEASE, descriptor \(file.rawValue)", errno: .permissionDenied)) {
        try file.take(.read)
      }
    }
  }

  @Test func `breaks that found no room in the queue are told without a name`() async throws {
    let path = try file()
    await #expect(processExitsWith: .success) { [path = path as String] in
      // RLIMIT_SIGPENDING
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      try #require(unsafe setrlimit(11, &none) == 0)
      let breaks = try LeaseBreaks()
      let held = try Descriptor.open(path, flags: .readWrite)
      try held.take(.write)
      #expect(throws: KernelError.self) { try Descriptor.open(path, flags: [.read, .nonBlocking]) }
      #expect(try breaks.next() == .unknown && held.lease == .read)
    }
  }

  @Test func `the kernel tells how long it waits for a holder`() throws {
    let seconds = try #require(
      Int(String(contentsOfFile: "/proc/sys/fs/lease-break-time", encoding: .utf8).dropLast()))
    #expect(FileLease.breakTime == (seconds > 0 ? seconds : nil))
    #expect(Probe.lease().isPresent)
  }

  @Test(.ownsMounts) func `openers wait on other mounts and in other namespaces`() throws {
    let path = try file()
    let tree = try DetachedTree(
      cloning: try Descriptor.open(folder.path, flags: [.path, .directory]), recursive: false, path: folder.path)
    let held = try Held(path, .write)
    let reader = OwnThread { try Descriptor.open("document", below: tree.descriptor, flags: .read).readLine() }
    try held.awaitBreak()
    #expect(!reader.isOver)
    held.giveBack()
    #expect(try reader.value() == Array("old".utf8))

    try held.file.take(.write)
    let other = try ChildProcess(
      ["/usr/bin/unshare", "--mount", "/bin/cat", path], user: .root, environment: [:], directory: "/")
    try held.awaitBreak()
    #expect(!other.hasEnded)
    held.giveBack()
    #expect(try other.waitForExit() == .status(0))
  }
}
