import Audit
import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

/// A broker is told to leave while others ask it, or are in the middle of a launch.
@Suite(.serialized, .waiting)
struct LeavingTests {
  /// Does something while the broker is stopped again and again. How often it was.
  private func stopping(_ world: Workspace, _ body: () throws -> Void) throws -> Int {
    let script = """
      while ! [ -e over ]; do
        "$0" broker stop || echo "status $?" >&2
        echo stopped
        sleep 0.0$(($$ % 3))
      done
      """
    let stopping = try world.start(
      ["/bin/sh", "-c", script, try Products.path("ambit")], directory: world.folder, streams: .pipes)
    let result = Result { try body() }
    try world.write("", to: "\(world.folder)/over")
    let outcome = try stopping.outcome()
    try result.get()
    #expect(outcome.exit == .status(0) && outcome.errors == "", "\(outcome)")
    return outcome.output.split(separator: "\n").count
  }

  @Test(arguments: TestUser.one(.root))
  func `who asks a broker that leaves is answered by the next one`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "dear reader")
      let asked = [["grants"], ["ps"], ["grant", "io.ambit.tests.none", document], ["app", "list"]]
      let stops = try stopping(world) {
        for round in 0..<5 {
          for question in asked {
            let outcome = try world.run([try Products.path("ambit")] + question)
            #expect(outcome.exit == .status(0) || question[0] == "grant", "\(round): \(question): \(outcome)")
            #expect(!outcome.errors.contains("connection") && !outcome.errors.contains("hangs up"), "\(outcome)")
          }
        }
      }
      #expect(stops > 3)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `an app that is launched while the broker leaves runs, and opens what it was given`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "dear reader")
      let stops = try stopping(world) {
        for round in 0..<10 {
          let outcome = try world.ambit("run", "/bin/sh", "-c", "exit 7")
          #expect(outcome.exit == .status(7), "\(round): \(outcome)")
        }
      }
      #expect(stops > 3)
      // What was launched last works with the broker that is there now.
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      #expect(try app.read().content == "dear reader")
      #expect(try app.finish() == .status(0))
      let events = try world.audit()
      let launched = Set(events.filter { $0.kind == .launch }.compactMap(\.instance))
      let ended = events.filter { $0.kind == .exit }.compactMap(\.instance)
      #expect(launched.count == 11 && launched == Set(ended) && ended.count == launched.count)
    }
  }

  @Test func `a broker that leaves begins no launch, and waits for those that have begun`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      #expect(try world.ambit("grants").exit == .status(0))
      let first = try #require(try world.brokerProcess())
      let socket =
        "unix:\(AmbitFolders(environment: world.environment, home: world.home).runtime)/\(AmbitFolders.socketName)"
      var launcher: WireClient? = try WireClient(address: socket)
      let prepare = LauncherInterface.PrepareCall(
        program: "/bin/true", manifest: nil, container: nil, policy: "default", variables: [], observe: false,
        files: [.folder, .executable])
      let files = [try Descriptor.open("/bin", flags: .path), try Descriptor.open("/bin/true", flags: .path)]
      let prepared = try #require(try launcher?.call(LauncherInterface.prepare, prepare.json, descriptors: files))
      #expect(try prepared.parameters.string("instance") != "")
      let stopping = try world.start([try Products.path("ambit"), "broker", "stop"])
      let other = try WireClient(address: socket)
      try Deadline.wait(for: "the broker to leave") {
        do {
          _ = try WireClient(address: socket).call(LauncherInterface.prepare, prepare.json, descriptors: files)
          return false
        } catch WireError.remote(LauncherInterface.Failure.leavingName, _) { return true }
      }
      // Other questions are answered meanwhile, and whoever launches waits for the next broker.
      #expect(try other.call(LauncherInterface.instances).parameters["instances"] == [])
      let waiting = try world.start([try Products.path("ambit"), "run", "/bin/echo", "hello"])
      #expect(!stopping.hasEnded && ProcessTable.isAlive(first))
      launcher = nil
      #expect(try stopping.outcome().exit == .status(0))
      let outcome = try waiting.outcome()
      #expect(outcome.exit == .status(0) && outcome.output == "hello\n" && outcome.errors.isEmpty, "\(outcome)")
      #expect(try world.brokerProcess() != first)
    }
  }
}
