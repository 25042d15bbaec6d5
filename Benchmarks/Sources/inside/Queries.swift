import AmbitKit
import Foundation
import Measure

/// Queries over a container with many documents. Each measure goes to standard output as a word and a number.
func queries(_ count: Int, _ turns: Int) throws {
  let documents = NSHomeDirectory() + "/Documents"
  let words = ["report", "letter", "minutes", "invoice", "holiday", "budget", "recipe", "draft"]
  for number in 0..<count {
    let folder = "\(documents)/\(number / 1000)"
    if number % 1000 == 0 {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    let name = "\(folder)/\(words[number % 8]) \(String(number &* 2_654_435_761 % 1_000_003, radix: 36)).txt"
    guard FileManager.default.createFile(atPath: name, contents: nil) else { throw Failure("\(name) cannot be made") }
  }

  func started(_ format: String) throws -> NSMetadataQuery {
    let query = NSMetadataQuery()
    query.predicate = NSPredicate(format: format)
    query.searchScopes = [NSMetadataQueryUbiquitousDocumentsScope]
    guard query.start() else { throw query.lastError ?? Failure("the query did not start") }
    return query
  }
  /// Until there is a result, in milliseconds, and until all are there.
  func gather(_ format: String) throws -> (first: Double, all: Double, count: Int) {
    let start = nanoseconds()
    let query = try started(format)
    var first: Double?
    while true {
      let isOver = !query.isGathering
      if first == nil, query.resultCount > 0 { first = Double(nanoseconds() - start) / 1e6 }
      if isOver { break }
      usleep(100)
    }
    let all = Double(nanoseconds() - start) / 1e6
    let count = query.resultCount
    query.stop()
    return (first ?? all, all, count)
  }

  let cold = try gather("TRUEPREDICATE")
  say("cold-first \(cold.first)")
  say("cold-all \(cold.all)")
  let warm = try gather("TRUEPREDICATE")
  say("warm-first \(warm.first)")
  say("warm-all \(warm.all)")
  say("items \(warm.count)")
  for turn in 0..<turns {
    let part = String(turn &* 7919 % 46_656 + 1296, radix: 36)
    say("substring \(try gather("kMDItemFSName CONTAINS[cd] '\(part)'").all)")
  }
  for turn in 0..<5 {
    let part = String(turn &* 7919 % 46_656 + 1296, radix: 36)
    say(
      "find \(try microseconds { try find("*\(part)*", documents) } / 1000)")
  }

  // A list that shows few of them.
  let live = try started("kMDItemFSName BEGINSWITH 'live'")
  try live.waitForBarrier()
  var late = 0
  for turn in 0..<200 {
    var failure: NSError?
    let url = URL(fileURLWithPath: "\(documents)/live \(turn)")
    unsafe NSFileCoordinator().coordinate(writingItemAt: url, error: &failure) { url in
      _ = FileManager.default.createFile(atPath: url.path, contents: nil)
    }
    if let failure { throw failure }
    if live.resultCount != turn + 1 { late += 1 }
  }
  say("late \(late)")
  for turn in 200..<400 {
    let start = nanoseconds()
    guard FileManager.default.createFile(atPath: "\(documents)/live \(turn)", contents: nil) else { break }
    while live.resultCount <= turn { usleep(50) }
    say("uncoordinated \(Double(nanoseconds() - start) / 1e6)")
  }
  live.stop()
}

private func find(_ pattern: String, _ folder: String) throws {
  // Foundation's own class waits for an end that it does not see inside.
  guard let output = unsafe popen("find '\(folder)' -name '\(pattern)' >/dev/null", "r"), unsafe pclose(output) == 0
  else {
    throw Failure("find(1) cannot be run")
  }
}
