import CloudSync
import Foundation
import Kernel
import Synchronization
import TestSupport
import Testing

@testable import Cloud

/// Several acts, contents and changes of the folder at once.
struct DeviceBatchTests {
  /// Counts accesses, and refuses those of several items on demand.
  private final class Counting: DeviceAccess {
    let sizes = Mutex<[Int]>([])
    let running = Mutex<Int>(0)
    let refusesTogether: Bool

    init(refusesTogether: Bool = false) { self.refusesTogether = refusesTogether }

    private func access<Value>(_ count: Int, _ body: () throws -> Value) throws -> Value {
      sizes.withLock { $0.append(count) }
      if refusesTogether, count > 1 { throw DeviceRefusal() }
      running.withLock { $0 += 1 }
      defer { running.withLock { $0 -= 1 } }
      return try body()
    }

    func read<Value>(_ paths: [String], _ body: () throws -> Value) throws -> Value { try access(paths.count, body) }
    func write<Value>(_ items: [DeviceIntent], _ body: () throws -> Value) throws -> Value {
      try access(items.count, body)
    }
    func keepConflict(_ path: String, device: String) throws {}
  }

  private func inFolder(_ access: Counting, _ body: (DeviceFolder, String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(try DeviceFolder(path, access), path)
  }

  /// A document whose content is the beginning of a file.
  private func item(_ id: String, of content: Descriptor, size: Int) throws -> CloudItem {
    let name = try CloudStore.copy(content, to: try MemoryFile.make("sum"), size: size) { true }.name
    return CloudItem(id: id, parent: "root", name: id, kind: .document, content: name, size: Int64(size))
  }

  /// The number of files that are the device's own.
  private func ownFiles(_ path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "\(path)/.ambit-cloud").count
  }

  private func staged(_ folder: DeviceFolder, _ texts: [String]) throws -> [LocalItem] {
    try folder.staging.stage(
      texts.map { text in
        let content = try MemoryFile.sealed("content", Array(text.utf8))
        return (try item("i", of: content, size: text.utf8.count), content)
      })
  }

  @Test("contents are staged together, and none is left if one is not what its name says") func staging() throws {
    try inFolder(Counting()) { folder, path in
      #expect(try staged(folder, (0..<20).map { "text \($0)" }).count == 20)
      let before = try ownFiles(path)
      let good = try MemoryFile.sealed("content", Array("good".utf8))
      let items = try [item("a", of: good, size: 4), item("b", of: good, size: 3)]
      var other = items[1]
      other.size = 4
      #expect(throws: (any Error).self) { try folder.staging.stage([(items[0], good), (other, good)]) }
      #expect(try ownFiles(path) == before)
    }
  }

  @Test func `A descriptor of no file, or of one with another size, is no content`() throws {
    try inFolder(Counting()) { folder, path in
      let before = try ownFiles(path)
      let content = try MemoryFile.sealed("content", Array("good and more".utf8))
      let wanted = try [item("a", of: content, size: 4), item("b", of: content, size: 0)]
      let endless = try Descriptor.open("/dev/zero", flags: .read)
      for (item, content) in [(wanted[0], content), (wanted[0], endless), (wanted[1], endless)] {
        #expect(throws: (any Error).self) { try folder.staging.stage([(item, content)]) }
      }
      #expect(try ownFiles(path) == before)
    }
  }

  @Test func `A content is copied into a file without a name`() throws {
    try inFolder(Counting()) { folder, path in
      let before = try ownFiles(path)
      let content = try MemoryFile.sealed("content", Array("text".utf8))
      try content.rewind()
      let copy = try folder.staging.copy(content)
      #expect(try MemoryFile.content(of: copy) == Array("text".utf8))
      #expect(try ownFiles(path) == before)
    }
  }

