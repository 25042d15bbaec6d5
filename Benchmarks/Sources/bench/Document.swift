import Foundation
import Measure

/// The document class beside plain reading.
extension Bench {
  func document(turns: Int = 2_000) -> [Row] {
    let measure = "a document of 64 KiB: open and close"
    do {
      let file = try folder("document") + "/document.txt"
      try Data(count: 64 << 10).write(to: URL(filePath: file))
      let samples = try insideSandbox(["document", "\(turns)"], picks: [file]).compactMap(Double.init)
      let plain = try insideSandbox(["plain", "\(turns)"], picks: [file]).compactMap(Double.init)
      let beyond = samples.median.flatMap { median in plain.median.map { median - $0 } }
      return [
        Row(
          "document", measure, unit: "µs", ambit: samples.median, peer: "start, read, stop", other: plain.median),
        Row("document", "the same, beyond start, read, stop", unit: "µs", ambit: beyond, aim: .valueAtMost(300)),
      ]
    } catch {
      return [Row("document", measure, unit: "µs", ambit: nil, note: "\(error)")]
    }
  }
}
