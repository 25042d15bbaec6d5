/// Amounts as people write them in a policy: `"512 MiB"`, `"1h30m"`. Whole numbers and fractions, never rounded up.
package enum Amount {
  /// Bytes of the smallest ceiling on memory or a container. With less no program starts.
  static let smallestSize = 1 << 20

  /// Bytes by unit. Powers of ten and of two are told apart as IEC 80000-13 does.
  static let sizes: [(name: String, bytes: Int)] = [
    ("B", 1), ("kB", 1000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20), ("GB", 1_000_000_000),
    ("GiB", 1 << 30), ("TB", 1_000_000_000_000), ("TiB", 1 << 40),
  ]

  /// Seconds by unit, the longest first: the order in which they are written.
  static let durations: [(name: String, seconds: Int)] = [("d", 86400), ("h", 3600), ("m", 60), ("s", 1)]

  /// `"2 GiB"`, `"1.5GB"`; a space may stand before the unit, which has to be there.
  package static func bytes(_ text: String) -> Int? {
    guard let (number, rest) = decimal(text[...]) else { return nil }
    let unit = rest.first == " " ? rest.dropFirst() : rest
    guard let size = sizes.first(where: { $0.name == unit })?.bytes else { return nil }
    let bytes = number.whole.multipliedReportingOverflow(by: size)
    // The digits behind the point are few: the product fits.
    let fraction = number.fraction * size / number.scale
    let sum = bytes.partialValue.addingReportingOverflow(fraction)
    return bytes.overflow || sum.overflow ? nil : sum.partialValue
  }

  /// `"90s"`, `"10m"`, `"1h30m"`: each unit once, the longest first, and no number without one.
  static func seconds(_ text: String) -> Int? {
    var rest = text[...]
    var units = durations[...]
    var total = 0
    repeat {
      guard let (number, after) = decimal(rest), number.scale == 1,
        let index = units.firstIndex(where: { after.hasPrefix($0.name) })
      else { return nil }
      let part = number.whole.multipliedReportingOverflow(by: units[index].seconds)
      let sum = total.addingReportingOverflow(part.partialValue)
      if part.overflow || sum.overflow { return nil }
      total = sum.partialValue
      rest = after.dropFirst()
      units = units[(index + 1)...]
    } while !rest.isEmpty
    return total
  }

  /// ``seconds(_:)`` the other way round: `"1h30m"`.
  package static func text(seconds: Int) -> String {
    var rest = seconds
    let parts = durations.compactMap { unit -> String? in
      defer { rest %= unit.seconds }
      return rest >= unit.seconds ? "\(rest / unit.seconds)\(unit.name)" : nil
    }
    return parts.isEmpty ? "0s" : parts.joined()
  }

  /// ``bytes(_:)`` the other way round, in the largest unit in which it is a whole number.
  package static func text(bytes: Int) -> String {
    let unit = sizes.filter { bytes != 0 && bytes % $0.bytes == 0 }.max { $0.bytes < $1.bytes }
    return unit.map { "\(bytes / $0.bytes) \($0.name)" } ?? "\(bytes) B"
  }

  /// `"50%"`, from 1 to 100.
  static func percent(_ text: String) -> Int? {
    guard let (number, rest) = decimal(text[...]), number.scale == 1, rest == "%", (1...100).contains(number.whole)
    else { return nil }
    return number.whole
  }

  /// Digits, perhaps with a point and up to three digits behind it, at the beginning of a text.
  private static func decimal(
    _ text: Substring
  ) -> (number: (whole: Int, fraction: Int, scale: Int), rest: Substring)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let whole = Int(digits) else { return nil }
    let rest = text[digits.endIndex...]
    guard rest.first == "." else { return ((whole, 0, 1), rest) }
    let behind = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
    guard (1...3).contains(behind.count), let fraction = Int(behind) else { return nil }
    let scale = [10, 100, 1000][behind.count - 1]
    return ((whole, fraction, scale), rest[behind.endIndex...])
  }
}
