#if canImport(Glibc)
  internal import Glibc
#endif

/// A file that could not be read: its path and the call's errno.
package struct ReadFailure: Error, CustomStringConvertible {
  package let path: String
  package let code: Int32

  package var description: String { unsafe "cannot read \(path): \(String(cString: strerror(code)))" }
}

/// Opens, reads the first 4 KiB and closes, `count` times.
///
/// - Returns: microseconds for one such turn, on average.
package func openReadClose(_ path: String, count: Int) throws(ReadFailure) -> Double {
  var buffer = [UInt8](repeating: 0, count: 4096)
  var failure: Int32 = 0
  let elapsed = microseconds {
    for _ in 0..<count where failure == 0 {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      let count = file < 0 ? -1 : unsafe read(file, &buffer, buffer.count)
      if count < 0 { failure = errno }
      close(file)
    }
  }
  if failure != 0 { throw ReadFailure(path: path, code: failure) }
  return elapsed / Double(count)
}

/// Reads a file from start to end, in the pieces that cat(1) reads.
///
/// - Returns: MiB a second.
package func readThrough(_ path: String) throws(ReadFailure) -> Double {
  var buffer = [UInt8](repeating: 0, count: 128 * 1024)
  var total = 0
  let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
  if file < 0 { throw ReadFailure(path: path, code: errno) }
  defer { close(file) }
  var failure: Int32 = 0
  let elapsed = microseconds {
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      if count < 0 { failure = errno }
      if count <= 0 { return }
      total += count
    }
  }
  if failure != 0 { throw ReadFailure(path: path, code: failure) }
  return Double(total) / 1_048_576 / (elapsed / 1_000_000)
}
