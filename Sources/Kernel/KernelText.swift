/// Names and paths as texts. To the kernel they are bytes, and nearly always UTF-8; a text that was repaired leads to nothing, or
/// to another file.
///
/// So a byte that is not part of UTF-8 stands in a text as a scalar of its own, from an unused stretch of the private
/// planes: U+10FE80 for 0x80 up to U+10FEFF for 0xFF. Where these very scalars stand in a name, each of their bytes is
/// written so. Every name has one such text, and no two have the same. No byte below 0x80 can be written so: neither a
/// slash nor a NUL gets into a name by it.
extension String {
  private static let escapes: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
  /// The byte that all of them begin with, as UTF-8. Few others do.
  private static let firstByte: UInt8 = 0xF4

  /// A name or a path that came from the kernel.
  package init(kernel bytes: some Collection<UInt8>) {
    if let text = String(validating: bytes, as: UTF8.self), text.isText {
      self = text
      return
    }
    var scalars = String.UnicodeScalarView()
    var parser = UTF8.ForwardParser()
    var left = bytes.makeIterator()
    var rest = bytes[...]
    func escaped(_ part: some Collection<UInt8>) -> [Unicode.Scalar] {
      part.compactMap { Unicode.Scalar(Self.escapes.lowerBound - 0x80 + UInt32($0)) }
    }
    while true {
      switch parser.parseScalar(from: &left) {
      case .valid(let encoded):
        let scalar = UTF8.decode(encoded)
        let part = rest.prefix(encoded.count)
        if Self.escapes.contains(scalar.value) {
          scalars.append(contentsOf: escaped(part))
        } else {
          scalars.append(scalar)
        }
        rest = rest.dropFirst(encoded.count)
      case .error(let length):
        scalars.append(contentsOf: escaped(rest.prefix(length)))
        rest = rest.dropFirst(length)
      case .emptyInput:
        self = String(scalars)
        return
      }
    }
  }

  /// The same from C.
  package init(kernel name: UnsafePointer<CChar>) {
    var length = 0
    while unsafe name[length] != 0 { length += 1 }
    self = unsafe UnsafeRawBufferPointer(start: name, count: length).withMemoryRebound(to: UInt8.self) {
      unsafe String(kernel: $0)
    }
  }

  /// The bytes of this name or path.
  package var kernelBytes: [UInt8] { isText ? Array(utf8) : Array(replacingEscapes { [$0] }) }

  /// The same for C: ended by a NUL. A text with a NUL in it names nothing; C would read its beginning, which names something else, and so
  /// the kernel gets a name that is longer than any (ENAMETOOLONG).
  package var kernel: [CChar] {
    if utf8.contains(0) { return Self.tooLong }
    return isText ? Array(utf8CString) : kernelBytes.map(CChar.init(bitPattern:)) + [0]
  }
  private static let tooLong = [CChar](repeating: CChar(UInt8(ascii: "x")), count: 4096) + [0]

  /// Whether these bytes are UTF-8, so that the text can be told to readers that know nothing of the above.
  package var isText: Bool {
    !utf8.contains(Self.firstByte) || !unicodeScalars.contains { Self.escapes.contains($0.value) }
  }

  /// For people: such a byte is shown as `\xE9`.
  package var shown: String {
    if isText { return self }
    let bytes = replacingEscapes { Array("\\x\(String($0, radix: 16, uppercase: true))".utf8) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// For programs that can have texts alone: each such byte is U+FFFD, as nearly all programs show it. Several names have the same.
  package var repaired: String {
    isText ? self : String(decoding: replacingEscapes { _ in Array("\u{FFFD}".utf8) }, as: UTF8.self)
  }

  /// The byte that a scalar stands for, if it does.
  package static func byte(escapedAs scalar: Unicode.Scalar) -> UInt8? {
    escapes.contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }

  private func replacingEscapes(_ form: (UInt8) -> [UInt8]) -> [UInt8] {
    unicodeScalars.reduce(into: []) { bytes, scalar in
      if let byte = Self.byte(escapedAs: scalar) {
        bytes += form(byte)
      } else {
        bytes += UTF8.encode(scalar) ?? .init()
      }
    }
  }
}
