internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// What this process has as standard input, output and error, and what of it the app gets.
///
/// A stream that is a terminal is never handed in: an app that has the user's terminal can read what is typed there
/// later, and push keys into it. It gets a terminal of its own instead.
struct StandardStreams {
  /// For the app; `nil`: the sandbox's own terminal.
  let forApp: [Descriptor?]
  /// Which of them are terminals here.
  let isTerminal: [Bool]

  init() throws {
    var streams: [Descriptor?] = []
    var terminals: [Bool] = []
    for number in Int32(0)...2 {
      let terminal = isatty(number) == 1
      terminals.append(terminal)
      if terminal {
        streams.append(nil)
      } else {
        let copy = try KernelError.check("fcntl", "F_DUPFD_CLOEXEC, \(number)") { fcntl(number, F_DUPFD_CLOEXEC, 10) }
        let stream = Descriptor(owning: copy)
        // With one an app could send to any socket that it has a name of, which is what the filter refuses it otherwise.
        if let socket = try? SocketKind(of: stream), socket.family == .unix, socket.isDatagram {
          throw Failure(
            "standard \(["input", "output", "error"][Int(number)]) is a Unix datagram socket, which an app is not given; "
              + "put a pipe in between.")
        }
        streams.append(stream)
      }
    }
    forApp = streams
    isTerminal = terminals
  }
}
