/// Reads a regular expression: literals, `.`, classes, groups, `|`, `*`, `+`, `?`, `{n,m}`, `^`, `$`, and the usual escapes.
struct PatternCompiler {
  private indirect enum Node {
    case empty
    case one(TextPattern.Instruction)
    case sequence([Node])
    case choice([Node])
    case repeated(Node, least: Int, most: Int?)
  }

  private static let mostRepeats = 64
  private static let mostDepth = 16
  private static let mostScalars = 512
  /// Parts that are written, also those that are nothing: repetitions of repetitions multiply.
  private static let mostWritten = 4096

  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0
  private var written = 0
  private(set) var options: TextOptions

  init(_ pattern: String, _ options: TextOptions) {
    var options = options
    var scalars = Array(pattern.unicodeScalars)
    if scalars.starts(with: "(?i)".unicodeScalars) {
      options.insert(.caseInsensitive)
      scalars.removeFirst(4)
    }
    (self.scalars, self.options) = (scalars, options)
  }

  mutating func compile() throws(PatternError) -> [TextPattern.Instruction] {
    guard scalars.count <= Self.mostScalars else { throw Self.error("the pattern is too long") }
    let node = try choice()
    guard position == scalars.count else { throw Self.error("a parenthesis closes that was not opened") }
    var program: [TextPattern.Instruction] = []
    try emit(node, into: &program)
    program.append(.match)
    return program
  }

  private static func error(_ sentence: String) -> PatternError { PatternError(sentence: sentence) }

  private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  // MARK: Reading

