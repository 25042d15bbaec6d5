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
    let all = HeldFiles(table, within: SearchTime(60_000_000_000)).holds(.init(anyMount: true), of: document)
    #expect(all.isComplete && all.holds.map(\.mapped) == [true])
    let none = HeldFiles(table, within: SearchTime(-1)).holds(.init(anyMount: true), of: document)
    #expect(!none.isComplete && !none.holds.contains(where: \.mapped))
  }

  /// A folder that looks like one of `/proc`.
  private func processes(in folder: TemporaryFolder, document: String) throws -> Descriptor {
    let path = try folder.folder("processes")
    for thread in ["7", "7/task/7", "7/task/8", "9"] { _ = try folder.folder("processes/\(thread)/fd") }
    for place in ["7/task/8/fd/3", "9/fd/300"] {
      try FileManager.default.createSymbolicLink(atPath: "\(path)/\(place)", withDestinationPath: document)
    }
    return try Descriptor.open(path, flags: [.read, .directory])
  }

  @Test func `every thread is looked at, and one that cannot be is not taken for one that has nothing`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("document", "text")
    let document = try Descriptor.open(path, flags: .read)
    let processes = try processes(in: folder, document: path)
    func holds() -> HeldFiles.Findings {
      HeldFiles(processes, within: SearchTime(60_000_000_000))
        .holds(.init(anyMount: true, mappings: false), of: document)
    }
    let all = holds()
    #expect(all.isComplete && all.holds.map(\.process).sorted() == [7, 9])
    // It has ended meanwhile.
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/processes/7/task/10", withDestinationPath: "/nowhere")
    #expect(holds().isComplete)
    _ = try folder.write("processes/7/task/11", "no folder")
    let some = holds()
    #expect(!some.isComplete && some.holds.count == 2)
  }

  @Test func `searches that share their time say at once that there is none left`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("document", "text")
    let document = try Descriptor.open(path, flags: .read)
    let processes = try processes(in: folder, document: path)
    let time = SearchTime(1_000)
    let question = HeldFiles.Question(anyMount: true, mappings: false)
    // One search takes more than a microsecond, whatever it finds.
    _ = HeldFiles(processes, within: time).holds(question, of: document)
    let next = HeldFiles(processes, within: time).holds(question, of: document)
    #expect(!next.isComplete && next.holds.isEmpty)
  }
}
