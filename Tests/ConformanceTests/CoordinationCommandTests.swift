import Audit
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The host's commands for coordination, with one broker for all of them.
@Suite(.waiting) struct CoordinationCommandTests {
  @Test(arguments: TestUser.all)
  func `COO-4, COO-8, COO-15: commands of the host take turns with an app, and say how it went`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let scene = try CommandScene(world)
      try scene.coordinate()
      try scene.refusals()
      try scene.copy()
      try scene.move()
      try scene.remove()
      try scene.edit()
      try scene.cancel()
      try scene.killed()
      #expect(try scene.app.finish() == .status(0))
      try scene.replay()
    }
  }

  @Test(arguments: TestUser.all)
  func `COO-1: an access of ambitctl lasts as long as its command, also if ambitctl is killed`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("Letter.txt", "dear")
      let app = try world.start(
        saving: [document],
        """
        open
        ambitctl coordinate write "$u" -- /bin/sh -c 'echo in; exec sleep 1000' &
        read go
        kill -KILL $!; wait; say killed
        read go
        killall() { for p in /proc/[0-9]*; do grep -q '^sleep' $p/cmdline 2>/dev/null && kill -KILL ${p#/proc/}; done; }
        killall; say over
        read go
        exit 0
        """)
      func isFree() throws -> Bool {
        try world.ambit("coordinate", "write", document, "--timeout", "0", "--", "true").exit == .status(0)
      }
      try app.wait(forOutput: "in\n", patience: .seconds(30))
      #expect(try !isFree())
      try app.send("\n")
      try app.wait(forOutput: "killed\n")
      #expect(try !isFree())
      try app.send("\n")
      try app.wait(forOutput: "over\n")
      try Deadline.wait(for: "the access to end") { try isFree() }
      app.closeInput()
      #expect(try app.waitForExit() == .status(0))
    }
  }
}

/// An app that presents files, and commands of the host beside it.
private struct CommandScene {
  let world: Workspace
  let app: AppRun
  private var folder: String { "\(world.home)/Papers" }

  init(_ world: Workspace) throws {
    self.world = world
    for name in ["notes.txt", "plan.txt", "dir/item.txt", "last.txt"] {
      try world.document("Papers/\(name)", "saved\n")
    }
    let picks = ["notes.txt", "plan.txt", "dir/item.txt", "last.txt"].map { "\(world.home)/Papers/\($0)" }
    app = try world.probe("Editor", picks: picks)
    for name in ["notes", "plan", "item", "last"] {
      try app.pick(as: name)
      try #require(try app.start(name))
    }
  }

  private func file(_ name: String) -> String { "\(folder)/\(name)" }

  /// Text that a program sees which waits.
  private func text(_ name: String) throws -> String { try world.run(["cat", file(name)]).output }

  private func present(_ name: String, _ fields: [String: JSON] = [:]) throws {
    let fields = fields.merging(["of": .string(name), "as": .string(name)]) { old, _ in old }
    try #require(try app.tell("present", fields).isDone)
  }

  private func messages(_ name: String) throws -> String {
    try app.tell("messages", ["presenter": .string(name)]).content ?? ""
  }

  /// The broker answers the end of an access before it tells the presenters, so their messages may come later.
  private func expect(_ name: String, saw what: String, _ holds: (String) -> Bool) throws {
    var last = ""
    let deadline = Deadline(in: .seconds(5))
    repeat {
      last = try messages(name)
      if holds(last) { return }
      usleep(5_000)
    } while !deadline.isOver
    Issue.record("\(name) has not seen \(what), but \(last.debugDescription)")
  }

  private func leave(_ name: String) throws { _ = try app.tell("leave", ["presenter": .string(name)]) }

