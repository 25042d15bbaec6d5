import CrashRecorder
import CrashStates
import Foundation
import Kernel
import Paths
import TestSupport
import Testing

@testable import ScopedAccess

/// Ambit's own saves: whatever a crash leaves of them, the document is whole, and no acknowledged save is lost.
@Suite(.serialized) struct SaverCrashTests {
  /// `make crashes` looks at ten times as many.
  private static let states = ProcessInfo.processInfo.environment["AMBIT_CRASH_STATES"].flatMap(Int.init) ?? 500

  /// Large enough for a save to tear at several places.
  private static let old = String(repeating: "the old text\n", count: 1500)
  private static let new = String(repeating: "the new one\n", count: 2200)

  /// A copy of the document is another file. So that its record leads to it, the record names it anew.
  private static func recover(_ document: String, from recovery: String) throws {
    let folder = try Descriptor.open(recovery, flags: [.read, .directory])
    for kept in try KeptContent.all(in: folder) {
      guard let record = try kept.readRecord() else { continue }
      let there = RecoveryRecord(
        identity: try FileIdentity(of: Descriptor.open(document, flags: .readWrite)), path: document, old: record.old,
        new: record.new)
      let name = try #require(try DirectoryReader.entries(of: folder).map(\.name).first { $0.hasSuffix(".record") })
      let file = try Descriptor.open(name, below: folder, flags: [.write, .truncate])
      try file.writeAll(there.bytes)
    }
    for outcome in try InterruptedSaves.settle(in: folder, finder: DocumentFinder(searchBudget: 100)) {
      if case .failed(let error) = outcome.result { throw error }
    }
  }

  @Test func `a save in place is old or new after its recovery, whatever the crash left`() throws {
    let world = try TemporaryFolder()
    let (papers, recovery) = (try world.folder("papers"), try world.folder("recovery"))
    let document = try world.write("papers/letter", Self.old)
    let new = try world.write("new", Self.new)
    let saver = try Products.path("document-saver")
    let recording = try OwnThread {
      try Recorder.record(
        [saver, "in-place", document, new, recovery], environment: ["PATH": "/usr/bin:/bin"],
        watching: try WatchedFolder.open([papers, recovery]), .init())
    }.value()
    #expect(recording.ending == .exit(0) && recording.gaps == [])

    // In memory, where a sync costs nothing.
    let scratch = try Scratch(in: FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp")
    let place = TreePath(root: "papers", ["letter"])
    func read(_ tree: FileTree) throws -> Observation {
      try scratch.lay(tree, at: "state")
      let path = "\(scratch.path)/state"
      do { try Self.recover("\(path)/papers/letter", from: "\(path)/recovery") } catch {
        return .unreadable("\(error)")
      }
      return .content(ContentDigest(try Descriptor.content(ofFile: "\(path)/papers/letter", limit: 1 << 20)))
    }
    let versions = try Versions(recording.trace, document: place, read: read)
    #expect(versions.all.count == 2)
    var counts: [Verdict: Int] = [:]
    var torn = 0
    for state in CrashEnumeration(recording.trace, states: Self.states, seed: 1) {
      let verdict = versions.verdict(try read(state.tree), acknowledged: state.acknowledged)
      counts[verdict, default: 0] += 1
      if verdict.isHarmful, counts[verdict] == 1 { Issue.record("\(verdict): \(Story(state).rows)") }
      let plain = Versions(
        versions.all.map { .init(step: $0.step, acknowledged: $0.acknowledged, observation: $0.observation) })
      if plain.verdict(state.observation(at: place), acknowledged: state.acknowledged) == .torn { torn += 1 }
    }
    #expect(counts.keys.allSatisfy { !$0.isHarmful }, "\(counts)")
    // Without its recovery it would be.
    #expect(torn > 0)
    print("crashes: in place: \(counts), \(torn) of them torn without recovery")
  }

  /// A save of an app by rename, which the broker carries out on the host.
  static let saves = [
    "mv": "printf 'new text\\n' >.t; mv .t letter.txt",
    "sed": "sed -i s/old/new/ letter.txt",
    "two saves":
      "printf 'first\\n' >.t; mv .t letter.txt; echo ambit:ack first; printf 'new text\\n' >.t; mv .t letter.txt",
  ]

  @Test(arguments: TestUser.inTurn(saves.keys.sorted()))
  func `a save of an app is old or new, and stays`(user: TestUser, save: String) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old text\n")
      let script = """
        #!/bin/bash
        u=$(ambitctl pick) || exit 90
        p=$(ambitctl path "$u"); ambitctl start "$u" || exit 91; cd "${p%/*}" || exit 92
        \(Self.saves[save] ?? "exit 93")
        """
      let app = try world.bundle("Saver", identifier: "io.ambit.tests.saver", script: script)
      let ambit = try Products.path("ambit")
      // Recorded are launcher, broker and app: the broker begins and ends within.
      let run = try world.run(
        [
          ambit, "crashcheck", "--format", "json", "--states", "\(Self.states)", "--document", document, "--kill", "--",
          "/bin/sh",
          "-c", "\(ambit) run --pick \(document) \(app); s=$?; \(ambit) broker stop >/dev/null; exit $s",
        ], patience: .seconds(120))
      let json = try #require(
        JSON(run.output.split(separator: "\n").filter { !$0.hasPrefix("ambit:ack") }.joined()), "\(run)")
      #expect(run.exit == .status(0), "\(run)")
      #expect(json["incomplete"]?.strings == [])
      #expect(json["verdicts"]?["whole-old"] != 0 && json["verdicts"]?["whole-new"] != 0, "\(run)")
      #expect(json["kills"]?["whole-old"] != 0, "\(run)")
      #expect(try world.read(document) == "new text\n")
    }
  }
}
