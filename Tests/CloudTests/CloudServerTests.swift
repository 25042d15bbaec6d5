import Kernel
import Testing
import Wire

@testable import Cloud

/// The bounds of a cloud: for the weather, contents and devices.
struct CloudServerTests {
  @Test func `The latency is a day at most`() {
    var conditions = CloudConditions()
    conditions.set(.init(offline: true, latency: Int.max, bandwidth: 5, faults: 3, quota: 7))
    #expect(conditions.isOffline && conditions.latency == 86_400_000_000_000)
    #expect(conditions.bandwidth == 5 && conditions.faults == 3 && conditions.quota == 7)
    conditions.set(.init(offline: false, latency: -1, faults: 0))
    #expect(conditions == CloudConditions())
  }

  @Test func `A content is a regular file with no more bytes than a document can have`() throws {
    let file = try MemoryFile.make("content")
    try file.cut(at: 1 << 43)
    #expect(try CloudStore.measured([file, file])?.map(\.size) == [1 << 43, 1 << 43])
    try file.cut(at: (1 << 43) + 1)
    #expect(try CloudStore.measured([file])?.count == nil)
    try file.cut(at: UInt64(Int64.max))
    #expect(try CloudStore.measured([file, file])?.count == nil)
    let other = try Descriptor.open("/dev/null", flags: .read)
    #expect(try CloudStore.measured([other])?.count == nil)
  }

  @Test func `No more of a content is copied than its size`() throws {
    let content = try MemoryFile.sealed("content", Array("text and more".utf8))
    let copy = try MemoryFile.make("copy")
    let copied = try CloudStore.copy(content, to: copy, size: 4) { true }
    #expect(copied.size == 4)
    #expect(try MemoryFile.content(of: copy) == Array("text".utf8))
  }

  @Test func `Of too many devices the oldest is forgotten`() {
    var seen = SeenDevices()
    for number in 0..<SeenDevices.most { seen.add("\(number)") }
    seen.add("0")
    seen.add("new")
    #expect(seen.names.count == SeenDevices.most)
    #expect(seen.names.contains("0") && seen.names.contains("new") && !seen.names.contains("1"))
  }
}
