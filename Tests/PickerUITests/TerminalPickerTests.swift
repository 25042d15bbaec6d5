import Foundation
import Glibc
import Kernel
import Synchronization
import Testing

@testable import PickerUI

/// A picker at work on a thread of its own, as `ambit run` has it.
private final class RunningPicker: Sendable {
  private let result = Mutex<Result<PickerOutcome, any Error>?>(nil)

  init(
    _ request: PickerRequest, input: Int32, output: Int32, settling: Duration = .zero,
    environment: [String: String] = [:], abandoned: Int32? = nil,
    actor: FileActor? = nil, refuse: @escaping @Sendable (PickedDocument) -> String? = { _ in nil }
  ) {
    Thread.detachNewThread { [self] in
      let picker = TerminalPicker(
        input: input, output: output, settling: settling, environment: environment, actor: actor)
      let outcome = Result { try picker.run(request, abandoned: abandoned, refuse: refuse) }
      result.withLock { $0 = outcome }
    }
  }

  var isOver: Bool { result.withLock { $0 != nil } }
  func outcome() throws -> PickerOutcome? { try result.withLock { try $0?.get() } }

  /// Paths that were picked; nil when cancelled.
  func paths() throws -> [String]? {
    guard case .picked(let documents) = try #require(try outcome()) else { return nil }
    return documents.map(\.path)
  }
}

private final class CallList: Sendable {
  private let calls = Mutex<[String]>([])
  var all: [String] { calls.withLock { $0 } }
  func add(_ call: String) { calls.withLock { $0.append(call) } }
}

