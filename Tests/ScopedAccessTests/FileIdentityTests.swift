import Folders
import Foundation
import Kernel
import Testing

@testable import ScopedAccess

@Suite struct `A file's identity` {
  private func identity(_ path: String, _ flags: OpenFlags = .path) throws -> FileIdentity {
    try FileIdentity(of: Descriptor.open(path, flags: [flags, .noFollow]))
  }

  @Test func `is the same however the file was opened`() throws {
    let folder = try Folder()
    let path = try folder.write("letter.txt")
    #expect(try identity(path, .path) == identity(path, .read))
    #expect(try identity(path, .path) == identity(path, .readWrite))
    #expect(try identity(folder.path, .path) == identity(folder.path, [.read, .directory]))
  }

  @Test func `stays through content, mode, rename, move and link`() throws {
    let folder = try Folder()
    let path = try folder.write("letter.txt")
    let before = try identity(path)
    try Data("more, and longer than it was".utf8).write(to: URL(fileURLWithPath: path), options: [])
    #expect(try identity(path) == before)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect(try identity(path) == before)
    let moved = "\(try folder.folder("other"))/plan.txt"
    try rename(path, to: moved)
    #expect(try identity(moved) == before)
    try FileManager.default.linkItem(atPath: moved, toPath: path)
    #expect(try identity(path) == before)
  }

  @Test func `stays when overlayfs copies a lower layer's file for its first write, with a birth of its own`() {
    func overlay(_ flags: UInt8, birth: Int64) -> FileIdentity {
      let bytes: [UInt8] = [0, 0, 0, 0, 0xfb, 0x1d, flags, 1] + [UInt8](repeating: 0, count: 16) + [0x14, 1, 0x11, 0]
      return FileIdentity(
        volume: [1], handle: FileHandle(type: 0xf8 | 0x4000_0000, bytes: bytes), inode: 7, birth: birth)
    }
    #expect(overlay(0, birth: 1) == overlay(0, birth: 2))
    // A file of the upper layer is never copied.
    #expect(overlay(4, birth: 1) != overlay(4, birth: 2))
    #expect(overlay(0, birth: 1) != overlay(4, birth: 1))
  }

  @Test func `BMK-3: is another for every other file, also one that got the same inode number`() throws {
    let folder = try Folder()
    var identities: Set<FileIdentity> = []
    var inodes: Set<UInt64> = []
    for _ in 0..<200 {
      let path = try folder.write("letter.txt")
      let found = try identity(path)
      #expect(identities.insert(found).inserted)
      inodes.insert(found.inode)
      try FileManager.default.removeItem(atPath: path)
    }
    // Where the file system hands numbers out again, as most do, this has just been put to the test.
    #expect(identities.count == 200)
    #expect(inodes.count <= 200)
  }

  @Test func `any one of the four parts makes it another`() throws {
    let folder = try Folder()
    let real = try identity(folder.write("letter.txt"))
    func other(
      volume: [UInt8]? = nil, handle: Kernel.FileHandle? = nil, inode: UInt64? = nil, birth: Int64? = nil
    ) -> FileIdentity {
      FileIdentity(
        volume: volume ?? real.volume, handle: handle ?? real.handle, inode: inode ?? real.inode,
        birth: birth ?? real.birth)
    }
    #expect(other() == real)
    #expect(other(volume: real.volume.map { $0 ^ 1 }) != real)
    #expect(other(handle: Kernel.FileHandle(type: real.handle.type + 1, bytes: real.handle.bytes)) != real)
    #expect(other(handle: Kernel.FileHandle(type: real.handle.type, bytes: real.handle.bytes + [0])) != real)
    #expect(other(inode: real.inode + 1) != real)
    #expect(other(birth: real.birth + 1) != real)
  }
}

@Suite struct `What a found document is` {
  @Test func `a file or a folder, at its path`() throws {
    let folder = try Folder()
    let path = try folder.write("letter.txt")
    let file = try FoundDocument(Descriptor.open(path, flags: .path))
    #expect(file.kind == .file)
    #expect(file.path == path)
    let directory = try FoundDocument(Descriptor.open(folder.path, flags: .path))
    #expect(directory.kind == .folder)
    #expect(directory.path == folder.path)
  }

  @Test func `never a link, a pipe, a socket or a device`() throws {
    let folder = try Folder()
    let link = "\(folder.path)/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.write("letter.txt"))
    let pipe = "\(folder.path)/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    let listener = try UnixSocket.listen(in: Descriptor.open(folder.path, flags: .directory), name: "socket")
    for path in [link, pipe, "\(folder.path)/socket", "/dev/null"] {
      #expect(throws: KernelError.self, "\(path)") {
        try FoundDocument(Descriptor.open(path, flags: [.path, .noFollow]))
      }
    }
    withExtendedLifetime(listener) {}
  }

  @Test func `without a path once it is deleted`() throws {
    let folder = try Folder()
    let path = try folder.write("letter.txt")
    let opened = try Descriptor.open(path, flags: .path)
    try FileManager.default.removeItem(atPath: path)
    #expect(try FoundDocument(opened).path == nil)
  }

  @Test func `at its path also when it is called as the kernel calls what was deleted`() throws {
    let folder = try Folder()
    let path = try folder.write("letter (deleted)")
    let opened = try Descriptor.open(path, flags: .path)
    #expect(try FoundDocument(opened).path == path)
    try FileManager.default.removeItem(atPath: path)
    #expect(try FoundDocument(opened).path == nil)
    // Another file that stands at the place that the kernel shows is not it.
    try folder.write("letter (deleted) (deleted)")
    #expect(try FoundDocument(opened).path == nil)
  }
}
