internal import Audit
internal import Kernel
internal import Launcher
internal import SystemPackage

/// The socket of systemd's journal: one datagram an entry. Entries that journald has taken out of the socket count as delivered.
struct JournalDestination: ExportDestination {
  /// Where journald listens on every machine that runs it.
  static let usualPath = "/run/systemd/journal/socket"

  let path: String
  private var socket: Descriptor?

  let canReturn = true

  init(path: String) { self.path = path }

  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws {
    if socket == nil { try reopen() }
    guard let socket else { return }
    do throws(KernelError) {
      for event in events {
        let bytes = JournalEntry(event, encoder.source).datagram
        do throws(KernelError) {
          _ = try UnixSocket.send(bytes, to: socket, wait: true)
        } catch {
          guard error.errno == .messageTooLong else { throw error }
          try socket.sendDatagram(of: try MemoryFile.sealed("ambit-export", bytes))
        }
      }
    } catch {
      throw try gone(error)
    }
  }

  mutating func settles(within patience: Duration) throws -> Bool {
    guard let socket else { return true }
    var left = patience
    let step = Duration.milliseconds(5)
    do throws(KernelError) {
      while try socket.isReadUp() == false {
        guard left > .zero else { return false }
        var entries = [PollEntry(socket, [])]
        try Poll.wait(&entries, timeout: min(step, left))
        left -= step
      }
      return true
    } catch {
      throw try gone(error)
    }
  }

  mutating func finish() throws {
    while try !settles(within: .seconds(1)) {}
  }

  mutating func reopen() throws {
    do throws(KernelError) {
      socket = try Descriptor.datagramSocket(path: path)
    } catch {
      socket = nil
      throw try gone(error)
    }
  }

  private mutating func gone(_ error: KernelError) throws -> ConsumerGone {
    switch error.errno {
    case .noSuchFileOrDirectory, .connectionRefused, .socketNotConnected, .connectionReset, .brokenPipe:
      socket = nil
      return ConsumerGone(sentence: "No journal listens at the socket \(path) (\(error)).")
    case .protocolWrongTypeForSocket:
      throw Failure("\(path) is no socket of systemd's journal: it does not take datagrams.")
    default:
      throw Failure("The journal's socket \(path) cannot be used: \(error).")
    }
  }
}
