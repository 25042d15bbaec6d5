import Foundation
import Synchronization
import TestSupport
import Testing

/// Many processes that add one to a number in a shared document, while some are killed: in sandboxes, and on the host with
/// `ambit coordinate`.
enum LostUpdates {
  /// - Parameters:
  ///   - target: acknowledgements in all.
  ///   - kills: processes that are killed, in each sandbox.
  ///   - hosts: scripts on the host.
  static func run(_ user: TestUser, sandboxes: Int, processes: Int, target: Int, kills: Int, hosts: Int) throws {
    try Workspace.with(user) { world in
      let document = try world.document("counter.txt", String(format: "%020d", 0))
      let apps = try (1...sandboxes).map { try world.probe("Counter\($0)", picks: [document]) }
      for app in apps {
        try app.pick()
        #expect(try app.start())
      }
      let marks = "\(world.folder)/marks"
      try world.makeFolder(marks)
      // The mark is made while the number is still held: it acknowledges what was written.
      let script = """
        n=$(cat "$1"); n=$(echo "$n" | sed 's/^0*//'); printf '%020d' $(( ${n:-0} + 1 )) | dd of="$1" conv=notrunc status=none bs=20
        printf x >> "$2"
        """
      let loop = """
        trap 'exit 0' TERM
        while :; do "$AMBIT" coordinate write "$DOCUMENT" -- /bin/sh -c "$ONE" sh {} "$MARK" || exit 1; done
        """
      let scripts = try (0..<hosts).map { number in
        try world.start(
          ["/bin/sh", "-c", loop],
          environment: [
            "AMBIT": try Products.path("ambit"), "DOCUMENT": document, "ONE": script, "MARK": "\(marks)/\(number)",
          ])
      }
      let each = target / sandboxes
      var acknowledged = 0
      let counted = try withThrowingResults(apps) { app in
        try app.tell(
          "count",
          [
            "of": "a", "processes": .number(Double(processes)), "until": .number(Double(each)),
            "kills": .number(Double(kills)),
          ],
          patience: .seconds(600))
      }
      for answer in counted { acknowledged += answer["acknowledged"]?.int ?? 0 }
      for script in scripts {
        kill(script.pid, SIGTERM)
        _ = try script.waitForExit()
      }
      for name in try FileManager.default.contentsOfDirectory(atPath: marks) {
        acknowledged += try world.read("\(marks)/\(name)").utf8.count
      }
      let number = Int(try world.read(document)) ?? -1
      #expect(acknowledged >= each * sandboxes)
      // A killed process may have written and not said so: at most one for each kill, and for each process that was ended last.
      #expect(number >= acknowledged)
      #expect(number <= acknowledged + sandboxes * (kills + processes) + hosts)
      for app in apps { #expect(try app.finish() == .status(0)) }
    }
  }

  /// Asks all apps at once.
  private static func withThrowingResults(
    _ apps: [AppRun], _ body: @escaping @Sendable (AppRun) throws -> JSON
  ) throws -> [JSON] {
    let group = DispatchGroup()
    let results = Mutex<[Result<JSON, any Error>]>([])
    for app in apps {
      nonisolated(unsafe) let app = app
      group.enter()
      Thread.detachNewThread {
        let result = Result { try unsafe body(app) }
        results.withLock { $0.append(result) }
        group.leave()
      }
    }
    group.wait()
    return try results.withLock { try $0.map { try $0.get() } }
  }
}

/// The same with 10,000 acknowledgements (`make races`).
@Suite(.serialized, .waiting, .timeLimit(.minutes(20)))
struct LostUpdateRaceTests {
  @Test(arguments: TestUser.all)
  func `COO-1: of 10,000 acknowledged updates none is lost, though processes are killed`(user: TestUser) throws {
    try LostUpdates.run(user, sandboxes: 8, processes: 4, target: 10_000, kills: 40, hosts: 4)
  }
}

@Suite(.serialized, .waiting)
struct LostUpdateTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `COO-1: no acknowledged update of several apps and a host script is lost`(user: TestUser) throws {
    try LostUpdates.run(user, sandboxes: 3, processes: 2, target: 300, kills: 4, hosts: 1)
  }
}
