/// The fields of `[limits]` for the use of the whole sandbox.
extension PolicyOverrides {
  static func container(_ table: TOMLReader) throws(SourceError) -> Ceiling<Int>? {
    try ceiling(
      table, "container", "bytes (1 MiB or more), a string such as \"10 GiB\", or \"none\"",
      number: { $0 >= smallest ? $0 : nil }, text: { Amount.bytes($0).flatMap { $0 >= smallest ? $0 : nil } })
  }

  static func containerFiles(_ table: TOMLReader) throws(SourceError) -> Ceiling<Int>? {
    try ceiling(
      table, "container_files", "an integer from 1 on, or \"none\"", number: { $0 >= 1 ? $0 : nil }, text: { _ in nil })
  }

  /// No program of any use does with less.
  static func memory(
    _ table: TOMLReader
  ) throws(SourceError) -> Ceiling<Capabilities.Limits.Memory>? {
    try ceiling(
      table, "memory",
      "bytes (1 MiB or more), a string such as \"512 MiB\", a share of the machine's such as \"50%\", or \"none\"",
      number: { $0 >= smallest ? .bytes($0) : nil },
      text: { text in
        if let share = Amount.percent(text) { return .percent(share) }
        return Amount.bytes(text).flatMap { $0 >= smallest ? .bytes($0) : nil }
      })
  }

  static func duration(_ table: TOMLReader, _ key: String) throws(SourceError) -> Ceiling<Int>? {
    let range = GrantLifetime.range
    return try ceiling(
      table, key, "whole seconds from 1 on, a string such as \"90s\", \"10m\" or \"1h30m\", or \"none\"",
      number: { range.contains($0) ? $0 : nil },
      text: { Amount.seconds($0).flatMap { range.contains($0) ? $0 : nil } })
  }

  static func processors(_ table: TOMLReader) throws(SourceError) -> Ceiling<Int>? {
    let expected = "a number of processors from 0.01 to 8192, for example 1.5, or \"none\""
    guard let node = table.value("processors") else { return nil }
    if case .string("none") = node.value { return Ceiling.none }
    let number: Double? =
      switch node.value {
      case .integer(let whole): Double(exactly: whole)
      case .float(let number): number
      default: nil
      }
    guard let number, (0.01...8192).contains(number) else { throw table.wrong("processors", node, expected) }
    return .at(Int((number * 1000).rounded()))
  }

  /// A number, an amount as a string, or the word that takes an inherited ceiling away.
  private static func ceiling<Value>(
    _ table: TOMLReader, _ key: String, _ expected: String, number: (Int) -> Value?, text: (String) -> Value?
  ) throws(SourceError) -> Ceiling<Value>? {
    guard let node = table.value(key) else { return nil }
    let value: Value? =
      switch node.value {
      case .string("none"): nil
      case .string(let words): text(words)
      case .integer(let whole): number(whole)
      default: nil
      }
    if let value { return .at(value) }
    if case .string("none") = node.value { return Ceiling.none }
    throw table.wrong(key, node, expected)
  }
}

private let smallest = Amount.smallestSize