@Suite struct TerminalPickerTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.file("Letters/ann.txt")
    try folder.file("notes.txt")
    try folder.file("photo.png")
  }

  private func start(
    _ terminal: TestTerminal, _ request: PickerRequest, settling: Duration = .zero, abandoned: Int32? = nil,
    refuse: @escaping @Sendable (PickedDocument) -> String? = { _ in nil }
  ) -> RunningPicker {
    RunningPicker(
      request, input: terminal.slave.rawValue, output: terminal.slave.rawValue, settling: settling,
      environment: ["HOME": folder.path], abandoned: abandoned, refuse: refuse)
  }

  /// Runs a picker to its end by keys, each sent when the text before it is on the screen; answers what was picked.
  private func run(
    _ request: PickerRequest, _ steps: [(see: String, press: String)],
    refuse: @escaping @Sendable (PickedDocument) -> String? = { _ in nil }
  ) throws -> [String]? {
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request, refuse: refuse)
    for step in steps {
      try #require(terminal.wait(for: step.see), "“\(step.see)” is not on the screen:\n\(terminal.text)")
      try terminal.type(step.press)
    }
    try expectEnd(of: picker, on: terminal, before)
    return try picker.paths()
  }

  /// The picker ends, and the terminal is as it was.
  private func expectEnd(of picker: RunningPicker, on terminal: TestTerminal, _ before: [UInt32]) throws {
    try #require(terminal.wait { _ in picker.isOver }, "still running:\n\(terminal.text)")
    #expect(
      terminal.wait {
        $0.output.count >= 4 && String(decoding: $0.output, as: UTF8.self).hasSuffix(TerminalPicker.restoreSequence)
      })
    #expect(terminal.unusualModes == [])
    #expect(try terminal.settings() == before)
  }

  @Test func `The failure of a provider's own picker is on the screen when the user is back`() throws {
    var request = PickerRequest(appName: "Editor", startFolder: folder.path)
    request.notice = "Snippets has ended"
    #expect(try run(request, [(see: "Snippets has ended", press: "\u{3}")]) == nil)
  }

  @Test func `PCK-8: the user filters, presses Enter, and the document is theirs to give`() throws {
    let picked = try run(
      request(start: folder.path),
      [("“TextEdit” asks for a document", "note"), ("Filter: note", "\r")])
    #expect(picked == ["\(folder.path)/notes.txt"])
  }

  @Test func `The user walks by arrows, in either of a terminal's dialects`() throws {
    let picked = try run(
      request(start: folder.path),
      [("▸ Letters/", "\u{1B}[C"), ("▸ ann.txt", "\u{1B}OD"), ("▸ Letters/", "\u{1B}OB"), ("▸ notes.txt", "\r")])
    #expect(picked == ["\(folder.path)/notes.txt"])
  }

  @Test(arguments: ["\u{1B}", "\u{3}"])
  func `PCK-9: Escape and control C cancel`(key: String) throws {
    #expect(try run(request(start: folder.path), [("▸ Letters/", key)]) == nil)
  }

  @Test func `PCK-8: several are marked over folders and come in the order of marking`() throws {
    let picked = try run(
      request(multiple: true, start: folder.path),
      [
        ("▸  Letters/", "phot"), ("▸  photo.png", "\t"), ("✓ photo.png", "\u{15}"), ("Type to filter", "\u{1B}[H\r"),
        ("▸  ann.txt", " "), ("Marked: photo.png, ann.txt", "\r"),
      ])
    #expect(picked == ["\(folder.path)/photo.png", "\(folder.path)/Letters/ann.txt"])
  }

  /// A picker with acts, at the row of the notes.
  private func acting(_ terminal: TestTerminal, _ calls: CallList) throws -> RunningPicker {
    var asked = request(start: folder.path)
    asked.acts = .safe
    let folder = folder.path
    let actor = FileActor { act, line, files in
      calls.add(([act, line] + files.compactMap(\.currentPath)).joined(separator: " "))
      guard act == "rename" else { return FileActReply(sentence: "Done.") }
      _ = unsafe rename("\(folder)/notes.txt", "\(folder)/\(line)")
      return FileActReply(sentence: "It is called “\(line)” now.", paths: ["\(folder)/\(line)"])
    }
    let picker = RunningPicker(
      asked, input: terminal.slave.rawValue, output: terminal.slave.rawValue, environment: ["HOME": folder],
      actor: actor)
    try #require(terminal.wait(for: "▸ Letters/"), "\(terminal.text)")
    try terminal.type("\u{E}")
    try #require(terminal.wait(for: "▸ notes.txt"), "\(terminal.text)")
    return picker
  }

  @Test func `a row gets another name, and the cursor goes with it`() throws {
    let (terminal, calls) = (try TestTerminal(), CallList())
    let picker = try acting(terminal, calls)
    try terminal.type("\u{5}")
    try #require(terminal.wait(for: "Rename…"), "\(terminal.text)")
    try terminal.type("r")
    try #require(terminal.wait(for: "New name: notes.txt"), "\(terminal.text)")
    try terminal.type("\u{15}zoo.txt\r")
    try #require(terminal.wait(for: "▸ zoo.txt"), "\(terminal.text)")
    #expect(terminal.text.contains("It is called “zoo.txt” now."))
    #expect(calls.all == ["rename zoo.txt \(folder.path)/notes.txt"])
    try terminal.type("\u{1B}")
    try #require(terminal.wait { _ in picker.isOver })
  }

  @Test func `PCK-31: if another file has the row's name by then, nothing is done`() throws {
    let (terminal, calls) = (try TestTerminal(), CallList())
    let picker = try acting(terminal, calls)
    try folder.file("new")
    _ = unsafe rename("\(folder.path)/new", "\(folder.path)/notes.txt")
    try terminal.type("\u{5}")
    try #require(terminal.wait(for: "Move to the trash"), "\(terminal.text)")
    try terminal.type("t")
    try #require(terminal.wait(for: "is not what was shown any more"), "\(terminal.text)")
    #expect(calls.all.isEmpty)
    try terminal.type("\u{1B}")
    try #require(terminal.wait { _ in picker.isOver })
  }

  @Test func `SBX-6: Ctrl-O leads to the documents of another app, of which one is picked`() throws {
    try folder.file("Other/Documents/page.txt")
    var asked = request(start: "\(folder.path)/Letters")
    asked.places = [.init(name: "Other", path: "\(folder.path)/Other/Documents")]
    let picked = try run(
      asked, [("▸ ann.txt", "\u{F}"), ("The documents of “Other”", ""), ("▸ page.txt", "\r")])
    #expect(picked == ["\(folder.path)/Other/Documents/page.txt"])
  }

  @Test func `a package is picked by Enter, and a folder beside it entered`() throws {
    try folder.file("Letters/Book.rtfd/TXT.rtf")
    var asked = request(start: folder.path)
    asked.packages = ["rtfd"]
    let picked = try run(asked, [("▸ Letters/", "\r"), ("▸ ann.txt", "book"), ("Filter: book", "\r")])
    #expect(picked == ["\(folder.path)/Letters/Book.rtfd"])
  }

  @Test func `PCK-10: a folder is picked by its own row`() throws {
    let picked = try run(
      request(kind: .folder, start: folder.path),
      [("▸ . (this folder)", "Lett"), ("▸ Letters/", "\r"), ("▸ . (this folder)", "\r")])
    #expect(picked == ["\(folder.path)/Letters"])
  }

  @Test func `PCK-7: a file of another type is not picked, the reason is shown, and the user goes on`() throws {
    let picked = try run(
      request(types: ["txt"], start: folder.path),
      [("▸ Letters/", "photo"), ("▸ photo.png", "\r"), ("the app asks for .txt", "\u{15}notes"), ("▸ notes.txt", "\r")])
    #expect(picked == ["\(folder.path)/notes.txt"])
  }

  @Test func `What the caller refuses is refused with its reason, and the user picks again`() throws {
    let refusing: @Sendable (PickedDocument) -> String? = { document in
      document.name == "notes.txt" ? "The notes stay at home.\u{1B}[2J" : nil
    }
    let picked = try run(
      request(start: folder.path),
      [
        ("▸ Letters/", "notes"), ("▸ notes.txt", "\r"), ("The notes stay at home.␛[2J", "\u{15}photo"),
        ("▸ photo.png", "\r"),
      ],
      refuse: refusing)
    #expect(picked == ["\(folder.path)/photo.png"])
  }

  @Test func `A pasted path leads to the document, and its newline picks nothing`() throws {
    let path = try folder.file("deep/er/letter to ann.txt")
    let picked = try run(
      request(start: "/"), [("▸", "\u{1B}[200~\(path)\n\u{1B}[201~"), ("▸ letter to ann.txt", "\r")])
    #expect(picked == [path])
  }

  @Test func `A file that vanished meanwhile is a sentence, and the list can be read again`() throws {
    let gone = try folder.file("gone.txt")
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(start: folder.path))
    try #require(terminal.wait(for: "gone.txt"))
    try terminal.type("gone")
    try #require(terminal.wait(for: "▸ gone.txt"))
    try FileManager.default.removeItem(atPath: gone)
    try terminal.type("\r")
    #expect(terminal.wait(for: "“gone.txt” does not exist."))
    try terminal.type("\u{12}")
    #expect(terminal.wait(for: "Nothing here matches"))
    try terminal.type("\u{3}")
    try expectEnd(of: picker, on: terminal, before)
  }

  @Test func `PCK-7: a name that came to mean something else meanwhile is asked about again`() throws {
    let notes = "\(folder.path)/notes.txt"
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(types: ["txt"], start: folder.path))
    try #require(terminal.wait(for: "▸ Letters/"))
    try terminal.type("notes")
    try #require(terminal.wait(for: "▸ notes.txt"))
    try FileManager.default.removeItem(atPath: notes)
    try folder.link("notes.txt", to: "photo.png")
    try terminal.type("\r")
    #expect(terminal.wait(for: "“notes.txt” is not what was shown any more."))
    #expect(terminal.wait(for: "notes.txt → ~/photo.png"))
    // Now it is what is shown.
    try terminal.type("\r")
    #expect(terminal.wait(for: "“photo.png” cannot be chosen"))
    try FileManager.default.removeItem(atPath: notes)
    try folder.link("notes.txt", to: "Letters")
    try terminal.type("\u{12}")
    #expect(terminal.wait(for: "notes.txt/ → ~/Letters"))
    try terminal.type("\u{3}")
    try expectEnd(of: picker, on: terminal, before)
  }

  /// What an app can do to a name that the user sees, between the list and Enter; all of it at once, by rename(2).
  @Test(arguments: ["link", "two links", "file", "same inode number"])
  func `I2, PCK-23: what took a name's place after it was shown is refused, and shown`(swap: String) throws {
    let notes = "\(folder.path)/notes.txt"
    let key = try folder.file(".ssh/id_rsa", "key")
    switch swap {
    case "link": try folder.link(".next", to: key)
    case "two links":
      try folder.link(".first", to: key)
      try folder.link(".next", to: ".first")
    default: try folder.file(".next", "another")
    }
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(start: folder.path))
    try #require(terminal.wait(for: "▸ Letters/"))
    try terminal.type("notes")
    try #require(terminal.wait(for: "▸ notes.txt"))
    if swap == "same inode number" {
      // ext4 and others give the number to the next file that is made.
      try FileManager.default.removeItem(atPath: notes)
      try folder.file("notes.txt", "another")
    } else {
      try #require(unsafe rename("\(folder.path)/.next", notes) == 0)
    }
    try terminal.type("\r")
    #expect(terminal.wait(for: "“notes.txt” is not what was shown any more."), "\(terminal.text)")
    if swap.contains("link") { #expect(terminal.wait(for: "notes.txt → ~/.ssh/id_rsa")) }
    #expect(!picker.isOver)
    try terminal.type("\u{3}")
    try expectEnd(of: picker, on: terminal, before)
    #expect(try picker.paths() == nil)
  }

  @Test func `I2, PCK-23: a mark is bound to the file that it showed`() throws {
    let notes = "\(folder.path)/notes.txt"
    let other = try folder.file(".next", "another")
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(multiple: true, start: folder.path))
    try #require(terminal.wait(for: "▸  Letters/"))
    try terminal.type("notes")
    try #require(terminal.wait(for: "▸  notes.txt"))
    try terminal.type("\t")
    try #require(terminal.wait(for: "✓ notes.txt"))
    try #require(unsafe rename(other, notes) == 0)
    try terminal.type("\u{12}")
    #expect(terminal.wait(for: "“notes.txt” is another file than the one that was marked; the mark is gone."))
    #expect(!terminal.text.contains("✓"))
    try terminal.type("\u{3}")
    try expectEnd(of: picker, on: terminal, before)
  }

  @Test func `I2: Enter chooses no row that came into sight only after it was pressed`() throws {
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(start: folder.path))
    try #require(terminal.wait(for: "▸ Letters/"))
    // One read: the filter, a folder and the file in it, none of which has been drawn.
    try terminal.type("Lett\r\r")
    #expect(terminal.wait(for: "only just come into sight"), "\(terminal.text)")
    try #require(terminal.wait(for: "▸ ann.txt"))
    try terminal.type("\r")
    try expectEnd(of: picker, on: terminal, before)
    #expect(try picker.paths() == ["\(folder.path)/Letters/ann.txt"])
  }

  /// What an app may have done to the terminal before it asks.
  private static let mess =
    "\u{1B}[5;12r\u{1B}[?6h\u{1B}(0\u{1B})0\u{E}\u{1B}[4h\u{1B}[?1;9;1000;1002;1003;1004;1005;1006;1015h\u{1B}=\u{1B}[>15u\u{1B}[>4;2m"

  @Test(arguments: ["", "\u{1B}]0;half a title", "\u{1B}[12;"])
  func `I11, PCK-25: the picker is legible whatever the app has done to the terminal, and the app gets its modes back`(
    half: String
  ) throws {
    let terminal = try TestTerminal()
    try terminal.writeAsApp(Self.mess + half)
    let before = try terminal.settings()
    let picker = start(terminal, request(start: folder.path))
    try #require(terminal.wait(for: "▸ Letters/"), "\(terminal.text)")
    #expect(terminal.screen[0].starts(with: "“TextEdit” asks for a document to open"), "\(terminal.text)")
    #expect(terminal.unusualModes == [1049, 25, 7, 2004, 1000, 1006])
    #expect(terminal.keyFlags.last == 0 && !terminal.modifiesOtherKeys && !terminal.inserts)
    try terminal.type("note")
    #expect(terminal.wait(for: "▸ notes.txt"))
    try terminal.type("\u{3}")
    try #require(terminal.wait { _ in picker.isOver })
    #expect(terminal.wait { $0.unusualModes == [1, 6, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015] })
    #expect(terminal.keyFlags == [0, 15])
    #expect(try terminal.settings() == before)
  }

  @Test(arguments: ["\u{1B}[27u", "\u{1B}[99;5u", "\u{1B}[27;1:1u", "\u{1B}[27;5;99~", "\u{1B}[27;1;27~"])
  func `I11, PCK-25: Escape and control C cancel in every encoding of keys`(key: String) throws {
    #expect(try run(request(start: folder.path), [("▸ Letters/", key)]) == nil)
  }

  @Test func `I11: reports of the mouse mark nothing`() throws {
    let picked = try run(
      request(multiple: true, start: "\(folder.path)/Letters"),
      [
        ("▸  ann.txt", "\u{1B}[M !!\u{1B}[M#!!\u{1B}[<0;1;1M\u{1B}[<0;1;1m\u{1B}[I\u{1B}[Oann"),
        ("Filter: ann", "\r"),
      ])
    // Nothing is marked, so Enter chooses the row.
    #expect(picked == ["\(folder.path)/Letters/ann.txt"])
  }

  @Test func `A window that changes its size is drawn anew; in one too small nothing can be chosen`() throws {
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(start: folder.path))
    try #require(terminal.wait(for: "Ctrl-H"))
    try terminal.type("note")
    try #require(terminal.wait(for: "▸ notes.txt"))
    try terminal.resize(columns: 30, rows: 5)
    try #require(terminal.wait(for: "This window is too"))
    try terminal.type("\r")
    // Drawn once more before it grows, so that the Enter was read in a window too small.
    try terminal.resize(columns: 20, rows: 5)
    try #require(terminal.wait(for: "This window is too"))
    try terminal.resize(columns: 40, rows: 10)
    try #require(terminal.wait(for: "▸ notes.txt"))
    #expect(!picker.isOver)
    try terminal.type("\r")
    try expectEnd(of: picker, on: terminal, before)
    #expect(try picker.paths() == ["\(folder.path)/notes.txt"])
  }

  @Test func `What was typed before the picker appeared is not for it`() throws {
    try FileManager.default.removeItem(atPath: "\(folder.path)/Letters")
    let terminal = try TestTerminal()
    try terminal.typeAhead("\r\r")
    let before = try terminal.settings()
    let picker = start(terminal, request(start: folder.path))
    try #require(terminal.wait(for: "▸ notes.txt"))
    try terminal.type("\u{3}")
    try expectEnd(of: picker, on: terminal, before)
    #expect(try picker.paths() == nil)
  }

  @Test func `An Enter that comes before anybody can have looked chooses nothing`() throws {
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    let picker = start(terminal, request(start: "\(folder.path)/Letters"), settling: .seconds(3600))
    try #require(terminal.wait(for: "▸ ann.txt"))
    try terminal.type("\r")
    #expect(terminal.wait(for: "only just opened"))
    try terminal.type("\u{1B}")
    try expectEnd(of: picker, on: terminal, before)
    #expect(try picker.paths() == nil)
  }

  @Test func `PCK-9, PCK-19: when nobody waits for the answer any more, the picker closes`() throws {
    let terminal = try TestTerminal()
    let before = try terminal.settings()
    var ends: [Int32] = [0, 0]
    try KernelError.check("pipe") { unsafe pipe(&ends) }
    let reading = Descriptor(owning: ends[0])
    var writing: Descriptor? = Descriptor(owning: ends[1])
    let picker = start(terminal, request(start: folder.path), abandoned: reading.rawValue)
    try #require(terminal.wait(for: "▸ Letters/"))
    #expect(writing != nil)
    writing = nil
    try expectEnd(of: picker, on: terminal, before)
    #expect(try picker.paths() == nil)
  }

  @Test func `When drawing fails, the error comes out and the terminal is as it was`() throws {
    let typing = try TestTerminal()
    let before = try typing.settings()
    var drawing: TestTerminal? = try TestTerminal()
    let output = try #require(drawing).slave
    let picker = RunningPicker(request(start: folder.path), input: typing.slave.rawValue, output: output.rawValue)
    try #require(drawing?.wait(for: "▸ Letters/") == true)
    #expect(try typing.settings() != before)
    // Its main side closes: the terminal hangs up, as soon as no child that is about to start has it any more.
    drawing = nil
    try #require(
      typing.wait { _ in
        if !picker.isOver { try? typing.type("x") }
        return picker.isOver
      })
    #expect(throws: KernelError.self) { try picker.outcome() }
    #expect(try typing.settings() == before)
  }

  @Test func `When the terminal hangs up, the picker is over`() throws {
    var terminal: TestTerminal? = try TestTerminal()
    let slave = try #require(terminal).slave
    let picker = RunningPicker(request(start: folder.path), input: slave.rawValue, output: slave.rawValue)
    try #require(terminal?.wait(for: "▸ Letters/") == true)
    terminal = nil
    let other = try TestTerminal()
    #expect(other.wait { _ in picker.isOver })
  }

  @Test func `Without a terminal that can show it there is no picker, but a sentence`() throws {
    let null = try DescriptorForTest.open("/dev/null")
    #expect(throws: PickerError.self) {
      try TerminalPicker(input: null.rawValue, output: null.rawValue, environment: [:]).run(request())
    }
    let terminal = try TestTerminal()
    let slave = terminal.slave.rawValue
    #expect(throws: PickerError.self) {
      try TerminalPicker(input: slave, output: slave, environment: ["TERM": "dumb"]).run(request())
    }
    terminal.readAvailable(milliseconds: 50)
    #expect(terminal.output.isEmpty, "nothing was drawn")
  }
}

private enum DescriptorForTest {
  static func open(_ path: String) throws -> Descriptor {
    Descriptor(owning: try KernelError.check("open", path) { unsafe Glibc.open(path, O_RDWR | O_CLOEXEC) })
  }
}
