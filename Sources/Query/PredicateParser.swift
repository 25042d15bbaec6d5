/// Reads predicates as Foundation's `NSPredicate(format:)` does: comparisons and what combines them.
///
/// Every input ends in a value or an error, within a time that its length bounds.
package struct PredicateParser {
  private var lexer: PredicateLexer
  private var token: PredicateLexer.Token = .end
  private var at = 0
  private var arguments: [PredicateArgument]
  private var taken = 0
  private var depth = 0
  private var parts = 0
  private typealias Expression = MetadataComparison.Expression

  /// - Parameter arguments: for the placeholders, in their order.
  package static func parse(
    _ text: String, _ arguments: [PredicateArgument] = []
  ) throws(PredicateFault) -> MetadataPredicate {
    guard text.utf8.count <= MetadataPredicate.Limit.bytes else {
      throw PredicateFault(
        .tooLarge("a predicate has at most \(MetadataPredicate.Limit.bytes) bytes, and this one \(text.utf8.count)"),
        at: 0)
    }
    var parser = try PredicateParser(text, arguments)
    let predicate = try parser.disjunction()
    guard parser.token == .end else { throw parser.unexpected("the predicate could end") }
    guard parser.taken == arguments.count else {
      throw PredicateFault(
        .argument("\(arguments.count) arguments were given, and the format takes \(parser.taken)"), at: parser.at)
    }
    let patterns = predicate.patterns
    guard patterns <= MetadataPredicate.Limit.patterns else {
      throw PredicateFault(
        .tooLarge("a predicate has at most \(MetadataPredicate.Limit.patterns) patterns, and this one \(patterns)"),
        at: 0)
    }
    // With its arguments it may be longer than its format.
    let length = predicate.description.utf8.count
    guard length <= MetadataPredicate.Limit.bytes else {
      throw PredicateFault(
        .tooLarge("a predicate has at most \(MetadataPredicate.Limit.bytes) bytes, and this one \(length)"), at: 0)
    }
    return predicate
  }

  private init(_ text: String, _ arguments: [PredicateArgument]) throws(PredicateFault) {
    lexer = PredicateLexer(text)
    self.arguments = arguments
    try advance()
  }

  private mutating func advance() throws(PredicateFault) { (token, at) = try lexer.next() }

  private func unexpected(_ words: String) -> PredicateFault {
    let found =
      switch token {
      case .word(let word), .escaped(let word): "“\(word)”"
      case .text(let text): "the text “\(text.prefix(40))”"
      case .integer(let number): "\(number)"
      case .number(let number): "\(number)"
      case .placeholder(let letter): "“%\(letter)”"
      case .symbol(let symbol): "“\(symbol)”"
      case .end: "the end"
      }
    return PredicateFault(.syntax("\(found) stands where \(words)"), at: at)
  }

  private mutating func count() throws(PredicateFault) {
    parts += 1
    guard parts <= MetadataPredicate.Limit.parts else {
      throw PredicateFault(
        .tooLarge("a predicate has at most \(MetadataPredicate.Limit.parts) comparisons and values in lists"), at: at)
    }
  }

  private mutating func nested<Value>(
    _ body: (inout PredicateParser) throws(PredicateFault) -> Value
  ) throws(PredicateFault) -> Value {
    depth += 1
    guard depth <= MetadataPredicate.Limit.depth else {
      throw PredicateFault(
        .tooLarge("a predicate has at most \(MetadataPredicate.Limit.depth) levels of parentheses and negations"),
        at: at)
    }
    let value = try body(&self)
    depth -= 1
    return value
  }

  // MARK: Compounds

  private func isWord(_ word: String, or symbol: String) -> Bool {
    switch token {
    case .word(let found): found.uppercased() == word
    case .symbol(let found): found == symbol
    default: false
    }
  }

  private mutating func disjunction() throws(PredicateFault) -> MetadataPredicate {
    var all = [try conjunction()]
    while isWord("OR", or: "||") {
      try advance()
      all.append(try conjunction())
    }
    return all.count == 1 ? all[0] : .or(all)
  }

  private mutating func conjunction() throws(PredicateFault) -> MetadataPredicate {
    var all = [try negation()]
    while isWord("AND", or: "&&") {
      try advance()
      all.append(try negation())
    }
    return all.count == 1 ? all[0] : .and(all)
  }

  private mutating func negation() throws(PredicateFault) -> MetadataPredicate {
    if isWord("NOT", or: "!") {
      try advance()
      // Its own parenthesis counts for both.
      if token == .symbol("(") { return .not(try negation()) }
      return .not(try nested { (parser) throws(PredicateFault) in try parser.negation() })
    }
    if token == .symbol("(") {
      return try nested { (parser) throws(PredicateFault) in
        try parser.advance()
        let inner = try parser.disjunction()
        guard parser.token == .symbol(")") else { throw parser.unexpected("a parenthesis could close") }
        try parser.advance()
        return inner
      }
    }
    try count()
    if case .word(let word) = token {
      switch word.uppercased() {
      case "TRUEPREDICATE":
        try advance()
        return .constant(true)
      case "FALSEPREDICATE":
        try advance()
        return .constant(false)
      default: break
      }
    }
    return .comparison(try comparison())
  }

  // MARK: Comparisons

  private mutating func comparison() throws(PredicateFault) -> MetadataComparison {
    // A list of an item's values matches if one of them does, with the word and without.
    if case .word(let word) = token, ["ANY", "SOME"].contains(word.uppercased()) { try advance() }
    let start = at
    let left = try expression()
    let relation: MetadataComparison.Relation
    switch token {
    case .word(let word):
      if PredicateWords.foreign.contains(word.uppercased()) { throw PredicateFault(.unsupported(word), at: at) }
      guard let found = PredicateWords.relations[word.uppercased()] else {
        throw unexpected("a comparison could be")
      }
      relation = found
    case .symbol(let symbol):
      guard let found = PredicateWords.symbols[symbol] else { throw unexpected("a comparison could be") }
      relation = found
    default: throw unexpected("a comparison could be")
    }
    let options = try lexer.options()
    try advance()
    let patternAt = at
    let right = try expression()
    try check(left, relation, right, options, start, patternAt)
    return MetadataComparison(left, relation, right, options)
  }

  private func check(
    _ left: Expression, _ relation: MetadataComparison.Relation, _ right: Expression, _ options: TextOptions,
    _ start: Int, _ patternAt: Int
  ) throws(PredicateFault) {
    switch relation {
    case .between:
      guard case .value(.list(let bounds)) = right, bounds.count == 2 else {
        throw PredicateFault(.syntax("BETWEEN takes two values, as in {1, 9}"), at: patternAt)
      }
    case .like, .matches:
      guard case .value(.text(let pattern)) = right else {
        throw PredicateFault(.unsupported("a pattern that is no text"), at: patternAt)
      }
      do throws(PatternError) { _ = try TextPattern(pattern, relation, options) } catch {
        throw PredicateFault(.pattern(error.sentence), at: patternAt)
      }
    case .within:
      switch right {
      case .key, .value(.list), .value(.text): break
      default: throw PredicateFault(.syntax("IN takes a list, as in {1, 9}"), at: patternAt)
      }
    case .beginsWith, .endsWith, .contains:
      if case .value(let value) = right, relation != .contains {
        guard case .text = value else {
          throw PredicateFault(.syntax("\(relation.rawValue) takes a text"), at: patternAt)
        }
      }
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      if case .value(.list) = right { throw PredicateFault(.syntax("a list needs IN or BETWEEN"), at: patternAt) }
      if case .value(.list) = left { throw PredicateFault(.syntax("a list needs IN or BETWEEN"), at: start) }
    }
  }

  private mutating func expression() throws(PredicateFault) -> Expression {
    let (found, start) = (token, at)
    switch found {
    case .escaped(let key):
      guard PredicateWords.isKey(key) else { throw PredicateFault(.syntax("“\(key)” is no key"), at: start) }
      try advance()
      return .key(key)
    case .text(let text):
      try advance()
      return .value(.text(text))
    case .integer(let number):
      try advance()
      return .value(.integer(number))
    case .number(let number):
      try advance()
      return .value(.number(number))
    case .placeholder(let letter):
      try advance()
      return try argument(letter, start)
    case .symbol("{"): return .value(.list(try list()))
    case .word(let word):
      return PredicateWords.isReserved(word) ? try reserved(word, start) : try key(word, start)
    default: throw unexpected("a key or a value could be")
    }
  }

  private mutating func key(_ word: String, _ start: Int) throws(PredicateFault) -> Expression {
    guard PredicateWords.isKey(word) else { throw PredicateFault(.syntax("“\(word)” is no key"), at: start) }
    try advance()
    if token == .symbol("(") { throw PredicateFault(.unsupported("a function (“\(word)(…)”)"), at: start) }
    return .key(word)
  }

  private mutating func reserved(_ word: String, _ start: Int) throws(PredicateFault) -> Expression {
    switch word.uppercased() {
    case "TRUE", "YES":
      try advance()
      return .value(.flag(true))
    case "FALSE", "NO":
      try advance()
      return .value(.flag(false))
    case "NIL", "NULL":
      try advance()
      return .value(.none)
    case "CAST": return .value(try date(start))
    case let other where PredicateWords.foreign.contains(other): throw PredicateFault(.unsupported(word), at: start)
    default: throw unexpected("a key or a value could be")
    }
  }

  /// A point in time: seconds since the beginning of 2001.
  private mutating func date(_ start: Int) throws(PredicateFault) -> MetadataValue {
    try advance()
    guard token == .symbol("(") else { throw unexpected("CAST has its parenthesis") }
    try advance()
    let seconds: Double
    switch try expression() {
    case .value(.integer(let number)): seconds = Double(number)
    case .value(.number(let number)): seconds = number
    default: throw PredicateFault(.unsupported("CAST of anything but a number"), at: start)
    }
    guard token == .symbol(",") else { throw unexpected("a comma could be") }
    try advance()
    guard token == .text("NSDate") else {
      throw PredicateFault(.unsupported("CAST to anything but \"NSDate\""), at: at)
    }
    try advance()
    guard token == .symbol(")") else { throw unexpected("a parenthesis could close") }
    try advance()
    return .date(seconds)
  }

  private mutating func list() throws(PredicateFault) -> [MetadataValue] {
    try nested { (parser) throws(PredicateFault) in
      var values: [MetadataValue] = []
      try parser.advance()
      while parser.token != .symbol("}") {
        try parser.count()
        let start = parser.at
        guard case .value(let value) = try parser.expression() else {
          throw PredicateFault(.unsupported("a key in a list"), at: start)
        }
        if case .list = value { throw PredicateFault(.unsupported("a list in a list"), at: start) }
        values.append(value)
        guard parser.token == .symbol(",") else { break }
        try parser.advance()
      }
      guard parser.token == .symbol("}") else { throw parser.unexpected("a list could close") }
      try parser.advance()
      return values
    }
  }

  // MARK: Arguments

  private mutating func argument(_ letter: Character, _ start: Int) throws(PredicateFault) -> Expression {
    func wrong(_ words: String) -> PredicateFault { PredicateFault(.argument(words), at: start) }
    guard taken < arguments.count else { throw wrong("an argument is missing for “%\(letter)”") }
    let argument = arguments[taken]
    taken += 1
    guard case .value(let value) = argument else {
      if case .other(let type) = argument { throw wrong("a \(type) is no value of predicates") }
      throw wrong("no value of predicates")
    }
    switch letter {
    case "K":
      guard case .text(let key) = value else { throw wrong("%K takes the name of a key") }
      guard PredicateWords.isKey(key) else { throw wrong("“\(key.prefix(40))” is no key") }
      return .key(key)
    case "@": break
    default: if value.numeric == nil { throw wrong("%\(letter) takes a number") }
    }
    for each in value.each {
      if let number = each.numeric, !number.isFinite { throw wrong("\(number) is no value of predicates") }
      if case .date(let seconds) = each, !seconds.isFinite { throw wrong("\(seconds) is no date") }
      if case .list = value { try count() }
    }
    return .value(value)
  }
}

extension MetadataValue {
  fileprivate var each: [MetadataValue] {
    if case .list(let all) = self { all } else { [self] }
  }
}