  private mutating func choice() throws(PatternError) -> Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.mostDepth else { throw Self.error("its groups are too deep in one another") }
    var all = [try sequence()]
    while peek == "|" {
      position += 1
      all.append(try sequence())
    }
    return all.count == 1 ? all[0] : .choice(all)
  }

  private mutating func sequence() throws(PatternError) -> Node {
    var all: [Node] = []
    while let next = peek, next != "|", next != ")" {
      var node = try atom()
      if let (least, most) = try repeats() {
        node = .repeated(node, least: least, most: most)
        // As few as possible: which part matches makes no difference to whether the whole does.
        if peek == "?" { position += 1 }
        if peek == "+" { throw Self.error("possessive repetitions are not supported") }
        if let next = peek, "*?{".unicodeScalars.contains(next) {
          throw Self.error("a repetition follows a repetition")
        }
      }
      all.append(node)
    }
    return all.count == 1 ? all[0] : .sequence(all)
  }

  private mutating func repeats() throws(PatternError) -> (Int, Int?)? {
    switch peek {
    case "*":
      position += 1
      return (0, nil)
    case "+":
      position += 1
      return (1, nil)
    case "?":
      position += 1
      return (0, 1)
    case "{":
      position += 1
      let least = try number()
      var most: Int? = least
      if peek == "," {
        position += 1
        most = peek == "}" ? nil : try number()
      }
      guard peek == "}" else { throw Self.error("a repetition is written {n}, {n,} or {n,m}") }
      position += 1
      if let most, most < least { throw Self.error("a repetition ends below its beginning") }
      return (least, most)
    default: return nil
    }
  }

  private mutating func number() throws(PatternError) -> Int {
    var value = 0
    var digits = 0
    while let next = peek, ("0"..."9").contains(next) {
      value = value * 10 + Int(next.value - 0x30)
      digits += 1
      position += 1
      guard value <= Self.mostRepeats else { throw Self.error("more than \(Self.mostRepeats) repetitions") }
    }
    guard digits > 0 else { throw Self.error("a repetition is written {n}, {n,} or {n,m}") }
    return value
  }

  private mutating func atom() throws(PatternError) -> Node {
    guard let next = peek else { return .empty }
    position += 1
    switch next {
    case ".": return .one(.any)
    case "^": return .one(.atBeginning)
    case "$": return .one(.atEnd)
    case "[": return .one(.set(try set()))
    case "(":
      if peek == "?" {
        guard position + 1 < scalars.count, scalars[position + 1] == ":" else {
          throw Self.error("groups with “(?” are not supported, but for “(?:”")
        }
        position += 2
      }
      let inner = try choice()
      guard peek == ")" else { throw Self.error("a parenthesis is missing") }
      position += 1
      return inner
    case "\\": return try escape()
    case "*", "+", "?", "{": throw Self.error("“\(next)” repeats nothing")
    default: return literal(next)
    }
  }

  /// One character in the form in which texts are compared, which may be several.
  private func literal(_ scalar: Unicode.Scalar) -> Node {
    let folded = SearchText.folded(String(Character(scalar)), options).unicodeScalars
    return folded.count == 1
      ? .one(.scalar(folded.first?.value ?? scalar.value)) : .sequence(folded.map { .one(.scalar($0.value)) })
  }

  private static func ranges(of escape: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
    switch escape {
    case "d": ScalarSet.digits
    case "D": ScalarSet.complement(ScalarSet.digits)
    case "s": ScalarSet.spaces
    case "S": ScalarSet.complement(ScalarSet.spaces)
    case "w": ScalarSet.words
    case "W": ScalarSet.complement(ScalarSet.words)
    default: nil
    }
  }

  private static func control(_ escape: Unicode.Scalar) -> Unicode.Scalar? {
    switch escape {
    case "n": "\n"
    case "t": "\t"
    case "r": "\r"
    default: nil
    }
  }

  private mutating func escape() throws(PatternError) -> Node {
    guard let next = peek else { throw Self.error("nothing follows the last backslash") }
    position += 1
    if let ranges = Self.ranges(of: next) { return .one(.set(ScalarSet(ranges: ranges))) }
    if let control = Self.control(next) { return .one(.scalar(control.value)) }
    guard !next.properties.isAlphabetic, next.properties.numericType == nil else {
      throw Self.error("“\\\(next)” is not supported")
    }
    return literal(next)
  }

  private mutating func set() throws(PatternError) -> ScalarSet {
    var set = ScalarSet(ignoresCase: options.contains(.caseInsensitive))
    if peek == "^" {
      position += 1
      set.isNegated = true
    }
    var isFirst = true
    while let next = peek, next != "]" || isFirst {
      isFirst = false
      position += 1
      if next == "[" || next == "&" && peek == "&" { throw Self.error("sets in sets are not supported") }
      guard let low = try member(next, &set) else { continue }
      guard peek == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
        set.ranges.append(low...low)
        continue
      }
      position += 1
      let end = scalars[position]
      position += 1
      guard let high = try member(end, &set), high >= low else { throw Self.error("a range ends before it begins") }
      set.ranges.append(low...high)
    }
    guard peek == "]" else { throw Self.error("a bracket is missing") }
    position += 1
    guard !set.ranges.isEmpty else { throw Self.error("a set is empty") }
    return set
  }

  /// One character of a class; `nil`: a class of its own, which has been added.
  private mutating func member(_ scalar: Unicode.Scalar, _ set: inout ScalarSet) throws(PatternError) -> UInt32? {
    guard scalar == "\\" else { return scalar.value }
    guard let next = peek else { throw Self.error("nothing follows the last backslash") }
    position += 1
    if let ranges = Self.ranges(of: next) {
      set.ranges += ranges
      return nil
    }
    return (Self.control(next) ?? next).value
  }

  // MARK: Writing

  private mutating func emit(_ node: Node, into program: inout [TextPattern.Instruction]) throws(PatternError) {
    written += 1
    guard program.count < TextPattern.mostInstructions, written <= Self.mostWritten else {
      throw Self.error("the pattern is too long")
    }
    switch node {
    case .empty: break
    case .one(let instruction): program.append(instruction)
    case .sequence(let all): for each in all { try emit(each, into: &program) }
    case .choice(let all):
      var ends: [Int] = []
      for (index, each) in all.enumerated() {
        guard index < all.count - 1 else {
          try emit(each, into: &program)
          break
        }
        let split = program.count
        program.append(.split(split + 1, 0))
        try emit(each, into: &program)
        ends.append(program.count)
        program.append(.jump(0))
        program[split] = .split(split + 1, program.count)
      }
      for end in ends { program[end] = .jump(program.count) }
    case .repeated(let inner, let least, let most):
      for _ in 0..<least { try emit(inner, into: &program) }
      guard let most else {
        let split = program.count
        program.append(.split(split + 1, 0))
        try emit(inner, into: &program)
        program.append(.jump(split))
        program[split] = .split(split + 1, program.count)
        return
      }
      var splits: [Int] = []
      for _ in least..<most {
        splits.append(program.count)
        program.append(.split(program.count + 1, 0))
        try emit(inner, into: &program)
      }
      for split in splits { program[split] = .split(split + 1, program.count) }
    }
  }
}
