#if canImport(Glibc)
  internal import Glibc
#endif

/// A file that could not be read: its path and the call's errno.
package struct ReadFailure: Error, CustomStringConvertible {
  package let path: String
  package let code: Int32

  package var description: String { unsafe "cannot read \(path): \(String(cString: strerror(code)))" }
}

/// Memory to read into: whole pages, and each of them written to before anything is measured.
///
/// An array's bytes begin where the allocator has room, and the kernel copies up to a quarter slower to some places
/// than to others (measured: 16 bytes into a cache line). What was allocated before would then decide who is faster.
@safe package struct Buffer: ~Copyable {
  fileprivate let bytes: UnsafeMutableRawBufferPointer

  package init(_ count: Int) {
    unsafe bytes = .allocate(byteCount: count, alignment: 4096)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 1)
  }

  deinit { unsafe bytes.deallocate() }
}

/// Opens, reads the first 4 KiB and closes, `count` times.
///
/// - Returns: microseconds for one such turn, on average.
package func openReadClose(_ path: String, _ buffer: borrowing Buffer, count: Int) throws(ReadFailure) -> Double {
  let bytes = unsafe buffer.bytes
  var failure: Int32 = 0
  let elapsed = microseconds {
    for _ in 0..<count where failure == 0 {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      let count = file < 0 ? -1 : unsafe read(file, bytes.baseAddress, 4096)
      if count < 0 { failure = errno }
      close(file)
    }
  }
  if failure != 0 { throw ReadFailure(path: path, code: failure) }
  return elapsed / Double(count)
}

/// Reads a file from start to end, in pieces of the buffer's size.
///
/// - Returns: MiB a second.
package func readThrough(_ path: String, _ buffer: borrowing Buffer) throws(ReadFailure) -> Double {
  let bytes = unsafe buffer.bytes
  var total = 0
  let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
  if file < 0 { throw ReadFailure(path: path, code: errno) }
  defer { close(file) }
  var failure: Int32 = 0
  let elapsed = microseconds {
    while true {
      let count = unsafe read(file, bytes.baseAddress, bytes.count)
      if count < 0 { failure = errno }
      if count <= 0 { return }
      total += count
    }
  }
  if failure != 0 { throw ReadFailure(path: path, code: failure) }
  return Double(total) / 1_048_576 / (elapsed / 1_000_000)
}

/// A way to get at a file's bytes, in pieces of a size.
package enum Transfer: String, CaseIterable {
  /// From start to end, by read(2).
  case sequential
  /// Anywhere, by pread(2).
  case random
  /// Anywhere, in memory that the file is mapped to.
  case mapped
  /// From start to end, by pwrite(2), over what is there.
  case written

  /// Moves 16 MiB, or as much as the file holds if that is less: of each turn the next ones, or pieces at random places.
  ///
  /// - Returns: MiB a second.
  package func run(
    _ path: String, _ buffer: borrowing Buffer, size: Int, turn: Int
  ) throws(ReadFailure) -> Double {
    let file = unsafe open(path, (self == .written ? O_RDWR : O_RDONLY) | O_CLOEXEC)
    if file < 0 { throw ReadFailure(path: path, code: errno) }
    defer { close(file) }
    let length = Int(lseek(file, 0, SEEK_END))
    let pieces = length / size
    let total = Swift.min(pieces, (16 << 20) / size)
    let first = turn % Swift.max(1, pieces / total) * total
    let bytes = unsafe buffer.bytes
    let map = self == .mapped ? unsafe mmap(nil, length, PROT_READ, MAP_SHARED, file, 0) : nil
    if unsafe map == MAP_FAILED { throw ReadFailure(path: path, code: errno) }
    defer { if let map = unsafe map { unsafe munmap(map, length) } }
    var failure: Int32 = 0
    // The same places for everybody.
    var state: UInt64 = 88_172_645_463_325_252
    func place() -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(pieces)) * size
    }
    let elapsed = microseconds {
      for piece in 0..<total where failure == 0 {
        let count: Int
        switch self {
        case .sequential: count = unsafe pread(file, bytes.baseAddress, size, off_t((first + piece) * size))
        case .random: count = unsafe pread(file, bytes.baseAddress, size, off_t(place()))
        case .written: count = unsafe pwrite(file, bytes.baseAddress, size, off_t((first + piece) * size))
        case .mapped:
          guard let map = unsafe map, let base = bytes.baseAddress else { return }
          unsafe memcpy(base, map + place(), size)
          count = size
        }
        if count < 0 { failure = errno }
      }
    }
    if failure != 0 { throw ReadFailure(path: path, code: failure) }
    return Double(total * size) / 1_048_576 / (elapsed / 1_000_000)
  }
}

/// Opens and closes, `count` times.
///
/// - Returns: microseconds for one such turn, on average.
package func openClose(_ path: String, count: Int) throws(ReadFailure) -> Double {
  var failure: Int32 = 0
  let elapsed = microseconds {
    for _ in 0..<count where failure == 0 {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      if file < 0 { failure = errno }
      close(file)
    }
  }
  if failure != 0 { throw ReadFailure(path: path, code: failure) }
  return elapsed / Double(count)
}
