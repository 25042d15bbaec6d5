internal import Foundation

/// An event as bytes: the same bytes are hashed, journalled and kept.
///
///     1; sequence, time, kind, result, app, instance, pid, grant, path, volume, inode, birth, how, rule, reason, detail
///
/// A number is 0 when it is absent, or 1 and then its zigzag in groups of seven bits, the lowest first; a text is 0 when
/// it is absent, or its bytes' count plus 1, in such groups, and then the bytes (UTF-8). Detail is the count of its facts
/// and then their names and values, sorted by name. Times are microseconds since 1970.
struct Payload {
  /// Bytes of one text at most. The longest path has 4096; an app's words about itself could be of any length,
  /// and must not fill the disk.
  static let longestText = 8192

  let bytes: [UInt8]
  let sequence: Int64
  let time: Int64
  /// Where its texts are, by `Text`. Of millions none has an array of its own.
  private let texts: InlineArray<10, Range<Int>?>
  private let numbers: (pid: Int64?, inode: Int64?, birth: Int64?)
  /// Where its facts begin.
  private let facts: Int

  /// The texts, in their order.
  enum Text: Int, CaseIterable {
    case kind, result, app, instance, grant, path, volume, how, rule, reason
  }

  // MARK: Writing

  static func encode(_ event: AuditEvent, sequence: Int64) -> [UInt8] {
    var writer = PayloadWriter()
    let document = event.document
    writer.number(sequence)
    writer.number(Timestamp(event.time).microseconds)
    writer.text(event.kind.rawValue)
    writer.text(event.result.rawValue)
    writer.text(event.app)
    writer.text(event.instance)
    writer.number(event.pid.map(Int64.init))
    writer.text(event.grant)
    writer.text(document?.path)
    writer.text(document?.volume)
    writer.number((document?.inode).map { Int64(bitPattern: $0) })
    writer.number((document?.birth).map { Timestamp($0).microseconds })
    writer.text(event.how)
    writer.text(event.rule)
    writer.text(event.reason)
    writer.group(UInt64(event.detail.count))
    for (name, value) in event.detail.sorted(by: { $0.key < $1.key }) {
      writer.text(name)
      writer.text(value)
    }
    return writer.bytes
  }

  /// A text as it can be stored: without U+0000, which ends a text for many a program, and not too long.
  static func storable(_ text: String) -> String {
    var text = text
    if text.withUTF8({ bytes in unsafe bytes.contains(0) }) { text = text.replacing("\0", with: "\u{fffd}") }
    guard text.utf8.count > longestText else { return text }
    // An index into the bytes is rounded down to where a scalar begins.
    let end = text.utf8.index(text.startIndex, offsetBy: longestText)
    return String(text.unicodeScalars[..<end]) + "…"
  }

  // MARK: Reading

  /// Nil when the bytes are not exactly those of an event.
  init?(_ bytes: [UInt8]) {
    var reader = PayloadReader(bytes)
    var texts = InlineArray<10, Range<Int>?>(repeating: nil)
    var next = 0
    func text() -> Bool {
      guard let found = reader.text() else { return false }
      texts[next] = found
      next += 1
      return true
    }
    guard reader.byte() == PayloadWriter.format, case .some(.some(let sequence)) = reader.number(),
      case .some(.some(let time)) = reader.number(), text(), text(), text(), text(), let pid = reader.number(), text(),
      text(), text(), let inode = reader.number(), let birth = reader.number(), text(), text(), text()
    else { return nil }
    facts = reader.place
    guard let count = reader.group() else { return nil }
    for _ in 0..<count {
      guard case .some(.some) = reader.text(), case .some(.some) = reader.text() else { return nil }
    }
    guard reader.isAtEnd else { return nil }
    self.bytes = bytes
    self.sequence = sequence
    self.time = time
    self.texts = texts
    numbers = (pid, inode, birth)
  }

  /// The number of an entry, without a look at the rest.
  static func sequence(_ bytes: ArraySlice<UInt8>) -> Int64? {
    var reader = PayloadReader(bytes)
    guard reader.byte() == PayloadWriter.format, let sequence = reader.number() else { return nil }
    return sequence
  }

  func text(_ text: Text) -> ArraySlice<UInt8>? { texts[text.rawValue].map { bytes[$0] } }

