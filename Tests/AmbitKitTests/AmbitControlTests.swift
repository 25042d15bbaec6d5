import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

/// `ambitctl` as a program, beside a scripted broker.
@Suite struct `ambitctl` {
  struct Outcome: Equatable {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Stands beside the test program, as the package is built.
  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("ambitctl")

  let broker: ScriptedBroker
  init() throws { broker = try ScriptedBroker() }

  func process(_ arguments: [String], home: String? = nil) throws -> (Process, Pipe, Pipe) {
    let process = Process()
    try #require(
      FileManager.default.isExecutableFile(atPath: Self.program.path), "\(Self.program.path) is not built: swift build")
    process.executableURL = Self.program
    process.arguments = arguments
    process.environment = ["AMBIT_ADDRESS": broker.address, "HOME": home ?? broker.folder, "PATH": "/usr/bin:/bin"]
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    return (process, output, errors)
  }

  /// Tests run on threads that hold signals back, and a program inherits what its parent's thread holds back.
  static func launch(_ process: Process) throws {
    var (few, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&few)
    // The break of a lease that another test took on this thread may wait, and would end the tests.
    unsafe sigaddset(&few, __libc_current_sigrtmin() + 6)
    unsafe sigaddset(&few, SIGIO)
    unsafe pthread_sigmask(SIG_SETMASK, &few, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    try process.run()
  }

  /// Not by Foundation's Process, which reads behind a buffer where more than 1,350 descriptors are open.
  func run(_ arguments: String..., input: String = "") throws -> Outcome {
    let process = try ChildProcess(
      [Self.program.path] + arguments, user: .root,
      environment: ["AMBIT_ADDRESS": broker.address, "HOME": broker.folder, "PATH": "/usr/bin:/bin"], directory: "/")
    if !input.isEmpty { try process.send(input) }
    process.closeInput()
    let status: Int32 =
      switch try process.waitForExit() {
      case .status(let status): status
      case .signal(let signal): signal
      }
    return Outcome(status: status, output: process.allOutput, errors: process.allErrors)
  }

  func grant(_ name: String) -> String { broker.ledger.withLock { $0.grant(name).url } }
  func count(_ grant: Int = 1) -> Int? { broker.ledger.withLock { $0.grants[grant]?.count } }

  @Test func `pick prints the picked URLs, one a line, and nothing else`() throws {
    broker.ledger.withLock { $0.answers = [.success(["My notes.txt"]), .success(["a", "b"])] }
    #expect(
      try run("pick", "--type", "txt", "--type", "md", "--message", "Which?", "--read-only")
        == Outcome(status: 0, output: "file:///documents/1/My%20notes.txt#ambit-scope=launch1-1\n", errors: ""))
    #expect(
      broker.ledger.withLock { $0.lastPick }
        == .init(access: .readOnly, types: ["txt", "md"], message: "Which?", process: .parent))
    #expect(
      try run("pick", "--multiple", "--folder").output
        == "file:///documents/2/a#ambit-scope=launch1-2\nfile:///documents/3/b#ambit-scope=launch1-3\n")
    #expect(broker.ledger.withLock { $0.lastPick } == .init(multiple: true, kind: .folder, process: .parent))
    try broker.stop()
  }

  @Test func `PCK-9: a cancelled pick is silent and exits with 1; with nobody to ask, it says so and exits with 2`()
    throws
  {
    broker.ledger.withLock { $0.answers = [.failure(PickerInterface.Failure.cancelled)] }
    #expect(try run("pick") == Outcome(status: 1, output: "", errors: ""))
    #expect(
      try run("pick")
        == Outcome(
          status: 2, output: "", errors: "ambitctl: Nobody can be asked to pick a document: no answers are left\n"))
    broker.ledger.withLock { $0.answers = [.failure(PickerInterface.Failure.quotaReached(limit: 1))] }
    let full = try run("pick")
    #expect(full.status == 1 && full.output == "" && full.errors.contains("ambitctl release URL"), "\(full)")
    #expect(try run("pick", "--folder", "--type", "txt").status == 64)
    #expect(try run("pick", "--type", ".txt").status == 64)
    try broker.stop()
  }

  @Test func `start and stop are silent and count; path prints the path`() throws {
    let url = grant("a b.txt")
    let done = Outcome(status: 0, output: "", errors: "")
    #expect(try run("start", url) == done)
    #expect(try run("start", url, "--caller", "script:3") == done)
    #expect(count() == 2)
    #expect(try run("stop", url) == done)
    #expect(try run("stop", url) == done)
    #expect(try run("stop", url) == done)
    #expect(count() == 0)
    #expect(try run("path", url) == Outcome(status: 0, output: "/documents/1/a b.txt\n", errors: ""))
    try broker.stop()
  }

  @Test func `TOK-7: a path, and a URL made of it, are refused with the reason`() throws {
    _ = grant("a.txt")
    for argument in [
      "/documents/1/a.txt", "file:///documents/1/a.txt", "file:///documents/1/a.txt#ambit-scope=launch1-9",
    ] {
      for verb in ["start", "stop", "path"] {
        let outcome = try run(verb, argument)
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.hasPrefix("ambitctl: ") && outcome.errors.contains("scope"))
      }
    }
    #expect(try run("start", "https://example.org").status == 64)
    try broker.stop()
  }

  @Test func `LIM-1, LIM-8: the ninth of eight is refused and says who holds the eight; scopes lists them`() throws {
    for number in 1...8 {
      #expect(try run("start", grant("\(number).txt"), "--caller", "script:\(number)").status == 0)
    }
    let refused = try run("start", grant("9.txt"))
    #expect(refused.status == 1)
    for number in 1...8 { #expect(refused.errors.contains("“\(number).txt” (started at script:\(number))")) }
    let table = try run("scopes").output.split(separator: "\n")
    #expect(table[0] == "8 of 8 scopes in use")
    #expect(table[1].split(separator: " ") == ["COUNT", "SINCE", "NAME", "PATH", "CALLER"])
    #expect(table[3].split(separator: " ") == ["1", "2026-01-01T00:00:00Z", "2.txt", "/documents/2/2.txt", "script:2"])
    let json = try JSONSerialization.jsonObject(with: Data(try run("scopes", "--format", "json").output.utf8))
    let status = try #require(json as? [String: Any])
    #expect(status["used"] as? Int == 8 && status["limit"] as? Int == 8)
    #expect(
      (status["holders"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == (1...8).map { "\($0).txt" })
    try broker.stop()
  }

  @Test func `a name with a terminal's commands in it stays text`() throws {
    _ = try run("start", grant("a\u{1B}[2J\nb"))
    let output = try run("scopes").output
    #expect(!output.contains("\u{1B}") && output.contains("a\u{FFFD}[2J\u{FFFD}b"))
    #expect(output.split(separator: "\n").count == 3)
    try broker.stop()
  }

  @Test func `with puts the path where the braces are, or at the end, and balances`() throws {
    let url = grant("a b.txt")
    #expect(
      try run("with", url, "--", "echo", "x", "--", "-n").output == "x -- -n /documents/1/a b.txt\n")
    #expect(
      try run("with", url, "--", "echo", "{}", "y", "[{}]").output == "/documents/1/a b.txt y [/documents/1/a b.txt]\n")
    #expect(count() == 0)
    #expect(broker.ledger.withLock { $0.calls } == ["Path", "Start", "Path", "Stop", "Path", "Start", "Path", "Stop"])
    try broker.stop()
  }

  @Test func `with exits as its command did, reads its input, and balances however the command ended`() throws {
    let url = grant("a.txt")
    #expect(try run("with", url, "--", "sh", "-c", "exit 7").status == 7)
    #expect(try run("with", url, "--", "sh", "-c", "kill -9 $$").status == 137)
    #expect(try run("with", url, "--", "sh", "-c", "cat", input: "through").output == "through")
    let missing = try run("with", url, "--", "no-such-program")
    #expect(missing.status == 127 && missing.errors == "ambitctl: no-such-program: No such file or directory\n")
    #expect(try run("with", url, "--", "/etc/passwd").status == 126)
    #expect(count() == 0)
    #expect(broker.ledger.withLock { $0.calls }.count == 20)
    #expect(try run("with", "file:///documents/1/a.txt", "--", "true").status == 125)
    #expect(try run("with", url, "--").status == 64)
    try broker.stop()
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `with passes a signal on to its command, waits for it, and balances`(signal number: Int32) throws {
    // A test run in the background of a shell ignores some of these, and what is ignored is inherited.
    signal(number, SIG_DFL)
    let url = grant("a.txt")
    let (process, output, _) = try process(["with", url, "--", "sh", "-c", "echo ready; exec sleep 1000"])
    try Self.launch(process)
    #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
    #expect(count() == 1)
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 128 + number)
    #expect(count() == 0)
    try broker.stop()
  }

  @Test func `with leaves it to its command what to do with a signal`() throws {
    let url = grant("a.txt")
    let (process, output, _) = try process([
      "with", url, "--", "sh", "-c", "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.01; done",
    ])
    try Self.launch(process)
    #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
    kill(process.processIdentifier, SIGTERM)
    #expect(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "caught\n")
    process.waitUntilExit()
    #expect(process.terminationStatus == 3)
    #expect(count() == 0)
    try broker.stop()
  }

  @Test func `LIM-11: kept prints how many documents are kept, and what was used last`() throws {
    #expect(
      try run("kept")
        == Outcome(
          status: 0,
          output: "kept 2 of 1000 (windows)\nrecent 1 of 25\n2026-01-01T00:00:00Z kept a\u{FFFD}.txt\n", errors: ""))
    try broker.stop()
  }

  @Test func `FSF-11: path prints the name to show, and where a document lies on the host`() throws {
    let url = grant("a\u{1b}b.txt")
    #expect(try run("path", url, "--name").output == "a\u{FFFD}b.txt\n")
    let refused = try run("path", url, "--host")
    #expect(refused.status == 1 && refused.output == "" && refused.errors.contains("policy"), "\(refused)")
    broker.ledger.withLock { $0.host = "/home/anna" }
    #expect(try run("path", url, "--host") == Outcome(status: 0, output: "/home/anna/a\u{FFFD}b.txt\n", errors: ""))
    broker.ledger.withLock { $0.host = "" }
    let unknown = try run("path", url, "--host")
    #expect(unknown.status == 1 && unknown.output == "" && unknown.errors.contains("not known"), "\(unknown)")
    #expect(try run("path", url, "--host", "--name").status == 64)
    try broker.stop()
  }

  @Test func `RST-3: a bookmark goes into a file and comes back as a URL, also after a rename`() throws {
    let url = grant("a.txt")
    #expect(try run("bookmark", "create", url).errors.contains("ambitctl start URL"))
    _ = try run("start", url)
    let made = try run("bookmark", "create", url)
    #expect(made.status == 0 && Data(base64Encoded: made.output.trimmingCharacters(in: .newlines)) != nil)
    let file = broker.folder + "/saved"
    try Data(made.output.utf8).write(to: URL(fileURLWithPath: file))
    #expect(try run("bookmark", "resolve", file) == Outcome(status: 0, output: url + "\n", errors: ""))
    broker.ledger.withLock {
      $0.grants[1]?.name = "b.txt"
      $0.grants[1]?.version = 1
    }
    let stale = try run("bookmark", "resolve", input: made.output)
    #expect(stale.status == 0 && stale.output == "file:///documents/1/b.txt#ambit-scope=launch1-1\n")
    #expect(stale.errors.contains("stale"))
    for input in ["", "!!!", "bm9uc2Vuc2U="] {
      let refused = try run("bookmark", "resolve", input: input)
      #expect(refused.status == 1 && refused.output == "" && refused.errors.hasPrefix("ambitctl: "))
    }
    #expect(try run("bookmark", "resolve", "/nowhere").status == 1)
    try broker.stop()
  }

  @Test func `REF-1: references lists those that are alive and reports the others`() throws {
    let documents = URL(fileURLWithPath: broker.folder + "/Documents")
    try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
    #expect(try run("references") == Outcome(status: 0, output: "", errors: ""))
    let url = grant("a.txt")
    try Data("bookmark 1 0 false".utf8).write(to: documents.appendingPathComponent("Notes.txt.ambitref"))
    #expect(try run("references") == Outcome(status: 0, output: "Notes.txt\t\(url)\n", errors: ""))
    try Data("nonsense".utf8).write(to: documents.appendingPathComponent("Dead.ambitref"))
    let outcome = try run("references")
    #expect(outcome.status == 1 && outcome.output == "Notes.txt\t\(url)\n")
    #expect(outcome.errors.hasPrefix("ambitctl: Dead: ") && outcome.errors.split(separator: "\n").count == 1)
    try broker.stop()
  }

  @Test func `REF-1: references lists those in folders too, follows no links, and one is resolved by its file`()
    throws
  {
    let folder = URL(fileURLWithPath: broker.folder + "/Documents/Letters/2026", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = grant("a.txt")
    let file = folder.appendingPathComponent("Notes.txt.ambitref")
    try Data("bookmark 1 0 false".utf8).write(to: file)
    try FileManager.default.createSymbolicLink(
      atPath: broker.folder + "/Documents/again", withDestinationPath: folder.path)
    #expect(try run("references") == Outcome(status: 0, output: "Letters/2026/Notes.txt\t\(url)\n", errors: ""))
    #expect(try run("bookmark", "resolve", file.path) == Outcome(status: 0, output: "\(url)\n", errors: ""))
    #expect(try run("bookmark", "resolve", file.path, "--relative-to", url).status == 64)
    try broker.stop()
  }

  @Test func `without a broker, it says how to get one`() throws {
    try broker.stop()
    let outcome = try run("scopes")
    #expect(outcome.status == 1 && outcome.errors.contains("cannot be reached"))
  }
}
