import Foundation
import Glibc
import Kernel
import SystemPackage
import Testing

@testable import PickerUI

/// Device and inode of a path, links not followed.
private func identity(_ path: String) throws -> [UInt64] {
  var status = stat()
  try #require(unsafe lstat(path, &status) == 0, "\(path)")
  return [UInt64(status.st_dev), UInt64(status.st_ino)]
}

private func identity(_ document: PickedDocument) throws -> [UInt64] {
  let status = try FileStatus(of: document.descriptor.rawValue)
  return [status.device, status.inode]
}

/// `O_ACCMODE` and friends as the descriptor has them.
private func flags(_ document: PickedDocument) -> Int32 { fcntl(document.descriptor.rawValue, F_GETFL) }

@Suite struct DocumentOpeningTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `A document is open as what it is, by its real path`() throws {
    let path = try folder.file("sub/notes.txt")
    let document = try DocumentOpening.open(folder.path + "/sub/../sub//notes.txt")
    #expect(document.path == path)
    #expect(document.kind == .file)
    #expect(document.name == "notes.txt")
    #expect(try identity(document) == identity(path))
    #expect(flags(document) & O_PATH != 0)
    #expect(fcntl(document.descriptor.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    #expect(try DocumentOpening.open(folder.path).kind == .folder)
  }

  @Test func `PCK-21: a link that the user names is followed once, and never handed out itself`() throws {
    let path = try folder.file("real/notes.txt")
    try folder.link("latest", to: "real/notes.txt")
    try folder.link("way", to: "real")
    for name in ["latest", "way/notes.txt"] {
      let document = try DocumentOpening.open("\(folder.path)/\(name)")
      #expect(document.path == path)
      #expect(try identity(document) == identity(path))
    }
  }

  @Test func `PCK-21: a link that is turned elsewhere afterwards changes nothing`() throws {
    let path = try folder.file("a.txt")
    try folder.file("b.txt")
    let link = try folder.link("link", to: "a.txt")
    let document = try DocumentOpening.open(link)
    try FileManager.default.removeItem(atPath: link)
    try folder.link("link", to: "b.txt")
    #expect(try identity(document) == identity(path))
  }

  @Test func `What is no document is refused without blocking`() throws {
    let fifo = try folder.fifo("pipe")
    try folder.link("to-pipe", to: "pipe")
    for path in [fifo, folder.path + "/to-pipe", "/dev/null"] {
      #expect(throws: KernelError.self) { try DocumentOpening.open(path) }
      do throws(KernelError) { _ = try DocumentOpening.open(path) } catch { #expect(error.errno == .notSupported) }
    }
  }

  @Test func `Errors are the kernel's, with sentences for people`() throws {
    try folder.link("circle", to: "circle")
    try folder.link("dangling", to: "nowhere")
    try folder.file("file")
    let table: [(String, Errno, String)] = [
      ("missing", .noSuchFileOrDirectory, "does not exist."), ("dangling", .noSuchFileOrDirectory, "does not exist."),
      ("file/x", .notDirectory, "does not exist: a part of its path is not a folder."),
      ("circle", .tooManySymbolicLinkLevels, "is a link that leads in a circle."),
      (String(repeating: "x", count: 300), .fileNameTooLong, "cannot be opened: File name too long."),
      ("nul\0byte", .invalidArgument, "cannot be opened: Invalid argument."),
    ]
    for (name, errno, sentence) in table {
      do throws(KernelError) {
        _ = try DocumentOpening.open("\(folder.path)/\(name)")
        Issue.record("\(name) was opened")
      } catch {
        #expect(error.errno == errno)
        #expect(DocumentOpening.sentence(error, name).hasSuffix(sentence))
      }
    }
  }

  @Test func `A file that is deleted but still open has no path, and is not handed out`() throws {
    let path = try folder.file("gone.txt")
    let held = unsafe open(path, O_RDONLY | O_CLOEXEC)
    try #require(held >= 0)
    defer { close(held) }
    let link = "/proc/self/fd/\(held)"
    #expect(try DocumentOpening.open(link).path == path)
    try FileManager.default.removeItem(atPath: path)
    do throws(KernelError) {
      _ = try DocumentOpening.open(link)
      Issue.record("it was opened")
    } catch { #expect(error.errno == .staleNFSFileHandle) }
    // Nor when a stranger takes the name that the kernel reports for it.
    try folder.file("gone.txt (deleted)")
    #expect(throws: KernelError.self) { try DocumentOpening.open(link) }
  }

  @Test func `A name that is not UTF-8 is opened like any other, and is not taken for another`() throws {
    for byte: UInt8 in [0xE8, 0xE9] {
      let name = FileName(bytes: Array("\(folder.path)/caf".utf8) + [byte])
      let number = unsafe open(name.cString, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      try #require(number >= 0)
      close(number)
    }
    let shown = try OpenFolder(folder.path)
    let entries = try shown.entries()
    #expect(entries.map { DisplayText($0.name.text).plain } == ["caf\\xE8", "caf\\xE9"])
    for entry in entries {
      let document = try shown.open(.entry(entry.name))
      #expect(document.name.kernelBytes == entry.name.bytes)
      let again = try DocumentOpening.open(document.path)
      #expect(try again.descriptor.status().inode == document.descriptor.status().inode)
    }
  }
}

@Suite struct OpenFolderTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `A listing says what is behind every name, links followed, and opens no FIFO`() throws {
    try folder.folder("dir")
    try folder.file("file.txt")
    try folder.fifo("pipe")
    try folder.link("to-dir", to: "dir")
    try folder.link("to-file", to: "file.txt")
    try folder.link("to-pipe", to: "pipe")
    try folder.link("to-nothing", to: "nothing")
    try folder.file(".hidden")
    try folder.file("new\nline")
    let entries = try OpenFolder(folder.path).entries()
    #expect(
      Dictionary(uniqueKeysWithValues: entries.map { ($0.name.text, $0.kind) }) == [
        "dir": .folder, "file.txt": .file, "pipe": .special, "to-dir": .folder, "to-file": .file, "to-pipe": .special,
        "to-nothing": .broken, ".hidden": .file, "new\nline": .file,
      ])
    #expect(entries.filter(\.isLink).map(\.name.text) == ["to-dir", "to-file", "to-nothing", "to-pipe"])
    #expect(entries.first { $0.name.text == "to-file" }?.realName == "file.txt")
    #expect(entries == entries.sorted(by: Entry.precedes))
  }

  @Test func `PCK-7: a link has the type of what it leads to`() throws {
    try folder.file("secret.key")
    try folder.link("harmless.txt", to: "secret.key")
    let rule = ChoiceRule(request(types: ["txt"]))
    let shown = try OpenFolder(folder.path)
    let link = try #require(try shown.entries().first { $0.isLink })
    #expect(!rule.allows(link.kind, named: link.realName))
    #expect(rule.refusal(of: try shown.open(.entry(link.name))) != nil)
  }

  @Test func `I2: details are those of the last target, through any number of links, and the file is kept`() throws {
    let file = try folder.file("file.txt", "12345")
    try folder.link("link", to: "file.txt")
    try folder.link("second", to: "link")
    try folder.link("third", to: folder.path + "/./second")
    let shown = try OpenFolder(folder.path)
    for entry in try shown.entries() {
      let details = shown.details(of: entry)
      #expect(details.size == 5)
      #expect(details.linkTarget == (entry.isLink ? file : nil))
      #expect(try identity(#require(details.document)) == identity(file))
      #expect(!details.isReadOnly)
    }
    let missing = shown.details(of: Entry(name: FileName("missing"), kind: .file))
    #expect(missing.size == nil && missing.modified == nil && missing.linkTarget == nil && missing.document == nil)
    try folder.link("nowhere", to: "gone/for good")
    let nowhere = shown.details(of: Entry(name: FileName("nowhere"), kind: .broken, isLink: true))
    #expect(nowhere.linkTarget == "gone/for good" && nowhere.document == nil)
  }

  @Test func `I2: a name that became a link after it was listed says where it leads`() throws {
    try folder.file("notes.txt")
    let other = try folder.file("elsewhere/other.txt", "12345")
    let shown = try OpenFolder(folder.path)
    let entry = try #require(try shown.entries().first { $0.kind == .file })
    try FileManager.default.removeItem(atPath: "\(folder.path)/notes.txt")
    try folder.link("notes.txt", to: "elsewhere/other.txt")
    #expect(!entry.isLink)
    #expect(shown.details(of: entry).linkTarget == other)
  }

  @Test func `What is chosen is what was shown, though another folder took its place`() throws {
    let original = try folder.file("shown/a.txt", "original")
    let shown = try OpenFolder("\(folder.path)/shown")
    let entry = try #require(try shown.entries().first)
    let wanted = try identity(original)
    try FileManager.default.moveItem(atPath: "\(folder.path)/shown", toPath: "\(folder.path)/moved")
    try folder.file("shown/a.txt", "decoy")
    let document = try shown.open(.entry(entry.name))
    #expect(try identity(document) == wanted)
    #expect(document.path == "\(folder.path)/moved/a.txt")
    #expect(try identity(shown.open(.here)) == identity("\(folder.path)/moved"))
  }

  @Test func `Entering and leaving go by descriptor`() throws {
    try folder.file("a/b/c.txt")
    try folder.link("way", to: "a/b")
    let top = try OpenFolder(folder.path)
    let inside = try top.entering(FileName("way"))
    #expect(inside.path == "\(folder.path)/a/b")
    #expect(inside.name == FileName("b"))
    #expect(inside.parentPath == "\(folder.path)/a")
    #expect(try inside.parent().path == "\(folder.path)/a")
    #expect(!inside.isTop)
    #expect(try OpenFolder("/").isTop)
    try folder.fifo("pipe")
    #expect(throws: KernelError.self) { try top.entering(FileName("pipe")) }
    #expect(throws: KernelError.self) { try top.entering(FileName("missing")) }
  }

  @Test func `PCK-12: the picker starts in the folder asked for, or the nearest above it`() throws {
    try folder.folder("a")
    try folder.file("file")
    for start in ["a", "a/missing/deep", "a/"] {
      #expect(try OpenFolder.nearest(to: "\(folder.path)/\(start)").path == "\(folder.path)/a")
    }
    #expect(try OpenFolder.nearest(to: "\(folder.path)/file").path == folder.path)
    for start in ["", "relative", "/missing", "a\0b"] { #expect(try OpenFolder.nearest(to: start).path == "/") }
  }

  @Test func `A folder of a hundred thousand names is listed and filtered, with details for what is in sight`() throws {
    let count = 100_000
    let folder = try TemporaryFolder(inMemory: true)
    let shown = try OpenFolder(folder.path)
    for number in 0..<count {
      let made = unsafe mknodat(shown.descriptor.rawValue, "f\(number)", S_IFREG | 0o600, 0)
      try #require(made == 0)
    }
    var model = PickerModel(request())
    model.resize(listRows: 20)
    model.show(folder: shown.path, isTop: false, entries: try shown.entries())
    #expect(model.rowCount == count)
    #expect(model.nameUnderCursor(at: 0) == "f0" && model.nameUnderCursor(at: 99_999) == "f99999")
    #expect(model.wantedDetails.count == 20)
    model.type("9999")
    let expected = (0..<count).filter { $0.description.filter { $0 == "9" }.count >= 4 }.count
    #expect(model.rowCount == expected)
    #expect(model.nameUnderCursor(at: 0) == "f9999")
  }
}

extension PickerModel {
  fileprivate func nameUnderCursor(at index: Int) -> String? {
    guard case .entry(let entry) = row(at: index) else { return nil }
    return entries[entry].name.text
  }
}