  func coordinate() throws {
    try present("notes", ["text": "typed\n"])
    let read = try world.ambit("coordinate", "read", file("notes.txt"), "--", "cat")
    #expect(read.exit == .status(0) && read.output == "typed\n", "\(read)")
    #expect(try messages("notes").hasPrefix("relinquish to reader\nsave"))
    let write = try world.ambit("coordinate", "write", file("notes.txt"), "--", "sh", "-c", "echo more >> {}")
    #expect(write.exit == .status(0), "\(write)")
    #expect(try text("notes.txt") == "typed\nmore\n")
    try expect("notes", saw: "the change") {
      $0.hasSuffix("changed\nreacquire") || $0.hasSuffix("reacquire\nchanged")
    }
    // Several files, and the command's own status.
    let both = try world.ambit(
      "coordinate", "read", file("notes.txt"), "--also", file("plan.txt"), "--", "sh", "-c", "cat \"$@\"; exit 7", "sh")
    #expect(both.exit == .status(7) && both.output == "typed\nmore\nsaved\n", "\(both)")
    #expect(try world.ambit("coordinate", "read", file("plan.txt"), "--", "/nothing/here").exit == .status(127))
    #expect(try world.ambit("coordinate", "read", file("plan.txt"), "--", file("plan.txt")).exit == .status(126))
    // A command within it that coordinates as well does not wait for it.
    let nested = try world.ambit(
      "coordinate", "write", file("plan.txt"), "--", try Products.path("ambit"), "coordinate", "write",
      file("plan.txt"),
      "--timeout", "0", "--", "echo")
    #expect(nested.exit == .status(0), "\(nested)")
    try leave("notes")
  }

  func refusals() throws {
    try present("plan", ["text": "never saved\n", "silent": true])
    let refused = try world.ambit("coordinate", "read", file("plan.txt"), "--timeout", "0.5", "--", "cat")
    #expect(refused.exit == .status(125) && refused.output.isEmpty, "\(refused)")
    #expect(refused.errors.contains(Workspace.identifier("Editor")), "\(refused)")
    try leave("plan")
    try present("plan", ["error": "the disk is full"])
    let failed = try world.ambit("coordinate", "read", file("plan.txt"), "--", "cat")
    #expect(failed.exit == .status(125) && failed.errors.contains("the disk is full"), "\(failed)")
    try leave("plan")
    for path in ["", "nowhere/file.txt"] {
      #expect(try world.ambit("coordinate", "read", path, "--", "cat").exit == .status(125))
    }
  }

  func copy() throws {
    try present("plan", ["text": "typed\n"])
    let copied = try world.ambit("cp", file("plan.txt"), file("copy.txt"))
    #expect(copied.exit == .status(0), "\(copied)")
    #expect(try world.read(file("copy.txt")) == "typed\n")
    #expect(try world.ambit("cp", file("plan.txt"), file("none/copy.txt")).exit == .status(125))
    try leave("plan")
  }

  func move() throws {
    try present("plan")
    let moved = try world.ambit("mv", "-v", file("plan.txt"), file("moved.txt"))
    #expect(moved.exit == .status(0), "\(moved)")
    try expect("plan", saw: "the move") { $0.contains("moved to") && $0.hasSuffix("reacquire") }
    // A move that the program itself refuses is none.
    let count = try messages("plan").split(separator: "\n").count { $0.hasPrefix("moved") }
    _ = try world.ambit("mv", "-n", file("moved.txt"), file("copy.txt"))
    #expect(try messages("plan").split(separator: "\n").count { $0.hasPrefix("moved") } == count)
    #expect(try text("moved.txt") == "typed\n")
    try leave("plan")
  }

  func remove() throws {
    try present("item")
    let failed = try world.ambit("rm", file("dir"))
    #expect(failed.exit == .status(1), "\(failed)")
    // It has made room, and is not told of a deletion that there was not.
    try expect("item", saw: "a deletion that failed") { $0 == "relinquish to writer\ndeletion\nreacquire" }
    #expect(try text("dir/item.txt") == "saved\n")
    #expect(try world.ambit("rm", file("dir/item.txt"), file("dir/none")).exit == .status(1))
    try expect("item", saw: "the deletion") { $0.contains("changed") }
    #expect(try !world.names(in: "Papers/dir").contains("item.txt"))
    try leave("item")
  }

