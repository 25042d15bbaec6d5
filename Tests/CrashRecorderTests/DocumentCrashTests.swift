import Foundation
import TestSupport
import Testing
import Wire

/// Saves of the class `Document`, by an app in its sandbox: whatever a crash leaves of them, the document is whole, and no acknowledged
/// save is lost (`DOC-16`).
@Suite(.serialized) struct DocumentCrashTests {
  /// Of each kind of save, some 2,000 in all; `make crashes` looks at ten times as many and more.
  private static let states = ProcessInfo.processInfo.environment["AMBIT_CRASH_STATES"].flatMap(Int.init) ?? 300

  private struct Case {
    /// What the app does with the document, which it has picked as “a”.
    let acts: String
    /// What the last content is.
    var last = "new"
    var isPackage = false
    /// A program on the host replaces the document while the app has unsaved changes.
    var isReplacedMeanwhile = false
  }

  private static let cases: [String: Case] = [
    "save": Case(acts: "open_it(); type_it('new'); save_it()"),
    "autosave": Case(
      acts: "open_it(); type_it('first'); save_it(autosave=True); type_it('new'); save_it(autosave=True)"),
    "close": Case(acts: "open_it(); type_it('new'); ask(do='closeDocument', document='d'); ack()"),
    "revert": Case(
      acts: "open_it(); type_it('new'); save_it(); type_it('other'); ask(do='revertDocument', document='d'); ack()"),
    "conflict": Case(
      acts: "open_it(); type_it('new'); await_change(); save_it()", isReplacedMeanwhile: true),
    "package": Case(acts: "open_it(package=True); type_it('new'); save_it()", isPackage: true),
    "save as": Case(acts: "open_it(); type_it('new'); save_it(to='/home/user/Documents/copy.txt')"),
  ]

  private static func text(_ word: String) -> String { String(repeating: "the \(word) text. ", count: 1500) }

  @Test(arguments: TestUser.inTurn(cases.keys.sorted()))
  func `DOC-16: a crash leaves the old document or the new one, and every acknowledged save`(
    user: TestUser, name: String
  ) throws {
    let kind = try #require(Self.cases[name])
    try Workspace.with(user) { world in
      let path = kind.isPackage ? "Papers/Letter.rtfd/text" : "letter.txt"
      let written = try world.document(path, Self.text("old"))
      if kind.isPackage { try world.document("Papers/Letter.rtfd/picture", Self.text("picture")) }
      let picked = kind.isPackage ? String(written.dropLast("/text".count)) : written
      let app = try world.bundle("Editor", identifier: "io.ambit.tests.editor", script: Self.script(kind.acts))
      // A link: while this process writes a program, a child that another test starts would keep it open for writing (ETXTBSY).
      let agent = try Products.path("ambit-agent")
      if unsafe link(agent, "\(app)/agent") != 0 {
        try ChildProcess.whileNothingStarts { try FileManager.default.copyItem(atPath: agent, toPath: "\(app)/agent") }
      }
      let container = "\(world.ambitHome)/data/containers/io.ambit.tests.editor/Documents"
      try world.write(Self.text("theirs"), to: "\(world.home)/theirs")
      let ambit = try Products.path("ambit")
      let meanwhile =
        kind.isReplacedMeanwhile
        ? "(until [ -e \(container)/ready ]; do sleep 0.05; done; cp \(world.home)/theirs \(picked).new; sync \(picked).new; "
          + "mv \(picked).new \(picked); touch \(container)/go) &" : ""
      let isCopy = name == "save as"
      let document = isCopy ? "\(container)/copy.txt" : picked
      if isCopy { try world.makeFolder(container) }
      // The app writes a file beside its document there, and the broker makes the copy of a package.
      let staging = "\(world.ambitHome)/data/staging"
      if !isCopy { try world.makeFolder(staging) }
      let watched = isCopy ? [] : ["--watch", "\(world.home)/Papers", "--watch", staging]
      let kill = Self.states > 2000 && ["save", "package"].contains(name) ? ["--kill"] : []
      let check = [ambit, "crashcheck", "--format", "json", "--states", "\(Self.states)", "--document", document]
      let command =
        "\(meanwhile) \(ambit) run --pick \(picked) \(app); s=$?; \(ambit) broker stop >/dev/null; wait; exit $s"
      let run = try world.run(
        check + watched + kill + ["--", "/bin/sh", "-c", command], patience: .seconds(kill.isEmpty ? 240 : 900))
      let json = try #require(
        JSON(run.output.split(separator: "\n").filter { !$0.hasPrefix("ambit:ack") }.joined()), "\(run)")
      let counts = ["whole-old", "whole-new", "torn", "lost", "missing"].map {
        "\($0) \(json["verdicts"]?[$0]?.int ?? 0)"
      }
      print("crashes: \(name): \(counts.joined(separator: ", "))")
      #expect(run.exit == .status(0), "\(run)")
      #expect(json["incomplete"]?.strings == [])
      #expect(json["verdicts"]?["whole-new"] != 0, "\(run)")
      #expect(try world.read(isCopy ? document : written) == Self.text(kind.last))
    }
  }

  /// Drives the agent: a line for each act. It ends with the first act that is not done. Not a shell: that reads a pipe byte by byte, and
  /// the recorder stops it at each call.
  private static func script(_ acts: String) -> String {
    """
    #!/usr/bin/python3 -IB
    import json, os, subprocess, sys, time

    agent = subprocess.Popen(
        [os.path.dirname(sys.argv[0]) + "/agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    documents = os.environ["HOME"] + "/Documents"
    saves = 0

    def ask(**request):
        agent.stdin.write(json.dumps(request).encode() + b"\\n")
        agent.stdin.flush()
        answer = agent.stdout.readline()
        if not answer or json.loads(answer).get("done") is not True:
            sys.exit(f"{request}: {answer}")

    def ack():
        global saves
        saves += 1
        print("ambit:ack", saves, flush=True)

    def open_it(**more): ask(do="openDocument", document="d", of="a", **more)
    def type_it(word): ask(do="typeText", document="d", text=f"the {word} text. " * 1500)

    def save_it(**more):
        ask(do="saveDocument", document="d", **more)
        ack()

    def await_change():
        open(documents + "/ready", "w").close()
        while not os.path.exists(documents + "/go"): time.sleep(0.05)

    ask(do="pick", **{"as": "a"})
    \(acts)
    """
  }
}
