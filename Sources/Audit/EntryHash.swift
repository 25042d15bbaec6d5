internal import Cryptography

/// The mark of an entry: SHA-256 over the hash of the entry before it and its own bytes.
///
/// So the hash of one entry stands for all that came before it. Before the first one there are 32 zeros.
package struct EntryHash: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  package static let size = 32

  /// The hash before the first entry.
  package init() { words = (0, 0, 0, 0) }

  /// The hash of an entry.
  init(after previous: EntryHash, _ payload: some Collection<UInt8>) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.size + payload.count)
    previous.append(to: &bytes)
    bytes.append(contentsOf: payload)
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { place in
      unsafe place.copyBytes(from: SHA256.digest(bytes))
    }
    self.words = words
  }

  /// Nil when there are not 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { place in unsafe place.copyBytes(from: bytes) }
    self.words = words
  }

  /// 64 digits, `a` to `f` small.
  package init?(hexadecimal text: some StringProtocol) {
    guard text.utf8.count == 2 * Self.size, let bytes = Hexadecimal.bytes(text) else { return nil }
    self.init(bytes: bytes)
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  package var hexadecimal: String { Hexadecimal.text(bytes) }

  func append(to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: words) { place in unsafe bytes.append(contentsOf: place) }
  }

  package static func == (left: EntryHash, right: EntryHash) -> Bool { left.words == right.words }
  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// A place in the chain: an entry's number and its hash. Before the first entry both are nothing.
package struct ChainMark: Hashable, Sendable {
  package var sequence: Int64
  package var hash: EntryHash

  package init(sequence: Int64 = 0, hash: EntryHash = EntryHash()) {
    self.sequence = sequence
    self.hash = hash
  }
}

extension ChainMark: CustomStringConvertible, LosslessStringConvertible {
  /// `NUMBER:HASH`, as people write it down (`ambit audit checkpoint`).
  package init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0, "\(sequence)" == parts[0],
      let hash = EntryHash(hexadecimal: parts[1])
    else { return nil }
    self.init(sequence: sequence, hash: hash)
  }

  package var description: String { "\(sequence):\(hash.hexadecimal)" }
}
