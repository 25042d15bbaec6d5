import CPeers
import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Start and stop of a security scope, from inside: one document, over and over. Beside it two processes that do by hand what no
  /// way around the kernel saves: two exchanges, a mount and an unmount. What those cost differs from machine to machine, and on a
  /// virtual one from hour to hour.
  func scope(turns: Int = 20_000) -> [Row] {
    var (samples, floor): ([Double], [Double]) = ([], [])
    var (note, floorNote): (String?, String?)
    do {
      let document = try folder("scope") + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      samples = try insideSandbox(["scope", "\(turns)"], picks: [document]).compactMap(Double.init)
      do { floor = try byHand(document, turns) } catch { floorNote = "\(error)" }
    } catch { note = "\(error)" }
    let peer = "by hand"
    return [
      Row(
        "scope", "start + stop of a scope", unit: "µs", ambit: samples.median, peer: peer, other: floor.median,
        aim: .valueAtMost(100), note: note ?? floorNote),
      Row(
        "scope", "the slowest but 1 % of them", unit: "µs", ambit: samples.percentile(99), peer: peer,
        other: floor.percentile(99), aim: .valueAtMost(300), note: note ?? floorNote),
    ]
  }

  private func byHand(_ document: String, _ turns: Int) throws -> [Double] {
    let mountpoint = document + ".mounted"
    try Data().write(to: URL(filePath: mountpoint))
    var process: Int32 = 0
    let connection = unsafe cfloor_start(document, mountpoint, &process)
    guard connection >= 0 else { throw Unavailable("by hand: \(unsafe String(cString: strerror(-connection)))") }
    defer {
      close(connection)
      waitpid(process, nil, 0)
    }
    func turn() throws {
      let result = cfloor_turn(connection)
      guard result < 0 else { return }
      let reason = unsafe geteuid() == 0 ? String(cString: strerror(-result)) : "only root may mount"
      throw Unavailable("by hand: \(reason)")
    }
    for _ in 0..<1000 { try turn() }
    return try (0..<turns).map { _ in try microseconds(turn) }
  }

  /// A persistent, read-write grant of a file to an app, from the caller's side: `Documents.AddFull` of the portal, and
  /// `io.ambit.Grants.Add`, in turns of fifty: of each the first, for which everybody has to be woken, and the others. Beside it
  /// what an app sees of a pick, which asks a picker as well. A new file each time.
  func grant(count: Int = 1000) -> [Row] {
    var (handed, picked, portal): ([Double], [Double], [Double]) = ([], [], [])
    var (handedFirst, portalFirst): ([Double], [Double]) = ([], [])
    var notes: [String] = []
    do {
      let folder = try folder("grant")
      let files = (0..<count).map { "\(folder)/document-\($0).txt" }
      for file in files { try Data("a document\n".utf8).write(to: URL(filePath: file)) }
      let app = try App(self, "io.ambit.bench.handed")
      defer { app.close() }
      do {
        let service = try Portal(scratch: scratch, environment: environment)
        defer { service.close() }
        let turn = 50
        for start in stride(from: 0, to: count - turn + 1, by: turn) {
          let batch = files[start..<start + turn]
          let theirs = try batch.map { file in try microseconds { _ = try service.grant(file) } }
          let ours = try batch.map { file in try microseconds { try app.grant(file) } }
          // The first ones fill caches.
          guard start > 0 else { continue }
          (portalFirst, handedFirst) = (portalFirst + [theirs[0]], handedFirst + [ours[0]])
          (portal, handed) = (portal + [Array(theirs[1...]).median ?? 0], handed + [Array(ours[1...]).median ?? 0])
        }
      } catch {
        notes.append("\(error)")
        handed = try files.map { file in try microseconds { try app.grant(file) } }
      }
      // Some at a time: every pick is an argument.
      for batch in stride(from: 0, to: 200, by: 50).map({ Array(files[$0..<$0 + 50]) }) {
        picked += try insideSandbox(["grant", "\(batch.count)"], picks: batch).compactMap(Double.init)
      }
    } catch { notes.append("\(error)") }
    return [
      portal.isEmpty
        ? Row(
          "grant", "grant a document", unit: "µs", ambit: handed.median, peer: "document portal",
          aim: .ratioAtMost(0.2),
          note: notes.first)
        : Row(
          "grant", "grant a document", unit: "µs", pairs: handed, "document portal", portal, aim: .ratioAtMost(0.2),
          note: notes.first),
      portal.isEmpty
        ? Row("grant", "the first one after a while", unit: "µs", ambit: nil, peer: "document portal")
        : Row(
          "grant", "the first one after a while", unit: "µs", pairs: handedFirst, "document portal", portalFirst,
          aim: nil),
      Row(
        "grant", "pick one, by a script, seen from inside", unit: "µs", ambit: picked.median, peer: "document portal",
        other: portal.median, note: notes.first),
    ]
  }

  /// An app that is handed documents, as by its user.
  private struct App {
    private let name: String
    private let broker: Int32

    init(_ bench: Bench, _ name: String) throws {
      self.name = name
      // An app has to have been launched.
      _ = try Child.lines(
        [bench.ambit, "run", "--container", name, bench.inside, "grant", "0"], environment: bench.environment,
        errors: bench.scratch + "/errors")
      broker = unsafe cbroker_connect(bench.scratch + "/home/run/user")
      guard broker >= 0 else { throw Unavailable("cannot connect to the broker: error \(-broker)") }
    }

    func grant(_ file: String) throws {
      var answer = [CChar](repeating: 0, count: 4096)
      let result = unsafe cbroker_grant(broker, file, name, &answer, answer.count)
      guard result >= 0 else { throw Unavailable("the broker refused \(file): error \(-result)") }
    }

    func close() { _ = Glibc.close(broker) }
  }
}
