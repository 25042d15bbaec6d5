import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// The simulated cloud: documents on their way between two devices with brokers of their own, and the engine alone.
  func cloud(documents: Int = 1_000) -> [Row] {
    var rows: [Row] = []
    let measure = "\(documents) new documents on the other device"
    do {
      let times = try exchange(documents)
      rows.append(
        Row("cloud", measure, unit: "ms", ambit: times.made, aim: .valueAtMost(1_000)))
      rows.append(
        Row("cloud", "\(documents) edited documents on the other device", unit: "ms", ambit: times.edited))
      rows.append(
        Row("cloud", "\(documents) documents deleted on the other device", unit: "ms", ambit: times.deleted))
    } catch { rows.append(Row("cloud", measure, unit: "ms", ambit: nil, note: "\(error)")) }
    do {
      let lives = try number("livesPerSecond", ["--seeds", "3000", "--first", "1"])
      rows.append(
        Row(
          "cloud", "simulated lives, 240 steps with faults each", unit: "lives/s", ambit: lives, aim: .valueAtLeast(300)
        ))
      let time = try number("milliseconds", ["--documents", "10000"])
      rows.append(Row("cloud", "engines and ledger alone, 10000 documents", unit: "ms", ambit: time))
    } catch { rows.append(Row("cloud", "simulated lives", unit: "lives/s", ambit: nil, note: "\(error)")) }
    return rows
  }

  private func number(_ field: String, _ words: [String]) throws -> Double {
    let line = try Child.lines(
      [ambit, "cloud", "simulate", "--format", "json"] + words, environment: environment,
      errors: "\(scratch)/errors-simulate"
    ).joined()
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    guard let number = object?[field] as? NSNumber else { throw Unavailable("no \(field) in \(line)") }
    return number.doubleValue
  }

  private func exchange(_ documents: Int) throws -> (made: Double, edited: Double, deleted: Double) {
    let base = try folder("cloud")
    let socket = "\(base)/socket"
    let server = try Conversation(
      [ambit, "cloud", "serve", socket, "--store", "\(base)/store"], environment: environment,
      errors: "\(scratch)/errors-cloud")
    defer { server.close() }
    defer { _ = try? Child([ambit, "cloud", "stop", socket], environment: environment).wait() }
    guard server.line() != nil else { throw Unavailable("the cloud does not serve") }
    let devices = try ["laptop", "phone"].map { name in
      var own = environment
      own["AMBIT_HOME"] = "\(base)/home-\(name)"
      let path = try folder("cloud/\(name)")
      let device = try Conversation(
        [ambit, "cloud", "sync", path, "--cloud", socket, "--device", name], environment: own,
        errors: "\(scratch)/errors-\(name)")
      return (path, own, device)
    }
    defer {
      for (_, own, device) in devices {
        device.stop()
        _ = try? Child([ambit, "broker", "stop"], environment: own).wait()
      }
    }
    for (_, _, device) in devices { guard device.line() != nil else { throw Unavailable("a device does not start") } }
    let (here, there) = (devices[0].0, devices[1].0)
    func write(_ text: String) throws {
      for number in 0..<documents {
        try Data("\(text) \(number)\n".utf8).write(to: URL(filePath: "\(here)/\(number).txt"))
      }
    }
    let made = try milliseconds(until: { Self.files(there) == documents }) { try write("first") }
    // Each document is read: its content is the new one.
    let edited = try milliseconds(until: {
      (0..<documents).allSatisfy { number in
        (try? String(contentsOfFile: "\(there)/\(number).txt", encoding: .utf8)) == "second \(number)\n"
      }
    }) { try write("second") }
    let deleted = try milliseconds(until: { Self.files(there) == 0 }) {
      for number in 0..<documents { try FileManager.default.removeItem(atPath: "\(here)/\(number).txt") }
    }
    return (made, edited, deleted)
  }

  /// From the beginning of the body.
  private func milliseconds(until isDone: () -> Bool, _ body: () throws -> Void) throws -> Double {
    let began = nanoseconds()
    try body()
    while !isDone() {
      guard nanoseconds() - began < 120_000_000_000 else { throw Unavailable("not done after two minutes") }
      usleep(5_000)
    }
    return Double(nanoseconds() - began) / 1e6
  }

  private static func files(_ path: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: path).count { !$0.hasPrefix(".") }) ?? 0
  }
}
