import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import ScopedAccess

/// A document that is saved in its own file.
@Suite struct InPlaceSaveTests {
  private let stage: SavedDocument

  init() throws { stage = try SavedDocument() }

  @Test(arguments: ["a much longer text", "short", "", "as long"])
  func `the content is new, and the file is the same`(text: String) throws {
    _ = unsafe chmod(stage.path, 0o640)
    let before = try stage.status()
    try stage.save(text).carryOut()
    #expect(try stage.text() == text)
    let after = try stage.status()
    #expect(after.inode == before.inode && after.mode == before.mode && after.userID == before.userID)
    #expect(try stage.left().isEmpty)
  }

  @Test func `a hole in the new content has nothing of the old one`() throws {
    let file = try stage.open()
    try file.writeAll([UInt8](repeating: 1, count: 3 << 20))
    let content = try Descriptor.open(try stage.folder.write("new", "begin"), flags: .readWrite)
    try content.cut(at: 2 << 20)
    try stage.save(content).carryOut()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: stage.path)))
    #expect(bytes.count == 2 << 20 && bytes[..<5] == Array("begin".utf8)[...])
    #expect(bytes[5...].allSatisfy { $0 == 0 })
  }

  @Test func `a program that waits for the save reads the new content`() throws {
    _ = try LeaseBreaks()
    let file = try stage.open()
    try Deadline.wait(for: "the lease") { (try? file.take(.write)) != nil }
    let reader = OwnThread { [path = stage.path] in
      String(decoding: try Descriptor.open(path, flags: .read).readAll(), as: UTF8.self)
    }
    try Deadline.wait(for: "the reader") { file.lease == .read }
    try stage.save("what it waited for", into: file).carryOut()
    #expect(!reader.isOver)
    file.giveBackLease()
    #expect(try reader.value() == "what it waited for")
  }

  @Test func `another file, a folder and a pipe are refused, and nothing is left`() throws {
    let other = try Descriptor.open(try stage.folder.write("other"), flags: .readWrite)
    #expect(throws: KernelError("open", stage.path, errno: .staleNFSFileHandle)) { try stage.save("x", into: other) }
    let pipe = try Descriptor.pipe()
    #expect(throws: KernelError("read", "no regular file", errno: .invalidArgument)) { try stage.save(pipe.reading) }
    let folder = try Descriptor.open(stage.folder.path, flags: [.read, .directory])
    #expect(throws: KernelError("read", "no regular file", errno: .invalidArgument)) { try stage.save(folder) }
    #expect(try stage.left().isEmpty)
  }

  @Test func `a save that is not wanted any more changes nothing`() throws {
    let big = String(repeating: "0123456789", count: 300_000)
    var asked = 0
    do {
      try stage.save(big).carryOut {
        asked += 1
        return asked < 2
      }
      #expect(Bool(false), "it was carried out")
    } catch let error as InPlaceSave.Failure {
      guard case .restored(let cause) = error else { return #expect(Bool(false), "\(error)") }
      #expect(cause.errno == .canceled)
    }
    #expect(try stage.text() == stage.old && stage.left().isEmpty)
    try stage.save(big).discard()
    #expect(try stage.text() == stage.old && stage.left().isEmpty)
  }

  @Test func `a save that succeeds settles an earlier one that could not be undone`() throws {
    try stage.begin("half")
    try stage.save("whole").carryOut()
    #expect(try stage.left().isEmpty)
    #expect(try stage.settle().isEmpty)
    #expect(try stage.text() == "whole")
  }

  @Test func `no earlier content comes back over a later save that was written whole`() throws {
    try stage.begin("half")
    // Its broker was killed before it could remove either record.
    _ = try stage.save("whole")
    let file = try stage.open()
    try file.writeAll(Array("whole".utf8))
    try file.cut(at: 5)
    #expect(try stage.settle().count == 1)
    #expect(try stage.text() == "whole" && stage.left().isEmpty)
  }

  @Test func `a disk that takes no more has the old content put back`() async throws {
    let (path, recovery) = (stage.path, stage.recovery)
    await #expect(processExitsWith: .success) { [path = path as String, recovery = recovery as String] in
      let stage = try SavedDocument(path: path, recovery: recovery)
      let content = try Descriptor.open("\(path).new", flags: [.readWrite, .create], mode: 0o600)
      try content.writeAll([UInt8](repeating: 1, count: 4 << 20))
      let save = try stage.save(content)
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 2 << 20, rlim_max: 2 << 20)
      // RLIMIT_FSIZE
      try #require(unsafe setrlimit(1, &limit) == 0)
      do {
        try save.carryOut()
        #expect(Bool(false), "it was carried out")
      } catch let error as InPlaceSave.Failure {
        guard case .restored(let cause) = error else { return #expect(Bool(false), "\(error)") }
        #expect(cause.errno == .fileTooLarge)
      }
      #expect(try stage.text() == stage.old && stage.left().isEmpty)
    }
  }

  @Test func `where neither content can be written the old one is kept for the next start`() throws {
    let save = try stage.save("the new text")
    for name in try stage.left() where name.hasSuffix(".content") {
      try FileManager.default.moveItem(atPath: "\(stage.recovery)/\(name)", toPath: "\(stage.recovery)/away")
    }
    do {
      try save.carryOut { false }
      #expect(Bool(false), "it was carried out")
    } catch {
      guard case .damaged = error else { return #expect(Bool(false), "\(error)") }
    }
    let record = try #require(try stage.left().first { $0.hasSuffix(".record") })
    try FileManager.default.moveItem(
      atPath: "\(stage.recovery)/away", toPath: "\(stage.recovery)/\(record.dropLast(7)).content")
    try stage.tear()
    guard case .restored = try stage.settle().first?.result else { return #expect(Bool(false), "not restored") }
    #expect(try stage.text() == stage.old)
  }
}

/// Saves in place whose broker died.
@Suite struct InterruptedSaveTests {
  private let stage: SavedDocument

  init() throws { stage = try SavedDocument() }

  private static let points: [FaultPoint] = [.oldContentKept, .contentWriting, .contentWritten, .recordRemoved]

  @Test(arguments: points, ["new", "a new text that is much longer than the old one"])
  func `a document is whole after a death at any step`(point: FaultPoint, text: String) async throws {
    let (path, recovery) = (stage.path, stage.recovery)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, recovery = recovery as String, point = point.rawValue as String, text = text as String] in
      try arm("kill", point, path)
      try SavedDocument(path: path, recovery: recovery).save(text).carryOut()
    }
    let outcome = try stage.settle()
    switch (point, outcome.first?.result) {
    case (.oldContentKept, .wholeOld): #expect(try stage.text() == stage.old)
    case (.contentWriting, .restored(let found)):
      #expect(try stage.text() == stage.old)
      #expect(try stage.left() == [found])
      #expect(FileManager.default.contents(atPath: "\(stage.recovery)/\(found)")?.starts(with: text.utf8) == true)
    // A text that is longer may be whole at that moment.
    case (.contentWriting, .wholeNew), (.contentWritten, .wholeNew): #expect(try stage.text() == text)
    case (.recordRemoved, nil): #expect(try stage.text() == text)
    default: #expect(Bool(false), "\(point): \(outcome)")
    }
    if case .restored? = outcome.first?.result {} else { #expect(try stage.left().isEmpty) }
    #expect(try stage.settle().isEmpty)
  }

  @Test func `a broker may die again while it puts the old content back`() async throws {
    try stage.begin("new")
    let (path, recovery) = (stage.path, stage.recovery)
    for _ in 0..<2 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, recovery = recovery as String] in
        try arm("kill", "contentRestoring", path)
        _ = try SavedDocument(path: path, recovery: recovery).settle()
      }
      try stage.tear()
    }
    #expect(try stage.settle().count == 1)
    #expect(try stage.text() == stage.old)
  }

  @Test func `the document counts and not the place`() throws {
    try stage.begin("new")
    let moved = "\(stage.path) moved"
    try rename(stage.path, to: moved)
    let other = try stage.folder.write("document", "another file")
    guard case .restored = try stage.settle().first?.result else { return #expect(Bool(false), "not restored") }
    #expect(try String(contentsOfFile: moved, encoding: .utf8) == stage.old)
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "another file")
  }

  @Test func `a document that is gone has its old content kept`() throws {
    try stage.begin("new")
    try FileManager.default.removeItem(atPath: stage.path)
    for _ in 0..<2 {
      guard case .failed(let error) = try stage.settle().first?.result else { return #expect(Bool(false), "settled") }
      #expect(error.errno == .noSuchFileOrDirectory)
    }
    #expect(try stage.left().count == 2)
  }

  @Test func `a change that came after the death is kept beside`() throws {
    try stage.begin("new")
    try Data("what the user wrote since".utf8).write(to: URL(fileURLWithPath: stage.path))
    guard case .restored(let found) = try stage.settle().first?.result else { return #expect(Bool(false), "kept") }
    #expect(
      try String(contentsOfFile: "\(stage.recovery)/\(found)", encoding: .utf8) == "what the user wrote since")
  }

  @Test func `a record that is not whole says nothing`() throws {
    try stage.begin("new", tearing: false)
    let record = try #require(try stage.left().first { $0.hasSuffix(".record") })
    let whole = try Data(contentsOf: URL(fileURLWithPath: "\(stage.recovery)/\(record)"))
    #expect(RecoveryRecord(bytes: Array(whole))?.path == stage.path)
    for length in [0, 1, whole.count / 2, whole.count - 1] {
      #expect(RecoveryRecord(bytes: Array(whole.prefix(length))) == nil)
    }
    for index in whole.indices {
      var other = whole
      other[index] ^= 1
      #expect(RecoveryRecord(bytes: Array(other)) == nil)
    }
    try whole.dropLast().write(to: URL(fileURLWithPath: "\(stage.recovery)/\(record)"))
    #expect(try stage.settle().isEmpty)
    #expect(try stage.left().isEmpty && stage.text() == stage.old)
  }
}

