/// Why a pattern cannot be used; the end of a sentence.
package struct PatternError: Error, Hashable, Sendable {
  package let sentence: String
}

/// The pattern of a `LIKE` or `MATCHES`, ready to be compared with whole texts.
///
/// An automaton that follows all of its states at once. The time for a text grows with the product of the two lengths, and no faster.
/// There are no backreferences and no lookaround.
package struct TextPattern: Hashable, Sendable {
  enum Instruction: Hashable, Sendable {
    case scalar(UInt32)
    /// One of these, or none of them.
    case set(ScalarSet)
    case any
    /// Goes on at both places.
    case split(Int, Int)
    case jump(Int)
    case atBeginning
    case atEnd
    case match
  }

  /// How many instructions a pattern may become.
  static let mostInstructions = 256

  /// How many instructions it has: a text is compared with each of them, character by character.
  package var length: Int { program.count }

  private let program: [Instruction]
  private let options: TextOptions

  package init(
    _ pattern: String, _ relation: MetadataComparison.Relation, _ options: TextOptions
  ) throws(PatternError) {
    if relation == .like {
      self.options = options
      program = try Self.wildcards(pattern, options)
    } else {
      var compiler = PatternCompiler(pattern, options)
      program = try compiler.compile()
      self.options = compiler.options
    }
  }

  /// `*` stands for any text, `?` for one character, and a backslash takes their meaning away.
  private static func wildcards(_ pattern: String, _ options: TextOptions) throws(PatternError) -> [Instruction] {
    var program: [Instruction] = []
    var literal = String.UnicodeScalarView()
    func flush() {
      program += SearchText.folded(String(literal), options).unicodeScalars.map { .scalar($0.value) }
      literal = String.UnicodeScalarView()
    }
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case _ where isEscaped:
        literal.append(scalar)
        isEscaped = false
      case "\\": isEscaped = true
      case "*":
        flush()
        // Several of them mean no more than one.
        if case .jump = program.last { continue }
        let at = program.count
        program += [.split(at + 1, at + 3), .any, .jump(at)]
      case "?":
        flush()
        program.append(.any)
      default: literal.append(scalar)
      }
    }
    flush()
    program.append(.match)
    guard program.count <= mostInstructions else { throw PatternError(sentence: "the pattern is too long") }
    return program
  }

  /// Whether a whole text matches.
  package func matches(_ text: String) -> Bool {
    let scalars = SearchText.folded(text, options).unicodeScalars.map(\.value)
    var states = States(program.count)
    var next = States(program.count)
    follow(0, into: &states, at: 0, of: scalars.count)
    for (index, scalar) in scalars.enumerated() {
      if states.list.isEmpty { return false }
      next.removeAll()
      for state in states.list {
        let takes =
          switch program[state] {
          case .scalar(let wanted): wanted == scalar
          case .set(let set): set.contains(scalar)
          case .any: true
          default: false
          }
        if takes { follow(state + 1, into: &next, at: index + 1, of: scalars.count) }
      }
      swap(&states, &next)
    }
    return states.list.contains { program[$0] == .match }
  }

  private struct States {
    var list: [Int] = []
    private var isIn: [Bool]
    init(_ count: Int) { isIn = [Bool](repeating: false, count: count) }
    mutating func insert(_ state: Int) -> Bool {
      if isIn[state] { return false }
      isIn[state] = true
      list.append(state)
      return true
    }
    mutating func removeAll() {
      for state in list { isIn[state] = false }
      list.removeAll(keepingCapacity: true)
    }
  }

  /// Adds a state and those that it leads to without a character.
  private func follow(_ start: Int, into states: inout States, at position: Int, of count: Int) {
    var left = [start]
    while let state = left.popLast() {
      guard states.insert(state) else { continue }
      switch program[state] {
      case .split(let one, let other): left += [other, one]
      case .jump(let to): left.append(to)
      case .atBeginning: if position == 0 { left.append(state + 1) }
      case .atEnd: if position == count { left.append(state + 1) }
      default: break
      }
    }
  }
}

/// Which characters a class has.
struct ScalarSet: Hashable, Sendable {
  var ranges: [ClosedRange<UInt32>] = []
  var isNegated = false
  /// A letter also stands for itself in the other case.
  var ignoresCase = false

  func contains(_ scalar: UInt32) -> Bool {
    if holds(scalar) { return !isNegated }
    if ignoresCase, let properties = Unicode.Scalar(scalar)?.properties {
      for text in [properties.lowercaseMapping, properties.uppercaseMapping] {
        if text.unicodeScalars.count == 1, holds(text.unicodeScalars.first?.value ?? scalar) { return !isNegated }
      }
    }
    return isNegated
  }

  private func holds(_ scalar: UInt32) -> Bool { ranges.contains { $0.contains(scalar) } }

  static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
  static let spaces: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20, 0x85...0x85, 0xA0...0xA0, 0x2028...0x2029]
  /// Letters are those below 128, and all beyond that are neither signs nor spaces of Latin-1.
  static let words: [ClosedRange<UInt32>] = [
    0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A, 0xAA...0xAA, 0xB5...0xB5, 0xBA...0xBA, 0xC0...0xD6, 0xD8...0xF6,
    0xF8...0x1FFF, 0x2C00...0x2DFF, 0x3040...0xD7FF, 0xF900...0xFDFF, 0x10000...0x1F000, 0x20000...0x3FFFF,
  ]

  /// All that are not in some ranges, which are in order.
  static func complement(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var result: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.lowerBound > next { result.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    if next <= 0x10FFFF { result.append(next...0x10FFFF) }
    return result
  }
}
