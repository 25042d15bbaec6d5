import Kernel
import TestSupport
import Testing

@testable import BrokerCore

/// Services on one loop: what is isolated to it runs on its thread, waits and goes on.
@Suite struct `Waiting on the loop` {
  init() { TestLoop.start() }

  @Test func `a value that came before is there at once`() async throws {
    try await onLoop {
      let wait = Wait<Int>()
      wait.finish(1)
      wait.finish(2)
      let value = try await wait.get()
      #expect(value == 1)
    }
  }

  @Test func `whoever waits goes on with the value`() async throws {
    try await onLoop {
      let wait = Wait<String>()
      var order: [String] = []
      let task = Task.immediate { @BrokerLoop in
        order.append("asked")
        order.append(try await wait.get())
      }
      order.append("others")
      wait.finish("answered")
      try await task.value
      #expect(order == ["asked", "others", "answered"])
    }
  }

  @Test func `a client that has gone ends the wait`() async throws {
    try await onLoop {
      let (wait, cancellation, end) = (Wait<Int>(), Cancellation(), Wait<Bool>())
      BrokerLoop.begin(cancellation) {
        do {
          _ = try await wait.get()
          end.finish(false)
        } catch { end.finish(true) }
      }
      await Task.yield()
      #expect(!wait.isOver)
      cancellation.cancel()
      #expect(wait.isOver)
      let wasCancelled = try await end.get()
      #expect(wasCancelled)
      wait.finish(3)
    }
  }

  @Test func `a wait ends by itself when its time is up`() async throws {
    try await onLoop {
      let clock = ManualClock()
      let loop = EventLoop(clock: clock)
      let wait = Wait<Bool>()
      loop.end(wait, at: clock.monotonic + 5)
      loop.handle([], now: 0)
      #expect(!wait.isOver)
      clock.advance(5)
      loop.handle([], now: 0)
      let hasCome = try await wait.get()
      #expect(!hasCome)
    }
  }

  @Test func `facts that changed during a wait are waited for again`() async throws {
    try await onLoop {
      var fact = 1
      var waits: [Int] = []
      let (facts, value) = try await confirmed {
        fact
      } across: { known in
        waits.append(known)
        await Task.yield()
        if waits.count < 3 { fact += 1 }
        return known * 10
      }
      #expect(waits == [1, 2, 3])
      #expect(facts == 3)
      #expect(value == 30)
    }
  }

  @Test func `facts that are gone after a wait end it`() async throws {
    struct Gone: Error {}
    try await onLoop {
      var isThere = true
      await #expect(throws: Gone.self) {
        try await confirmed {
          if !isThere { throw Gone() }
          return 1
        } across: { _ in
          await Task.yield()
          isThere = false
        }
      }
    }
  }
}

/// Work in threads, and the loop that goes on with it.
@Suite struct `Jobs of the loop` {
  init() { TestLoop.start() }

  @Test func `the loop goes on with what a thread has found`() async throws {
    try await onLoop {
      let jobs = Jobs(clock: SystemClock())
      let here = pthread()
      let (value, there) = try await jobs.run(owner: "a", subject: "b") { _ in (7, pthread()) } ?? (0, 0)
      #expect(value == 7)
      #expect(there != here)
      #expect(pthread() == here)
    }
  }

  @Test func `work that makes no progress is given up`() async throws {
    try await onLoop {
      let clock = ManualClock()
      let jobs = Jobs(clock: clock)
      let goOn = try Wakeup()
      var outcome: [Int?] = []
      jobs.start(owner: "a", subject: "b") { _ in
        var entries = [PollEntry(goOn.descriptor, .read)]
        _ = try? Poll.wait(&entries)
        return 1
      } then: {
        outcome.append($0)
      }
      clock.advance(JobQueue.patience)
      jobs.handle([], now: clock.monotonic)
      #expect(outcome == [nil])
      goOn.signal()
    }
  }
}
