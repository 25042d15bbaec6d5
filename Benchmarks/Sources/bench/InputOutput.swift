import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Reading a granted document, beside the file itself and beside the portal's file system: small and often, and a
  /// large one from start to end, out of the page cache. The three take turns.
  func io(rounds: Int = 9, opens: Int = 5000) -> [Row] {
    var samples: [String: [String: [Double]]] = [:]
    var notes: [String: String] = [:]
    let size = 1024
    do {
      let folder = try folder("io")
      let files = ["open": folder + "/small.bin", "read": folder + "/large.bin"]
      for (measure, file) in files { try fill(file, mebibytes: measure == "read" ? size : 1) }
      var paths: [String: String] = [:]
      var portal: Portal?
      do {
        let service = try Portal(scratch: scratch, environment: environment)
        portal = service
        for (measure, file) in files {
          paths[measure] = "\(service.mountPoint)/\(try service.grant(file))/\((file as NSString).lastPathComponent)"
        }
      } catch { notes["portal"] = "\(error)" }
      defer { portal?.close() }

      for round in 0..<rounds {
        progress("io, round \(round + 1) of \(rounds)")
        for (measure, file) in files {
          let arguments = measure == "open" ? ["open", "\(opens)"] : ["read", "2"]
          // The same program each time, in a process of its own, so that nothing but the file differs.
          let contenders: [(String, () throws -> [String])] = [
            ("native", { try outside(arguments + [file]) }),
            ("ambit", { try insideSandbox(arguments, picks: [file]) }),
            ("portal", { try paths[measure].map { try outside(arguments + [$0]) } ?? [] }),
          ]
          for (name, values) in contenders where notes[name] == nil {
            do {
              samples[measure, default: [:]][name, default: []] += try values().compactMap(Double.init)
            } catch { notes[name] = "\(error)" }
          }
        }
      }
    } catch { notes["native"] = "\(error)" }

    return [("open", "open + read 4 KiB + close", "µs"), ("read", "read 1 GiB through", "MiB/s")].flatMap {
      (key, measure, unit) in
      let values = samples[key] ?? [:]
      let ambit = values["ambit"]?.median
      return [
        // A time may be so much longer as a rate may be smaller: 0.97 of native speed.
        Row(
          "io", measure, unit: unit, ambit: ambit, peer: "native", other: values["native"]?.median,
          aim: key == "open" ? .ratioAtMost(1 / 0.97) : .ratioAtLeast(0.97), note: notes["native"] ?? notes["ambit"]),
        Row(
          "io", measure, unit: unit, ambit: ambit, peer: "document portal", other: values["portal"]?.median,
          note: notes["portal"]),
      ]
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
    _ = try readThrough(path)
  }
}
