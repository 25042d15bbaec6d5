import Foundation

extension Bench {
  /// The picker in a folder of 100,000 names, beside fzf and nnn: a script presses the keys.
  func picker() -> [Row] {
    do {
      guard let scripts = ProcessInfo.processInfo.environment["AMBIT_BENCH_SCRIPTS"] else {
        throw Unavailable("AMBIT_BENCH_SCRIPTS is not set")
      }
      let words = ["/usr/bin/env", "python3", "\(scripts)/picker-bench.py", ambit, "--folder", scratch]
      let lines = try Child.lines(words, environment: environment, errors: scratch + "/errors")
      let decoder = JSONDecoder()
      return try lines.map { line in
        let found = try decoder.decode(Found.self, from: Data(line.utf8))
        return Row(
          "picker", found.measure, unit: found.unit, ambit: found.ambit, peer: found.peer, other: found.other,
          aim: found.aim.map { .valueAtMost($0) })
      }
    } catch {
      return [Row("picker", "100,000 names", unit: "ms", ambit: nil, note: "\(error)")]
    }
  }

  private struct Found: Decodable {
    var measure: String
    var unit: String
    var ambit: Double?
    var peer: String
    var other: Double?
    var aim: Double?
  }
}
