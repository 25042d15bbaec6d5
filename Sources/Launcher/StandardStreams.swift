internal import Kernel
internal import Sandbox

#if canImport(Glibc)
  internal import Glibc
#endif

/// This process's standard input, output and error, and their counterparts in the app.
///
/// A stream that is a terminal is never handed in: an app that has the user's terminal can read later input there, and push keys
/// into it. It gets a terminal of its own instead.
///
/// Nor is a file that is open: through `/proc/self/fd` an app could open it anew, for writing where it was handed in for reading,
/// and empty it where it was to be appended to. A file to read is opened on a read-only mount of its own; output goes through a
/// pipe. Pipes, sockets and character devices such as `/dev/null` are handed in as they are: opened anew, a pipe is the same pipe,
/// a socket cannot be, and a device asks its own mode.
final class StandardStreams {
  /// For the app, until ``begin(fileSize:)``; `nil`: the sandbox's own terminal.
  private(set) var forApp: [Descriptor?] = []
  /// Which of them are terminals here.
  private(set) var isTerminal: [Bool] = []
  private var relays: [(name: String, relay: StreamRelay, worker: Worker?)] = []
  /// Files that were opened anew, and the user's own openings of them.
  private var openings: [(own: Descriptor, handed: Descriptor)] = []

  private static let names = ["input", "output", "error"]
  private let network: NetworkReach

  /// - Parameter network: the app's.
  init(network: NetworkReach) throws {
    self.network = network
    var own: [Descriptor?] = []
    for number in Int32(0)...2 {
      isTerminal.append(isatty(number) == 1)
      own.append(
        isTerminal.last == true
          ? nil
          : Descriptor(
            owning: try KernelError.check("fcntl", "F_DUPFD_CLOEXEC, \(number)") { fcntl(number, F_DUPFD_CLOEXEC, 10) })
      )
    }
    for number in 0...2 { forApp.append(try own[number].map { try handed($0, number, own) }) }
  }

  private func handed(_ stream: Descriptor, _ number: Int, _ own: [Descriptor?]) throws -> Descriptor {
    let name = "standard \(Self.names[number])"
    if let socket = try? SocketKind(of: stream),
      let reason = StreamHandling.refusal(of: socket, hasPeer: stream.hasPeer, network: network)
    {
      throw Failure("\(name) \(reason)")
    }
    switch StreamHandling(try StreamFacts(of: stream), isInput: number == 0) {
    case .asItIs: return stream
    case .refused(let reason): throw Failure("\(name) \(reason)")
    case .relayed(let direction):
      // “2>&1”: in one pipe, so that the output to the two stays in its order.
      if number == 2, direction == .fromApp, let output = own[1], stream.isSameOpening(as: output), let pipe = forApp[1]
      {
        return pipe
      }
      return try relay(stream, direction, name)
    case .openedReadOnly:
      guard let opening = try? stream.readOnlyOpening() else { return try relay(stream, .toApp, name) }
      openings.append((stream, opening))
      return opening
    }
  }

  private func relay(_ stream: Descriptor, _ direction: StreamRelay.Direction, _ name: String) throws -> Descriptor {
    let pipe = try Descriptor.pipe()
    // The app may have an id of its own, and programs open /dev/stdout. No other program can reach the pipe.
    _ = fchmod(pipe.reading.rawValue, 0o666)
    let isOutput = direction == .fromApp
    let relay = try StreamRelay(stream, direction, isOutput ? pipe.reading : pipe.writing)
    relays.append((name, relay, nil))
    return isOutput ? pipe.writing : pipe.reading
  }

  /// Once the sandbox's init has its streams, and signals are held back: a writer to a pipe has to be told when the other side has
  /// closed it.
  ///
  /// - Parameter fileSize: bytes of the largest file that the app may write. The kernel holds it to that in files of its own alone.
  func begin(fileSize: Int?) throws(KernelError) {
    forApp = []
    for index in relays.indices { relays[index].worker = try relays[index].relay.start(fileSize: fileSize) }
  }

  /// To be called when no process of the app is left. The app's last output is delivered, and a program that goes on with standard
  /// input does so where the app has stopped.
  ///
  /// - Returns: sentences about the failures.
  func finish() -> [String] {
    for (own, handed) in openings {
      let offset = lseek(handed.rawValue, 0, SEEK_CUR)
      if offset >= 0 { lseek(own.rawValue, offset, SEEK_SET) }
    }
    var failures: [String] = []
    for (name, relay, worker) in relays {
      guard let worker else { continue }
      relay.stop()
      worker.finish()
      if let errno = relay.failure { failures.append("\(name) cannot be passed on: \(errno)") }
    }
    (openings, relays) = ([], [])
    return failures
  }
}

/// The treatment of a stream: a rule without a kernel.
enum StreamHandling: Equatable {
  case asItIs
  /// A regular file, for reading, on a read-only mount of its own; where there can be none, relayed.
  case openedReadOnly
  case relayed(StreamRelay.Direction)
  /// The rest of a sentence that begins with the stream.
  case refused(String)

  /// - Parameter isInput: standard input is for reading where it can be read; the others are for writing where they can be written.
  init(_ facts: StreamFacts, isInput: Bool) {
    let isRead = facts.reads && (isInput || !facts.writes)
    self =
      switch facts.kind {
      case _ where facts.isPlace:
        .refused(
          "was opened as a place only (O_PATH), from which an app could open it in any way; open it for reading.")
      case .folder:
        .refused(
          "is a folder, from which an app would reach all others; hand in a file, or let the user pick the folder.")
      case .file: isRead ? .openedReadOnly : .relayed(.fromApp)
      case .block: .relayed(isRead ? .toApp : .fromApp)
      case .pipe, .socket, .character: .asItIs
      case .other: .refused("is neither a file nor a pipe, a socket or a device, and an app is given nothing else.")
      }
  }
}

extension StreamHandling {
  /// The launcher makes an app's connections. A socket that sends to any address (`sendto(2)`, and `MSG_FASTOPEN` on a stream without a
  /// peer) would be a network that the launcher does not see.
  ///
  /// - Parameters:
  ///   - hasPeer: it is connected.
  ///   - network: the app's. The socket is of the host's.
  /// - Returns: the rest of a sentence that begins with the stream; `nil`: an app may be handed it.
  static func refusal(of socket: SocketKind, hasPeer: Bool, network: NetworkReach) -> String? {
    let what: String
    switch (socket.family, socket.form) {
    case (.unix, .stream), (.unix, .packets): return nil
    case (.unix, _): what = "a Unix datagram socket"
    case (.internet, .stream):
      if hasPeer || network == .host { return nil }
      what = "an internet socket without a peer, through which any address can be reached"
    case (.internet, .datagrams), (.internet, .packets):
      if network == .host { return nil }
      what = "an internet datagram socket, through which any address can be reached"
    case (.internet, .other): what = "a raw internet socket"
    case (.other(let number), _): what = "a socket of \(SocketFamily.name(UInt32(bitPattern: number)))"
    }
    return "is \(what); an app is not given that. Put a pipe in between."
  }
}
