import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Resolving a bookmark where its document still is; and after it was renamed and moved to another folder, in a small tree
  /// and in a large one. Who can open a document by its handle finds it whatever the tree. Others search it, or look where
  /// the broker has seen it since, before anybody asked. Started by root, both are measured.
  ///
  /// `AMBIT_BENCH_FILES` is the size of the large tree.
  func resolve(rounds: Int = 100) -> [Row] {
    let isRoot = geteuid() == 0
    let small = 1_000
    let large = ProcessInfo.processInfo.environment["AMBIT_BENCH_FILES"].flatMap { Int($0) } ?? 50_000
    var rows: [Row] = []
    var note: String?
    var unmoved: Double?
    do {
      let document = try folder("resolve-unmoved") + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      _ = try insideSandbox(["bookmark"], picks: [document])
      unmoved = try insideSandbox(["unmoved", "1000"], picks: []).compactMap(Double.init).median
    } catch { note = "\(error)" }
    rows.append(
      Row(
        "resolve", "resolve a bookmark, nothing moved", unit: "µs", ambit: unmoved, aim: .valueAtMost(100), note: note))

    var values: [Way: [Int: Double]] = [:]
    let ways: [Way] = isRoot ? [.handle] : [.search, .catalog, .descriptor]
    do {
      for files in [small, large] {
        var tree = try Tree(self, files)
        for way in ways { values[way, default: [:]][files] = try samples(way, &tree, rounds).median }
      }
    } catch { note = "\(error)" }
    for way in ways {
      let measure = "after a move, \(large) files, \(way.rawValue)"
      let (ambit, other) = (values[way]?[large], values[way]?[small])
      rows.append(Row("resolve", measure, unit: "µs", ambit: ambit, aim: .valueAtMost(way.aim), note: note))
      rows.append(
        Row(
          "resolve", measure, unit: "µs", ambit: ambit, peer: "\(small) files", other: other,
          aim: way == .search ? nil : .ratioAtMost(1.2), note: note))
    }
    return isRoot ? rows + asOrdinaryUser("resolve") : rows
  }

  /// How the broker finds a document that was moved.
  private enum Way: String {
    case handle = "by its handle"
    /// Moved while no broker ran, and asked for at once.
    case search = "searched for"
    /// Moved while no broker ran, and asked for some seconds after one has been started.
    case catalog = "as the catalog has it"
    /// Moved while the broker has it open.
    case descriptor = "kept open"

    /// Microseconds.
    var aim: Double {
      switch self {
      case .handle: 200
      case .search: 50_000
      case .catalog, .descriptor: 1_000
      }
    }
  }

  /// Files in folders, and a document that moves between them.
  private struct Tree {
    let folders: [String]
    private(set) var document: String
    private var moves = 0

    init(_ bench: Bench, _ files: Int) throws {
      progress("resolve, a tree of \(files) files")
      let root = try bench.folder("resolve-\(files)")
      folders = try (0..<files / 100).map { try bench.folder("resolve-\(files)/folder-\($0)") }
      for folder in folders {
        for index in 0..<100 {
          let file = unsafe open("\(folder)/file-\(index).txt", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
          guard file >= 0 else {
            throw Unavailable("cannot make \(files) files in \(root): set AMBIT_BENCH_DIR to a folder with room")
          }
          close(file)
        }
      }
      document = folders[0] + "/document.txt"
      try Data("a document\n".utf8).write(to: URL(filePath: document))
      // What was made is still on its way to the disk, and would be in the way of what is measured.
      sync()
    }

    mutating func move() throws {
      moves += 1
      let next = folders[(moves * 7 + 3) % folders.count] + "/document-\(moves).txt"
      try FileManager.default.moveItem(atPath: document, toPath: next)
      document = next
    }
  }

  private func samples(_ way: Way, _ tree: inout Tree, _ rounds: Int) throws -> [Double] {
    // In one launch the app makes the bookmark and stores it; in the next it resolves it.
    _ = try insideSandbox(["bookmark"], picks: [tree.document])
    switch way {
    case .search:
      return try (0..<max(3, rounds / 10)).flatMap { _ in
        try stopBroker()
        try tree.move()
        return try answers(1, &tree, moving: false)
      }
    case .catalog: return try catalogued(tree, documents: max(10, rounds / 5))
    case .handle, .descriptor: break
    }
    // The first ones fill caches.
    return Array(try answers(rounds, &tree, moving: true).dropFirst(5))
  }

  /// The app stays; between two resolutions the host moves the document.
  private func answers(_ rounds: Int, _ tree: inout Tree, moving: Bool) throws -> [Double] {
    let app = try Conversation(
      sandboxed(["resolve", "\(rounds)"], picks: []), environment: environment, errors: scratch + "/errors")
    var samples: [Double] = []
    for _ in 0..<rounds {
      guard app.line() == "ready" else { break }
      if moving { try tree.move() }
      try app.tell("moved")
      guard let value = app.line().flatMap(Double.init) else { break }
      samples.append(value)
    }
    let status = app.close()
    if status != 0 || samples.count < rounds { throw app.failure(status) }
    return samples
  }

  /// Many documents are moved while no broker runs; the next one has seen them before the app asks for them, one after the other.
  private func catalogued(_ tree: Tree, documents count: Int) throws -> [Double] {
    var places = tree.folders.prefix(count).map { "\($0)/catalogued.txt" }
    for place in places { try Data("a document\n".utf8).write(to: URL(filePath: place)) }
    _ = try insideSandbox(["bookmarks", "\(places.count)"], picks: places)
    return try (0..<3).flatMap { round in
      try stopBroker()
      for (index, place) in places.enumerated() {
        let folder = tree.folders[(index * 7 + round * 31 + 3) % tree.folders.count]
        places[index] = "\(folder)/catalogued-\(round)-\(index).txt"
        try FileManager.default.moveItem(atPath: place, toPath: places[index])
      }
      let app = try Conversation(
        sandboxed(["resolve-all", "\(places.count)"], picks: []), environment: environment, errors: scratch + "/errors")
      try app.awaitReady()
      usleep(2_500_000)
      try app.tell("moved")
      let samples = places.compactMap { _ in app.line().flatMap(Double.init) }
      let status = app.close()
      if status != 0 || samples.count < places.count { throw app.failure(status) }
      // With the first one a new broker opens what it writes to.
      return Array(samples.dropFirst())
    }
  }

  private func stopBroker() throws {
    _ = try Child([ambit, "broker", "stop"], environment: environment).wait()
    // It has said goodbye, and may need a moment to be gone.
    usleep(200_000)
  }
}