  /// - Throws: `AuditLogError` (damaged) when a value is not of the kind that was written.
  func event(file: String) throws(AuditLogError) -> AuditEvent {
    func damaged(_ what: String) -> AuditLogError { AuditLogError(.damaged, file, "entry \(sequence) \(what)") }
    func string(_ text: Text) throws(AuditLogError) -> String? {
      guard let bytes = self.text(text) else { return nil }
      guard let string = String(recorded: bytes) else { throw damaged("has a text that is none") }
      return string
    }
    guard let kind = try string(.kind), let result = try string(.result).flatMap(AuditEvent.Result.init) else {
      throw damaged("has no kind or result that this version of Ambit knows")
    }
    var reader = PayloadReader(bytes, from: facts)
    let count = reader.group() ?? 0
    var detail = [String: String](minimumCapacity: Int(count))
    for _ in 0..<count {
      guard case .some(.some(let name)) = reader.text(), case .some(.some(let value)) = reader.text(),
        let key = String(recorded: bytes[name]), let fact = String(recorded: bytes[value])
      else { throw damaged("has facts that cannot be read") }
      detail[key] = fact
    }
    let document = try string(.path).map { path throws(AuditLogError) in
      AuditEvent.Document(
        path: path, volume: try string(.volume), inode: numbers.inode.map { UInt64(bitPattern: $0) },
        birth: numbers.birth.map { Timestamp(microseconds: $0).date })
    }
    return AuditEvent(
      AuditEvent.Kind(rawValue: kind), result, time: Timestamp(microseconds: time).date, app: try string(.app),
      instance: try string(.instance), pid: numbers.pid.map { Int32(truncatingIfNeeded: $0) },
      grant: try string(.grant), document: document, how: try string(.how), rule: try string(.rule),
      reason: try string(.reason), detail: detail, sequence: sequence)
  }
}

extension String {
  /// Nil when the bytes are no UTF-8.
  fileprivate init?(recorded bytes: ArraySlice<UInt8>) {
    // Nearly all texts are ASCII, which needs no check of its own: that would take as long as everything else in an entry.
    if bytes.reduce(0, |) < 0x80 {
      self = String(decoding: bytes, as: UTF8.self)
    } else if let text = String(validating: bytes, as: UTF8.self) {
      self = text
    } else {
      return nil
    }
  }
}

private struct PayloadWriter {
  static let format: UInt8 = 1
  private(set) var bytes: [UInt8] = [Self.format]

  init() { bytes.reserveCapacity(512) }

  mutating func group(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func number(_ number: Int64?) {
    guard let number else { return bytes.append(0) }
    bytes.append(1)
    group(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  mutating func text(_ text: String?) {
    guard var text = text.map(Payload.storable) else { return bytes.append(0) }
    text.withUTF8 { text in
      group(UInt64(text.count) + 1)
      unsafe bytes.append(contentsOf: text)
    }
  }
}

private struct PayloadReader {
  private let bytes: ArraySlice<UInt8>
  private(set) var place: Int

  init(_ bytes: [UInt8], from place: Int = 0) {
    self.bytes = bytes[...]
    self.place = place
  }

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    place = bytes.startIndex
  }

  var isAtEnd: Bool { place == bytes.endIndex }

  mutating func byte() -> UInt8? {
    guard place < bytes.endIndex else { return nil }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func group() -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = byte() else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      // One spelling of a number: the last group is not empty, and nothing is beyond 64 bits.
      if byte < 0x80 { return (byte == 0 && shift > 0) || (shift == 63 && byte > 1) ? nil : number }
    }
    return nil
  }

  /// Nil when there is none; within, nil when it is absent.
  mutating func number() -> Int64?? {
    guard let tag = byte() else { return nil }
    if tag == 0 { return .some(nil) }
    guard tag == 1, let zigzag = group() else { return nil }
    return .some(Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1))
  }

  mutating func text() -> Range<Int>?? {
    guard let size = group() else { return nil }
    if size == 0 { return .some(nil) }
    guard size - 1 <= UInt64(bytes.endIndex - place) else { return nil }
    let end = place + Int(size - 1)
    defer { place = end }
    return .some(place..<end)
  }
}
