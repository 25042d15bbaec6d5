internal import Foundation
internal import Paths

/// How texts are compared: the `[c]`, `[d]` and `[cd]` of predicates.
package struct TextOptions: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let caseInsensitive = TextOptions(rawValue: 1)
  package static let diacriticInsensitive = TextOptions(rawValue: 2)
  package static let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
}

/// The form in which texts are compared: UTF-8 bytes. One text is in another if its bytes are.
///
/// The form for both options follows from every other one, scalar by scalar. So an index of it finds a superset of the texts that any
/// comparison would find.
package enum SearchText {
  package static func bytes(_ text: String, _ options: TextOptions) -> [UInt8] {
    var text = text
    let ascii = text.withUTF8 { utf8 -> [UInt8]? in
      guard unsafe utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      guard options.contains(.caseInsensitive) else { return unsafe Array(utf8) }
      return unsafe utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }
    return ascii ?? Array(folded(text, options).utf8)
  }

  /// The same as a text.
  package static func folded(_ text: String, _ options: TextOptions) -> String {
    let composed = text.withoutLongMarkRows.precomposedStringWithCanonicalMapping
    if options.isEmpty { return composed }
    let lower = options.contains(.caseInsensitive) ? lowercased(composed) : composed
    guard options.contains(.diacriticInsensitive) else { return lower }
    let plain = withoutMarks(lower)
    return options.contains(.caseInsensitive) ? lowercased(plain) : plain
  }

  /// Scalar by scalar: the same letter in any surroundings becomes the same one.
  private static func lowercased(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
  }

  private static func withoutMarks(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    result.append(
      contentsOf: text.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
        $0.properties.generalCategory != .nonspacingMark
      })
    return String(result)
  }

  package static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    guard part.count <= text.count else { return false }
    var at = 0
    let last = text.count - part.count
    while at <= last {
      guard let next = text[at...last].firstIndex(of: first) else { return false }
      if text[next..<(next + part.count)].elementsEqual(part) { return true }
      at = next + 1
    }
    return false
  }
}
