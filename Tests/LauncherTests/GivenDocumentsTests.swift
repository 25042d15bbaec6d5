import Sandbox
import Testing
import Wire

@testable import Launcher

@Suite struct `Documents that are given with a launch` {
  @Test(
    arguments: [
      (["-n", "{}"], ["/d/a"], ["-n", "/d/a"]),
      (["--in={}", "--out={}"], ["/d/a"], ["--in=/d/a", "--out=/d/a"]),
      (["{}", "-", "{}"], ["/d/a", "/d/b"], ["/d/a", "-", "/d/b"]),
      (["{}:{}"], ["/d/a", "/d/b"], ["/d/a:/d/b"]),
      (["x", "{}", "y"], ["/d/a", "/d/b"], ["x", "/d/a", "/d/b", "y"]),
      (["plain"], ["/d/a", "/d/b"], ["plain"]),
      (["find", "-exec", "{}"], [], ["find", "-exec", "{}"]),
      // A name with a mark in it is not filled again.
      (["{}", "{}"], ["/d/{}", "/d/b"], ["/d/{}", "/d/b"]),
    ] as [([String], [String], [String])])
  func `One document stands at every place, and of several each at its own or all at one argument`(
    _ arguments: [String], _ paths: [String], _ filled: [String]
  ) {
    #expect(DocumentPlaces.filled(arguments, with: paths) == filled)
  }

  @Test func `As many places as documents, or it is a mistake that is named`() throws {
    #expect(DocumentPlaces.fault(["{}", "{}", "{}"], documents: 2)?.contains("2 documents") == true)
    #expect(DocumentPlaces.fault(["a{}"], documents: 2) != nil)
    #expect(DocumentPlaces.fault(["{}"], documents: 2) == nil)
    #expect(DocumentPlaces.fault([], documents: 2) == nil)
  }

  @Test func `The plain command line has them in their order`() {
    let words = RunArguments(["--give", "b", "--give-read", "a", "--give-folder", "d", "cat", "{}", "--give"])
    #expect(words?.given == [.init(.give, "b"), .init(.giveRead, "a"), .init(.giveFolder, "d")])
    #expect(words?.arguments == ["{}", "--give"])
    #expect(RunArguments(["--give", "cat"]) == nil)
  }

  @Test func `The parser's findings are put back into the order of the command line`() {
    let found: [GivenDocument] = [.init(.give, "1"), .init(.give, "3"), .init(.giveRead, "2"), .init(.giveRead, "4")]
    let words = ["--give", "1", "--give-read=2", "--give", "3", "--give-read", "4", "cat"]
    #expect(GivenDocument.inOrder(words, options: found).map(\.path) == ["1", "2", "3", "4"])
  }

  @Test func `The message says what the option says`() {
    #expect(GivenDocument(.give, "a").message == .init(how: .give, access: .readWrite, folder: false))
    #expect(GivenDocument(.giveRead, "a").message == .init(how: .give, access: .readOnly, folder: false))
    #expect(GivenDocument(.giveFolder, "a").message == .init(how: .give, access: .readWrite, folder: true))
    #expect(GivenDocument(.open, "a").message == .init(how: .open, access: .readWrite, folder: false))
    #expect(GivenDocument(.openRead, "a").message == .init(how: .open, access: .readOnly, folder: false))
  }

  @Test func `What an app does not get is named as the user named it`() {
    let given = GivenDocument(.give, "/tmp/a.txt").refusal("it may not have it", app: "/apps/Editor.app")
    #expect(given == "--give /tmp/a.txt cannot be given to it: it may not have it")
    for (how, option) in [(GivenDocument.How.open, "--give"), (.openRead, "--give-read")] {
      let opened = GivenDocument(how, "/tmp/a.txt").refusal("it declares no types", app: "/apps/Editor.app")
      #expect(
        opened.hasPrefix("/tmp/a.txt cannot be opened with /apps/Editor.app: it declares no types. "), "\(opened)")
      #expect(opened.hasSuffix(": ambit run \(option) /tmp/a.txt /apps/Editor.app"), "\(opened)")
    }
    let folder = GivenDocument(.open, "/tmp/a").refusal("it is a folder; use --give-folder", app: "/bin/ls")
    #expect(folder == "/tmp/a cannot be opened with /bin/ls: it is a folder; use --give-folder of ambit run")
  }

  @Test func `The request keeps them on its way through the tools`() throws {
    var request = LaunchRequest(
      program: .file(path: "/bin/cat"), manifest: nil, arguments: ["{}"], container: nil, policy: "default",
      answers: nil, trace: false)
    try request.give([.init(.giveRead, "/tmp/a b")])
    #expect(try LaunchRequest(json: request.json, arguments: ["{}"]).given == [.init(.giveRead, "/tmp/a b")])
  }
}
