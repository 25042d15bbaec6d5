import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// How long it takes until an app that has a document started sees what an editor on the host saved, by a new file that it renamed
  /// over the old one: from the rename's return to the first open inside that finds the new content. In a sandbox that shows the
  /// file by a mount of its own, as bubblewrap does, that never comes.
  func save(rounds: Int = 200) -> [Row] {
    var samples: [Double] = []
    var note: String?
    do {
      let document = try folder("save") + "/document.txt"
      samples = try saves(of: document, seenBy: sandboxed(["await", "\(rounds)"], picks: [document]), rounds: rounds)
    } catch { note = "\(error)" }
    let measure = "a save on the host, by rename, until the app sees it"
    return [
      Row("save", measure, unit: "µs", ambit: samples.median, aim: .valueAtMost(5000), note: note),
      Row("save", "the slowest but 1 % of them", unit: "µs", ambit: samples.percentile(99), note: note),
    ]
  }

  /// - Returns: microseconds from each save to when it was seen.
  private func saves(of document: String, seenBy command: [String], rounds: Int) throws -> [Double] {
    let saves = try Saves(of: document, command, environment, scratch)
    defer { saves.program.close() }
    return try (1...rounds).map { try saves.save($0) }
  }
}

/// An app that has a document started and waits for what is saved, and an editor on the host.
struct Saves {
  let program: Conversation
  private let document: String

  init(of document: String, _ command: [String], _ environment: [String: String], _ scratch: String) throws {
    self.document = document
    try Self.write("0", to: document)
    program = try Conversation(command, environment: environment, errors: scratch + "/errors")
  }

  /// - Returns: microseconds from the save to when it was seen.
  func save(_ round: Int) throws -> Double {
    try program.awaitReady()
    try program.tell("\(round)")
    // It looks already when the file comes.
    usleep(2000)
    try Self.write("\(round)", to: document + ".new")
    guard unsafe rename(document + ".new", document) == 0 else { throw Unavailable("cannot rename \(document)") }
    let saved = nanoseconds()
    guard let seen = program.line().flatMap(UInt64.init) else { throw program.failure(program.close()) }
    return seen > saved ? Double(seen - saved) / 1000 : 0
  }

  private static func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }
}
