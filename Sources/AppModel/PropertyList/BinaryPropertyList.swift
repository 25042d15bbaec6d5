/// Reads the binary form (`bplist00`): a table of objects that refer to each other by number.
///
/// A file of a few hundred bytes can refer to itself, or tell the same value billions of times; so objects that are being
/// read are known, and values are counted as they are told.
struct BinaryPropertyList {
  static let magic = Array("bplist".utf8)
  private static let trailerSize = 32

  private let bytes: [UInt8]
  private let offsets: [Int]
  private let top: Int
  private let referenceSize: Int
  private var path: [KeyPath.Step] = []
  private var open: Set<Int> = []
  private var values = 0
  private var told = 0

  init(_ bytes: [UInt8]) throws(PropertyListFault) {
    func refuse(_ problem: String) -> PropertyListFault {
      PropertyListFault("it begins as a binary one and is damaged: \(problem)")
    }
    guard bytes.count >= 8 + Self.trailerSize else {
      throw refuse("expected at least 40 bytes, and it has \(bytes.count)")
    }
    guard bytes[6] == UInt8(ascii: "0") else { throw refuse("expected version 0 (bplist00), and it has another") }
    let trailer = bytes.count - Self.trailerSize
    let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw refuse(
        "expected offsets and references of 1 to 8 bytes, and they are of \(offsetSize) and \(referenceSize)")
    }
    func number(_ at: Int) -> UInt64 { bytes[at..<(at + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
    guard let count = Int(exactly: number(trailer + 8)), let top = Int(exactly: number(trailer + 16)),
      let table = Int(exactly: number(trailer + 24)), count > 0, table >= 8, table <= trailer,
      count <= (trailer - table) / offsetSize
    else { throw refuse("expected a table of objects within the file, and it is not") }
    guard top < count else { throw refuse("expected its first value among its \(count) objects, and it is not") }
    var offsets: [Int] = []
    offsets.reserveCapacity(count)
    for index in 0..<count {
      let start = table + index * offsetSize
      let value = bytes[start..<(start + offsetSize)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard let offset = Int(exactly: value), offset >= 8, offset < table else {
        throw refuse("expected object \(index) within the file, and it is not")
      }
      offsets.append(offset)
    }
    // Objects end where their table begins.
    (self.bytes, self.offsets, self.top, self.referenceSize) = (Array(bytes[..<table]), offsets, top, referenceSize)
  }

  mutating func parse() throws(PropertyListFault) -> PropertyListNode { try object(top) }

  private mutating func object(_ index: Int) throws(PropertyListFault) -> PropertyListNode {
    values += 1
    guard values <= PropertyListBounds.values else {
      throw shortFault(
        "expected at most \(PropertyListBounds.values) values, and it tells more, some of them many times")
    }
    guard path.count <= PropertyListBounds.depth else {
      throw shortFault("expected at most \(PropertyListBounds.depth) values within each other, and more are")
    }
    guard offsets.indices.contains(index) else {
      throw fault("expected one of \(offsets.count) objects, and it refers to number \(index)")
    }
    var position = offsets[index]
    let marker = bytes[position]
    position += 1
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0:
      if low == 8 || low == 9 { return PropertyListNode(.boolean(low == 9)) }
      throw fault("expected a value, and found the marker \(hexadecimal(marker))")
    case 0x1: return PropertyListNode(try integer(power: low, at: position))
    case 0x2:
      switch low {
      case 2:
        return PropertyListNode(.real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try number(4, position))))))
      case 3: return PropertyListNode(.real(Double(bitPattern: try number(8, position))))
      default: throw fault("expected a number of 4 or 8 bytes, and found the marker \(hexadecimal(marker))")
      }
    case 0x3 where low == 3:
      let seconds = Double(bitPattern: try number(8, position))
      guard seconds.isFinite else { throw fault("expected a date, and its number of seconds is \(seconds)") }
      return PropertyListNode(.date(seconds))
    case 0x4: return PropertyListNode(.data(Array(try run(low, 1, &position))))
    case 0x5, 0x7:
      guard let text = String(validating: try run(low, 1, &position), as: UTF8.self) else {
        throw fault("expected a string, and its bytes are no text")
      }
      try text.checkMarkRows()
      return PropertyListNode(.string(text))
    case 0x6: return PropertyListNode(.string(try utf16(low, &position)))
    case 0x8: return PropertyListNode(.reference(try number(low + 1, position)))
    case 0xA, 0xC: return PropertyListNode(.array(try members(of: index, low, position)))
    case 0xD: return PropertyListNode(.dictionary(try entries(of: index, low, position)))
    default: throw fault("expected a value, and found the marker \(hexadecimal(marker))")
    }
  }

  // MARK: - Collections

  private mutating func members(
    of index: Int, _ low: Int, _ start: Int
  ) throws(PropertyListFault) -> [PropertyListNode] {
    var position = start
    let references = try run(low, referenceSize, &position)
    try enter(index)
    var members: [PropertyListNode] = []
    for number in 0..<(references.count / referenceSize) {
      path.append(.index(number))
      members.append(try object(reference(number, in: references)))
      path.removeLast()
    }
    open.remove(index)
    return members
  }

  private mutating func entries(
    of index: Int, _ low: Int, _ start: Int
  ) throws(PropertyListFault) -> [PropertyListEntry] {
    var position = start
    // The keys, then as many values.
    let references = try run(low, referenceSize * 2, &position)
    try enter(index)
    var entries: [PropertyListEntry] = []
    var seen: Set<String> = []
    let count = references.count / referenceSize / 2
    for number in 0..<count {
      let name = try object(reference(number, in: references))
      guard let key = name.string else { throw fault("expected a string for a key, and found \(name.kind)") }
      path.append(.key(key))
      guard seen.insert(key).inserted else { throw fault("expected each key once, and this one is there twice") }
      entries.append(PropertyListEntry(key: key, node: try object(reference(count + number, in: references))))
      path.removeLast()
    }
    open.remove(index)
    return entries
  }

  private mutating func enter(_ index: Int) throws(PropertyListFault) {
    guard open.insert(index).inserted else {
      throw fault("expected a value, and found one that it is itself a part of")
    }
  }

  private func reference(_ number: Int, in references: ArraySlice<UInt8>) -> Int {
    let start = references.startIndex + number * referenceSize
    let value = references[start..<(start + referenceSize)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    // One that no table has room for is refused where it is looked up.
    return Int(exactly: value) ?? .max
  }

  // MARK: - Bytes

  /// A run of things of one size, of which the marker has the count, or an integer after it.
  private mutating func run(_ low: Int, _ size: Int, _ position: inout Int) throws(PropertyListFault) -> ArraySlice<
    UInt8
  > {
    var count = low
    if low == 0xF {
      guard position < bytes.count, bytes[position] >> 4 == 1 else { throw fault("expected a length, and found none") }
      let width = 1 << Int(bytes[position] & 0x0F)
      guard width <= 8, let length = Int(exactly: try number(width, position + 1)) else {
        throw fault("expected a length of at most 8 bytes, and it has more")
      }
      count = length
      position += 1 + width
    }
    guard count <= (bytes.count - position) / size else {
      throw fault("expected \(count) \(size == 1 ? "bytes" : "members"), and the file ends before them")
    }
    told += count * size
    guard told <= PropertyListBounds.told else {
      throw shortFault("expected at most \(PropertyListBounds.told) bytes, and it tells more, some of them many times")
    }
    defer { position += count * size }
    return bytes[position..<(position + count * size)]
  }

  private mutating func utf16(_ low: Int, _ position: inout Int) throws(PropertyListFault) -> String {
    let run = try run(low, 2, &position)
    let units = stride(from: run.startIndex, to: run.endIndex, by: 2).map { UInt16(run[$0]) << 8 | UInt16(run[$0 + 1]) }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw fault("expected a string, and its characters are none")
    }
    try text.checkMarkRows()
    return text
  }

  private func integer(power: Int, at position: Int) throws(PropertyListFault) -> PropertyListNode.Value {
    switch power {
    // Those of less than eight bytes have no sign.
    case 0...2: return .integer(Int64(try number(1 << power, position)))
    case 3: return .integer(Int64(bitPattern: try number(8, position)))
    case 4:
      let (high, low) = (try number(8, position), try number(8, position + 8))
      if high == 0 { return Int64(exactly: low).map { .integer($0) } ?? .unsigned(low) }
      if high == .max, low >> 63 == 1 { return .integer(Int64(bitPattern: low)) }
      throw fault("expected a whole number of at most 64 bits, and it is larger")
    default: throw fault("expected a whole number of at most 64 bits, and it has \(1 << (power + 3))")
    }
  }

  private func number(_ count: Int, _ position: Int) throws(PropertyListFault) -> UInt64 {
    guard count <= bytes.count - position else { throw fault("expected \(count) bytes, and the file ends before them") }
    // Of longer ones, only the last eight bytes can be needed.
    let slice = bytes[position..<(position + count)]
    guard slice.dropLast(8).allSatisfy({ $0 == 0 }) else { throw fault("expected a number of at most 64 bits") }
    return slice.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func hexadecimal(_ byte: UInt8) -> String { "0x" + String(byte, radix: 16) }

  private func fault(_ problem: String) -> PropertyListFault { PropertyListFault(path: KeyPath(path), problem) }

  /// The whole path would be a sentence of pages.
  private func shortFault(_ problem: String) -> PropertyListFault {
    PropertyListFault(path: KeyPath(Array(path.prefix(3))), problem)
  }
}
