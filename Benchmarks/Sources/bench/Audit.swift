import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Entries of the large log. AMBIT_BENCH_EVENTS is another number, for a shorter run.
  private static let events =
    ProcessInfo.processInfo.environment["AMBIT_BENCH_EVENTS"].flatMap(Int.init).map { max(1000, $0) } ?? 10_000_000
  /// Bytes that an entry takes on the disk, with what finds it and what SQLite writes before it is in its place.
  private static let entrySize = 700

  /// The audit log: what it takes, what an entry costs, and how soon it answers.
  func audit() -> [Row] {
    do {
      let folder = try folder("audit")
      try requireRoom(in: folder, bytes: Self.events * Self.entrySize)
      var rows = part("entries a second") { try sustained(folder) } + part("a start's entry") { try oneStart(folder) }
      let log = "\(folder)/large.sqlite"
      progress("audit: making a log of \(Self.events) entries")
      let made = try seconds { _ = try load("make", log, Self.events) }
      rows.append(
        Row(
          "audit", "make a log of \(count(Self.events)) entries", unit: "events/s", ambit: Double(Self.events) / made))
      rows += part("queries") { try queries(log) } + part("verify, export") { try throughput(log) }
      try removeLog(log)
      rows += part("what reads a log whole") { try longWork(folder) }
      try removeLog("\(folder)/million.sqlite")
      return rows
    } catch {
      return [Row("audit", "the log", unit: "events/s", ambit: nil, note: "\(error)")]
    }
  }

  /// What fails takes none of the others' rows along.
  private func part(_ name: String, _ body: () throws -> [Row]) -> [Row] {
    do { return try body() } catch { return [Row("audit", name, unit: "", ambit: nil, note: "\(error)")] }
  }

  /// One thread adds, as the broker's does: an entry or two in an append; others move and sync them. The clock runs until the log
  /// is closed, with everything in the database and on the disk.
  private func sustained(_ folder: String, seconds: Int = 5) throws -> [Row] {
    try [(1, "one in an append"), (2, "two in an append"), (100, "a hundred in an append")].map { each, name in
      let log = "\(folder)/sustained.sqlite"
      let numbers = try load("sustain", log, seconds, each)
      try removeLog(log)
      return Row(
        "audit", "entries until all are on the disk, \(seconds) s, \(name)", unit: "events/s",
        ambit: numbers[0] / numbers[1], aim: each > 2 ? nil : .valueAtLeast(50_000))
    }
  }

  /// Nothing in the product leaves the log out, so what a start has to do for it is measured by itself: all of it that an unaudited
  /// start would not do.
  private func oneStart(_ folder: String) throws -> [Row] {
    let log = "\(folder)/start.sqlite"
    let numbers = try load("start", log, 20_000)
    try removeLog(log)
    return [
      Row(
        "audit", "a start's entry: made, hashed, written, moved later", unit: "µs", ambit: numbers[0] + numbers[2],
        aim: .valueAtMost(30)),
      Row("audit", "of it in the thread that answers the start", unit: "µs", ambit: numbers[0]),
      Row("audit", "the slowest of those but 1 %", unit: "µs", ambit: numbers[1]),
    ]
  }

  /// Whole processes, from start to end.
  private func queries(_ log: String, rounds: Int = 9) throws -> [Row] {
    // Something of the middle of the log, to be asked for.
    let errors = scratch + "/errors"
    let some = try Child.lines(
      [ambit, "audit", "log", "--log", log, "--format", "json", "--kind", "grant", "--limit", "50"],
      environment: environment, errors: errors)
    guard let line = some.first, let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let document = (event["document"] as? [String: Any])?["path"] as? String, let time = event["time"] as? String
    else { throw Unavailable("the log has no grant") }
    let hour = String(time.prefix(13))
    let queries: [(name: String, words: [String])] = [
      ("by app, the last 100", ["--app", "org.example.app3", "--limit", "100"]),
      ("by an app with few entries, the last 100", ["--app", "org.example.rare", "--limit", "100"]),
      ("by document, the last 100", ["--document", document, "--limit", "100"]),
      (
        "by time, the last 100 of an hour",
        ["--since", hour + ":00:00Z", "--until", hour + ":59:59Z", "--limit", "100"]
      ),
      ("by time, the last 100 of a year", ["--until", "2023-11-20T00:00:00Z", "--limit", "100"]),
      (
        "by app, document and time together",
        ["--app", "org.example.app3", "--document", document, "--since", "2023-11-15T00:00:00Z", "--limit", "100"]
      ),
      ("by an app that is not in it", ["--app", "org.example.none"]),
    ]
    return try queries.map { query in
      let command = [ambit, "audit", "log", "--log", log, "--format", "json"] + query.words
      var samples: [Double] = []
      for _ in 0..<rounds { samples.append(try Child.timed(command, environment: environment)) }
      return Row(
        "audit", "\(query.name), of \(count(Self.events))", unit: "ms", ambit: samples.median, aim: .valueAtMost(100))
    }
  }

  private func throughput(_ log: String) throws -> [Row] {
    let works = [
      ("verify", ["verify", log]),
      ("export as JSON Lines to a file", ["export", "--log", log, "--as", "jsonl", "--to", log + ".jsonl"]),
    ]
    return try works.map { name, words in
      let elapsed = try Child.timed([ambit, "audit"] + words, environment: environment)
      try? FileManager.default.removeItem(atPath: log + ".jsonl")
      return Row(
        "audit", "\(name), of \(count(Self.events))", unit: "events/s", ambit: Double(Self.events) / elapsed * 1000)
    }
  }

  /// What reads a log from its beginning to its end.
  private func longWork(_ folder: String) throws -> [Row] {
    let log = "\(folder)/million.sqlite"
    let events = min(1_000_000, Self.events)
    progress("audit: making a log of \(events) entries")
    _ = try load("make", log, events)
    let rules = "\(folder)/rules.toml"
    try Data(Self.rules.utf8).write(to: URL(fileURLWithPath: rules))
    let works = [
      ("report", ["report", "--log", log, "--output", "\(folder)/report.html"]),
      ("check, seven rules", ["check", log, rules]),
      ("simulate under strict", ["simulate", log, "--policy", "strict", "--format", "json"]),
      ("at its end", ["at", "now", "--log", log, "--format", "json"]),
    ]
    return try works.map { name, words in
      let start = nanoseconds()
      let status = try Child([ambit, "audit"] + words, environment: environment).wait()
      // Rules may be violated.
      guard [0, 1].contains(status) else { throw Unavailable("ambit audit \(words[0]) ended with status \(status)") }
      return Row(
        "audit", "\(name), of \(count(events))", unit: "s", ambit: Double(nanoseconds() - start) / 1e9,
        aim: .valueAtMost(10))
    }
  }

  private static let rules = """
    [[rule]]
    name = "Contracts are nobody's"
    kind = "no-writes"
    below = "/home/alice/Contracts"
    [[rule]]
    name = "Starts have their stops"
    kind = "stops-within"
    within = "1h"
    or_exit = true
    [[rule]]
    name = "No folders"
    kind = "no-grants"
    document = "folder"
    [[rule]]
    name = "Few at a time"
    kind = "scopes-at-most"
    most = 200
    [[rule]]
    name = "Nothing failed"
    kind = "no-events"
    event = "start"
    result = "failed"
    [[rule]]
    name = "By the user"
    kind = "grants-by"
    how = ["user"]
    [[rule]]
    name = "By day"
    kind = "only-during"
    from = "00:00"
    to = "23:59"
    zone = "Z"

    """

  // MARK: -

  private func load(_ verb: String, _ log: String, _ numbers: Int...) throws -> [Double] {
    let program = (ambit as NSString).deletingLastPathComponent + "/logload"
    let lines = try Child.lines(
      [program, verb, log] + numbers.map(String.init), environment: environment, errors: scratch + "/errors")
    let found = (lines.last ?? "").split(separator: " ").compactMap { Double($0) }
    guard !found.isEmpty else { throw Unavailable("logload \(verb) has answered nothing") }
    return found
  }

  private func removeLog(_ log: String) throws {
    let folder = (log as NSString).deletingLastPathComponent
    let stem = ((log as NSString).lastPathComponent as NSString).deletingPathExtension
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(stem) {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  private func requireRoom(in folder: String, bytes: Int) throws {
    var about = statvfs()
    guard unsafe statvfs(folder, &about) == 0 else { throw Unavailable("nobody says how much room is in \(folder)") }
    let free = Int(about.f_bavail) * Int(about.f_frsize)
    guard free >= bytes else {
      throw Unavailable(
        "\(folder) has \(free >> 20) MiB left, and a log of \(Self.events) entries needs \(bytes >> 20); "
          + "AMBIT_BENCH_DIR names another folder, AMBIT_BENCH_EVENTS a smaller log")
    }
  }

  private func count(_ events: Int) -> String {
    events % 1_000_000 == 0 ? "\(events / 1_000_000) million" : "\(events)"
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Double { try microseconds(body) / 1e6 }
}