/// Saves that are killed at any moment.
@Suite(.serialized) struct InPlaceSaveKillTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["AMBIT_KILL_ROUNDS"].flatMap { Int($0) }.map { max(1, $0 / 20) } ?? 10

  @Test func `a document is one of its contents, whole, however the broker dies`() async throws {
    let stage = try SavedDocument()
    var contents: Set<String> = [stage.old]
    var results: [String: Int] = [:]
    for round in 0..<Self.rounds {
      let (path, recovery) = (stage.path, stage.recovery)
      let texts = (0..<2).map { String(repeating: "\(round) \($0) ", count: Int.random(in: 1...400_000)) }
      contents.formUnion(texts)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, recovery = recovery as String, texts = texts as [String]] in
        let stage = try SavedDocument(path: path, recovery: recovery)
        let pause = UInt32.random(in: 0...60_000)
        Thread.detachNewThread {
          usleep(pause)
          kill(getpid(), SIGKILL)
        }
        while true { for text in texts { try stage.save(text).carryOut() } }
      }
      for outcome in try stage.settle() { results[outcome.result.name, default: 0] += 1 }
      let text = try stage.text()
      #expect(contents.contains(text), "round \(round): \(text.count) bytes")
      contents = [text]
      for name in try stage.left() {
        #expect(name.hasSuffix(".found"))
        try FileManager.default.removeItem(atPath: "\(stage.recovery)/\(name)")
      }
    }
    print("saves in place that were killed: \(results)")
  }
}

