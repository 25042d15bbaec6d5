import Foundation
import TestSupport
import Testing

/// A broker that does not answer: stopped by a signal, as a debugger or a user does it.
@Suite(.serialized, .waitingLong)
struct SilenceTests {
  private func withStopped(_ body: (Workspace, _ broker: Int32) throws -> Void) throws {
    try Workspace.with(TestUser.all[0]) { world in
      #expect(try world.ambit("grants").exit == .status(0))
      let broker = try #require(try world.brokerProcess())
      #expect(kill(broker, SIGSTOP) == 0)
      defer { _ = kill(broker, SIGCONT) }
      try body(world, broker)
    }
  }

  @Test func `status says which process does not answer and why, and does not wait for ever`() throws {
    try withStopped { world, broker in
      let answer = try world.ambit("broker", "status")
      #expect(answer.exit == .status(2), "\(answer)")
      #expect(answer.output == "not answering, process \(broker), stopped\n")
      #expect(answer.errors.contains("it is stopped. “kill -CONT \(broker)” lets it go on."), "\(answer)")
      #expect(kill(broker, SIGCONT) == 0)
      #expect(try world.ambit("broker", "status").output == "running, process \(broker), 0 app instances\n")
    }
  }

  @Test func `who waits for an answer is told, and gets it when the broker goes on`() throws {
    try withStopped { world, broker in
      let ambit = try Products.path("ambit")
      let document = try world.document("letter.txt")
      let asking = [
        ["grants"], ["ps"], ["grant", "no.such.app", document], ["revoke", "none"], ["app", "remove", "no.such.app"],
        ["run", "/bin/echo", "hello"],
      ]
      let waiting = try asking.map { try world.start([ambit] + $0) }
      for process in waiting {
        try Deadline.wait(for: "a sentence") {
          process.allErrors.contains("the broker (process \(broker)) does not answer: it is stopped")
            && process.allErrors.contains("lets it go on. Waiting for it; Ctrl-C ends that.\n")
        }
      }
      #expect(kill(broker, SIGCONT) == 0)
      let outcomes = try waiting.map { try $0.outcome() }
      #expect(outcomes.map(\.exit) == [0, 0, 1, 1, 1, 0].map { .status($0) }, "\(outcomes)")
      #expect(outcomes.last?.output == "hello\n")
    }
  }
}
