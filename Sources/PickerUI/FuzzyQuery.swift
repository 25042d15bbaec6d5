/// The filter as fzf reads it: words between spaces, all of which a name must answer.
///
/// `word` its letters in order, `'word` the word as it stands, `^word` at the beginning, `word$` at the end, `!word` nowhere in the
/// name. A space in a word is written `\ `. A capital letter or an accent asks for just that; without, neither counts.
struct FuzzyQuery: Sendable, Equatable {
  struct Term: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
      case scattered, exact, prefix, suffix, whole
    }

    var kind: Kind
    var isInverse: Bool
    var isCaseSensitive: Bool
    /// The word has accents, and wants them.
    var keepsAccents: Bool
    var scalars: [UInt32]
    /// It is of ASCII alone; else no name of ASCII has it in it.
    var isPlain: Bool
    /// The same as bytes, if it is.
    var ascii: [UInt8]
  }

  let terms: [Term]
  /// Whether one name can answer better than another.
  var ranks: Bool { terms.contains { !$0.isInverse } }

  init(_ text: String) {
    let words = Self.words(text.composedScalars)
    terms = words.compactMap(Self.term)
  }

  /// Whether each name that answers `longer` answers `text` too. A hasty no costs time alone.
  static func narrows(_ text: String, to longer: String) -> Bool {
    let signs: [Unicode.Scalar] = ["!", "$", "\\"]
    return !text.isEmpty && longer.unicodeScalars.starts(with: text.unicodeScalars)
      && !text.unicodeScalars.contains { signs.contains($0) }
  }

  private static func words(_ scalars: [UInt32]) -> [[UInt32]] {
    var words: [[UInt32]] = []
    var word: [UInt32] = []
    var index = 0
    while index < scalars.count {
      if scalars[index] == 0x5C, index + 1 < scalars.count, scalars[index + 1] == 0x20 {
        word.append(0x20)
        index += 1
      } else if scalars[index] == 0x20 {
        if !word.isEmpty { words.append(word) }
        word = []
      } else {
        word.append(scalars[index])
      }
      index += 1
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  private static func term(_ word: [UInt32]) -> Term? {
    let forms = word.map { ScalarForms($0) }
    let lower = forms.map(\.lower)
    let isCaseSensitive = lower != word
    let keepsAccents = zip(lower, forms).contains { $0 != $1.bareLower }
    var rest = (isCaseSensitive ? word : lower)[...]
    var kind = Term.Kind.scattered
    var isInverse = false
    if rest.first == 0x21 {
      (isInverse, kind) = (true, .exact)
      rest = rest.dropFirst()
    }
    if rest.last == 0x24, rest.count != 1 {
      kind = .suffix
      rest = rest.dropLast()
    }
    if rest.first == 0x27 {
      kind = isInverse ? .scattered : .exact
      rest = rest.dropFirst()
    } else if rest.first == 0x5E {
      kind = kind == .suffix ? .whole : .prefix
      rest = rest.dropFirst()
    }
    guard !rest.isEmpty else { return nil }
    let isPlain = rest.allSatisfy { $0 < 0x80 }
    return Term(
      kind: kind, isInverse: isInverse, isCaseSensitive: isCaseSensitive, keepsAccents: keepsAccents,
      scalars: Array(rest), isPlain: isPlain, ascii: isPlain ? rest.map { UInt8($0) } : [])
  }
}
