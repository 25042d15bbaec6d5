import Kernel
import SystemPackage
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `Contents of placeholders` {
  @Test func `PRV-16: of a content with another size than was promised nothing is copied`() throws {
    let temporary = try TemporaryFolder()
    let folder = try Descriptor.open(temporary.path, flags: [.read, .directory])
    _ = try Placeholder.make("a", in: folder, by: nil, size: 3, modified: 0)
    let place = try Descriptor.open("a", below: folder, flags: .place)
    let content = try Descriptor.open(try temporary.write("content", "more"), flags: .read)
    let before = try place.status()
    for size in [3, 5, 0] {
      #expect(throws: KernelError("copy_file_range", errno: .ioError)) {
        try Placeholder.fill(place, with: content, size: size, modified: 0, isWritable: true) { true }
      }
    }
    #expect(try place.status() == before)
    try Placeholder.fill(place, with: content, size: 4, modified: 0, isWritable: true) { true }
    #expect(try place.status().size == 4 && place.status().mode & 0o777 == 0o600)
  }

  @Test func `PRV-2: a placeholder gets another size and date, and one that was changed keeps its own`() throws {
    let temporary = try TemporaryFolder()
    let folder = try Descriptor.open(temporary.path, flags: [.read, .directory])
    _ = try Placeholder.make("a", in: folder, by: nil, size: 3, modified: 0)
    let place = try Descriptor.open("a", below: folder, flags: .place)
    let next = Placeholder.Content(size: 5, modified: 1_000_000_000)
    #expect(throws: KernelError("evict", errno: .resourceBusy)) {
      try Placeholder.empty(place, known: .init(size: 4, modified: 0), next: next)
    }
    try Placeholder.empty(place, known: .init(size: 3, modified: 0), next: next)
    #expect(try Placeholder.Content(of: place) == next && place.status().mode & 0o777 == 0)
  }

  @Test func `PRV-4: a content that can be read is not written over, and a placeholder with a mode is`() throws {
    let temporary = try TemporaryFolder()
    let folder = try Descriptor.open(temporary.path, flags: [.read, .directory])
    _ = try Placeholder.make("a", in: folder, by: nil, size: 4, modified: 0)
    let place = try Descriptor.open("a", below: folder, flags: .place)
    func fill(_ text: String) throws(KernelError) {
      let content = try MemoryFile.sealed("content", Array(text.utf8))
      try Placeholder.fill(place, with: content, size: 4, modified: 0, isWritable: true) { true }
    }
    #expect(unsafe chmod("\(temporary.path)/a", 0o644) == 0)
    try fill("more")
    let file = try Descriptor.open("a", below: folder, flags: .readWrite)
    try file.writeAll(Array("EDIT".utf8))
    #expect(throws: KernelError("write", "a content", errno: .fileExists)) { try fill("less") }
    try file.rewind()
    #expect(try file.readAll(limit: 100) == Array("EDIT".utf8))
  }
}
