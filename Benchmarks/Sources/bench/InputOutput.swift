import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Reading a granted document, beside the file itself and beside the portal's file system: small and often, and a
  /// large one from start to end, out of the page cache.
  ///
  /// What is small is also set beside the file itself, read by a process with a filter that allows everything: each call of a
  /// process that has one takes longer (some 40 ns), whatever is in it, and of what is left over Ambit's mount is to blame.
  func io() -> [Row] {
    var rows = io(
      "just-open", "open + close", unit: "µs", mebibytes: 1, rounds: 25, turns: 1000, aim: .ratioAtMost(1.1))
    rows += io("open", "open + read 4 KiB + close", unit: "µs", mebibytes: 1, rounds: 25, turns: 1000)
    for (way, words) in [
      (Transfer.sequential, "read"), (.random, "read at random"), (.mapped, "read mapped"), (.written, "write"),
    ] {
      for (size, name) in [(4096, "4 KiB"), (65_536, "64 KiB"), (1 << 20, "1 MiB")] {
        rows += io(way.rawValue, "\(words), \(name) at a time", unit: "MiB/s", mebibytes: 64, rounds: 25, turns: size)
      }
    }
    return rows + io("read", "read 1 GiB through", unit: "MiB/s", mebibytes: 1024, rounds: 4, turns: 1)
  }

  /// The contenders are the same program, each in a process that stays, with a buffer of the same alignment that it has
  /// written to before. They take short turns, one at a time and each round in another order, and Ambit is compared with each
  /// peer round by round: whatever else the machine does, and whatever the first one in a round finds in the caches, is
  /// shared out among them. After some rounds all of them are started anew: where the kernel puts a process's memory makes it faster
  /// or slower for as long as it lives, by more than what is to be measured.
  private func io(
    _ act: String, _ measure: String, unit: String, mebibytes: Int, rounds: Int, turns: Int, aim: Row.Aim? = nil,
    generations: Int = 4
  ) -> [Row] {
    // What any filter costs does not show beside more than that.
    let isSmall = unit == "µs" || turns <= 65_536 && turns > 1
    var samples: [String: [Double]] = [:]
    var notes: [String: String] = [:]
    var portal: Portal?
    defer { portal?.close() }
    do {
      let file = try folder("io") + "/\(act).bin"
      try fill(file, mebibytes: mebibytes)
      defer { try? FileManager.default.removeItem(atPath: file) }
      var contenders: [(name: String, arguments: [String])] = [
        ("native", [inside, act, "\(turns)", file]), ("ambit", sandboxed([act, "\(turns)"], picks: [file])),
      ]
      if isSmall { contenders.append(("filtered", [inside, act, "\(turns)", file, "filtered"])) }
      do {
        let service = try Portal(scratch: scratch, environment: environment)
        portal = service
        let name = (file as NSString).lastPathComponent
        contenders.append(
          ("portal", [inside, act, "\(turns)", "\(service.mountPoint)/\(try service.grant(file))/\(name)"]))
      } catch { notes["portal"] = "\(error)" }

      progress("io, \(measure), \(generations) × \(rounds) rounds")
      for _ in 0..<generations {
        var running: [(name: String, program: Conversation)] = []
        defer { for each in running { each.program.close() } }
        for (name, arguments) in contenders where notes[name] == nil {
          do {
            let program = try Conversation(arguments, environment: environment, errors: "\(scratch)/errors-\(name)")
            try program.awaitReady()
            running.append((name, program))
          } catch { notes[name] = "\(error)" }
        }
        // The first rounds fill caches.
        let warm = rounds > 10 ? 4 : 1
        for round in 0..<rounds + warm {
          // Each comes first, second … as often as the others, and behind each of them.
          let order = running.indices.map { running[($0 + round) % running.count] }
          for (name, program) in round / running.count % 2 == 0 ? order : order.reversed() {
            let value = try program.turn()
            if round >= warm { samples[name, default: []].append(value) }
          }
        }
      }
    } catch { notes["native"] = "\(error)" }

    // A time may be so much longer as a rate may be smaller: 0.98 of native speed, and five times the portal's.
    let aims: (Row.Aim, Row.Aim) =
      unit == "µs" ? (aim ?? .ratioAtMost(1 / 0.98), .ratioAtMost(0.2)) : (.ratioAtLeast(0.98), .ratioAtLeast(5))
    let ambit = samples["ambit"] ?? []
    let peers = [("native", "native", aims.0), ("portal", "document portal", aims.1)]
    return (peers + (isSmall ? [("filtered", "native, with any filter", aims.0)] : [])).map { name, peer, aim in
      Row(
        "io", measure, unit: unit, pairs: ambit, peer, samples[name] ?? [], aim: aim,
        note: notes[name] ?? (name == "native" ? notes["ambit"] : nil))
    }
  }

  /// A file of random-looking bytes, which no file system stores as a hole.
  private func fill(_ path: String, mebibytes: Int) throws {
    var generator = SystemRandomNumberGenerator()
    let block = Data((0..<1_048_576).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else { throw Unavailable("cannot write \(path)") }
    defer { try? file.close() }
    do {
      for _ in 0..<mebibytes { try file.write(contentsOf: block) }
    } catch { throw Unavailable("cannot write \(mebibytes) MiB to \(path): set AMBIT_BENCH_DIR to a folder with room") }
    // Written out now, so that the disk is not still at it while others are measured.
    _ = fsync(file.fileDescriptor)
    _ = try readThrough(path, Buffer(128 * 1024))
  }
}
