import CPeers
import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Start and stop of a security scope, from inside: one document, over and over.
  func scope(turns: Int = 20_000) -> [Row] {
    var samples: [Double] = []
    var note: String?
    do {
      let document = try folder("scope") + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      samples = try insideSandbox(["scope", "\(turns)"], picks: [document]).compactMap(Double.init)
    } catch { note = "\(error)" }
    return [
      Row(
        "scope", "start + stop of a scope", unit: "µs", ambit: samples.median, aim: .valueAtMost(100), note: note),
      Row(
        "scope", "the slowest but 1 % of them", unit: "µs", ambit: samples.percentile(99), aim: .valueAtMost(300),
        note: note),
    ]
  }

  /// The same work of an app that has few grants, and of one that has many.
  func growth(few: Int = 10, many: Int = 10_000) -> [Row] {
    var samples: [String: [Int: [Double]]] = [:]
    var note: String?
    do {
      for count in [few, many] {
        progress("growth, \(count) grants")
        let folder = try folder("growth-\(count)")
        let files = (0..<count + 200).map { "\(folder)/document-\($0).txt" }
        for file in files { try Data("a document\n".utf8).write(to: URL(filePath: file)) }
        // An app of its own, by its container.
        let app = [ambit, "run", "--container", "io.ambit.growth-\(count)"]
        func command(_ arguments: [String], _ picks: ArraySlice<String>) -> [String] {
          app + picks.flatMap { ["--pick", $0] } + [inside] + arguments
        }
        func run(_ arguments: [String], _ picks: ArraySlice<String>) throws -> [Double] {
          try Child.lines(command(arguments, picks), environment: environment, errors: scratch + "/errors")
            .compactMap(Double.init)
        }
        func note(_ measure: String, _ values: [Double]) { samples[measure, default: [:]][count] = values }
        for batch in stride(from: 0, to: count, by: 1000) {
          let picks = files[batch..<min(batch + 1000, count)]
          _ = try run(["grant", "\(picks.count)"], picks)
        }
        note(Grown.grant, try run(["grant", "200"], files[count...]))
        note(Grown.scope, try run(["scope", "2000"], files[..<1]))
        _ = try run(["bookmark"], files[..<1])
        note(Grown.resolve, try run(["unmoved", "1000"], []))
        note(Grown.open, try turns(command(["just-open", "2000"], files[..<1])))
        note(Grown.save, try saves(of: files[1], seenBy: command(["await", "100"], files[1..<2]), rounds: 100))
        // The last: the document is somewhere else from here on.
        note(Grown.moved, try moves(of: files[0], app + [inside, "resolve", "100"]))
      }
    } catch { note = "\(error)" }
    return Grown.all.map { measure in
      Row(
        "growth", "\(measure), \(many) grants", unit: "µs", ambit: samples[measure]?[many]?.median,
        peer: "\(few) grants", other: samples[measure]?[few]?.median, aim: .ratioAtMost(1.2), note: note)
    }
  }

  private enum Grown {
    static let grant = "grant a document"
    static let scope = "start + stop of a scope"
    static let resolve = "resolve a bookmark"
    static let open = "open + close on a scope"
    static let save = "a save on the host until the app sees it"
    static let moved = "resolve after a move"
    static let all = [grant, scope, resolve, open, save, moved]
  }

  private func turns(_ command: [String], rounds: Int = 31) throws -> [Double] {
    let program = try Conversation(command, environment: environment, errors: scratch + "/errors")
    try program.awaitReady()
    let samples = try (0..<rounds + 2).map { _ in try program.turn() }
    program.close()
    return Array(samples.dropFirst(2))
  }

  /// Between two resolutions the document gets another name.
  private func moves(of document: String, _ command: [String], rounds: Int = 100) throws -> [Double] {
    let app = try Conversation(command, environment: environment, errors: scratch + "/errors")
    var here = document
    let samples = try (0..<rounds).map { round in
      try app.awaitReady()
      let next = "\(document)-\(round)"
      try FileManager.default.moveItem(atPath: here, toPath: next)
      here = next
      return try app.turn()
    }
    app.close()
    return Array(samples.dropFirst(5))
  }

  /// A persistent, read-write grant of a file to an app, from the caller's side: `Documents.AddFull` of the portal, and
  /// `io.ambit.Grants.Add`. Beside it what an app sees of a pick, which asks a picker as well. A new file each time.
  func grant(count: Int = 200) -> [Row] {
    var (handed, picked, portal): ([Double], [Double], [Double]) = ([], [], [])
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
        picked += try insideSandbox(["grant", "\(batch.count)"], picks: batch).compactMap(Double.init)
      }
      handed = try hand(files, to: "io.ambit.bench.handed")
    } catch { notes.append("\(error)") }
    return [
      Row(
        "grant", "grant a document", unit: "µs", ambit: handed.median, peer: "document portal", other: portal.median,
        aim: .ratioAtMost(0.2), note: notes.first),
      Row(
        "grant", "pick one, by a script, seen from inside", unit: "µs", ambit: picked.median, peer: "document portal",
        other: portal.median, note: notes.first),
    ]
  }

  private func hand(_ files: [String], to app: String) throws -> [Double] {
    // An app has to have been launched.
    _ = try Child.lines(
      [ambit, "run", "--container", app, inside, "grant", "0"], environment: environment, errors: scratch + "/errors")
    let broker = unsafe cbroker_connect(scratch + "/home/run/user")
    guard broker >= 0 else { throw Unavailable("cannot connect to the broker: error \(-broker)") }
    defer { _ = close(broker) }
    var answer = [CChar](repeating: 0, count: 4096)
    return try files.map { file in
      try microseconds {
        let result = unsafe cbroker_grant(broker, file, app, &answer, answer.count)
        guard result >= 0 else { throw Unavailable("the broker refused \(file): error \(-result)") }
      }
    }
  }
}
