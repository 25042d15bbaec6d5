import CloudSync
import Foundation
import Kernel
import Synchronization
import TestSupport
import Testing

@testable import Cloud

/// A device's folder on a real disk, without a cloud: what it finds, and what it lets happen.
struct DeviceFolderTests {
  /// Accesses without a broker.
  private struct Direct: DeviceAccess {
    func read<Value>(_ paths: [String], _ body: () throws -> Value) throws -> Value { try body() }
    func write<Value>(_ items: [DeviceIntent], _ body: () throws -> Value) throws -> Value { try body() }
    func keepConflict(_ path: String, device: String) throws {
      // Somebody writes while the version is made.
      if device == "late" { try "written meanwhile".write(toFile: path, atomically: false, encoding: .utf8) }
    }
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

  @Test("files that go from folder to folder while it is looked at are never missing") func motion() throws {
    try inFolder { folder, path in
      for name in ["A", "B"] {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: false)
      }
      for number in 0..<60 { try write("\(number)", "\(path)/A/\(number)") }
      let all = Set(try folder.scan().map(\.id))
      #expect(all.count == 62)
      let isOver = Atomic(false)
      let mover = Thread {
        var (from, to) = ("A", "B")
        while !isOver.load(ordering: .relaxed) {
          for number in 0..<60 { unsafe rename("\(path)/\(from)/\(number)", "\(path)/\(to)/\(number)") }
          swap(&from, &to)
          usleep(15_000)
        }
      }
      mover.start()
      defer { isOver.store(true, ordering: .relaxed) }
      var looks = 0
      for _ in 0..<40 {
        do {
          #expect(Set(try folder.scan().map(\.id)) == all)
          looks += 1
        } catch is FolderInMotion {}
      }
      #expect(looks > 0)
    }
  }

  @Test("a conflict counts as kept only if the document had that content, before and after") func kept() throws {
    try inFolder { folder, path in
      try write("mine", "\(path)/a.txt")
      let id = try folder.scan()[0].id
      let content = try CloudStore.name(of: try MemoryFile.sealed("content", Array("mine".utf8)))
      func keep(_ content: String, _ device: String) throws -> LocalItem? {
        try perform(.keep(item: "i", id: id, content: content, device: device), in: folder)
      }
      #expect(try keep(content, "Laptop")?.id == id)
      #expect(throws: DeviceRefusal.self) { try keep(String(repeating: "0", count: 64), "Laptop") }
      #expect(throws: DeviceRefusal.self) { try keep(content, "late") }
      #expect(throws: DeviceRefusal.self) { try keep(content, "Laptop") }
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

  @Test("a device that was killed between two steps gives back what a program wrote in that moment") func departing()
    throws
  {
    let long = String(repeating: "é", count: 125) + ".txt"
    for (name, isReplaced, isWritten) in [
      ("a.txt", true, true), ("a.txt", true, false), ("a_b.txt", false, true), (long, false, true),
      ("a.txt", false, false),
    ] {
      try inFolder { folder, path in
        try write("first", "\(path)/\(name)")
        let item = try folder.scan()[0]
        let new = isReplaced ? try staged(folder, "theirs") : nil
        let departing = DepartingFile(item.id, item.stamp, new?.id, named: name)
        let own = "\(path)/\(DeviceFolder.ownName)"
        #expect(departing.fileName.utf8.count <= 255)
        try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: "\(own)/\(departing.fileName)")
        if let new {
          let temporary = try #require(folder.staging.name(of: new.id))
          try FileManager.default.moveItem(atPath: "\(own)/\(temporary)", toPath: "\(path)/renamed.txt")
        }
        if isWritten { try write("at the last moment", "\(own)/\(departing.fileName)") }
        try folder.removeTemporaries(but: [])
        let names = try folder.scan().map(\.name).sorted()
        let found = names.first {
          (try? String(contentsOfFile: "\(path)/\($0)", encoding: .utf8)) == "at the last moment"
        }
        #expect((found != nil) == isWritten, "\(names)")
        // Beside its successor, whatever that is called by now; a removed one has its own name.
        if isReplaced { #expect(names == (isWritten ? ["renamed 2.txt", "renamed.txt"] : ["renamed.txt"])) }
        if !isReplaced { #expect(names.count == (isWritten ? 1 : 0) && (found ?? name).hasPrefix(name.prefix(1))) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: own).allSatisfy { !$0.hasPrefix("out_") })
      }
    }
  }

  @Test("a staged document that was on its way in is there when the device starts again") func arriving() throws {
    try inFolder { folder, path in
      try write("first", "\(path)/a.txt")
      let item = try folder.scan()[0]
      let new = try staged(folder, "theirs")
      let own = "\(path)/\(DeviceFolder.ownName)"
      let temporary = try #require(folder.staging.name(of: new.id))
      try FileManager.default.moveItem(
        atPath: "\(own)/\(temporary)",
        toPath: "\(own)/\(DepartingFile(item.id, item.stamp, new.id, named: "a.txt").fileName)")
      try folder.removeTemporaries(but: [new.id])
      _ = try perform(.replace(id: item.id, stamp: item.stamp, staged: new.id), in: folder)
      #expect(try String(contentsOfFile: "\(path)/a.txt", encoding: .utf8) == "theirs")
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
