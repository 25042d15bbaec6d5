import CloudSync
import Foundation
import Kernel
import TestSupport
import Testing

@testable import Cloud

/// A device's folder on a real disk, without a cloud: what it finds, and what it lets happen.
struct DeviceFolderTests {
  /// Accesses without a broker.
  private struct Direct: DeviceAccess {
    func read<Value>(_ paths: [String], _ body: () throws -> Value) throws -> Value { try body() }
    func write<Value>(_ items: [DeviceIntent], _ body: () throws -> Value) throws -> Value { try body() }
    func keepConflict(_ path: String, device: String) throws {}
  }

  private func inFolder(_ body: (DeviceFolder, String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(try DeviceFolder(path, Direct()), path)
  }

  private func write(_ text: String, _ path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  private func staged(_ folder: DeviceFolder, _ text: String) throws -> LocalItem {
    let content = try MemoryFile.sealed("content", Array(text.utf8))
    let size = text.utf8.count
    let name = try CloudStore.copy(content, to: try MemoryFile.make("sum"), size: size) { true }.name
    let item = CloudItem(
      id: "i", parent: "root", name: "n", kind: .document, content: name, size: Int64(size))
    return try folder.staging.stage([(item, content)])[0]
  }

  private func perform(_ act: LocalAct, in folder: DeviceFolder) throws -> LocalItem? {
    try folder.perform([act])[0].get()
  }

  @Test("a scan finds files and folders, and nothing hidden, no link and no pipe") func scan() throws {
    try inFolder { folder, path in
      try FileManager.default.createDirectory(atPath: "\(path)/Work", withIntermediateDirectories: false)
      try write("a", "\(path)/Work/a.txt")
      try write("h", "\(path)/.hidden")
      try FileManager.default.createSymbolicLink(atPath: "\(path)/link", withDestinationPath: "/etc")
      #expect(unsafe mkfifo("\(path)/pipe", 0o600) == 0)
      // Each byte that is no UTF-8 takes four in the cloud, and a name has 255.
      let bytes = Array("\(path)/".utf8CString.dropLast()) + Array(repeating: CChar(bitPattern: 0xC0), count: 70) + [0]
      let foreign = unsafe open(bytes, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      #expect(foreign >= 0)
      close(foreign)
      let items = try folder.scan()
      #expect(items.map(\.name).sorted() == ["Work", "a.txt"])
      #expect(items.first { $0.name == "a.txt" }?.parent == items.first { $0.name == "Work" }?.id)
    }
  }

  @Test("a moved file is the same item, and a written one has another stamp") func identity() throws {
    try inFolder { folder, path in
      try write("a", "\(path)/a.txt")
      let before = try folder.scan()[0]
      try FileManager.default.moveItem(atPath: "\(path)/a.txt", toPath: "\(path)/b.txt")
      try write("longer", "\(path)/b.txt")
      let after = try folder.scan()[0]
      #expect(after.id == before.id && after.name == "b.txt" && after.stamp != before.stamp)
    }
  }

  @Test("a document is placed where its name is free, in whatever case, and nowhere else") func place() throws {
    try inFolder { folder, path in
      try write("mine", "\(path)/letter.TXT")
      _ = try folder.scan()
      let new = try staged(folder, "theirs")
      for name in ["Letter.txt", "../escape", "..", ".hidden", "", "a/b"] {
        #expect(throws: DeviceRefusal.self) {
          try perform(.place(staged: new.id, parent: LocalItem.root, name: name), in: folder)
        }
      }
      let placed = try perform(.place(staged: new.id, parent: LocalItem.root, name: "Essay.txt"), in: folder)
      #expect(placed?.id == new.id)
      #expect(try String(contentsOfFile: "\(path)/Essay.txt", encoding: .utf8) == "theirs")
      #expect(!FileManager.default.fileExists(atPath: "\(path)/../escape"))
    }
  }

  @Test("a document that was written since is neither replaced nor removed") func stamps() throws {
    try inFolder { folder, path in
      try write("first", "\(path)/a.txt")
      let item = try folder.scan()[0]
      try write("the user's own", "\(path)/a.txt")
      let new = try staged(folder, "theirs")
      #expect(throws: DeviceRefusal.self) {
        try perform(.replace(id: item.id, stamp: item.stamp, staged: new.id), in: folder)
      }
      #expect(throws: DeviceRefusal.self) { try perform(.remove(id: item.id, stamp: item.stamp), in: folder) }
      #expect(try String(contentsOfFile: "\(path)/a.txt", encoding: .utf8) == "the user's own")
      let now = try folder.scan()[0]
      let replaced = try perform(.replace(id: now.id, stamp: now.stamp, staged: new.id), in: folder)
      #expect(try String(contentsOfFile: "\(path)/a.txt", encoding: .utf8) == "theirs")
      #expect(try folder.scan() == [replaced])
    }
  }

  @Test("a folder with something in it is not removed") func folders() throws {
    try inFolder { folder, path in
      try FileManager.default.createDirectory(atPath: "\(path)/Work", withIntermediateDirectories: false)
      try write("a", "\(path)/Work/a.txt")
      let work = try #require(try folder.scan().first { $0.kind == .folder })
      #expect(throws: DeviceRefusal.self) { try perform(.remove(id: work.id, stamp: nil), in: folder) }
      #expect(FileManager.default.fileExists(atPath: "\(path)/Work/a.txt"))
    }
  }

  @Test("a content that is not what its name says is not staged") func hash() throws {
    try inFolder { folder, path in
      let content = try MemoryFile.sealed("content", Array("x".utf8))
      #expect(throws: (any Error).self) {
        let item = CloudItem(
          id: "i", parent: "root", name: "n", kind: .document, content: String(repeating: "0", count: 64), size: 1)
        _ = try folder.staging.stage([(item, content)])
      }
    }
  }
}