  @Test func `A cloud that never answers an upload keeps no document in an access`() throws {
    final class Results: Sendable { let inputs = Mutex<[SyncInput]>([]) }
    let access = Counting()
    try inFolder(access) { folder, path in
      for name in ["a", "b"] { try name.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8) }
      let uploads = try folder.scan().enumerated().map { number, item in
        DeviceTransfers.Upload(request: number, inner: item.name, stamp: item.stamp)
      }
      let transfers = DeviceTransfers(reader: folder.reader, staging: folder.staging)
      let results = Results()
      let place = try Descriptor.open(path, flags: [.read, .directory])
      // A listener that accepts nobody, and goes with its entry.
      var listening = [PollEntry(try UnixSocket.listen(in: place, name: ".cloud"), .read)]
      let worker = try Worker {
        let cloud = CloudConnection(socket: "\(path)/.cloud", device: "a", token: nil)
        let inputs = transfers.upload(uploads, to: cloud).results
        results.inputs.withLock { $0 = inputs }
      }
      let comers = try Poll.wait(&listening, timeout: .seconds(10))
      #expect(comers == 1)
      #expect(access.running.withLock { $0 } == 0)
      listening = []
      worker.finish()
      #expect(access.sizes.withLock { $0 } == [2])
      #expect(results.inputs.withLock { $0 } == [.transferFailed(request: 0), .transferFailed(request: 1)])
    }
  }

  @Test func `A document that is larger than the cloud takes is not read`() throws {
    let access = Counting()
    try inFolder(access) { folder, path in
      let transfers = DeviceTransfers(reader: folder.reader, staging: folder.staging)
      let cloud = CloudConnection(socket: "\(path)/none", device: "a", token: nil)
      let (results, troubles) = transfers.upload(
        [.init(request: 7, inner: "a", stamp: "\(Int64.max) 1 1")], to: cloud)
      #expect(results == [.transferFailed(request: 7)])
      #expect(troubles == ["“a” is larger than the cloud takes"])
      #expect(access.sizes.withLock { $0 } == [])
    }
  }

  @Test("many documents are placed, and a name that is taken stops only its own", arguments: [1, 30])
  func placing(count: Int) throws {
    try inFolder(Counting()) { folder, path in
      try "mine".write(toFile: "\(path)/Taken.txt", atomically: false, encoding: .utf8)
      _ = try folder.scan()
      let new = try staged(folder, (0...count).map { "text \($0)" })
      let names = (0..<count).map { "\($0).txt" } + ["taken.TXT"]
      let results = try folder.perform(
        zip(new, names).map { .place(staged: $0.id, parent: LocalItem.root, name: $1) })
      #expect(results.dropLast().allSatisfy { (try? $0.get()) != nil })
      #expect(throws: DeviceRefusal.self) { try results.last?.get() }
      #expect(try folder.scan().count == count + 1)
      #expect(try String(contentsOfFile: "\(path)/0.txt", encoding: .utf8) == "text 0")
    }
  }

  @Test("two acts of one message that want one name in other case: the second is refused") func oneName() throws {
    try inFolder(Counting()) { folder, _ in
      let new = try staged(folder, ["one", "two"])
      let results = try folder.perform([
        .place(staged: new[0].id, parent: LocalItem.root, name: "a.txt"),
        .place(staged: new[1].id, parent: LocalItem.root, name: "A.txt"),
      ])
      #expect((try? results[0].get()) != nil)
      #expect(throws: DeviceRefusal.self) { try results[1].get() }
    }
  }

  @Test(
    "documents are replaced and removed in one coordinated access, or each in its own if that is refused",
    arguments: [false, true])
  func together(refuses: Bool) throws {
    let access = Counting(refusesTogether: refuses)
    try inFolder(access) { folder, path in
      for number in 0..<4 { try "old \(number)".write(toFile: "\(path)/\(number)", atomically: false, encoding: .utf8) }
      let items = try folder.scan().sorted { $0.name < $1.name }
      try "the user's".write(toFile: "\(path)/1", atomically: false, encoding: .utf8)
      let new = try staged(folder, ["new 0", "new 1"])
      let results = try folder.perform([
        .replace(id: items[0].id, stamp: items[0].stamp, staged: new[0].id),
        .replace(id: items[1].id, stamp: items[1].stamp, staged: new[1].id),
        .remove(id: items[2].id, stamp: items[2].stamp), .remove(id: "none", stamp: "none"),
      ])
      #expect(try results[0].get()?.id == new[0].id)
      #expect(throws: DeviceRefusal.self) { try results[1].get() }
      #expect(try results[2].get() == nil)
      #expect(throws: DeviceRefusal.self) { try results[3].get() }
      func text(_ number: Int) -> String? { try? String(contentsOfFile: "\(path)/\(number)", encoding: .utf8) }
      #expect((0..<4).map(text) == ["new 0", "the user's", nil, "old 3"])
      #expect(access.sizes.withLock { $0 } == (refuses ? [3, 1, 1, 1] : [3]))
    }
  }

  @Test("a moved folder's documents are known at their new places") func movedFolder() throws {
    try inFolder(Counting()) { folder, path in
      try FileManager.default.createDirectory(atPath: "\(path)/Work/Inner", withIntermediateDirectories: true)
      try "a".write(toFile: "\(path)/Work/Inner/a.txt", atomically: false, encoding: .utf8)
      let items = try folder.scan()
      let work = try #require(items.first { $0.name == "Work" })
      let document = try #require(items.first { $0.name == "a.txt" })
      _ = try folder.perform([
        .move(
          id: work.id, from: LocalPlace(parent: LocalItem.root, name: "Work"),
          to: LocalPlace(parent: LocalItem.root, name: "Home"))
      ])[0].get()
      #expect(folder.lastPlace(document.id) == "Home/Inner/a.txt")
      #expect(folder.lastPlace(work.id) == "Home")
    }
  }

  @Test("messages have few enough contents and bytes; a large content goes alone") func parts() {
    let sizes: [Int64] = [1, 2, 9 << 20, 3] + Array(repeating: 1, count: 40)
    let parts = DeviceTransfers.parts(of: sizes) { $0 }
    #expect(parts.flatMap(\.self) == sizes)
    #expect(parts.allSatisfy { $0.count <= DeviceTransfers.most })
    #expect(parts.allSatisfy { $0.count == 1 || $0.reduce(0, +) <= 8 << 20 })
    #expect(parts.contains([9 << 20]))
  }

  @Test func `Sizes that are none go alone`() {
    let sizes = [Int64.max, Int64.max, -1, Int64.min, Int64.max]
    let parts = DeviceTransfers.parts(of: sizes) { $0 }
    #expect(parts == [[Int64.max], [Int64.max], [-1, Int64.min], [Int64.max]])
  }

  @Test("a burst is scanned when it has settled, and before it has lasted long") func bursts() {
    var burst = Burst()
    #expect(burst.due == nil)
    burst.add(at: 1_000)
    #expect(burst.due == 1_000 + Burst.quiet)
    burst.add(at: 5_000_000)
    #expect(burst.due == 5_000_000 + Burst.quiet)
    burst.add(at: 99_000_000)
    #expect(burst.due == 1_000 + Burst.longest)
    burst.end(at: 110_000_000, took: 50_000_000)
    #expect(!burst.isOpen && burst.due == nil)
    // Scans that take long are rarer.
    burst.add(at: 111_000_000)
    #expect(burst.due == 161_000_000)
    burst.add(at: 250_000_000)
    #expect(burst.due == 260_000_000)
  }
}
