import Foundation
import Measure

extension Bench {
  /// Queries of an app with many documents, beside find(1) in the same folder and, where it is installed, plocate(1) with a database of
  /// its own.
  func queries(documents: Int = 100_000, turns: Int = 300) -> [Row] {
    do {
      let lines = try insideSandbox(["query", "\(documents)", "\(turns)"], picks: [])
      var samples: [String: [Double]] = [:]
      for line in lines {
        let words = line.split(separator: " ")
        if words.count == 2, let number = Double(words[1]) { samples[String(words[0]), default: []].append(number) }
      }
      func row(
        _ measure: String, _ word: String, _ value: ([Double]) -> Double?, peer: String = "", other: Double? = nil,
        aim: Row.Aim? = nil
      ) -> Row {
        Row(
          "query", measure, unit: word == "late" ? "events" : "ms", ambit: value(samples[word] ?? []), peer: peer,
          other: other, aim: aim)
      }
      let find = samples["find"]?.median
      var rows = [
        row("first results, not catalogued yet", "cold-first", { $0.first }, aim: .valueAtMost(100)),
        row("all \(documents) results, not catalogued yet", "cold-all", { $0.first }),
        row("first results", "warm-first", { $0.first }, aim: .valueAtMost(100)),
        row("all \(documents) results", "warm-all", { $0.first }),
        row("a part of the name, median", "substring", { $0.median }, peer: "find -name", other: find),
        row("a part of the name, 99th percentile", "substring", { $0.percentile(99) }, aim: .valueAtMost(10)),
        row("coordinated writes seen late", "late", { $0.first }, aim: .valueAtMost(0)),
        row("a write without coordination seen, median", "uncoordinated", { $0.median }),
        row(
          "a write without coordination seen, 99th percentile", "uncoordinated", { $0.percentile(99) },
          aim: .valueAtMost(20)),
      ]
      if let other = try locate() {
        rows.append(
          row("a part of the name, median", "substring", { $0.median }, peer: "plocate", other: other))
      }
      return rows
    } catch {
      return [Row("query", "first results", unit: "ms", ambit: nil, note: "\(error)")]
    }
  }

  /// Milliseconds; `nil`: it is not installed.
  private func locate() throws -> Double? {
    let tools = ["updatedb.plocate", "plocate"].map { "/usr/bin/\($0)" }
    let updatedb = ["/usr/sbin/updatedb.plocate", tools[0]].first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let updatedb, FileManager.default.isExecutableFile(atPath: tools[1]) else { return nil }
    let database = "\(scratch)/plocate.db"
    _ = try Child([updatedb, "-l", "0", "-U", scratch, "-o", database, "--prunepaths", "", "--prune-bind-mounts", "no"])
      .wait()
    let samples = try (0..<50).map { turn in
      let part = String(turn &* 7919 % 46_656 + 1296, radix: 36)
      return try microseconds { _ = try Child([tools[1], "-d", database, part]).wait() } / 1000
    }
    return samples.median
  }
}
