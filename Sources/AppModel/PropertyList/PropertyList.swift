/// Reads property lists as apps bring them along: XML or binary, in UTF-8 or UTF-16, and as `codesign` prints entitlements.
///
/// Foundation has a reader too. This one says where a value stands and which key is wrong, refuses a key that
/// is in a dictionary twice rather than choosing one, and has a bound on everything that a file can make
/// large: an app wrote the file.
enum PropertyList {
  /// The beginning of entitlements that were taken out of a signature (`CSMAGIC_EMBEDDED_ENTITLEMENTS`); the blob's length
  /// follows, both in network order.
  private static let blob: [UInt8] = [0xFA, 0xDE, 0x71, 0x71]

  static func parse(_ bytes: [UInt8]) throws(PropertyListFault) -> PropertyListNode {
    guard !bytes.isEmpty else { throw PropertyListFault("it is empty") }
    if bytes.starts(with: blob) { return try parse(try contents(of: bytes)) }
    if bytes.starts(with: BinaryPropertyList.magic) {
      var reader = try BinaryPropertyList(bytes)
      return try reader.parse()
    }
    var reader = XMLPropertyList(try PropertyListText.decode(bytes))
    return try reader.parse()
  }

  /// Whether the bytes are entitlements in a blob, with any content.
  static func isBlob(_ bytes: [UInt8]) -> Bool { bytes.starts(with: blob) }

  private static func contents(of bytes: [UInt8]) throws(PropertyListFault) -> [UInt8] {
    guard bytes.count >= 8 else { throw PropertyListFault("it ends within the header of its entitlements") }
    let length = bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }
    guard length >= 8, length <= bytes.count else {
      throw PropertyListFault("its header says \(length) bytes of entitlements, and there are \(bytes.count)")
    }
    // A line break after it is the terminal's, not the signature's.
    guard bytes[length...].allSatisfy({ " \t\r\n".utf8.contains($0) }) else {
      throw PropertyListFault("its header says \(length) bytes of entitlements, and more follow them")
    }
    let inner = Array(bytes[8..<length])
    guard !inner.isEmpty else { throw PropertyListFault("its entitlements are empty") }
    guard !isBlob(inner) else { throw PropertyListFault("its entitlements have a header twice") }
    return inner
  }
}

/// The text of an XML list, in any encoding, as UTF-8.
enum PropertyListText {
  static func decode(_ bytes: [UInt8]) throws(PropertyListFault) -> [UInt8] {
    let text: [UInt8]
    switch (bytes.first, bytes.dropFirst().first) {
    case (0xFE, 0xFF), (0x00, UInt8(ascii: "<")): text = try utf16(bytes, isBigEndian: true)
    case (0xFF, 0xFE), (UInt8(ascii: "<"), 0x00): text = try utf16(bytes, isBigEndian: false)
    default:
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      text = try eightBit(bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes)
    }
    guard text.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") else {
      throw PropertyListFault("it begins with neither \"bplist\" nor \"<\"")
    }
    if let zero = text.firstIndex(of: 0) {
      throw PropertyListFault(
        line: 1 + text[..<zero].count { $0 == UInt8(ascii: "\n") }, "the character NUL cannot stand in it")
    }
    try String(decoding: text, as: UTF8.self).checkMarkRows()
    return text
  }

  private static func utf16(_ bytes: [UInt8], isBigEndian: Bool) throws(PropertyListFault) -> [UInt8] {
    guard bytes.count.isMultiple(of: 2) else {
      throw PropertyListFault("it begins as UTF-16 and ends within a character")
    }
    var units = stride(from: 0, to: bytes.count, by: 2).map { index in
      let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBigEndian ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0
    }
    if units.first == 0xFEFF { units.removeFirst() }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw PropertyListFault("it begins as UTF-16 and has characters that are none")
    }
    return Array(text.utf8)
  }

  private static func eightBit(_ bytes: [UInt8]) throws(PropertyListFault) -> [UInt8] {
    if String(validating: bytes, as: UTF8.self) != nil { return bytes }
    guard isLatin1(bytes) else {
      throw PropertyListFault("it is neither UTF-8 nor UTF-16, and does not say that it is ISO-8859-1")
    }
    return Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
  }

  /// By the encoding in the XML declaration.
  private static func isLatin1(_ bytes: [UInt8]) -> Bool {
    guard bytes.starts(with: Array("<?xml".utf8)), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else {
      return false
    }
    let declaration = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
    return declaration.contains("iso-8859-1")
  }
}
