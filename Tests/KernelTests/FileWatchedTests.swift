import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Kernel

@Suite struct FileWatchedTests {
  private func watched(_ line: String) -> FileWatched? { FileWatched(Array(line.utf8)[...]) }

  @Test func `lines of fdinfo are read as the kernel writes them`() throws {
    let file = try #require(
      watched(
        "inotify wd:3 ino:9e7e sdev:800013 mask:800afce ignored_mask:0 fhandle-bytes:8 fhandle-type:1 "
          + "f_handle:7e9e0000640d1b6e"))
    #expect(file.inode == 0x9e7e && file.device == 0x800013)
    #expect(file.handle == FileHandle(type: 1, bytes: [0x7e, 0x9e, 0, 0, 0x64, 0x0d, 0x1b, 0x6e]))
    // As stat(2) has the number, and without a handle.
    #expect(file == FileWatched(0x9e7e, onDevice: 8 << 32 | 0x13))
    #expect(watched("inotify wd:1 ino:2 sdev:3 mask:2 ignored_mask:0")?.handle == nil)
    #expect(watched("inotify wd:1 ino:2 sdev:3 fhandle-bytes:1 fhandle-type:1 f_handle:7")?.handle == nil)
    for line in ["", "pos:\t0", "inotify", "inotify wd:1", "inotify ino:x sdev:1", "fanotify ino:1 sdev:1"] {
      #expect(watched(line) == nil, "\(line)")
    }
  }

  @Test func `what an inotify descriptor watches is found in a folder, at any depth, and nowhere else`() throws {
    let (folder, outside) = (try Folder(), try Folder())
    try folder.folder("a/b")
    let place = try Descriptor.open(folder.path, flags: [.path, .directory])
    let all = Effort(60_000_000_000)
    for (path, lies) in [
      (try folder.write("a/b/in"), true), ("\(folder.path)/a/b", true), (try outside.write("out"), false),
    ] {
      let file = try #require(FileWatched(of: try Descriptor.open(path, flags: .path)))
      let status = try Descriptor.open(path, flags: .path).status()
      #expect(file.inode == status.inode)
      #expect(file.lies(in: place, within: all) == lies, "\(path)")
      // By the folder's entries, where the handle does not tell.
      let plain = FileWatched(status.inode, onDevice: status.device)
      #expect(plain.lies(in: place, within: all) == lies, "\(path)")
      #expect(plain.lies(in: place, within: Effort(0)) == nil)
    }
  }
}
