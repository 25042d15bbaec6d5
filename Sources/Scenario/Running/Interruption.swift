import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Thrown out of a wait when the user wants the run to end (Ctrl-C). Everything is cleaned up on the way out.
package struct Interrupted: Error, Equatable {
  package var signal: Int32

  package init(signal: Int32) { self.signal = signal }
}

/// A global, because a signal handler is a C function and captures nothing.
private let received = Atomic<Int32>(0)

/// Remembers a signal that asks the run to end.
package enum Interruption {
  /// The signal that came, if any.
  package static var signal: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Catches SIGINT, SIGTERM and SIGHUP for the rest of the process. For a program that does nothing but run scenarios.
  package static func listen() {
    _ = signal  // The atomic is made before a signal can find it unmade.
    for number in [SIGINT, SIGTERM, SIGHUP] {
      _ = Glibc.signal(number) { received.store($0, ordering: .relaxed) }
    }
  }

  /// Writing to a program that has ended is an error that the runner reads, not the end of the runner.
  package static func ignoreBrokenPipes() { _ = Glibc.signal(SIGPIPE, SIG_IGN) }
}
