/// Reads the XML form: the elements of Apple's DTD, without a DTD's additions to them.
struct XMLPropertyList {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var path: [KeyPath.Step] = []
  private var values = 0

  /// - Parameter bytes: UTF-8.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func parse() throws(PropertyListFault) -> PropertyListNode {
    try skipProlog()
    let (name, isEmpty, start) = try openTag(expecting: "<plist>")
    let top: PropertyListNode
    if name == "plist" {
      guard !isEmpty else { throw fault("expected a value in <plist>, and it is empty") }
      let inner = try openTag(expecting: "a value in <plist>")
      top = try value(inner.name, isEmpty: inner.isEmpty, line: inner.line)
      try close("plist")
    } else {
      // Apple's reader takes a value without <plist> around it.
      top = try value(name, isEmpty: isEmpty, line: start)
    }
    try skipBetween()
    guard position == bytes.count else {
      throw fault("expected the end of the file after the list's, and more follows")
    }
    return top
  }

  // MARK: - Values

  private mutating func value(_ name: String, isEmpty: Bool, line: Int) throws(PropertyListFault) -> PropertyListNode {
    values += 1
    guard values <= PropertyListBounds.values else {
      throw fault("more than \(PropertyListBounds.values) values, which no manifest has")
    }
    guard path.count <= PropertyListBounds.depth else {
      // The whole path would be a sentence of pages.
      throw PropertyListFault(
        line: line, path: KeyPath(Array(path.prefix(3))),
        "expected at most \(PropertyListBounds.depth) values within each other, and more are")
    }
    switch name {
    case "dict": return PropertyListNode(.dictionary(isEmpty ? [] : try entries()), line: line)
    case "array": return PropertyListNode(.array(isEmpty ? [] : try members()), line: line)
    case "true", "false":
      if !isEmpty { try close(name) }
      return PropertyListNode(.boolean(name == "true"), line: line)
    case "string": return PropertyListNode(.string(isEmpty ? "" : try text(until: name)), line: line)
    case "integer", "real", "date", "data":
      let text = isEmpty ? "" : try text(until: name)
      return PropertyListNode(try scalar(name, text, line), line: line)
    case "key": throw fault("expected a value, and found a <key>", at: line)
    default: throw fault("expected a value, and found <\(printable(name))>, which property lists do not have", at: line)
    }
  }

  private func scalar(_ name: String, _ text: String, _ line: Int) throws(PropertyListFault) -> PropertyListNode.Value {
    switch name {
    case "integer":
      if let value = XMLPropertyListScalar.integer(text) { return value }
      throw fault("expected a whole number of at most 64 bits in <integer>, and found \(text.quoted)", at: line)
    case "real":
      if let number = XMLPropertyListScalar.real(text) { return .real(number) }
      throw fault("expected a number in <real>, and found \(text.quoted)", at: line)
    case "date":
      if let seconds = XMLPropertyListScalar.date(text) { return .date(seconds) }
      throw fault("expected a date such as 2025-06-01T09:30:00Z in <date>, and found \(text.quoted)", at: line)
    default:
      if let data = XMLPropertyListScalar.base64(text) { return .data(data) }
      throw fault("expected base64 in <data>, and found \(text.quoted)", at: line)
    }
  }

  private mutating func entries() throws(PropertyListFault) -> [PropertyListEntry] {
    var entries: [PropertyListEntry] = []
    var lines: [String: Int] = [:]
    while !(try closes("dict")) {
      let (name, isEmpty, keyLine) = try openTag(expecting: "<key> or </dict>")
      guard name == "key" else { throw fault("expected <key> or </dict>, and found <\(printable(name))>", at: keyLine) }
      let key = isEmpty ? "" : try text(until: "key")
      path.append(.key(key))
      if let first = lines.updateValue(keyLine, forKey: key) {
        throw fault("expected each key once, and this one is on line \(first) already", at: keyLine)
      }
      try skipBetween()
      if isAtClosingTag { throw fault("expected a value after its key, and found none") }
      let inner = try openTag(expecting: "a value after its key")
      let node = try value(inner.name, isEmpty: inner.isEmpty, line: inner.line)
      entries.append(PropertyListEntry(key: key, node: node, line: keyLine))
      path.removeLast()
    }
    return entries
  }

  private mutating func members() throws(PropertyListFault) -> [PropertyListNode] {
    var members: [PropertyListNode] = []
    while !(try closes("array")) {
      path.append(.index(members.count))
      let inner = try openTag(expecting: "a value or </array>")
      members.append(try value(inner.name, isEmpty: inner.isEmpty, line: inner.line))
      path.removeLast()
    }
    return members
  }

  // MARK: - Tags and text

  /// `<name …>` or `<name/>`. Attributes mean nothing in a property list.
  private mutating func openTag(
    expecting expected: String
  ) throws(PropertyListFault) -> (name: String, isEmpty: Bool, line: Int) {
    try skipBetween()
    guard position < bytes.count else { throw fault("expected \(expected), and the file ends") }
    guard bytes[position] == UInt8(ascii: "<"), !isAtClosingTag else {
      throw fault("expected \(expected), and found \(excerpt)")
    }
    let start = line
    position += 1
    let name = tagName()
    guard !name.isEmpty else { throw fault("expected \(expected), and found \(excerpt) after a \"<\"") }
    var quote: UInt8?
    var last: UInt8 = 0
    while position < bytes.count {
      let byte = bytes[position]
      advance()
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return (name, last == UInt8(ascii: "/"), start)
      }
      last = byte
    }
    throw fault("expected \">\" at the end of <\(printable(name))>, and the file ends", at: start)
  }

  private var isAtClosingTag: Bool { bytes[position...].starts(with: "</".utf8) }

  /// Takes `</name>` if it stands here.
  private mutating func closes(_ name: String) throws(PropertyListFault) -> Bool {
    try skipBetween()
    guard position < bytes.count else { throw fault("expected </\(name)>, and the file ends") }
    guard isAtClosingTag else { return false }
    try close(name)
    return true
  }

  private mutating func close(_ name: String) throws(PropertyListFault) {
    try skipBetween()
    guard position < bytes.count else { throw fault("expected </\(name)>, and the file ends") }
    guard isAtClosingTag else { throw fault("expected </\(name)>, and found \(excerpt)") }
    position += 2
    let found = tagName()
    skipSpace()
    guard found == name, position < bytes.count, bytes[position] == UInt8(ascii: ">") else {
      throw fault("expected </\(name)>, and found </\(printable(found))")
    }
    position += 1
  }

  private mutating func tagName() -> String {
    let start = position
    while position < bytes.count, !" \t\r\n/<>\"'".utf8.contains(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// An element's text, with its closing tag taken.
  private mutating func text(until name: String) throws(PropertyListFault) -> String {
    var text: [UInt8] = []
    let start = line
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "&") {
        text += try entity().utf8
      } else if byte != UInt8(ascii: "<") {
        text.append(byte)
        advance()
      } else if bytes[position...].starts(with: "<![CDATA[".utf8) {
        position += 9
        let from = position
        try skip(to: "]]>", in: "a CDATA section")
        text += bytes[from..<(position - 3)]
      } else if bytes[position...].starts(with: "<!--".utf8) {
        try skip(to: "-->", in: "a comment")
      } else {
        guard isAtClosingTag else { throw fault("expected text and </\(name)>, and found \(excerpt)") }
        try close(name)
        let text = String(decoding: text, as: UTF8.self)
        try text.checkMarkRows()
        return text
      }
    }
    throw fault("expected </\(name)>, and the file ends", at: start)
  }

  /// The five that XML has, and numbers of characters. Those that a DTD declares are not taken: a few of them, each made of
  /// many of the one before, are more text than any memory holds.
  private mutating func entity() throws(PropertyListFault) -> String {
    let rest = bytes[position...].prefix(16)
    guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
      throw fault("expected an entity such as &amp;, and found \(excerpt)")
    }
    let name = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
    let known = ["lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": "\""]
    let result: String
    if let text = known[name] {
      result = text
    } else if name.hasPrefix("#"), let scalar = Self.scalar(name.dropFirst()) {
      result = String(scalar)
    } else {
      throw fault("expected &lt; &gt; &amp; &apos; &quot; or a character's number, and found \("&\(name);".quoted)")
    }
    position = end + 1
    return result
  }

  private static func scalar(_ text: Substring) -> Unicode.Scalar? {
    let isHexadecimal = text.hasPrefix("x") || text.hasPrefix("X")
    let digits = isHexadecimal ? text.dropFirst() : text
    guard digits.first.map({ $0.isHexDigit }) == true, let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
      number != 0
    else { return nil }
    return Unicode.Scalar(number)
  }

  // MARK: - Between elements

  private mutating func skipProlog() throws(PropertyListFault) {
    try skipBetween()
    guard bytes[position...].starts(with: "<!DOCTYPE".utf8) else { return }
    let start = line
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      advance()
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "[") {
        throw fault("expected a DOCTYPE without declarations of its own, and it has some; no property list needs any")
      } else if byte == UInt8(ascii: ">") {
        return try skipBetween()
      }
    }
    throw fault("expected \">\" at the end of <!DOCTYPE, and the file ends", at: start)
  }

  /// White space, comments and processing instructions.
  private mutating func skipBetween() throws(PropertyListFault) {
    while true {
      skipSpace()
      if bytes[position...].starts(with: "<!--".utf8) {
        try skip(to: "-->", in: "a comment")
      } else if bytes[position...].starts(with: "<?".utf8) {
        try skip(to: "?>", in: "a processing instruction")
      } else {
        return
      }
    }
  }

  private mutating func skipSpace() {
    while position < bytes.count, " \t\r\n".utf8.contains(bytes[position]) { advance() }
  }

  private mutating func skip(to end: String, in what: String) throws(PropertyListFault) {
    let start = line
    while position < bytes.count {
      if bytes[position...].starts(with: end.utf8) {
        position += end.utf8.count
        return
      }
      advance()
    }
    throw fault("expected \(end.quoted) at the end of \(what), and the file ends", at: start)
  }

  private mutating func advance() {
    if bytes[position] == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  /// The next few characters, for a message.
  private var excerpt: String {
    let text = String(decoding: bytes[position...].prefix(24), as: UTF8.self)
    return position == bytes.count ? "the end of the file" : String(text.prefix { !$0.isNewline }.prefix(16)).quoted
  }

  private func printable(_ name: String) -> String { String(name.quoted.dropFirst().dropLast()) }

  private func fault(_ problem: String, at line: Int? = nil) -> PropertyListFault {
    PropertyListFault(line: line ?? self.line, path: KeyPath(path), problem)
  }
}
