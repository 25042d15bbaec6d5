import Foundation
import Kernel
import SystemPackage
import Testing

@Suite struct `A descriptor` {
  /// Whether a number is an open descriptor of that file now. Other tests open and close as well, so the number alone
  /// says nothing.
  private func shows(_ number: Int32, _ path: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
  }

  @Test func `closes with its last reference, not before`() throws {
    let folder = try Folder()
    let path = try folder.write("file")
    var first: Descriptor? = try Descriptor.open(path, flags: .read)
    let number = try #require(first?.rawValue)
    var second = first
    #expect(shows(number, path))
    first = nil
    #expect(shows(number, path))
    #expect(second != nil)
    second = nil
    #expect(!shows(number, path))
  }

  @Test func `is close-on-exec, however it was made`() throws {
    let folder = try Folder()
    let file = try Descriptor.open(try folder.write("file"), flags: .read)
    let location = try Descriptor.open(folder.path, flags: .path)
    let (left, right) = try UnixSocket.pair()
    let made = [
      file, location, left, right, try file.duplicate(), try location.duplicate(), try Namespaces.own("mnt"),
      try Descriptor.process(getpid()), try Poll.any(of: [left]),
    ]
    for descriptor in made { #expect(fcntl(descriptor.rawValue, F_GETFD) & FD_CLOEXEC != 0) }
  }

  @Test func `duplicates share the offset, and one outlives the other`() throws {
    let folder = try Folder()
    var first: Descriptor? = try Descriptor.open(try folder.write("file", "0123456789"), flags: .read)
    let second = try #require(try first?.duplicate())
    #expect(first?.rawValue != second.rawValue)
    #expect(second.rawValue > 2)
    #expect(try first?.readAll(limit: 4).isEmpty == false)
    first = nil
    #expect(try second.readAll().isEmpty, "the first one's reading moved it")
    #expect(lseek(second.rawValue, 3, SEEK_SET) == 3)
    #expect(try second.readAll() == Array("3456789".utf8))
  }

  @Test func `reads lines and writes all of it`() throws {
    let folder = try Folder()
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    let path = "\(folder.path)/file"
    try Descriptor.open(path, flags: [.write, .create], mode: 0o600).writeAll(bytes)
    #expect(try Descriptor.open(path, flags: .read).readAll() == bytes)
    let lines = try Descriptor.open(try folder.write("lines", "one\n\ntwo"), flags: .read)
    #expect(try lines.readLine() == Array("one".utf8))
    #expect(try lines.readLine() == [])
    #expect(try lines.readLine() == Array("two".utf8))
    #expect(try lines.readLine() == [])
  }
}

@Suite struct `A kernel error` {
  @Test(
    arguments: [
      (KernelError("open", "/a b", errno: .noSuchFileOrDirectory), "open /a b: No such file or directory (ENOENT)"),
      (KernelError("clone3", errno: .notPermitted), "clone3: Operation not permitted (EPERM)"),
      (KernelError("x", "y", errno: Errno(rawValue: 4095)), "x y: Unknown error 4095 (errno 4095)"),
    ])
  func `reads as a sentence that names the call, its subject and errno`(error: KernelError, sentence: String) {
    #expect(error.description == sentence)
    #expect("\(error)" == sentence)
  }

  @Test func `comes from a call that failed, with what it was called on`() throws {
    let path = "/nowhere/\(UUID().uuidString)"
    let error = #expect(throws: KernelError.self) { try Descriptor.open(path, flags: .read) }
    #expect(error == KernelError("open", path, errno: .noSuchFileOrDirectory))
    #expect(
      #expect(throws: KernelError.self) { try KernelError.check("close", "nothing") { close(-1) } }
        == KernelError("close", "nothing", errno: .badFileDescriptor))
    #expect(
      #expect(throws: KernelError.self) { try KernelError.checkNegative("c", "s") { -EACCES } }
        == KernelError("c", "s", errno: .permissionDenied))
  }

  @Test func `is none where a signal interrupted the call: it is repeated`() throws {
    var left = 3
    let answer = try KernelError.check("read") { () -> Int in
      left -= 1
      if left > 0 { errno = EINTR }
      return left > 0 ? -1 : 42
    }
    #expect(answer == 42)
    left = 3
    let other = try KernelError.checkNegative("read") { () -> Int32 in
      left -= 1
      return left > 0 ? -EINTR : 43
    }
    #expect(other == 43)
  }

  @Test func `does not look at its subject while all goes well`() throws {
    func subject() -> String {
      Issue.record("the subject was asked for")
      return ""
    }
    try KernelError.check("getpid", subject()) { getpid() }
    try KernelError.checkNegative("getpid", subject()) { getpid() }
  }
}
