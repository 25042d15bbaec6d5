import CPeers
import Foundation
import Measure

extension Bench {
  /// Coordinated access of one app, and of 64 clients in four sandboxes. `flock(2)` and advisory locks of a database ask no presenter and
  /// wait without end: they are no peers. The floor is a round trip to the broker.
  func coordination(turns: Int = 10_000) -> [Row] {
    var rows: [Row] = []
    do {
      let document = try folder("coordination") + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      // A neighbour of a virtual machine takes up to half of a processor's speed, for seconds: so there are several rounds.
      let rounds = try (0..<Self.rounds).map { _ in
        (
          own: try insideSandbox(["coordinate", "\(turns)"], picks: [document]).compactMap(Double.init).median,
          floor: try insideSandbox(["round-trip", "\(turns)"], picks: []).compactMap(Double.init).median
        )
      }
      rows.append(
        Row(
          "coordination", "a coordinated read, without reading", unit: "µs", ambit: rounds.compactMap(\.own).median,
          peer: "two round trips", other: rounds.compactMap(\.floor).median.map { $0 * 2 }, aim: .valueAtMost(60)))
      for writing in [false, true] { rows += try coordinationCrowd(document, writing: writing) }
      rows += try leases(document)
    } catch {
      rows.append(Row("coordination", "a coordinated read, without reading", unit: "µs", ambit: nil, note: "\(error)"))
    }
    return rows
  }

  private func coordinationCrowd(_ document: String, writing: Bool) throws -> [Row] {
    let rounds = try (0..<Self.rounds).map { _ in try crowd(document, writing: writing) }
    let kind = writing ? "writes" : "reads"
    return [
      Row(
        "coordination", "64 clients of one item: \(kind)", unit: "events/s", ambit: rounds.map(\.rate).median,
        aim: writing ? nil : .valueAtLeast(20_000)),
      Row(
        "coordination", "the slowest of them, beside the mean", unit: "ratio",
        ambit: rounds.compactMap(\.slowest).min(), aim: .valueAtLeast(0.7)),
    ]
  }
  private static let rounds = 5

  /// 64 clients in four sandboxes: accesses in a second, and the share of the slowest one beside the mean.
  private func crowd(_ document: String, writing: Bool) throws -> (rate: Double, slowest: Double?) {
    let clients = 16
    let words = ["coordinate-crowd", "\(clients)"] + (writing ? ["writing"] : [])
    let apps = try (0..<4).map { number in
      let app = try Conversation(
        sandboxed(words, picks: [document]), environment: environment, errors: "\(scratch)/errors-crowd-\(number)")
      try app.awaitReady()
      return app
    }
    for app in apps { try app.tell("go") }
    let counts = apps.flatMap { app in (0..<clients).compactMap { _ in app.line().flatMap(Double.init) } }
    for app in apps { app.close() }
    let sum = counts.reduce(0, +)
    return (sum / 2, counts.min().map { $0 / (sum / Double(max(1, counts.count))) })
  }

  /// Another program's open(2) of a document that an app presents. With a suspended app it is the kernel's and the broker's share alone:
  /// such a presenter is not asked. The broker keeps the content that a program is going to write over.
  private func leases(_ document: String) throws -> [Row] {
    let app = try Conversation(
      sandboxed(["present"], picks: [document]), environment: environment, errors: "\(scratch)/errors-present")
    defer { app.close() }
    try app.awaitReady()
    let saved = try (0..<200).map { _ in try timeToOpen(document, writing: true) }
    func tellPresenter(_ word: String) throws {
      try app.tell(word)
      guard app.line() == word else { throw Unavailable("the presenter does not answer") }
    }
    func change() throws { try tellPresenter("change") }
    let unsaved = try (0..<50).map { _ in
      try change()
      return try timeToOpen(document, writing: false)
    }
    func tell(_ verb: String) throws {
      _ = try Child.lines([ambit, verb, "inside"], environment: environment, errors: "\(scratch)/errors-\(verb)")
    }
    try tell("suspend")
    let written = try (0..<200).map { _ in try timeToOpen(document, writing: true) }
    try tell("resume")
    let read = try (0..<40).map { _ in
      // Of a presenter that has not saved the broker keeps off for a second after each open.
      try tellPresenter("save")
      try change()
      try tell("suspend")
      defer { try? tell("resume") }
      return try timeToOpen(document, writing: false)
    }
    var byHand = [Double](repeating: 0, count: 200)
    let failure = unsafe cfloor_lease(document, &byHand, Int32(byHand.count))
    return [
      Row(
        "coordination", "open(2) of a presented file, let go at once", unit: "µs", ambit: read.median,
        peer: "a lease by hand", other: failure == 0 ? byHand.median : nil, aim: .valueAtMost(150)),
      Row("coordination", "the same for writing, after its content was kept", unit: "µs", ambit: written.median),
      Row("coordination", "the same, asking the app first", unit: "µs", ambit: saved.median),
      Row("coordination", "the same, with a save", unit: "µs", ambit: unsaved.median),
    ]
  }

  /// Waits until the broker has its lease, and measures one open(2): µs.
  private func timeToOpen(_ path: String, writing: Bool) throws -> Double {
    let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64 ?? 0
    let kind = writing ? "READ" : "WRITE"
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
      let isHeld = locks.contains { line in
        let words = line.split(separator: " ")
        return words.count > 5 && words[1] == "LEASE" && words[3] == kind && words[5].hasSuffix(":\(number)")
      }
      // Awake: a processor that has slept takes longer for anything.
      guard isHeld else { continue }
      var file: Int32 = -1
      let elapsed = microseconds { file = unsafe open(path, (writing ? O_WRONLY : O_RDONLY) | O_CLOEXEC) }
      guard file >= 0 else { throw Unavailable("\(path): errno \(errno)") }
      close(file)
      return elapsed
    }
    throw Unavailable("the broker takes no lease on \(path)")
  }

  /// The first lesson, taken by a program that types.
  func lesson() -> [Row] {
    let measures = [("first task on the screen", 300.0), ("answer to what was done", 200.0)]
    do {
      guard let scripts = ProcessInfo.processInfo.environment["AMBIT_BENCH_SCRIPTS"] else {
        throw Unavailable("AMBIT_BENCH_SCRIPTS is not set")
      }
      let lines = try Child.lines(
        ["/usr/bin/env", "python3", "\(scripts)/lesson-drive.py", ambit, "--times", "7"], environment: environment,
        errors: "\(scratch)/errors-lesson")
      return measures.map { measure, aim in
        let line = lines.first { $0.contains(measure) } ?? ""
        let number = line.split(separator: " ").compactMap { Double($0) }.first
        return Row("lesson", measure, unit: "ms", ambit: number, aim: .valueAtMost(aim))
      }
    } catch {
      return measures.map { Row("lesson", $0.0, unit: "ms", ambit: nil, aim: .valueAtMost($0.1), note: "\(error)") }
    }
  }
}
