import Foundation
import SystemPackage
import Testing

@testable import Kernel

@Suite struct `A file handle` {
  @Test func `is the same for every way to open a file, and another for another file`() throws {
    let folder = try Folder()
    let path = try folder.write("file")
    let handles = try [OpenFlags.path, .read, .readWrite].map {
      try Kernel.FileHandle(of: Descriptor.open(path, flags: $0))
    }
    #expect(Set(handles).count == 1)
    #expect(handles[0].bytes.isEmpty == false)
    #expect(try Kernel.FileHandle(of: Descriptor.open(folder.write("other"), flags: .path)) != handles[0])
    #expect(unsafe rename(path, "\(folder.path)/renamed") == 0)
    #expect(try Kernel.FileHandle(of: Descriptor.open("\(folder.path)/renamed", flags: .path)) == handles[0])
  }

  @Test func `opens the file wherever it is now, for root; nobody else may`() throws {
    let folder = try Folder()
    let path = try folder.write("file", "content")
    let handle = try Kernel.FileHandle(of: Descriptor.open(path, flags: .path))
    let volume = try Descriptor.open(folder.path, flags: [.read, .directory])
    try folder.folder("far/away")
    #expect(unsafe rename(path, "\(folder.path)/far/away/other") == 0)
    guard geteuid() == 0 else {
      #expect(throws: KernelError("open_by_handle_at", errno: .notPermitted)) {
        try handle.open(on: volume, flags: .read)
      }
      return
    }
    #expect(try handle.open(on: volume, flags: .read).readAll() == Array("content".utf8))
    #expect(unsafe unlink("\(folder.path)/far/away/other") == 0)
    // Gone when nobody has it open any more: a child of another test, on its way to its own program, may have it for a moment.
    var tries = 0
    while (try? handle.open(on: volume, flags: .read)) != nil, tries < 500 {
      usleep(10_000)
      tries += 1
    }
    let error = #expect(throws: KernelError.self) { try handle.open(on: volume, flags: .read) }
    #expect(error?.errno.symbol == "ESTALE")
    // Bytes that never were a handle.
    for bytes in [[], [UInt8](repeating: 0xff, count: 8), [UInt8](repeating: 1, count: 300)] {
      #expect(throws: KernelError.self) {
        try Kernel.FileHandle(type: handle.type, bytes: bytes).open(on: volume, flags: .read)
      }
    }
  }

  @Test func `a volume is known by the same sixteen bytes however it is asked`() throws {
    let folder = try Folder()
    let file = try folder.write("file")
    let volume = try Descriptor.open(folder.path, flags: [.read, .directory]).volumeIdentity()
    #expect(volume.count == 16)
    #expect(volume.contains { $0 != 0 })
    #expect(try Descriptor.open(folder.path, flags: [.path, .directory]).volumeIdentity() == volume)
    for flags in [OpenFlags.path, .read, .readWrite] {
      #expect(try Descriptor.open(file, flags: flags).volumeIdentity() == volume)
    }
    // What was asked before is not asked again, and it answers the same; where it was not, it asks.
    for _ in 0..<2 {
      let opened = try Descriptor.open(folder.path, flags: [.path, .directory])
      #expect(try opened.volumeIdentity(onMount: opened.status().mount) == volume)
    }
    let other = try Descriptor.open("/proc", flags: .path)
    #expect(try other.volumeIdentity(onMount: other.status().mount) == other.volumeIdentity())
    #expect(try Descriptor.open("/proc", flags: .path).volumeIdentity() != volume)
    #expect(
      try Descriptor.open("/proc", flags: .path).volumeIdentity()
        == Descriptor.open("/proc/self", flags: .read).volumeIdentity())
  }
}

@Suite struct `The table of mounts` {
  @Test(
    arguments: [
      ("/plain", "/plain"), ("/a\\040b", "/a b"), ("/a\\011b\\012c", "/a\tb\nc"), ("/a\\134040", "/a\\040"),
      ("/tail\\04", "/tail\\04"), ("/tail\\", "/tail\\"), ("/x\\999", "/x\\999"), ("/gr\\303\\274n", "/grün"), ("", ""),
    ])
  func `has three octal digits for what would end a field`(field: String, path: String) {
    #expect(MountTable.unescape(Array(field.utf8)[...]) == path)
  }

  @Test func `lists the root and proc`() {
    let points = MountTable.mountPoints()
    #expect(points.contains("/"))
    #expect(points.contains("/proc"))
    #expect(MountTable.mountPoints(process: "none").isEmpty)
  }
}

@Suite struct `A queue of signals` {
  /// In a process of its own: what is held back stays held back.
  @Test func `holds signals back and hands them out, one at a time`() async {
    await #expect(processExitsWith: .success) {
      let queue = try SignalQueue([SIGUSR1, SIGTERM])
      #expect(try queue.next() == nil)
      raise(SIGTERM)
      raise(SIGUSR1)
      raise(SIGUSR1)
      var entries = [PollEntry(queue.descriptor, .read)]
      #expect(try Poll.wait(&entries, timeout: .seconds(10)) == 1)
      let arrived = [try queue.next(), try queue.next()]
      #expect(Set(arrived) == [SIGUSR1, SIGTERM])
      #expect(try queue.next() == nil)
    }
  }
}
