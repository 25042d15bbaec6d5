import BrokerCore
import Foundation
import Kernel
import Paths
import TestSupport
import Testing

@testable import Broker

@Suite struct `Presented files` {
  /// A loop that goes on for something that nothing takes uses a whole processor.
  @Test func `an event that settles when the last presenter leaves is taken, and nothing stays due`() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/a.txt"
    try Data("1".utf8).write(to: URL(fileURLWithPath: path))
    TestLoop.start()
    let (before, after) = try await onLoop {
      let clock = ManualClock()
      let files = PresentedFiles(clock)
      files.add(1, PathKey(path))
      try Data("2".utf8).write(to: URL(fileURLWithPath: path))
      var entries: [PollEntry] = []
      files.appendEntries(to: &entries, now: 0)
      try Poll.wait(&entries, timeout: .seconds(5))
      files.handle(entries[...], now: 0)
      files.remove(1)
      let before = files.nextDue(now: 0)
      // So long the folder is watched, should the document be opened again.
      let later = clock.monotonic + 1_000_000_000
      files.finishTurn(now: later)
      return (before, files.nextDue(now: later))
    }
    #expect(before != nil)
    #expect(after == nil)
  }

  @Test func `the names in a folder are looked through up to a number`() async throws {
    let folder = try TemporaryFolder()
    for number in 0..<5000 { _ = try folder.write("\(number)", "") }
    TestLoop.start()
    let path = PathKey(folder.path)
    let looked = try await onLoop {
      let files = PresentedFiles(ManualClock())
      let all = files.namesLeft
      return (0..<5).map { number in
        files.add(number, path)
        return all - files.namesLeft
      }
    }
    #expect(looked == Array(repeating: 4096, count: 5))
  }
}
