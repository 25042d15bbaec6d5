package import Foundation

/// A moment in whole microseconds since 1970, UTC: the log's form, and RFC 3339 text on the way out.
///
/// A `Date` counts seconds in a floating point number, which holds no exact microsecond; moments are compared, stored
/// and written as integers, and a date made from one always comes back to it.
package struct Timestamp: Equatable, Comparable, Sendable {
  package let microseconds: Int64

  /// The years that RFC 3339 can write: 0000 to 9999.
  static let range: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

  /// A moment outside the years 0000 to 9999 becomes the nearest within.
  package init(microseconds: Int64) {
    self.microseconds = min(max(microseconds, Self.range.lowerBound), Self.range.upperBound)
  }

  package init(_ date: Date) {
    let rounded = (date.timeIntervalSince1970 * 1e6).rounded()
    // Infinities and years far away have no integer; not-a-number has no nearest year.
    if rounded.isNaN {
      self.init(microseconds: 0)
    } else if rounded >= Double(Self.range.upperBound) {
      self.init(microseconds: Self.range.upperBound)
    } else {
      self.init(microseconds: Int64(max(rounded, Double(Self.range.lowerBound))))
    }
  }

  package var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1e6) }

  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

  /// RFC 3339 in UTC with six digits after the point, so that texts sort as moments do: `2025-06-01T09:30:00.000250Z`.
  package var text: String {
    let (days, inDay) = microseconds.quotientAndRemainder(floor: 86_400_000_000)
    let (year, month, day) = civil(fromDays: days)
    let (seconds, fraction) = inDay.quotientAndRemainder(dividingBy: 1_000_000)
    // Millions of them are written in one go, so that no part is a text of its own.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(27)
    func add(_ number: Int64, _ digits: Int, _ end: Unicode.Scalar) {
      var unit: Int64 = 1
      for _ in 1..<digits { unit *= 10 }
      while unit > 0 {
        bytes.append(UInt8(0x30 + number / unit % 10))
        unit /= 10
      }
      bytes.append(UInt8(ascii: end))
    }
    add(year, 4, "-")
    add(month, 2, "-")
    add(day, 2, "T")
    add(seconds / 3600, 2, ":")
    add(seconds / 60 % 60, 2, ":")
    add(seconds % 60, 2, ".")
    add(fraction, 6, "Z")
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads RFC 3339: any offset from UTC, any number of digits after the point (beyond six they are dropped).
  /// Nil when the text is not a moment that exists.
  package init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    guard
      let year = number(&rest, digits: 4), take("-", &rest), let month = number(&rest, digits: 2), take("-", &rest),
      let day = number(&rest, digits: 2), take("T", &rest) || take("t", &rest) || take(" ", &rest),
      let hour = number(&rest, digits: 2), take(":", &rest), let minute = number(&rest, digits: 2), take(":", &rest),
      let second = number(&rest, digits: 2), (1...12).contains(month), (1...daysIn(month, of: year)).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if take(".", &rest) {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty else { return nil }
      for index in 0..<6 {
        let digit = digits.dropFirst(index).first.map { Int64($0) - 0x30 } ?? 0
        fraction = fraction * 10 + digit
      }
      rest = rest.dropFirst(digits.count)
    }
    var offset: Int64 = 0
    if !(take("Z", &rest) || take("z", &rest)) {
      let west = take("-", &rest)
      guard
        west || take("+", &rest), let hours = number(&rest, digits: 2), take(":", &rest),
        let minutes = number(&rest, digits: 2), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * (west ? -60 : 60)
    }
    guard rest.isEmpty else { return nil }
    let seconds = days(fromCivil: year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    self.init(microseconds: seconds * 1_000_000 + fraction)
  }
}

extension Int64 {
  fileprivate func quotientAndRemainder(floor divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

private func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
  guard let first = rest.first, UInt32(first) == character.value else { return false }
  rest = rest.dropFirst()
  return true
}

private func number(_ rest: inout ArraySlice<UInt8>, digits: Int) -> Int64? {
  let taken = rest.prefix(digits)
  guard taken.count == digits, taken.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  rest = rest.dropFirst(digits)
  return taken.reduce(0) { $0 * 10 + Int64($1) - 0x30 }
}

private func daysIn(_ month: Int64, of year: Int64) -> Int64 {
  switch month {
  case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  case 4, 6, 9, 11: return 30
  default: return 31
  }
}

// The proleptic Gregorian calendar, counted in eras of 400 years that begin on 1 March: the leap day is then the last
// day of its year, and a month's first day is a linear function of the month.

private func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
  let shifted = month <= 2 ? year - 1 : year
  let (era, yearOfEra) = shifted.quotientAndRemainder(floor: 400)
  let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

private func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
  let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(floor: 146_097)
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let shifted = (5 * dayOfYear + 2) / 153
  let month = shifted < 10 ? shifted + 3 : shifted - 9
  return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
}
