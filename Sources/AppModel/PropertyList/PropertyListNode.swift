internal import Paths

/// A value of a property list, with the line where it stands.
package struct PropertyListNode: Equatable, Sendable {
  package indirect enum Value: Equatable, Sendable {
    case string(String)
    case integer(Int64)
    /// One that needs all 64 bits.
    case unsigned(UInt64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    /// A number that keyed archives refer by; only binary lists have it.
    case reference(UInt64)
    case array([PropertyListNode])
    case dictionary([PropertyListEntry])
  }

  package let value: Value
  /// From 1; `nil` in a binary list.
  package let line: Int?

  package init(_ value: Value, line: Int? = nil) {
    self.value = value
    self.line = line
  }

  /// Its type, with an article: "a string".
  package var kind: String {
    switch value {
    case .string: "a string"
    case .integer, .unsigned, .real: "a number"
    case .boolean: "a boolean"
    case .date: "a date"
    case .data: "data"
    case .reference: "a reference of a keyed archive"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }

  package var string: String? { if case .string(let text) = value { text } else { nil } }
  package var boolean: Bool? { if case .boolean(let flag) = value { flag } else { nil } }
  /// A boolean of a manifest, also as it is written by hand: YES, NO, true or false in any case, 1 or 0, as text or as number.
  ///
  /// Apple's systems read it so: CoreFoundation takes the words and any number (`_CFBundleGetInfoDictionaryBoolean`), and Launch
  /// Services' keys were texts of one digit before they were booleans. Other values are not guessed at.
  package var looseBoolean: Bool? {
    switch value {
    case .boolean(let flag): flag
    case .integer(0), .unsigned(0): false
    case .integer(1), .unsigned(1): true
    case .string(let text):
      switch text.lowercased() {
      case "yes", "true", "1": true
      case "no", "false", "0": false
      default: nil
      }
    default: nil
    }
  }
  /// A whole number that fits.
  package var number: Int? {
    switch value {
    case .integer(let number): Int(exactly: number)
    case .unsigned(let number): Int(exactly: number)
    default: nil
    }
  }
  package var array: [PropertyListNode]? { if case .array(let members) = value { members } else { nil } }
  package var dictionary: [PropertyListEntry]? { if case .dictionary(let entries) = value { entries } else { nil } }

  /// A member of a dictionary; `nil` also where this is something else.
  package subscript(key: String) -> PropertyListNode? { dictionary?.first { $0.key == key }?.node }

  /// Apple's lists of one may be written as the one. `nil` where a member is something else.
  package var strings: [String]? {
    if let string { return [string] }
    guard let array else { return nil }
    let strings = array.compactMap(\.string)
    return strings.count == array.count ? strings : nil
  }
}

/// A key of a dictionary, with its value. Keys occur once.
package struct PropertyListEntry: Equatable, Sendable {
  package let key: String
  package let node: PropertyListNode
  /// The key's line; `nil` in a binary list.
  package let line: Int?

  package init(key: String, node: PropertyListNode, line: Int? = nil) {
    self.key = key
    self.node = node
    self.line = line
  }
}

/// The way to a value: `CFBundleDocumentTypes[0].CFBundleTypeName`.
///
/// The first key is written as it is, since entitlements have dots in them; a later one with anything but letters, digits,
/// `-` and `_` stands in brackets and quotes. Members of arrays are counted from 0.
package struct KeyPath: Equatable, Hashable, Sendable, CustomStringConvertible {
  package enum Step: Equatable, Hashable, Sendable {
    case key(String)
    case index(Int)
  }

  package let steps: [Step]

  package init(_ steps: [Step] = []) { self.steps = steps }

  package func key(_ key: String) -> KeyPath { KeyPath(steps + [.key(key)]) }
  package func index(_ index: Int) -> KeyPath { KeyPath(steps + [.index(index)]) }

  package var description: String {
    var text = ""
    for (number, step) in steps.enumerated() {
      switch step {
      case .index(let index): text += "[\(index)]"
      case .key(let key) where number == 0: text += Self.isPlain(key, dots: true) ? key : key.quoted
      case .key(let key): text += Self.isPlain(key, dots: false) ? ".\(key)" : "[\(key.quoted)]"
      }
    }
    return text
  }

  private static func isPlain(_ key: String, dots: Bool) -> Bool {
    !key.isEmpty && key.utf8.count <= 128
      && key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        case UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: ":"): dots
        default: false
        }
      }
  }
}

/// A fault in a property list, and its place.
struct PropertyListFault: Error, Equatable, CustomStringConvertible {
  /// `nil` in a binary list, and where no line is at fault.
  let line: Int?
  let path: KeyPath
  /// The expected and the found value, as the end of a sentence.
  let problem: String

  init(line: Int? = nil, path: KeyPath = KeyPath(), _ problem: String) {
    self.line = line
    self.path = path
    self.problem = problem
  }

  var description: String {
    let place = [line.map { "line \($0)" }, path.steps.isEmpty ? nil : "\(path)"].compactMap(\.self)
    return place.isEmpty ? problem : "\(place.joined(separator: ", ")): \(problem)"
  }
}

/// Bounds that no manifest exceeds.
enum PropertyListBounds {
  /// A manifest is a few kilobytes; more is another file under its name.
  static let size = 1 << 20
  static let depth = 64
  /// A binary list may tell one value many times over; so many in all.
  static let values = 200_000
  /// And so many bytes of all of their texts.
  static let told = 1 << 23
}

extension String {
  /// Texts of a list are compared and looked up.
  func checkMarkRows() throws(PropertyListFault) {
    if hasLongMarkRow { throw PropertyListFault("a text in it has more than 128 combining marks in a row") }
  }
}
