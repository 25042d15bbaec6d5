import Foundation
import Measure

extension Bench {
  /// Start and stop of a security scope, from inside: one document, over and over.
  func scope(turns: Int = 1000) -> [Row] {
    let measure = "start + stop of a scope"
    do {
      let document = try folder("scope") + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      let samples = try insideSandbox(["scope", "\(turns)"], picks: [document]).compactMap(Double.init)
      return [Row("scope", measure, unit: "µs", ambit: samples.median, aim: .valueAtMost(300))]
    } catch {
      return [Row("scope", measure, unit: "µs", ambit: nil, aim: .valueAtMost(300), note: "\(error)")]
    }
  }

  /// A persistent, read-write grant of a file to an app: for Ambit a scripted pick, seen from inside; for the portal
  /// `Documents.AddFull`, seen from its caller. A new file each time.
  func grant(count: Int = 200) -> [Row] {
    var ambit: [Double] = []
    var portal: [Double] = []
    var notes: [String] = []
    do {
      let folder = try folder("grant")
      let files = (0..<count).map { "\(folder)/document-\($0).txt" }
      for file in files { try Data("a document\n".utf8).write(to: URL(filePath: file)) }
      do {
        let service = try Portal(scratch: scratch, environment: environment)
        defer { service.close() }
        for file in files { portal.append(try microseconds { _ = try service.grant(file) }) }
      } catch { notes.append("\(error)") }
      // Some at a time: every pick is an argument.
      for batch in stride(from: 0, to: count, by: 50).map({ Array(files[$0..<min($0 + 50, count)]) }) {
        ambit += try insideSandbox(["grant", "\(batch.count)"], picks: batch).compactMap(Double.init)
      }
    } catch { notes.append("\(error)") }
    return [
      Row(
        "grant", "grant a document", unit: "µs", ambit: ambit.median, peer: "document portal", other: portal.median,
        note: notes.first)
    ]
  }
}
