import Foundation
import Measure

extension Bench {
  /// Many sandboxes at once: how long a crowd takes to come and go, and what it needs while it is there.
  func crowd() -> [Row] {
    do {
      let contenders = try launchContenders()
      return rush(contenders) + standing(contenders)
    } catch {
      return [Row("crowd", "launch many at once", unit: "ms", ambit: nil, aim: .ratioAtMost(0.8), note: "\(error)")]
    }
  }

  private func rush(_ contenders: [Contender], size: Int = 64, rounds: Int = 9) -> [Row] {
    var samples: [String: [Double]] = [:]
    var note: String?
    do {
      for round in 0..<rounds + 1 {
        for contender in contenders {
          let start = nanoseconds()
          let children = try (0..<size).map { _ in
            try Child(contender.arguments, environment: environment, opens: contender.opens)
          }
          let failed = children.map { $0.wait() }.filter { $0 != 0 }
          let elapsed = Double(nanoseconds() - start) / 1_000_000
          guard failed.isEmpty else {
            throw Unavailable("\(failed.count) of \(size) \(contender.name) ended with status \(failed[0])")
          }
          if round >= 1 { samples[contender.name, default: []].append(elapsed) }
        }
      }
    } catch { note = "\(error)" }
    let peers: [(name: String, words: String, aim: Row.Aim?)] = [
      ("confined", "bubblewrap, as confined", .ratioAtMost(0.8)), ("bare", "bubblewrap, bare", nil),
    ]
    return peers.map { peer in
      Row(
        "crowd", "launch \(size) at once", unit: "ms", ambit: samples["ambit"]?.median, peer: peer.words,
        other: samples[peer.name]?.median, aim: peer.aim, note: note)
    }
  }

  /// Sandboxes that stand at the same time, by what the machine's available memory loses; and what is left when they have
  /// gone.
  private func standing(_ contenders: [Contender], size: Int = 200) -> [Row] {
    var memory: [String: Double] = [:]
    var notes: [String: String] = [:]
    var left: Double?
    for contender in contenders where contender.name != "bare" {
      do {
        var number = 0
        func start() throws -> Conversation {
          number += 1
          return try Conversation(
            contender.arguments.dropLast() + ["/bin/cat"], environment: environment,
            errors: "\(scratch)/errors-crowd-\(number)", opens: contender.opens)
        }
        // Once alone, so that the broker runs and the caches are filled.
        try start().close()
        settle()
        let descriptors = contender.name == "ambit" ? brokerDescriptors() : nil
        let before = try available()
        var crowd: [Conversation] = []
        defer { for each in crowd { each.close() } }
        for _ in 0..<size {
          let each = try start()
          crowd.append(each)
          try each.tell("here")
          guard each.line() == "here" else { throw each.failure(each.close()) }
        }
        memory[contender.name] = before - (try available())
        for each in crowd { each.close() }
        crowd = []
        if let descriptors {
          settle()
          left = brokerDescriptors().map { Double(max(0, $0 - descriptors)) }
        }
      } catch { notes[contender.name] = "\(error)" }
    }
    return [
      Row(
        "crowd", "\(size) sandboxes at once", unit: "MiB", ambit: memory["ambit"], peer: "bubblewrap, as confined",
        other: memory["confined"], aim: .valueAtMost(4096), note: notes["ambit"] ?? notes["confined"]),
      Row(
        "crowd", "descriptors left by them", unit: "", ambit: left, aim: .valueAtMost(0), note: notes["ambit"]),
    ]
  }

  /// The kernel takes its time to take sandboxes down, and the broker lets go of them, and makes ready what the next one
  /// needs, when it has nothing else to do.
  private func settle() { usleep(1_000_000) }

  private func available() throws -> Double {
    let text = try String(contentsOfFile: "/proc/meminfo", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") } ?? ""
    guard let kibibytes = Double(line.filter(\.isNumber)) else {
      throw Unavailable("/proc/meminfo has no MemAvailable")
    }
    return kibibytes / 1024
  }

  private func brokerDescriptors() -> Int? {
    let status = try? Child.lines([ambit, "broker", "status"], environment: environment, errors: "\(scratch)/errors")
    guard let start = status?.joined().range(of: "process "), let text = status?.joined() else { return nil }
    let pid = text[start.upperBound...].prefix { $0.isNumber }
    return try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
  }
}
