internal import Audit
internal import Kernel
internal import Launcher
internal import SystemPackage
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// A pipe, a terminal, or a Unix stream socket. Events that its reader has read count as delivered.
struct StreamDestination: ExportDestination {
  private enum Place {
    case standardOutput
    case socket(path: String)
  }

  private let place: Place
  private var stream: Descriptor?
  /// Bytes are in the stream that its reader may not have read yet.
  private var hasUnread = false

  var canReturn: Bool { if case .socket = place { true } else { false } }

  /// - Parameter stream: a descriptor of standard output's.
  static func standardOutput(_ stream: Descriptor) -> Self { Self(place: .standardOutput, stream: stream) }

  /// The first connection is made when there is something to send.
  static func socket(path: String) -> Self { Self(place: .socket(path: path), stream: nil) }

  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws {
    if stream == nil { try reopen() }
    guard let stream else { return }
    let bytes = encoded(events, encoder)
    hasUnread = true
    do throws(KernelError) {
      switch place {
      case .standardOutput:
        // On a terminal it is read by people. Elsewhere the bytes are the reader's.
        let isTerminal = isatty(stream.rawValue) == 1
        try stream.writeAll(isTerminal ? Array(printableJSON(String(decoding: bytes, as: UTF8.self)).utf8) : bytes)
      case .socket:
        var offset = 0
        while offset < bytes.count { offset += try UnixSocket.send(bytes, from: offset, to: stream, wait: true) }
      }
    } catch {
      throw try gone(error)
    }
  }

  mutating func settles(within patience: Duration) throws -> Bool {
    guard hasUnread, let stream else { return true }
    var left = patience
    let step = Duration.milliseconds(5)
    do throws(KernelError) {
      while true {
        // A reader that has gone leaves nothing unread: so it is looked for first, and again after.
        try lookForReader(stream)
        let isReadUp = try stream.isReadUp() ?? true
        if isReadUp {
          try lookForReader(stream)
          hasUnread = false
          return true
        }
        guard left > .zero else { return false }
        var entries = [PollEntry(stream, [])]
        try Poll.wait(&entries, timeout: min(step, left))
        left -= step
      }
    } catch {
      throw try gone(error)
    }
  }

  mutating func finish() throws {
    while try !settles(within: .seconds(1)) {}
    if case .socket = place { try? stream?.endWriting() }
  }

  mutating func reopen() throws {
    guard case .socket(let path) = place else { return }
    hasUnread = false
    do throws(KernelError) {
      stream = try UnixSocket.connect(path: path)
    } catch {
      stream = nil
      switch error.errno {
      case .noSuchFileOrDirectory, .connectionRefused, .wouldBlock:
        throw ConsumerGone(sentence: "Nobody listens at the socket \(path) (\(error)).")
      case .protocolWrongTypeForSocket:
        throw Failure("\(path) is a socket for datagrams; the journal's is written to with --as journal.")
      default:
        throw Failure("The socket \(path) cannot be used: \(error).")
      }
    }
  }

  /// - Throws: EPIPE when the other end is closed.
  private func lookForReader(_ stream: Descriptor) throws(KernelError) {
    var entries = [PollEntry(stream, [])]
    try Poll.wait(&entries, timeout: .zero)
    if !entries[0].returned.isDisjoint(with: [.hangUp, .error]) {
      throw KernelError("write", "descriptor \(stream.rawValue)", errno: .brokenPipe)
    }
  }

  private mutating func gone(_ error: KernelError) throws -> ConsumerGone {
    switch error.errno {
    case .brokenPipe, .connectionReset, .socketNotConnected:
      if case .socket(let path) = place {
        stream = nil
        return ConsumerGone(sentence: "Whoever listened at the socket \(path) has gone.")
      }
      return ConsumerGone(sentence: "Whoever read the export has gone.")
    default: throw Failure("The export could not be written: \(error).")
    }
  }
}
