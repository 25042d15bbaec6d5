internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// Times in the user's own zone, as tables have them.
enum LocalTime {
  /// “2025-06-01 09:30:00”.
  static func seconds(_ date: Date) -> String {
    var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    return unsafe "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  }

  /// - Parameter text: RFC 3339; anything else is left as it is.
  static func seconds(_ text: String) -> String {
    guard let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else {
      return text
    }
    return seconds(date)
  }

  /// As ``seconds(_:)-(String)``, to the minute.
  static func minutes(_ text: String) -> String {
    let seconds = seconds(text)
    return seconds == text ? text : String(seconds.dropLast(3))
  }

  /// As ``minutes(_:)``, to the day.
  static func day(_ text: String) -> String {
    let minutes = minutes(text)
    return minutes == text ? text : String(minutes.dropLast(6))
  }

  /// The same moment as RFC 3339, in UTC.
  ///
  /// - Parameter text: a local time, `YYYY-MM-DDThh:mm:ss`.
  /// - Returns: `nil` if it is none.
  static func utc(_ text: String) -> String? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss"
    return formatter.date(from: text)?.formatted(.iso8601)
  }
}
