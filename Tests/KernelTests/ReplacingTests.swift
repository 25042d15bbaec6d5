import Foundation
import Kernel
import SystemPackage
import Testing

@Suite struct ReplacingTests {
  private func open(_ folder: Folder) throws -> Descriptor {
    try Descriptor.open(folder.path, flags: [.read, .directory])
  }

  @Test func `a folder is emptied however deep it is, whatever its owner forbade, and no link is followed`() throws {
    let outside = try Folder()
    let kept = try outside.write("kept")
    let folder = try Folder()
    // Deeper than a process has descriptors.
    var current = try open(folder)
    for level in 0..<3000 {
      try current.makeDirectory("d", mode: level % 7 == 0 ? 0o300 : 0o700)
      current = try Descriptor.open("d", below: current, flags: [.path, .directory, .noFollow])
    }
    try folder.folder("a/b")
    try folder.link("a/out", to: outside.path)
    try folder.link("a/b/out", to: outside.path)
    try folder.write("a/b/file")
    #expect(unsafe chmod("\(folder.path)/a/b", 0) == 0)
    #expect(unsafe chmod("\(folder.path)/a", 0) == 0)
    #expect(try open(folder).removeContents())
    #expect(try DirectoryReader.entries(of: open(folder)).isEmpty)
    #expect(FileManager.default.fileExists(atPath: kept))
    for name in 0..<50 { try folder.write("\(name)") }
    #expect(try !open(folder).removeContents(most: 10))
  }

  @Test func `two files change places in one step, and only where both are`() throws {
    let (one, two) = (try Folder(), try Folder())
    try one.write("a", "first")
    try two.write("b", "second")
    try open(one).exchange("a", with: "b", in: open(two))
    #expect(try String(contentsOfFile: "\(one.path)/a", encoding: .utf8) == "second")
    #expect(try String(contentsOfFile: "\(two.path)/b", encoding: .utf8) == "first")
    #expect(throws: KernelError("renameat2", "c", errno: .noSuchFileOrDirectory)) {
      try open(one).exchange("a", with: "c", in: open(two))
    }
    #expect(throws: KernelError("renameat2", "b", errno: .fileExists)) {
      try open(one).moveAside("a", to: open(two), as: "b")
    }
  }

  @Test func `holes are copied as holes, also at the end`() throws {
    let folder = try Folder()
    let file = try Descriptor.open(try folder.write("a", "begin"), flags: .readWrite)
    let size = 3 << 30
    #expect(unsafe pwrite(file.rawValue, "middle", 6, 1 << 30) == 6)
    #expect(ftruncate(file.rawValue, size) == 0)
    let copy = try open(folder).makeUnnamedFile()
    try file.copyContent(to: copy)
    var status = stat()
    #expect(unsafe fstat(copy.rawValue, &status) == 0)
    #expect(status.st_size == size && status.st_blocks * 512 < 1 << 20)
    var bytes = [UInt8](repeating: 1, count: 16)
    #expect(unsafe pread(copy.rawValue, &bytes, 16, 1 << 30) == 16)
    #expect(bytes == Array("middle".utf8) + [UInt8](repeating: 0, count: 10))
    #expect(unsafe pread(copy.rawValue, &bytes, 6, 0) == 6)
    #expect(bytes[..<6] == Array("begin\0".utf8)[...])
  }

  @Test func `what is added while a file is copied is not copied`() throws {
    let folder = try Folder()
    let file = try Descriptor.open(
      try folder.write("a", String(repeating: "a", count: 5 << 20)), flags: .readWrite)
    let copy = try open(folder).makeUnnamedFile()
    try file.copyContent(to: copy) {
      let more = [UInt8](repeating: 0x62, count: 4 << 20)
      return unsafe pwrite(file.rawValue, more, more.count, Int((try? file.status().size) ?? 0)) > 0
    }
    #expect(try copy.status().size < 16 << 20)
  }

  @Test func `what is copied is whole, and a file without a name gets one that is free`() throws {
    let folder = try Folder()
    let content = String(repeating: "0123456789", count: 700_000)
    let file = try Descriptor.open(try folder.write("a", content, mode: 0o640), flags: .read)
    let copy = try open(folder).makeUnnamedFile()
    try file.copyContent(to: copy)
    try file.copyAttributes(to: copy)
    #expect(throws: KernelError("linkat", "a", errno: .fileExists)) { try open(folder).name(copy, "a") }
    try open(folder).name(copy, "b")
    #expect(try String(contentsOfFile: "\(folder.path)/b", encoding: .utf8) == content)
    #expect(try copy.status().mode & 0o7777 == 0o640)
    try Descriptor.open("\(folder.path)/b", flags: .read).copyContent(
      to: open(folder).makeUnnamedFile(), while: { true })
    // Where the two can share their blocks (XFS, btrfs) nothing takes long, and nobody is asked: so into memory.
    #expect(throws: KernelError("copy_file_range", errno: .canceled)) {
      try Descriptor.open("\(folder.path)/b", flags: .read).copyContent(
        to: Descriptor.open("/dev/shm", flags: [.path, .directory]).makeUnnamedFile(), while: { false })
    }
  }

  @Test func `a watched folder tells what comes to stand in it and what leaves it, by name`() throws {
    let (one, two) = (try Folder(), try Folder())
    let watcher = try FolderWatcher()
    let (first, second) = (try watcher.watch(open(one)), try watcher.watch(open(two)))
    #expect(first != second)
    #expect(try watcher.watch(open(one)) == first)
    #expect(watcher.events().isEmpty)
    try one.write("größe")
    try open(one).move("größe", to: open(two), as: "b")
    try open(two).removeFile("b")
    let events = watcher.events()
    #expect(events.contains { $0.watch == first && $0.name == "größe" })
    #expect(events.filter { $0.watch == second }.map(\.name) == ["b"])
    watcher.unwatch(second)
    try two.write("c")
    #expect(!watcher.events().contains { $0.name == "c" })
  }
}