  func edit() throws {
    let editor = "\(world.home)/editor"
    try world.write("#!/bin/sh\neval \"$ACT\"\n", to: editor)
    _ = unsafe chmod(editor, 0o755)
    func edit(_ act: String) throws -> Outcome {
      try world.run(
        [try Products.path("ambit"), "edit", file("last.txt")],
        environment: ["VISUAL": editor, "ACT": act, "TMPDIR": world.home, "LAST": file("last.txt")])
    }
    try present("last", ["text": "typed\n"])
    let written = try edit("echo edited >> \"$1\"")
    #expect(written.exit == .status(0), "\(written)")
    #expect(try text("last.txt") == "typed\nedited\n")
    #expect(try edit("true").output.contains("is as it was"))
    let failed = try edit("echo lost >> \"$1\"; exit 3")
    #expect(failed.exit == .status(3) && failed.errors.contains("Your text is kept in"), "\(failed)")
    let late = try edit("echo mine >> \"$1\"; echo theirs >> \"$LAST\"")
    #expect(late.exit == .status(1) && late.errors.contains("has changed since it was read"), "\(late)")
    #expect(try text("last.txt") == "typed\nedited\ntheirs\n")
    // Both kept texts, and nothing of the others.
    let drafts = try FileManager.default.contentsOfDirectory(atPath: world.home).filter { $0.hasPrefix("ambit-edit.") }
    #expect(
      try drafts.map { try world.read("\(world.home)/\($0)/last.txt") }.sorted() == [
        "typed\nedited\nlost\n", "typed\nedited\nmine\n",
      ])
    try leave("last")
  }

  func cancel() throws {
    let ambit = try Products.path("ambit")
    let holder = try world.start([
      ambit, "coordinate", "write", file("copy.txt"), "--", "sh", "-c", "echo in; read x", "sh",
    ])
    try holder.wait(forOutput: "in\n")
    let waiting = try world.start([ambit, "coordinate", "read", file("copy.txt"), "--", "cat"])
    var numbers: [String: Int] = [:]
    try Deadline.wait(for: "the second one to wait") {
      numbers = [:]
      for access in try world.coordination()["accesses"]?.array ?? [] {
        if let phase = access["phase"]?.string { numbers[phase] = access["access"]?.int }
      }
      return numbers["waiting"] != nil && numbers["granted"] != nil
    }
    let table = try world.ambit("coordination")
    #expect(table.output.contains("copy.txt") && table.output.contains("under way"), "\(table)")
    let granted = try world.ambit("coordination", "cancel", "\(numbers["granted"] ?? 0)")
    #expect(granted.exit == .status(1) && granted.errors.contains("is under way"), "\(granted)")
    #expect(try world.ambit("coordination", "cancel", "4242").exit == .status(1))
    #expect(try world.ambit("coordination", "cancel", "\(numbers["waiting"] ?? 0)").exit == .status(0))
    #expect(try waiting.waitForExit() == .status(125))
    #expect(waiting.allErrors.contains("cancelled"), "\(waiting.allErrors)")
    holder.closeInput()
    #expect(try holder.waitForExit() != .status(125))
  }

  /// The command goes on when `ambit` is killed, and has its access as long.
  func killed() throws {
    let holder = try world.start([
      try Products.path("ambit"), "coordinate", "write", file("copy.txt"), "--", "sh", "-c", "echo $$; exec sleep 1000",
      "sh",
    ])
    let child = try #require(Int32(try holder.readLine(patience: .seconds(30))))
    holder.signal(SIGKILL)
    _ = try holder.waitForExit()
    func isFree() throws -> Bool {
      try world.ambit("coordinate", "write", file("copy.txt"), "--timeout", "0", "--", "true").exit == .status(0)
    }
    #expect(try !isFree())
    Glibc.kill(child, SIGKILL)
    try Deadline.wait(for: "the access to end") { try isFree() }
  }

  func replay() throws {
    let replay = try world.ambit("coordination", "replay")
    #expect(replay.exit == .status(0), "\(replay)")
    #expect(replay.output.contains("all decided the same"), "\(replay)")
    let svg = "\(world.home)/turns.svg"
    let drawn = try world.ambit("coordination", "replay", "--document", file("notes.txt"), "--svg", svg)
    #expect(drawn.exit == .status(0), "\(drawn)")
    let text = try world.read(svg)
    #expect(text.hasPrefix("<svg") && text.contains("notes.txt") && !text.contains("copy.txt"))
    #expect(try world.ambit("coordination").output == "No file is used in turn, and no app presents one.\n")
  }
}
