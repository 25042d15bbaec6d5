internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A program that the runner started: its streams, and how it ended.
///
/// Only the runner's own thread uses one. Nothing here blocks; ``Waiting`` does the waiting.
package final class Child {
  /// For messages: an instance's name, or the command.
  package let name: String
  package let pid: Int32
  /// A person at the terminal may be answering this one's questions, so its answers have no time limit.
  let isInteractive: Bool
  private var input: Descriptor?
  package private(set) var output: Stream
  package private(set) var errors: Stream
  package private(set) var ending: Ending?

  /// The output that has been read from one stream and not yet been taken.
  package struct Stream {
    fileprivate(set) var descriptor: Descriptor?
    fileprivate var bytes: [UInt8] = []

    var isAtEnd: Bool { descriptor == nil }
    package var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  package init(
    name: String, executable: String, arguments: [String], environment: [String: String], directory: String,
    isInteractive: Bool = false
  ) throws {
    let started = try Spawn.start(
      executable, arguments, environment: environment, directory: directory, keepsTerminal: isInteractive)
    self.name = name
    self.isInteractive = isInteractive
    pid = started.pid
    input = started.input
    output = Stream(descriptor: started.output)
    errors = Stream(descriptor: started.errors)
    for descriptor in [started.input, started.output, started.errors] {
      try KernelError.check("fcntl", "O_NONBLOCK") { fcntl(descriptor.rawValue, F_SETFL, O_NONBLOCK) }
    }
  }

  /// A program on this process's own standard streams.
  package init(
    here name: String, executable: String, arguments: [String], environment: [String: String], directory: String
  ) throws {
    self.name = name
    isInteractive = true
    pid = try Spawn.startHere(executable, arguments, environment: environment, directory: directory)
    output = Stream(descriptor: nil)
    errors = Stream(descriptor: nil)
  }

  /// Descriptors that may have something to read.
  package var readable: [Int32] { [output.descriptor, errors.descriptor].compactMap { $0?.rawValue } }

  /// Reads all there is, of both streams, so that the program never waits for its reader.
  package func drain() {
    Self.drain(&output, keeping: Self.most)
    Self.drain(&errors, keeping: Self.most)
  }

  /// More than this of a stream is cut at its front: evidence, not an archive.
  private static let most = 8 << 20

  private static func drain(_ stream: inout Stream, keeping most: Int) {
    guard let descriptor = stream.descriptor else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(descriptor.rawValue, &buffer, buffer.count)
      if count > 0 {
        stream.bytes += buffer[..<count]
        if stream.bytes.count > most { stream.bytes.removeFirst(stream.bytes.count - most) }
      } else if count == 0 {
        stream.descriptor = nil
        return
      } else if errno != EINTR {
        if errno != EAGAIN { stream.descriptor = nil }
        return
      }
    }
  }

  /// Whether a whole line of its output is there to take.
  package var hasLine: Bool { output.bytes.contains(10) }

  /// Takes the next whole line of its output; a last line without its end counts once nothing can follow.
  package func takeLine() -> String? {
    if let end = output.bytes.firstIndex(of: 10) {
      let line = String(decoding: output.bytes[..<end], as: UTF8.self)
      output.bytes.removeSubrange(...end)
      return line
    }
    guard output.isAtEnd, !output.bytes.isEmpty else { return nil }
    return takeOutput()
  }

  func takeOutput() -> String {
    defer { output.bytes = [] }
    return output.text
  }

  package func takeErrors() -> String {
    defer { errors.bytes = [] }
    return errors.text
  }

  /// Sends bytes as far as the pipe takes them; nil: the program does not read any more.
  package func send(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let input else { return nil }
    let count = unsafe bytes.withUnsafeBytes { unsafe write(input.rawValue, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }

  package func closeInput() { input = nil }

  /// Asks the kernel whether the program has ended, without waiting.
  package func reap() {
    guard ending == nil else { return }
    var status: Int32 = 0
    let answer = unsafe waitpid(pid, &status, WNOHANG)
    if answer == pid {
      ending = status & 0x7f == 0 ? .exit((status >> 8) & 0xff) : .signal(status & 0x7f)
    } else if answer == -1, errno == ECHILD {
      // Another part of the process has waited for it; it is gone all the same.
      ending = .exit(-1)
    }
  }

  /// Sends a signal, unless the program has ended and its number may be another's by now.
  package func signal(_ number: Int32) {
    reap()
    if ending == nil { _ = kill(pid, number) }
  }
}
