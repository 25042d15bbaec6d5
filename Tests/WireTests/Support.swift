import Foundation
import Kernel
import Synchronization
import Wire

/// A folder that goes away with the value's last use.
final class TemporaryFolder: Sendable {
  let path: String
  let descriptor: Descriptor

  init() throws {
    path = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path + "/ambit-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    descriptor = Descriptor(owning: unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A new file, opened.
  func file(_ name: String, _ content: String = "") throws -> Descriptor {
    try Data(content.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    return Descriptor(owning: unsafe open(path + "/" + name, O_RDWR | O_CLOEXEC))
  }

  /// How many descriptors of this process are open on that file. Counting all of them would count those of tests that
  /// run at the same time.
  func openCount(_ name: String) throws -> Int {
    let file = path + "/" + name
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file
    }
  }
}

/// A server with a thread of its own, made of the pieces that the broker is made of.
final class TestServer: Sendable {
  /// What the server's thread remembers between calls.
  struct Memory { var held: WireConnection? }
  typealias Handler = @Sendable (WireConnection, CheckedCall, inout Memory) -> Void
  let address: String
  private let stopping = Mutex(false)
  private let done = DispatchSemaphore(value: 0)
  let log = Mutex<[String]>([])

  init(
    in folder: TemporaryFolder, interfaces: [Interface] = Interface.app, limits: WireLimits = .app,
    handler: @escaping Handler
  ) throws {
    address = "unix:\(folder.path)/broker"
    let listener = try UnixSocket.listen(in: folder.descriptor, name: "broker")
    Thread.detachNewThread { [self] in
      do { try run(listener, interfaces, limits, handler) } catch { log.withLock { $0.append("\(error)") } }
      done.signal()
    }
  }

  private func run(
    _ listener: Descriptor, _ interfaces: [Interface], _ limits: WireLimits, _ handler: Handler
  ) throws {
    let service = WireService(info: ServiceInfo(version: "1.0", url: "https://example.org"), interfaces: interfaces)
    let endpoint = WireEndpoint(listener: listener, service: service, limits: limits, now: now())
    var memory = Memory()
    while !stopping.withLock({ $0 }) {
      var entries: [PollEntry] = []
      let range = endpoint.appendEntries(to: &entries, now: now())
      try Poll.wait(&entries, timeout: min(endpoint.timeout(now: now()) ?? .milliseconds(20), .milliseconds(20)))
      for event in endpoint.process(entries[range], now: now()) {
        switch event {
        case .call(let connection, let call): handler(connection, call, &memory)
        case .closed: log.withLock { $0.append("closed") }
        case .broken(_, let reason): log.withLock { $0.append("broken: \(reason)") }
        case .refused(let limit): log.withLock { $0.append("refused: \(limit)") }
        case .failed(let error): log.withLock { $0.append("failed: \(error)") }
        }
      }
    }
  }

  private func now() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

  func stop() {
    stopping.withLock { $0 = true }
    done.wait()
  }
}
