/// A set of options. Each has a word and a bit, in the same order.
package protocol NamedOptions: OptionSet, Sendable, CustomStringConvertible where RawValue == UInt16 {
  static var words: [String] { get }
}

extension NamedOptions {
  /// The bits of words; unknown ones have none.
  static func bits(of words: [String]) -> UInt16 {
    var bits: UInt16 = 0
    for word in words { if let index = Self.words.firstIndex(of: word) { bits |= 1 << index } }
    return bits
  }

  /// In the order of the alphabet.
  package var words: [String] {
    Self.words.enumerated().filter { rawValue & 1 << $0.offset != 0 }.map(\.element).sorted()
  }

  package var description: String { words.joined(separator: ", ") }
}