extension InterruptedSaves.Outcome.Result {
  fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}

/// Has the process die at a point, once.
private func arm(_ action: String, _ point: String, _ path: String) throws {
  try Data().write(to: URL(fileURLWithPath: "\(path).trigger"))
  unsafe setenv("AMBIT_FAULT", "\(action) \(point) \(path).trigger", 1)
}

/// A document and a recovery folder.
private struct SavedDocument {
  let folder: Folder
  let path: String
  let recovery: String
  let old = "the old text"

  init() throws {
    folder = try Folder()
    path = try folder.write("document", old)
    recovery = try folder.folder("recovery")
  }

  /// The one that another process has made.
  init(path: String, recovery: String) throws {
    folder = try Folder()
    (self.path, self.recovery) = (path, recovery)
  }

  func open() throws -> Descriptor { try Descriptor.open(path, flags: .readWrite) }
  func status() throws -> FileStatus { try Descriptor.open(path, flags: .path).status() }
  func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
  func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: recovery).sorted() }

  func save(_ text: String, into file: Descriptor? = nil) throws -> InPlaceSave {
    try save(try Descriptor.open(try folder.write("content", text), flags: .read), into: file)
  }

  func save(_ content: Descriptor, into file: Descriptor? = nil) throws -> InPlaceSave {
    try InPlaceSave(
      of: try file ?? open(), FileIdentity(of: Descriptor.open(path, flags: .path)), at: path, by: content,
      keepingIn: Descriptor.open(recovery, flags: [.read, .directory]))
  }

  /// As a broker leaves it that dies while it writes.
  func begin(_ text: String, tearing: Bool = true) throws {
    _ = try save(text)
    if tearing { try tear() }
  }

  func tear() throws { try open().writeAll(Array("torn".utf8)) }

  func settle() throws -> [InterruptedSaves.Outcome] {
    try InterruptedSaves.settle(
      in: try Descriptor.open(recovery, flags: [.read, .directory]), finder: DocumentFinder(searchBudget: 1000))
  }
}
