import Foundation
import Kernel
import TestSupport
import Testing

@testable import AmbitCommands
@testable import Audit

/// The process has been killed here.
private struct Killed: Error {}

/// When it happens: after so many more steps.
private final class Fuse {
  var steps: Int
  init(_ steps: Int) { self.steps = steps }

  func burn() throws {
    steps -= 1
    if steps < 0 { throw Killed() }
  }
}

/// A file that its writer is killed at, in the middle of a write or between two steps.
private struct DyingFile: ExportDestination {
  var file: FileDestination
  let fuse: Fuse
  let torn: Int
  var canReturn: Bool { file.canReturn }

  mutating func position(of source: ExportSource) throws -> ExportPosition {
    try fuse.burn()
    return try file.position(of: source)
  }

  mutating func discard() throws {
    try fuse.burn()
    try file.discard()
  }

  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws {
    do { try fuse.burn() } catch {
      let bytes = file.encoded(events, encoder)
      let handle = try #require(FileHandle(forWritingAtPath: file.path))
      try handle.seekToEnd()
      try handle.write(contentsOf: bytes.prefix(torn % (bytes.count + 1)))
      throw error
    }
    try file.send(events, encoder)
  }

  mutating func settles(within patience: Duration) throws -> Bool {
    try fuse.burn()
    let answer = try file.settles(within: patience)
    try fuse.burn()
    return answer
  }

  mutating func finish() throws {
    try fuse.burn()
    try file.finish()
    try fuse.burn()
  }
  func reopen() throws {}
}

/// A reader that forgets what it had not taken when its end, or the writer's, comes.
private final class Consumer {
  var taken: [Int64] = []
  var waiting: [Int64] = []
}

private struct DyingStream: ExportDestination {
  let consumer: Consumer
  let fuse: Fuse
  var generator: Seeded
  let canReturn = true

  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws {
    for event in events {
      if Int.random(in: 0..<40, using: &generator) == 0 { try lose() }
      consumer.waiting.append(event.sequence)
      try fuse.burn()
    }
  }

  mutating func settles(within patience: Duration) throws -> Bool {
    try fuse.burn()
    if Int.random(in: 0..<10, using: &generator) == 0 { try lose() }
    let count = Int.random(in: 0...consumer.waiting.count, using: &generator)
    consumer.taken += consumer.waiting.prefix(count)
    consumer.waiting.removeFirst(count)
    return consumer.waiting.isEmpty
  }

  mutating func finish() throws {
    while try !settles(within: .zero) {}
  }

  mutating func reopen() throws {}

  private func lose() throws {
    consumer.waiting = []
    throw ConsumerGone(sentence: "gone")
  }
}

@Suite struct `An export that is killed` {
  @Test(arguments: [true, false])
  func `AUD-10: and begun again leaves a file with each event once`(withState: Bool) throws {
    let log = try SmallLog(40)
    var generator = Seeded(seed: withState ? 5 : 6)
    let whole = log.whole(.jsonl)
    for round in 0..<30 {
      let file = "\(log.folder.path)/out-\(round)"
      let state = withState ? "\(log.folder.path)/state-\(round)" : nil
      var isDone = false
      while !isDone {
        let dying = DyingFile(
          file: try FileDestination(path: file, format: .jsonl), fuse: Fuse(.random(in: 0..<6, using: &generator)),
          torn: .random(in: 0..<20_000, using: &generator))
        do {
          var run = try log.run(.jsonl, to: dying, state: state)
          run.batch = .random(in: 1...20, using: &generator)
          try run.resume()
          try run.run()
          isDone = true
        } catch is Killed {}
      }
      #expect(try content(file) == whole, "round \(round)")
    }
  }

  @Test func `AUD-10: and begun again has handed every event to a reader at least once, in order`() throws {
    let log = try SmallLog(60)
    var generator = Seeded(seed: 7)
    for round in 0..<60 {
      let state = "\(log.folder.path)/state-\(round)"
      let consumer = Consumer()
      var isDone = false
      while !isDone {
        // What a killed writer had in the socket its reader may still take; here it does not.
        consumer.waiting = []
        let dying = DyingStream(
          consumer: consumer, fuse: Fuse(.random(in: 0..<80, using: &generator)),
          generator: Seeded(seed: generator.next()))
        do {
          var run = ExportRun(
            reader: log.reader, encoder: ExportEncoder(.jsonl, log.source), follows: true, destination: dying,
            stateFile: try StateFile(path: state), rest: { _ in true })
          run.batch = .random(in: 1...20, using: &generator)
          run.rest = { _ in
            if consumer.waiting.isEmpty, consumer.taken.last == 60 { throw Killed() }
            return true
          }
          try run.resume()
          #expect(run.sent <= consumer.taken.max() ?? 0, "a state says no more than the reader has")
          try run.run()
        } catch is Killed {
          isDone = try consumer.taken.last == 60 && StateFile(path: state).read()?.event.sequence == 60
        }
      }
      #expect(Set(consumer.taken) == Set(1...60), "round \(round)")
      for (one, next) in zip(consumer.taken, consumer.taken.dropFirst()) {
        #expect(next <= one + 1, "none is left out")
      }
    }
  }
}
