import FileProviders
import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import Broker

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

  @Test func `PRV-2: a placeholder that a killed broker left is emptied, and no other shut file`() throws {
    let temporary = try TemporaryFolder()
    let folder = try Descriptor.open(temporary.path, flags: [.read, .directory])
    _ = try Placeholder.make("a", in: folder, by: nil, size: 3, modified: 0)
    let place = try Descriptor.open("a", below: folder, flags: .place)
    let next = Placeholder.Content(size: 5, modified: 1_000_000_000)
    func empty(mayBeLeftOver: Bool = true) throws {
      try Placeholder.empty(place, known: .init(size: 3, modified: 0), next: next, mayBeLeftOver: mayBeLeftOver)
    }
    for written in ["", "mo"] {
      // The end of a process closes its files, and does nothing else.
      var filling: PlaceholderFilling? = try PlaceholderFilling(place, size: 3, modified: 0)
      try filling?.write(Array(written.utf8), at: 0)
      #expect(try place.status().mode & 0o777 == 0 && !Placeholder.isLeftOver(place))
      #expect(throws: KernelError.self) { try empty() }
      #expect(try place.status().size == UInt64(written.utf8.count))
      filling = nil
      #expect(Placeholder.isLeftOver(place))
      // Of a content that counts as here, a change may not be known yet: it is not touched, whatever its mode.
      #expect(throws: KernelError.self) { try empty(mayBeLeftOver: false) }
      #expect(try place.status().size == UInt64(written.utf8.count))
      try empty()
      #expect(try Placeholder.Content(of: place) == next && place.status().mode & 0o7777 == 0)
      #expect(!Placeholder.isLeftOver(place))
    }
    // A content that the user has written, and shut.
    let content = try MemoryFile.sealed("content", Array("more".utf8))
    try Placeholder.fill(place, with: content, size: 4, modified: 0, isWritable: true) { true }
    #expect(try place.status().mode & 0o7777 == 0o600)
    #expect(unsafe chmod("\(temporary.path)/a", 0) == 0)
    // Without a right to open it, an owner is told so.
    #expect(throws: KernelError.self) { try empty() }
    #expect(try place.status().size == 4)
    #expect(!Placeholder.isLeftOver(place))
  }

  @Test func `PRV-2: with its item goes a placeholder that a killed broker left`() throws {
    let temporary = try TemporaryFolder()
    let folder = LocationFolder(path: temporary.path)
    let item = ProviderItem(identifier: "a", filename: "a", size: 3)
    let node = try folder.carryOut(.add(.init(item: item, path: "a"))) ?? ""
    var shown = ProvidedFile(provider: "p", item: item, path: "a", node: node)
    var filling: PlaceholderFilling? = try PlaceholderFilling(folder.place("a"), size: 3, modified: 0)
    try filling?.write([1], at: 0)
    #expect(throws: KernelError("remove", errno: .resourceBusy)) { try folder.carryOut(.remove(shown)) }
    filling = nil
    shown.isHere = true
    #expect(throws: KernelError("remove", errno: .resourceBusy)) { try folder.carryOut(.remove(shown)) }
    shown.isHere = false
    // Of a provider that is enabled anew nothing is known.
    let again = try #require(try folder.carryOut(.add(.init(item: item, path: "a"))))
    #expect(try folder.place("a").status().size == 3 && again != node)
    filling = try PlaceholderFilling(folder.place("a"), size: 3, modified: 0)
    filling = nil
    #expect(try folder.carryOut(.remove(shown)) == nil)
    #expect(throws: KernelError.self) { try folder.place("a") }
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
