package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Text on its way to a descriptor, unbuffered: written text is out when the call returns.
package struct Output: Sendable {
  package static let standard = Output(STDOUT_FILENO)
  package static let error = Output(STDERR_FILENO)

  package let descriptor: Int32

  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes all of the text; waits where the descriptor does not block.
  ///
  /// - Throws: EPIPE when the reader has gone and the process ignores SIGPIPE; `isHangUp` tells it from other errors.
  package func write(_ text: String) throws(KernelError) { try write(bytes: Array(text.utf8)) }

  /// Writes all of the bytes, as ``write(_:)`` does.
  package func write(bytes: [UInt8]) throws(KernelError) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      do throws(KernelError) {
        let count = try KernelError.check("write", "\(descriptor)") {
          unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
        bytes = bytes.dropFirst(count)
      } catch {
        guard error.errno == .resourceTemporarilyUnavailable else { throw error }
        _ = try ready(POLLOUT, within: -1)
      }
    }
  }

  /// Writes JSON, ended by a newline, as it may stand on a terminal (``printableJSON(_:)``): a name in it may be anything.
  package func write(json text: String) throws(KernelError) {
    try write(printableJSON(text) + (text.isEmpty || text.hasSuffix("\n") ? "" : "\n"))
  }

  /// Waits, and says whether the reader has gone away meanwhile: a pipe with a closed other end, a terminal hung up, a
  /// descriptor that is not open at all.
  ///
  /// For a program that writes seldom and would notice only at its next write.
  package func hasHungUp(within milliseconds: Int32) throws(KernelError) -> Bool {
    try ready(0, within: milliseconds) & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }

  private func ready(_ events: Int32, within milliseconds: Int32) throws(KernelError) -> Int16 {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    try KernelError.check("poll", "\(descriptor)") { unsafe poll(&entry, 1, milliseconds) }
    return entry.revents
  }
}

extension KernelError {
  /// Whether the error says that the reader has gone away: a reason to end, nothing to report.
  package var isHangUp: Bool { call == "write" && errno == .brokenPipe }
}
