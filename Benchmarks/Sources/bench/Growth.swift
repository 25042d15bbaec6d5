import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// The same work of an app that has few grants, and of one that has many, each with a broker of its own. They take turns: what
  /// the machine does besides is shared out between the two, and what is compared are the two of each round. Where only calls are
  /// compared, all are started anew after some rounds, brokers too: where the kernel puts a process's memory makes it faster or
  /// slower for as long as it lives, by more than what is to be measured.
  func growth(few: Int = 10, many: Int = 10_000) -> [Row] {
    var samples: [String: [Int: [Double]]] = [:]
    var note: String?
    do {
      let all = try [few, many].map { try Population(self, $0) }
      defer { for each in all { each.stop() } }
      func compare(
        _ measure: String, _ rounds: Int, generations: Int = 1, _ begin: (Population, Int) throws -> Rounds
      ) throws {
        progress("growth, \(measure)")
        for generation in 0..<generations {
          if generations > 1 { for each in all { each.stop() } }
          let running = try all.map { try begin($0, generation) }
          defer { for each in running { each.program.close() } }
          for round in 0..<rounds + 2 {
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
              let value = try running[index].turn(round)
              // The first rounds fill caches.
              if round >= 2 { samples[measure, default: [:]][all[index].count, default: []].append(value) }
            }
          }
        }
      }
      try compare("grant a document", 5, generations: 4) { each, generation in
        // Seven times seven.
        let program = try each.conversation(["grant-turns", "7"], each.spare.dropFirst(generation * 49).prefix(49))
        return Rounds(program: program) { _ in try program.turn() }
      }
      try compare("start + stop of a scope", 20, generations: 8) { each, _ in
        let program = try each.conversation(["scope-turns", "100"], each.files[..<1])
        return Rounds(program: program) { _ in try program.turn() }
      }
      for each in all {
        _ = try Child.lines(
          each.command(["bookmark"], each.files[..<1]), environment: each.environment, errors: scratch + "/errors")
      }
      try compare("resolve a bookmark", 20, generations: 8) { each, _ in
        let program = try each.conversation(["unmoved-turns", "50"], [])
        return Rounds(program: program) { _ in try program.turn() }
      }
      try compare("open + close on a scope", 20, generations: 8) { each, _ in
        let program = try each.conversation(["just-open", "1000"], each.files[..<1])
        return Rounds(program: program) { _ in try program.turn() }
      }
      try compare("a save on the host until the app sees it", 200) { each, _ in
        let saves = try Saves(
          of: each.files[1], each.command(["await", "1000"], each.files[1..<2]), each.environment, scratch)
        return Rounds(program: saves.program) { round in try saves.save(round + 1) }
      }
      // The last: the document is somewhere else from here on.
      try compare("resolve after a move", 200) { each, _ in
        let program = try Conversation(
          each.command(["resolve", "1000"], []), environment: each.environment, errors: scratch + "/errors")
        var here = each.files[0]
        return Rounds(program: program) { round in
          guard program.line() == "ready" else { throw program.failure(program.close()) }
          let next = "\(each.files[0])-\(round)"
          try FileManager.default.moveItem(atPath: here, toPath: next)
          here = next
          return try program.turn()
        }
      }
    } catch { note = "\(error)" }
    let measures = [
      "grant a document", "start + stop of a scope", "resolve a bookmark", "open + close on a scope",
      "a save on the host until the app sees it", "resolve after a move",
    ]
    return measures.map { measure in
      Row(
        "growth", "\(measure), \(many) grants", unit: "µs", pairs: samples[measure]?[many] ?? [], "\(few) grants",
        samples[measure]?[few] ?? [], aim: .ratioAtMost(1.2), note: note)
    }
  }

  /// A program that stays, and what it does in a round.
  private struct Rounds {
    let program: Conversation
    let turn: (Int) throws -> Double
  }

  /// An app with so many grants, under a broker of its own.
  private struct Population {
    let count: Int
    let files: [String]
    let environment: [String: String]
    private let bench: Bench
    /// For grants that are made while others are measured.
    var spare: ArraySlice<String> { files[count...] }

    init(_ bench: Bench, _ count: Int) throws {
      progress("growth, \(count) grants")
      self.bench = bench
      self.count = count
      var environment = bench.environment
      environment["AMBIT_HOME"] = "\(bench.scratch)/home-\(count)"
      self.environment = environment
      let folder = try bench.folder("growth-\(count)")
      files = (0..<count + 200).map { "\(folder)/document-\($0).txt" }
      for file in files { try Data("a document\n".utf8).write(to: URL(filePath: file)) }
      for batch in stride(from: 0, to: count, by: 1000) {
        let picks = files[batch..<min(batch + 1000, count)]
        _ = try Child.lines(
          command(["grant", "\(picks.count)"], picks), environment: environment, errors: bench.scratch + "/errors")
      }
    }

    func command(_ arguments: [String], _ picks: ArraySlice<String>) -> [String] {
      [bench.ambit, "run", "--container", "io.ambit.growth"] + picks.flatMap { ["--pick", $0] } + [bench.inside]
        + arguments
    }

    func conversation(_ arguments: [String], _ picks: ArraySlice<String>) throws -> Conversation {
      let program = try Conversation(
        command(arguments, picks), environment: environment, errors: "\(bench.scratch)/errors-\(count)")
      try program.awaitReady()
      return program
    }

    func stop() { _ = try? Child([bench.ambit, "broker", "stop"], environment: environment).wait() }
  }
}
