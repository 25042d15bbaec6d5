import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Resolving a bookmark where its document still is; and after it was renamed and moved to another folder, in a small tree
  /// and in a large one. The app stays; between two resolutions the host moves the document.
  func resolve(rounds: Int = 100) -> [Row] {
    var medians: [Int: Double] = [:]
    var unmoved: Double?
    var note: String?
    // Who can open a document by its handle finds it whatever the tree. Others search it.
    let isRoot = geteuid() == 0
    let (small, large) = (1_000, isRoot ? 100_000 : 50_000)
    do {
      for files in [small, large] { medians[files] = try resolve(in: files, rounds: rounds).median }
      let document = try folder("resolve-unmoved") + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      _ = try insideSandbox(["bookmark"], picks: [document])
      unmoved = try insideSandbox(["unmoved", "1000"], picks: []).compactMap(Double.init).median
    } catch { note = "\(error)" }
    let moved = "resolve a bookmark after a move"
    return [
      Row(
        "resolve", "resolve a bookmark, nothing moved", unit: "µs", ambit: unmoved, aim: .valueAtMost(100), note: note),
      Row(
        "resolve", "\(moved), \(large) files", unit: "µs", ambit: medians[large],
        aim: .valueAtMost(isRoot ? 200 : 50_000), note: note),
      Row(
        "resolve", "\(moved), \(large) files", unit: "µs", ambit: medians[large], peer: "\(small) files",
        other: medians[small], aim: isRoot ? .ratioAtMost(1.2) : nil, note: note),
    ]
  }

  private func resolve(in files: Int, rounds: Int) throws -> [Double] {
    progress("resolve, a tree of \(files) files")
    let root = try folder("resolve-\(files)")
    let folders = try (0..<files / 100).map { try folder("resolve-\(files)/folder-\($0)") }
    for folder in folders {
      for index in 0..<100 {
        guard FileManager.default.createFile(atPath: "\(folder)/file-\(index).txt", contents: nil) else {
          throw Unavailable("cannot make \(files) files in \(root): set AMBIT_BENCH_DIR to a folder with room")
        }
      }
    }
    var document = folders[0] + "/document.txt"
    try Data("a document\n".utf8).write(to: URL(filePath: document))
    // What was made is still on its way to the disk, and would be in the way of what is measured.
    sync()
    // In one launch the app makes the bookmark and stores it; in the next it resolves it.
    _ = try insideSandbox(["bookmark"], picks: [document])

    let app = try Conversation(
      sandboxed(["resolve", "\(rounds)"], picks: []), environment: environment, errors: scratch + "/errors")
    var samples: [Double] = []
    for round in 0..<rounds {
      guard app.line() == "ready" else { break }
      let next = folders[(round * 7 + 3) % folders.count] + "/document-\(round).txt"
      try FileManager.default.moveItem(atPath: document, toPath: next)
      document = next
      try app.tell("moved")
      guard let value = app.line().flatMap(Double.init) else { break }
      samples.append(value)
    }
    let status = app.close()
    if status != 0 || samples.count < rounds { throw app.failure(status) }
    // The first ones fill caches.
    return Array(samples.dropFirst(5))
  }
}
