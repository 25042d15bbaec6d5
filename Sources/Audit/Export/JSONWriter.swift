/// Writes one line of JSON (RFC 8259) into bytes, member by member, in the order in which it is told.
///
/// A log of a million events leaves Ambit through here; `JSONEncoder` takes twenty times as long for the same line.
struct JSONWriter {
  private(set) var bytes: [UInt8]
  /// Something stands before, so that a comma has to.
  private var follows = false

  /// Goes on at the end of the present bytes.
  init(after bytes: consuming [UInt8] = []) { self.bytes = consume bytes }

  /// Hands over the written bytes.
  mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  mutating func object(_ members: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "{"))
    follows = false
    members(&self)
    bytes.append(UInt8(ascii: "}"))
    follows = true
  }

  mutating func array(_ elements: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "["))
    follows = false
    elements(&self)
    bytes.append(UInt8(ascii: "]"))
    follows = true
  }

  /// A member's name; the next written value is its value.
  mutating func key(_ name: String) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    follows = false
  }

  mutating func string(_ text: String) {
    separate()
    quote(text)
    follows = true
  }

  mutating func number(_ value: some BinaryInteger) {
    separate()
    bytes.append(contentsOf: String(value).utf8)
    follows = true
  }

  mutating func bool(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
    follows = true
  }

  /// A newline, after which the next line begins.
  mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    follows = false
  }

  private mutating func separate() {
    if follows { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func quote(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { utf8 in
      // Swift's strings are UTF-8 without surrogates, so all but control characters can stay as they are.
      if unsafe utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
        for index in utf8.indices { escape(unsafe utf8[index]) }
      } else {
        unsafe bytes.append(contentsOf: utf8)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C: bytes.append(contentsOf: [0x5C, byte])
    case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
    case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
    case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
    case ..<0x20:
      bytes.append(contentsOf: (byte < 0x10 ? #"\u000"# : #"\u001"#).utf8)
      bytes.append(byte & 0xF < 10 ? 0x30 + (byte & 0xF) : 0x57 + (byte & 0xF))
    default: bytes.append(byte)
    }
  }
}

// Members. Absent ones are left out.

extension JSONWriter {
  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    key(name)
    string(text)
  }

  mutating func member(_ name: String, _ value: (some BinaryInteger)?) {
    guard let value else { return }
    key(name)
    number(value)
  }

  mutating func member(_ name: String, _ value: Bool) {
    key(name)
    bool(value)
  }

  mutating func object(_ name: String, _ members: (inout JSONWriter) -> Void) {
    key(name)
    object(members)
  }

  mutating func array(_ name: String, _ elements: (inout JSONWriter) -> Void) {
    key(name)
    array(elements)
  }
}
