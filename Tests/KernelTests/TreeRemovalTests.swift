import Foundation
import SystemPackage
import Testing

@testable import Kernel

@Suite struct `Removing a tree` {
  @Test func `removes everything in it, however deep, locked or linked, and nothing else`() throws {
    let folder = try Folder()
    let outside = try folder.write("outside.txt")
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    try all.makeDirectory("tree", mode: 0o700)
    // Deeper than any path may be long.
    var deep = try Descriptor.open("tree", below: all, flags: [.read, .directory])
    for level in 0..<1500 {
      try deep.makeDirectory("level", mode: 0o700)
      let next = try Descriptor.open("level", below: deep, flags: [.read, .directory])
      _ = try Descriptor.open(".\(level)", below: next, flags: [.write, .create, .exclusive], mode: 0o600)
      deep = next
    }
    #expect(unsafe symlinkat(outside, deep.rawValue, "link") == 0)
    #expect(unsafe symlinkat(folder.path, deep.rawValue, "folder link") == 0)
    let tree = try Descriptor.open("tree", below: all, flags: [.read, .directory])
    try tree.makeDirectory("locked", mode: 0o700)
    let locked = try Descriptor.open("locked", below: tree, flags: [.read, .directory])
    try locked.makeDirectory("inner", mode: 0)
    #expect(fchmod(locked.rawValue, 0) == 0)
    #expect(unsafe mkfifoat(tree.rawValue, "pipe", 0o600) == 0)
    // Names that the removal uses itself.
    for name in [".1", ".2", ".3"] { try tree.makeDirectory(name, mode: 0o700) }

    try all.removeTree("tree")
    #expect(try DirectoryReader.entries(of: all).map(\.name) == ["outside.txt"])
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "text")
  }

  @Test func `what somebody else removes meanwhile is gone all the same`() throws {
    let folder = try Folder()
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    for _ in 0..<10 {
      try all.makeDirectory("tree", mode: 0o700)
      let tree = try Descriptor.open("tree", below: all, flags: [.read, .directory])
      for number in 0..<300 {
        _ = try Descriptor.open("\(number)", below: tree, flags: [.write, .create, .exclusive], mode: 0o600)
      }
      // From the other end, while it is removed here.
      let other = try Worker { for number in (0..<300).reversed() { try? tree.removeFile("\(number)") } }
      let result = Result { () throws(KernelError) in try all.removeTree("tree") }
      other.finish()
      try result.get()
      #expect(try DirectoryReader.entries(of: all).isEmpty)
    }
  }

  @Test func `more names than are read at a time go as well, and no more than may`() throws {
    let folder = try Folder()
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    try all.makeDirectory("tree", mode: 0o700)
    let tree = try Descriptor.open("tree", below: all, flags: [.read, .directory])
    try tree.makeDirectory("inner", mode: 0o700)
    let inner = try Descriptor.open("inner", below: tree, flags: [.read, .directory])
    let first = try Descriptor.open("0", below: inner, flags: [.write, .create, .exclusive], mode: 0o600)
    for number in 1..<12_000 { #expect(unsafe linkat(inner.rawValue, "0", inner.rawValue, "\(number)", 0) == 0) }
    try all.removeTree("tree", most: 100)
    #expect(try first.status().links == 11_901)
    try all.removeTree("tree")
    #expect(try first.status().links == 0 && DirectoryReader.entries(of: all).isEmpty)
  }

  @Test func `a link is no tree`() throws {
    let folder = try Folder()
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    try all.makeDirectory("kept", mode: 0o700)
    #expect(unsafe symlinkat("kept", all.rawValue, "link") == 0)
    #expect(throws: KernelError.self) { try all.removeTree("link") }
    #expect(throws: KernelError.self) { try all.removeTree("missing") }
    #expect(try DirectoryReader.entries(of: all).count == 2)
  }
}

@Suite struct `Lines of /proc/PID/maps` {
  @Test func `are read as the kernel writes them`() throws {
    func mapping(_ line: String) -> HeldFiles.Mapping? { HeldFiles.Mapping(Array(line.utf8)[...]) }
    let shared = try #require(
      mapping("7f5c1a000000-7f5c1a001000 rw-s 00000000 103:0a 1234567                    /a b/c.txt"))
    #expect(shared.isWritable && shared.isShared && shared.inode == 1_234_567 && shared.path == "/a b/c.txt")
    #expect(shared.device == 0x103 << 32 | 0x0a)
    // What is looked for before lines are read is what they have.
    let line = Array("7f-8f rw-s 00000000 103:0a 1234567   /a".utf8)
    #expect(HeldFiles.contains(line, HeldFiles.deviceWord(shared.device)) && HeldFiles.contains(line, " 1234567 "))
    #expect(!HeldFiles.contains(line, " 234567 ") && !HeldFiles.contains([], "a"))
    let own = try #require(mapping("7f5c1a000000-7f5c1a001000 rw-p 00000000 fd:01 5 /x"))
    #expect(own.isWritable && !own.isShared)
    for line in ["", "7f-8f rw-p 00000000 00:00 0 ", "7f-8f rw-p 00000000 00:00 0 [heap]", "x", "a b c d e f"] {
      #expect(mapping(line) == nil, "\(line)")
    }
  }
}
