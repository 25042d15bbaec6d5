import Foundation
import TestSupport
import Testing

/// `ambit run --json-status-fd`.
@Suite(.serialized, .waiting)
struct StatusTests {
  private func events(_ world: Workspace, _ arguments: String) throws -> (outcome: Outcome, events: [JSON]) {
    let file = "\(world.home)/status.json"
    let ambit = try Products.path("ambit")
    let outcome = try world.run(["/bin/sh", "-c", "exec '\(ambit)' run --json-status-fd 3 \(arguments) 3>'\(file)'"])
    let lines = try world.read(file).split(separator: "\n")
    let events = lines.compactMap { JSON(String($0)) }
    #expect(events.count == lines.count, "each line is an object: \(lines)")
    return (outcome, events)
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `tells of start, grant, refusal and end, in order`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let (outcome, events) = try events(
        world,
        "--trace --pick '\(document)' /bin/sh -c 'ambitctl pick >/dev/null; cat /srv/x; ls /proc/self/fd; exit 3'")
      #expect(outcome.exit == .status(3), "\(outcome)")
      // Nothing of it is open inside: the three streams and the one that lists them.
      #expect(outcome.output.split(separator: "\n").map(String.init) == ["0", "1", "2", "3"])
      #expect(events.map { $0["event"]?.string } == ["started", "granted", "denied", "exited"])
      guard events.count == 4 else { return }
      #expect(events[0]["pid"] != nil && events[0]["instance"]?.string != nil)
      #expect(events[0]["namespaces"]?["mnt"] != nil)
      #expect(events[1]["how"] == "scripted")
      #expect(events[1]["documents"]?.array == [.string(document)])
      #expect(events[2]["path"] == "/srv/x" && events[2]["rule"] == "SBX-2" && events[2]["errno"] == "EPERM")
      #expect(events[3]["status"] == 3)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `tells of copies by their mode, and not as grants`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let (outcome, events) = try events(
        world,
        "--pick '\(document)' --pick '\(world.home)/Papers' /bin/sh -c "
          + "'cp \"$(ambitctl pick --import)\" ~/letter.txt && ambitctl export ~/letter.txt'")
      #expect(outcome.exit == .status(0) && outcome.output == "letter 2.txt\n", "\(outcome)")
      #expect(events.map { $0["event"]?.string } == ["started", "copying", "copying", "exited"])
      #expect(events.compactMap { $0["mode"]?.string } == ["import", "export"])
      #expect(try world.read("\(world.home)/Papers/letter 2.txt") == "text")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `tells of a signal, and of a program that cannot be started`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let (killed, events) = try events(world, "/bin/sh -c 'kill -TERM $$'")
      #expect(killed.exit == .status(143))
      #expect(events.last?["event"] == "signalled" && events.last?["signal"] == 15 && events.last?["status"] == 143)

      let script = "\(world.home)/broken"
      try world.write("#!/no/such/interpreter\n", to: script)
      try #require(unsafe chmod(script, 0o755) == 0)
      let (broken, failure) = try self.events(world, "'\(script)'")
      #expect(broken.exit == .status(127))
      #expect(failure.map { $0["event"]?.string } == ["started", "failed"])
      #expect(failure.last?["status"] == 127)
    }
  }

  @Test func `a descriptor that is not open refuses the launch; a reader that has gone does not`() throws {
    try Workspace.with(.root) { world in
      let ambit = try Products.path("ambit")
      let closed = try world.run([ambit, "run", "--json-status-fd", "77", "/bin/echo", "ran"])
      #expect(closed.exit == .status(125) && closed.output.isEmpty)
      #expect(closed.errors.contains("--json-status-fd 77: is not an open descriptor"))
      let gone = try world.run([
        "/bin/bash", "-c", "exec '\(ambit)' run --json-status-fd 3 /bin/echo ran 3> >(exec true; sleep 0.2)",
      ])
      #expect(gone.exit == .status(0) && gone.output == "ran\n", "\(gone)")
    }
  }
}
