/// Paths as texts, taken apart and compared by their bytes, as the kernel does.
///
/// Swift's own ways with text know characters: to them a slash and an accent that a name begins with are one character that is no
/// slash, and two spellings of `é` are equal. A name may begin with an accent, and two spellings are two files. So every decision
/// by a path asks here; `make check` refuses code that looks for a slash itself.
extension StringProtocol {
  package var isAbsolutePath: Bool { utf8.first == slash }

  /// Whether there is a slash in it anywhere: then it is not a single name.
  package var hasSlash: Bool { utf8.contains(slash) }
}

extension String {
  /// As a file's name: people are not shown it. By its first byte: an accent may follow the dot.
  package var isHiddenName: Bool { utf8.first == UInt8(ascii: ".") }

  /// Whether a file of this name has one of these extensions: lower-case, without the dot before them, and perhaps with dots of their own
  /// (`tar.gz`). Something stands before it: `.txt` is a hidden file without extension.
  package func hasExtension(in extensions: [String]) -> Bool {
    let name = lowercased()
    return extensions.contains { name.utf8.count > $0.utf8.count + 1 && name.hasSuffix(".\($0)") }
  }

  /// It can be an extension of a file's name.
  package var isExtension: Bool { !isEmpty && utf8.count < 255 && !isHiddenName && !hasSlash }

  /// It has control characters, or characters that turn the reading direction. An app gives no file such a name.
  package var hasControls: Bool { unicodeScalars.contains(where: Self.isControl) }

  /// With spaces for these.
  package var withoutControls: String {
    guard hasControls else { return self }
    return String(UnicodeScalarView(unicodeScalars.map { Self.isControl($0) ? " " : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension String {
  /// The beginning of a text: so many bytes of UTF-8 at the most, and no part of a scalar. A number of characters is no bound:
  /// one character may have a thousand accents.
  package func cut(toBytes most: Int) -> String {
    guard utf8.count > most else { return self }
    var end = utf8.index(startIndex, offsetBy: most)
    // These are the bytes of a scalar after its first.
    while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}

extension String {
  /// The names between its slashes, none of them empty: `a` and `b` of `/a//b/`.
  package var pathNames: [String] {
    var (text, names) = (self, [String]())
    text.withUTF8 { bytes in
      var start = 0
      while start < bytes.count {
        let end = unsafe bytes[start...].firstIndex(of: slash) ?? bytes.count
        if end > start { names.append(unsafe String(decoding: bytes[start..<end], as: UTF8.self)) }
        start = end + 1
      }
    }
    return names
  }

  /// The parts between its slashes, empty ones as well: nothing, `a` and nothing of `/a/`.
  package var pathParts: [String] {
    utf8.split(separator: slash, omittingEmptySubsequences: false).map { String(Substring($0)) }
  }

  /// The last of its names; all of it where there is none, as in `/`.
  package var lastPathName: String { utf8.split(separator: slash).last.map { String(Substring($0)) } ?? self }

  /// The path without its last slash and the part after that: `/a` of `/a/b`, `/` of `/a`. `nil` where there is no slash.
  package var parentPath: String? {
    utf8.lastIndex(of: slash).map { $0 == startIndex ? "/" : String(self[..<$0]) }
  }

  /// Without the slashes at its end: `/a` of `/a//`; `/` is left as it is.
  package var withoutTrailingSlashes: String {
    guard let last = utf8.lastIndex(where: { $0 != slash }) else { return isEmpty ? "" : "/" }
    return String(self[...last])
  }

  /// The path of a name in this folder.
  package func path(of name: String) -> String { utf8.last == slash ? self + name : "\(self)/\(name)" }

  /// The way from a folder to this path: `b/c` of `/a/b/c` within `/a`, and nothing of `/a` itself. `nil` where it lies elsewhere.
  package func path(within folder: String) -> String? {
    guard let length = restLength(within: folder) else { return nil }
    return length == 0 ? "" : String(Substring(utf8.suffix(length)))
  }

  /// The bytes of the way from a folder to this path; `nil` where it lies elsewhere.
  private func restLength(within folder: String) -> Int? {
    var (path, folder) = (self, folder)
    // Bytes, since the views of two texts take longer than the rest.
    return path.withUTF8 { path in
      folder.withUTF8 { folder in
        guard path.count >= folder.count, unsafe path[..<folder.count].elementsEqual(folder) else { return nil }
        var start = folder.count
        guard unsafe start == path.count || path[start] == slash || folder.last == slash else { return nil }
        while start < path.count, unsafe path[start] == slash { start += 1 }
        return path.count - start
      }
    }
  }

  /// Whether this path lies in that folder, or in one below it.
  package func lies(below folder: String) -> Bool { restLength(within: folder).map { $0 > 0 } ?? false }

  /// Whether this path is that one, or lies below it.
  package func lies(within folder: String) -> Bool { restLength(within: folder) != nil }

  /// Whether the two are one path, or one name: the same bytes.
  package func isSamePath(as other: String) -> Bool { PathKey(self) == PathKey(other) }
}

extension String? {
  /// Whether both are none, or one path.
  package func isSamePath(as other: String?) -> Bool {
    switch (self, other) {
    case (let own?, let other?): own.isSamePath(as: other)
    case (nil, nil): true
    default: false
    }
  }
}

private let slash = UInt8(ascii: "/")
