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
      let samples = try insideSandbox(["coordinate", "\(turns)"], picks: [document]).compactMap(Double.init)
      let floor = try insideSandbox(["round-trip", "\(turns)"], picks: []).compactMap(Double.init)
      rows.append(
        Row(
          "coordination", "a coordinated read, without reading", unit: "µs", ambit: samples.median,
          peer: "two round trips", other: floor.median.map { $0 * 2 }, aim: .valueAtMost(60)))
      for writing in [false, true] { rows += try coordinationCrowd(document, writing: writing) }
    } catch {
      rows.append(Row("coordination", "a coordinated read, without reading", unit: "µs", ambit: nil, note: "\(error)"))
    }
    return rows
  }

  private func coordinationCrowd(_ document: String, writing: Bool) throws -> [Row] {
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
    let kind = writing ? "writes" : "reads"
    return [
      Row(
        "coordination", "64 clients of one item: \(kind)", unit: "events/s", ambit: sum / 2,
        aim: writing ? nil : .valueAtLeast(20_000)),
      Row(
        "coordination", "the slowest of them, beside the mean", unit: "ratio",
        ambit: counts.min().map { $0 / (sum / Double(max(1, counts.count))) }, aim: .valueAtLeast(0.7)),
    ]
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
