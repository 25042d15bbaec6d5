import Glibc
import Testing

@testable import PickerUI

/// The picker as lines, without a terminal.
@Suite struct `The plain picker` {
  private static func session(
    _ folder: TemporaryFolder, multiple: Bool = false, kind: PickerRequest.Kind = .file, types: [String]? = nil
  ) throws -> PlainSession {
    PlainSession(
      PickerRequest(appName: "Editor", multiple: multiple, kind: kind, types: types, startFolder: folder.path),
      try OpenFolder(folder.path), home: nil)
  }

  private static func picked(_ outcome: PickerOutcome?) -> [String]? {
    if case .picked(let documents)? = outcome { documents.map(\.name) } else { nil }
  }

  @Test func `PCK-8: a whole pick in a folder of three is at most 12 lines`() throws {
    let folder = try TemporaryFolder()
    for name in ["a.txt", "b.txt", "c.txt"] { try folder.file(name) }
    var session = try Self.session(folder)
    let opening = session.opening { _ in nil }
    let (said, outcome) = session.take("2", { _ in nil })
    #expect(Self.picked(outcome) == ["b.txt"])
    #expect((opening + said).split(separator: "\n", omittingEmptySubsequences: false).count <= 12)
    #expect(opening.contains("1 a.txt, 7 B\n2 b.txt, 7 B\n3 c.txt, 7 B\n"))
    #expect(!opening.contains("\u{1B}"))
  }

  @Test func `The failure of a provider's own picker is said first, and harmless`() throws {
    let folder = try TemporaryFolder()
    var request = PickerRequest(appName: "Editor", startFolder: folder.path)
    request.notice = "Snippets has\u{1B}[2J ended"
    var session = PlainSession(request, try OpenFolder(folder.path), home: nil)
    let opening = session.opening { _ in nil }
    #expect(opening.contains(" ended\n") && !opening.contains("\u{1B}"))
  }

  @Test func `PCK-9: q, Escape and the end cancel`() throws {
    let folder = try TemporaryFolder()
    for line in ["q", "\u{1B}"] {
      var session = try Self.session(folder)
      _ = session.opening { _ in nil }
      guard case .cancelled? = session.take(line, { _ in nil }).1 else {
        Issue.record("\(line.debugDescription) did not cancel")
        continue
      }
    }
  }

  @Test func `PCK-7: what cannot be chosen is said with its reason, and refused`() throws {
    let folder = try TemporaryFolder()
    try folder.file("a.txt")
    try folder.file("b.md")
    try folder.file("secret.txt")
    var session = try Self.session(folder, types: ["txt"])
    let refuse = { (document: PickedDocument) -> String? in
      document.name == "secret.txt" ? "secret.txt cannot be handed out: it is a key." : nil
    }
    let opening = session.opening(refuse)
    #expect(opening.contains("2 b.md, cannot be chosen: the app asks for .txt.\n"))
    #expect(opening.contains("3 secret.txt, cannot be chosen: secret.txt cannot be handed out: it is a key.\n"))
    for (line, reason) in [("2", "asks for .txt"), ("3", "it is a key"), ("9", "There is no line 9")] {
      let (said, outcome) = session.take(line, refuse)
      #expect(outcome == nil && said.contains(reason))
    }
  }

  @Test func `Several are chosen by their numbers, where the app asks for several`() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.file(name) }
    var one = try Self.session(folder)
    _ = one.opening { _ in nil }
    #expect(one.take("1 2", { _ in nil }).0.contains("asks for one only"))
    var several = try Self.session(folder, multiple: true)
    _ = several.opening { _ in nil }
    #expect(Self.picked(several.take("1, 3", { _ in nil }).1) == ["a", "c"])
  }

  @Test func `Folders are opened by their number, .. goes up, a name filters, and a path is gone to`() throws {
    let folder = try TemporaryFolder()
    try folder.file("sub/inner.txt")
    try folder.file("letter.txt")
    var session = try Self.session(folder)
    _ = session.opening { _ in nil }
    #expect(session.take("1", { _ in nil }).0.contains("1 inner.txt"))
    #expect(session.take("..", { _ in nil }).0.contains("2 letter.txt"))
    #expect(session.take("let", { _ in nil }).0.hasPrefix("1 letter.txt"))
    #expect(session.take("nothing", { _ in nil }).0.contains("Nothing here matches"))
    #expect(session.take("\(folder.path)/sub", { _ in nil }).0.contains("inner.txt"))
    #expect(session.take("\(folder.path)/none", { _ in nil }).0.contains("does not exist"))
    #expect(session.take("?", { _ in nil }).0.contains("A number chooses"))
    #expect(Self.picked(session.take("1", { _ in nil }).1) == ["inner.txt"])
  }

  @Test func `A folder is chosen by its own line, where the app asks for one`() throws {
    let folder = try TemporaryFolder()
    try folder.folder("sub")
    var session = try Self.session(folder, kind: .folder)
    #expect(session.opening { _ in nil }.contains("1 this folder\n2 sub, folder\n"))
    #expect(Self.picked(session.take("1", { _ in nil }).1) != nil)
  }

  @Test func `Large folders come in pages`() throws {
    let folder = try TemporaryFolder()
    for number in 100..<145 { try folder.file("f\(number)") }
    var session = try Self.session(folder)
    #expect(session.opening { _ in nil }.contains("25 more: press Enter."))
    #expect(session.take("", { _ in nil }).0.hasPrefix("21 f120"))
    #expect(session.take("", { _ in nil }).0.hasPrefix("41 f140"))
    #expect(session.take("", { _ in nil }).0.hasPrefix("These are all."))
    // The numbers that were said last count.
    #expect(session.take("3", { _ in nil }).0.contains("There is no line 3"))
    #expect(Self.picked(session.take("45", { _ in nil }).1) == ["f144"])
  }

  @Test func `PCK-23: an entry that was replaced since it was said is not chosen`() throws {
    let folder = try TemporaryFolder()
    try folder.file("a.txt")
    var session = try Self.session(folder)
    _ = session.opening { _ in nil }
    try folder.file("new")
    try #require(unsafe rename("\(folder.path)/new", "\(folder.path)/a.txt") == 0)
    let (said, outcome) = session.take("1", { _ in nil })
    #expect(outcome == nil && said.contains("not what was listed any more"))
    #expect(Self.picked(session.take("1", { _ in nil }).1) == ["a.txt"])
  }

  @Test(arguments: ["a\nb.txt", "a\u{1B}[2Jb", "a\u{202E}b", "a\u{200B}b", "a\r1 b", "\u{9B}31m"])
  func `A hostile name is one line, without anything that a terminal would obey`(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.file(name)
    var session = try Self.session(folder)
    let opening = session.opening { _ in nil }
    #expect(opening.split(separator: "\n", omittingEmptySubsequences: false).count == 4)
    #expect(
      !opening.unicodeScalars.contains {
        ($0.properties.generalCategory == .control && $0 != "\n") || $0.properties.isBidiControl
      })
  }
}
