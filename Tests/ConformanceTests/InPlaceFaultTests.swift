import Audit
import Foundation
import Kernel
import ScopedAccess
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Saves in place for a program that waits in open(2): brokers that die meanwhile, and disks that run full.
@Suite(.waiting) struct InPlaceFaultTests {
  private static let old = String(repeating: "the old text\n", count: 30_000)
  private static let new = String(repeating: "the new text, and longer\n", count: 20_000)

  private static let points: [FaultPoint] = [.oldContentKept, .contentWriting, .contentWritten, .recordRemoved]

  @Test(arguments: TestUser.inTurn(points))
  func `COO-27: the broker is killed in a save in place, and the document is whole after the next one begins`(
    user: TestUser, point: FaultPoint
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", Self.old)
      let trigger = "\(world.home)/trigger"
      let app = try world.probe(
        "Editor", picks: [document], environment: ["AMBIT_FAULT": "kill \(point.rawValue) \(trigger)"])
      try app.pick()
      try #require(try app.start())
      try #require(try app.tell("present", ["of": "a", "as": "window", "text": .string(Self.new)]).isDone)
      try Deadline.wait(for: "the lease") { try world.presenters().map { $0["lease"]?.string } == ["write"] }
      let broker = try #require(try world.brokerProcess())
      try world.write("", to: trigger)
      let reader = try world.run(["cat", document], patience: .seconds(60))
      #expect(reader.exit == .status(0))
      // Without a broker there is no lease, and no save: the reader has the file as it was at that moment.
      switch point {
      case .oldContentKept: #expect(reader.output == Self.old)
      case .contentWritten, .recordRemoved: #expect(reader.output == Self.new)
      default: break
      }
      #expect(unsafe access(trigger, F_OK) != 0, "the broker did not come by \(point)")

      try Deadline.wait(for: "another broker") { try world.brokerProcess().map { $0 != broker } ?? false }
      try Deadline.wait(for: "the app to be taken over") { try !world.instances().isEmpty }
      let left = try world.audit(.replaced).filter { $0.detail[AuditEvent.Fact.inPlace] == "true" }
      #expect(!left.isEmpty)
      // The app has its text still, and saves it when the next one waits.
      #expect(try app.start())
      try Deadline.wait(for: "the new text") { try world.run(["cat", document]).output == Self.new }
      let recovery = try FileManager.default.contentsOfDirectory(atPath: "\(world.ambitHome)/state/recovery")
      #expect(recovery.allSatisfy { $0.hasSuffix(".found") } && recovery.count <= (point == .contentWriting ? 1 : 0))
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a broker that dies while it puts the old content back leaves that to the next one`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", Self.old)
      let recovery = "\(world.ambitHome)/state/recovery"
      try world.makeFolder(recovery)
      let file = try Descriptor.open(document, flags: .readWrite)
      try interrupt(file, document, recovery, world)
      let trigger = "\(world.home)/trigger"
      for fault in ["kill contentRestoring \(trigger)", ""] {
        try world.write("", to: trigger)
        _ = try world.ambit("run", "/bin/true", environment: ["AMBIT_FAULT": fault])
        if !fault.isEmpty { #expect(unsafe access(trigger, F_OK) != 0) }
      }
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      #expect(try world.read(document) == Self.old)
      #expect(try FileManager.default.contentsOfDirectory(atPath: recovery).allSatisfy { $0.hasSuffix(".found") })
    }
  }

  /// As a broker leaves it that died in the middle of the new text.
  private func interrupt(_ file: Descriptor, _ document: String, _ recovery: String, _ world: Workspace) throws {
    _ = try InPlaceSave(
      of: file, FileIdentity(of: file), at: document,
      by: Descriptor.open(try world.document("new.txt", Self.new), flags: .read),
      keepingIn: Descriptor.open(recovery, flags: [.read, .directory]))
    for name in try FileManager.default.contentsOfDirectory(atPath: recovery) {
      try world.user.own("\(recovery)/\(name)")
    }
    try file.rewind()
    try file.writeAll(Array(Self.new.utf8.prefix(100_000)))
  }

  /// A disk, and the file that fills it.
  enum Disk: String, CaseIterable, Sendable {
    case document = "home/small"
    case recovery = "ambit/state/recovery"
  }

  @Test(arguments: TestUser.inTurn(Disk.allCases))
  func `COO-27: with a full disk a reader gets the old text whole, and the new one when there is room`(
    user: TestUser, disk: Disk
  ) throws {
    try Workspace.with(user) { world in
      let place = "\(world.folder)/\(disk.rawValue)"
      try world.makeFolder(place)
      let document = try world.document(disk == .document ? "small/letter.txt" : "Papers/letter.txt")
      let bundle = try world.bundle("Editor", identifier: Workspace.identifier("Editor"))
      // Each text is one letter, many times, so that a torn one shows.
      let script = """
        cd \(world.home)
        ambit() { timeout 300 \(try Products.path("ambit")) "$@"; }
        letters() { head -c "$1" /dev/zero | tr '\\0' "$2"; }
        seen() { cat \(document) >seen; echo "$(wc -c <seen) $(fold -w1 seen | sort -u | tr -d '\\n')"; }
        await() { n=0; until eval "$1"; do n=$((n+1)); [ $n -lt 600 ] || { echo "no $1"; cat out err; break; }; sleep 0.1; done; }
        letters 300000 o >\(document)
        mkfifo in && exec 9<>in
        # No process but this shell keeps its input open.
        \(try Products.path("ambit")) run --pick \(document) \(bundle) <in >out 2>err 9<&- & app=$!
        echo '{"do":"pick","as":"a"}' >&9
        echo '{"do":"start","of":"a"}' >&9
        { printf '{"do":"present","of":"a","as":"w","text":"'; letters 600000 n; echo '"}'; } >&9
        await 'ambit coordination --format json | grep -q "\\"lease\\":\\"write\\""'
        dd if=/dev/zero of=\(place)/fill bs=4096 2>/dev/null
        seen
        rm \(place)/fill
        await '[ "$(seen)" = "600000 n" ]'
        seen
        exec 9>&-; wait $app
        ambit audit log --kind replaced --format json | grep -c '"result":"failed"'
        ls \(world.ambitHome)/state/recovery | wc -l
        ambit broker stop >/dev/null
        """
      let outcome = try world.run(
        script: script, afterMounting: "mount -t tmpfs -o size=1m,mode=0700 tmpfs \(place)")
      #expect(outcome.output == "300000 o\n600000 n\n1\n0\n", "\(outcome)")
    }
  }
}
