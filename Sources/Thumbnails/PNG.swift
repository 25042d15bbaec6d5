/// A picture in the form of PNG (ISO/IEC 15948), as far as a cache of thumbnails needs it: its size and its texts. Pixels are never
/// decoded: the picture comes from a stranger.
package struct PNG: Equatable, Sendable {
  /// In pixels.
  package let width: Int
  package let height: Int
  /// The chunks that a picture needs, in their order: nothing in them is text, a profile, or unknown.
  private let chunks: [Chunk]
  /// The texts of `tEXt` chunks, by keyword.
  package var texts: [String: String]

  private struct Chunk: Equatable, Sendable {
    let type: String
    let bytes: [UInt8]
  }

  package enum Fault: Error, Equatable, Sendable {
    case notPNG
    /// A chunk of the file is cut off, or its checksum is another.
    case damaged
    /// A side is longer than it may be.
    case tooLarge(width: Int, height: Int)

    /// The end of a sentence.
    package var words: String {
      switch self {
      case .notPNG: "it is no PNG picture"
      case .damaged: "the picture is damaged"
      case .tooLarge(let width, let height): "the picture has \(width) × \(height) pixels, more than were asked for"
      }
    }
  }

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The facts that a decoder needs.
  private static let needed: Set<String> = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]

  /// Reads a file. Everything but the picture itself and its texts is left out.
  ///
  /// - Parameter longest: the longest side that is allowed, in pixels.
  package init(_ bytes: [UInt8], longest: Int) throws(Fault) {
    guard bytes.starts(with: Self.signature) else { throw .notPNG }
    var (kept, texts): ([Chunk], [String: String]) = ([], [:])
    var size: (width: Int, height: Int)?
    var index = Self.signature.count
    var isOver = false
    while index < bytes.count, !isOver {
      guard index + 12 <= bytes.count else { throw .damaged }
      let length = Self.number(bytes, at: index)
      guard length <= bytes.count - index - 12 else { throw .damaged }
      let (start, end) = (index + 8, index + 8 + length)
      let type = String(decoding: bytes[index + 4..<start], as: UTF8.self)
      guard CRC32.of(bytes[index + 4..<end]) == UInt32(Self.number(bytes, at: end)) else { throw .damaged }
      if kept.isEmpty {
        guard type == "IHDR", length == 13 else { throw .damaged }
        let (width, height) = (Self.number(bytes, at: start), Self.number(bytes, at: start + 4))
        guard width > 0, height > 0 else { throw .damaged }
        guard width <= longest, height <= longest else { throw .tooLarge(width: width, height: height) }
        size = (width, height)
      } else if type == "IHDR" {
        // A decoder might take the size of that one.
        throw .damaged
      }
      if Self.needed.contains(type) { kept.append(Chunk(type: type, bytes: Array(bytes[start..<end]))) }
      if type == "tEXt", let text = Self.text(bytes[start..<end]) { texts[text.key] = text.value }
      isOver = type == "IEND"
      index = end + 4
    }
    guard let size, isOver, kept.contains(where: { $0.type == "IDAT" }) else { throw .damaged }
    (width, height, chunks, self.texts) = (size.width, size.height, kept, texts)
  }

  /// Makes a picture of pixels: four bytes each, red, green, blue, opacity, row by row from the top.
  package init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(width > 0 && height > 0 && pixels.count == width * height * 4)
    var rows: [UInt8] = []
    rows.reserveCapacity(pixels.count + height)
    for row in 0..<height {
      rows.append(0)
      rows += pixels[row * width * 4..<(row + 1) * width * 4]
    }
    let header = Self.bytes(width) + Self.bytes(height) + [8, 6, 0, 0, 0]
    (self.width, self.height, texts) = (width, height, [:])
    chunks = [
      Chunk(type: "IHDR", bytes: header), Chunk(type: "IDAT", bytes: Self.stored(rows)), Chunk(type: "IEND", bytes: []),
    ]
  }

  /// The file, with the texts behind the header.
  package var encoded: [UInt8] {
    var bytes = Self.signature
    for chunk in chunks {
      Self.append(chunk.type, chunk.bytes, to: &bytes)
      guard chunk.type == "IHDR" else { continue }
      for (key, value) in texts.sorted(by: { $0.key < $1.key }) {
        Self.append("tEXt", Array(key.utf8) + [0] + Array(value.utf8), to: &bytes)
      }
    }
    return bytes
  }

  private static func append(_ type: String, _ content: [UInt8], to bytes: inout [UInt8]) {
    bytes += Self.bytes(content.count)
    let body = Array(type.utf8) + content
    bytes += body
    bytes += Self.bytes(Int(CRC32.of(body[...])))
  }

  private static func text(_ chunk: ArraySlice<UInt8>) -> (key: String, value: String)? {
    guard let end = chunk.firstIndex(of: 0), chunk.count <= 8192 else { return nil }
    return (String(decoding: chunk[..<end], as: UTF8.self), String(decoding: chunk[(end + 1)...], as: UTF8.self))
  }

  /// Four bytes, the highest first.
  private static func number(_ bytes: [UInt8], at index: Int) -> Int {
    bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func bytes(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// A stream of zlib's whose blocks are stored as they are (RFC 1950, RFC 1951).
  private static func stored(_ content: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var index = 0
    repeat {
      let length = min(65_535, content.count - index)
      let isLast: UInt8 = index + length == content.count ? 1 : 0
      let low = UInt16(length)
      stream += [isLast, UInt8(low & 0xFF), UInt8(low >> 8), UInt8(~low & 0xFF), UInt8(~low >> 8)]
      stream += content[index..<index + length]
      index += length
    } while index < content.count
    var (first, second): (UInt32, UInt32) = (1, 0)
    for byte in content {
      first = (first + UInt32(byte)) % 65_521
      second = (second + first) % 65_521
    }
    return stream + bytes(Int(second << 16 | first))
  }
}

/// The checksum of PNG's chunks.
private enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }
}
