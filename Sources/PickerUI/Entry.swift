// Canonical decomposition is in the standard library, for Foundation, and not yet public there. Taking it from Foundation would
// make the launcher, which has the picker in it, twice as large and half as fast to start.
internal import Kernel
@_spi(_Unicode) internal import Swift
internal import UserFiles

/// A file's name as the kernel has it: bytes, nearly always UTF-8.
struct FileName: Sendable, Hashable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }
  init(_ text: String) { bytes = text.kernelBytes }

  /// The name as a text that has all of it.
  var text: String { String(kernel: bytes) }
  /// Of ASCII alone.
  var isPlain: Bool {
    // Without a way out in the middle: eight bytes at a time.
    var all: UInt8 = 0
    for byte in bytes { all |= byte }
    return all < 0x80
  }
  var isHidden: Bool { bytes.first == UInt8(ascii: ".") }
  /// For C: the bytes, ended by NUL.
  var cString: [CChar] { bytes.map(CChar.init(bitPattern:)) + [0] }
}

/// One name in the folder that the picker shows. Facts that cost a system call for each name are not here, see `EntryDetails`.
///
/// There may be a hundred thousand of them, so an entry holds one allocation, its name.
struct Entry: Sendable, Equatable {
  let name: FileName
  let kind: EntryKind
  let isLink: Bool
  private let linkedName: String?

  init(name: FileName, kind: EntryKind, isLink: Bool = false, realName: String? = nil) {
    self.name = name
    self.kind = kind
    self.isLink = isLink
    linkedName = realName
  }

  /// The name of the file that may be chosen: of the target when `name` is a symbolic link.
  var realName: String { linkedName ?? name.text }

  /// Folders first, then by name without regard to case, numbers by value. Total: no two names of a folder are equal.
  static func precedes(_ left: Entry, _ right: Entry) -> Bool {
    if (left.kind == .folder) != (right.kind == .folder) { return left.kind == .folder }
    let orders = (Folding.orderKey(left.name), Folding.orderKey(right.name))
    if orders.0 != orders.1 { return orders.0.lexicographicallyPrecedes(orders.1) }
    return left.name.bytes.lexicographicallyPrecedes(right.name.bytes)
  }
}

/// The facts that the kernel is asked for only for the rows in sight. All of them are of one file, the one that the name led to at
/// the time of the look.
struct EntryDetails: Sendable {
  /// Bytes; nil when the kernel would not say.
  var size: Int64?
  /// Last change of the content, seconds since 1970.
  var modified: Int64?
  /// Where the name leads, if not to a file of that name in this folder: the path of the last target, through all links. For a link
  /// that leads nowhere, its text.
  var linkTarget: String?
  /// The file itself, open as long as its row is in sight, so that its inode number becomes no other file's. Nil for a file that
  /// could not be opened.
  var document: PickedDocument?
  /// Why it cannot be handed out, as a sentence.
  var refusal: String?
  /// The user could only read it.
  var isReadOnly = false
  var tags: [FileTag] = []
}

/// Names made comparable.
enum Folding {
  /// Lower case and decomposed, as UTF-8: “É” is found by “é”, and by “e” too.
  static func fold(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    if bytes.allSatisfy({ $0 < 0x80 }) {
      return bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
    return Array(String(String.UnicodeScalarView(text.lowercased()._nfd)).utf8)
  }

  /// Bytes that sort like the folded name with its numbers by value (2 before 10): the length of each run of digits, without
  /// leading zeros, comes before the run. Accents count for nothing: “é” stands with “e”.
  static func orderKey(_ name: FileName) -> [UInt8] {
    let folded = name.isPlain ? name.bytes : withoutAccents(fold(name.text))
    var key: [UInt8] = []
    order(folded.span) { key.append($0) }
    return key
  }

  /// Hands the key of a folded name on, byte by byte.
  @inline(__always)
  static func order(_ name: Span<UInt8>, _ put: (UInt8) -> Void) {
    var index = 0
    while index < name.count {
      let byte = name[index]
      guard byte &- 0x30 < 10 else {
        put(byte &- 0x41 < 26 ? byte | 0x20 : byte)
        index += 1
        continue
      }
      while index < name.count, name[index] == 0x30 { index += 1 }
      var end = index
      while end < name.count, name[end] &- 0x30 < 10 { end += 1 }
      put(0x30)
      put(UInt8(0x20 + min(end - index, 0x5F)))
      while index < end {
        put(name[index])
        index += 1
      }
    }
  }

  private static func withoutAccents(_ folded: [UInt8]) -> [UInt8] {
    let scalars = String(decoding: folded, as: UTF8.self).unicodeScalars
    let bare = scalars.filter { $0.properties.generalCategory != .nonspacingMark }
    return Array(String(String.UnicodeScalarView(bare)).utf8)
  }
}
