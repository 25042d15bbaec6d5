import Foundation
import TestSupport
import Testing

@testable import Kernel

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `The use that processes make of files` {
  @Test func `a deleted file counts while it is open, and too many descriptors are not all looked at`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("gone", "text")
    let file = try Descriptor.open(path, flags: .read)
    try FileManager.default.removeItem(atPath: path)
    // Of this process alone.
    let processes = try folder.folder("processes")
    try FileManager.default.createSymbolicLink(
      atPath: "\(processes)/\(getpid())", withDestinationPath: "/proc/\(getpid())")
    let table = try Descriptor.open(processes, flags: [.read, .directory])
    let all = ProcessUsage(table).deletedFiles(besides: file)
    #expect(all.isWhole && all.files >= 1)
    let some = ProcessUsage(table, mostDescriptors: 2).deletedFiles(besides: file)
    #expect(!some.isWhole && some.files <= 2)
    #expect(!ProcessUsage(table, mostDescriptors: 2).exactMemory().isWhole)
  }
}
