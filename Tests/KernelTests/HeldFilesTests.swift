import Foundation
import TestSupport
import Testing

@testable import Kernel

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `The search for what a process has of a document` {
  @Test func `I13: mappings are looked at while there is time, and no longer`() throws {
    let folder = try TemporaryFolder()
    let document = try Descriptor.open(try folder.write("document", "text"), flags: .read)
    let mapped = unsafe mmap(nil, 4096, PROT_READ, MAP_SHARED, document.rawValue, 0)
    try #require(unsafe mapped != MAP_FAILED)
    defer { unsafe munmap(mapped, 4096) }
    // Of this process alone.
    let processes = try folder.folder("processes")
    let pid = getpid()
    try FileManager.default.createSymbolicLink(
      atPath: "\(processes)/\(pid)", withDestinationPath: "/proc/\(pid)")
    let table = try Descriptor.open(processes, flags: [.read, .directory])
    let all = HeldFiles(table, patience: 60_000_000_000).holds(.init(anyMount: true), of: document)
    #expect(all.isComplete && all.holds.map(\.mapped) == [true])
    let none = HeldFiles(table, patience: -1).holds(.init(anyMount: true), of: document)
    #expect(!none.isComplete && !none.holds.contains(where: \.mapped))
  }
}
