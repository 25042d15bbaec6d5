internal import Paths

// The picker's words about a request, and its forms of sizes, dates and places.

extension PickerRequest {
  /// “a document to open, read and write”.
  var wanted: String {
    switch purpose {
    case .export(let names): return "a folder for a copy of \(Self.list(names))"
    case .move(let names): return "a folder to move \(Self.list(names)) to"
    case .open, .copy: break
    }
    let what =
      switch (kind, multiple) {
      case (.file, false): "a document"
      case (.file, true): "documents"
      case (.folder, false): "a folder and all in it"
      case (.folder, true): "folders and all in them"
      }
    if purpose == .copy { return what + " to copy" }
    return what + (access == .readOnly ? " to open, read only" : " to open, read and write")
  }

  private static func list(_ names: [String]) -> String {
    guard let first = names.first else { return "nothing" }
    let rest = names.count - 1
    return DisplayText.quoted(first, limit: 40) + (rest == 0 ? "" : rest == 1 ? " and another" : " and \(rest) others")
  }

  /// The first line: the app that asks, and its request. The app's name cannot push the rest out of sight.
  func title(nameLimit: Int) -> String {
    if isBrowser {
      return "\(DisplayText.quoted(appName, limit: nameLimit)): open a document\(access == .readOnly ? " to read" : "")"
    }
    return "\(DisplayText.quoted(appName, limit: nameLimit)) asks for \(wanted)"
  }

  /// The app's own words, visibly a quotation; nil when it says nothing.
  var quotation: String? {
    guard let message else { return nil }
    let words = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.isEmpty ? nil : "It says: “" + DisplayText.withoutQuotes(DisplayText(words).plain) + "”"
  }
}

enum Measure {
  /// Bytes as people say them, three digits at most: `0 B`, `999 B`, `1.2 kB`, `34 MB`.
  static func size(_ bytes: Int64) -> String {
    if bytes < 1000 { return "\(max(0, bytes)) B" }
    var value = Double(bytes)
    for unit in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      value /= 1000
      if value < 9.95 { return "\((value * 10).rounded() / 10) \(unit)" }
      if value < 999.5 { return "\(Int(value.rounded())) \(unit)" }
    }
    return "\(Int(value.rounded())) EB"
  }

  /// How long ago, both in seconds since 1970.
  static func age(of time: Int64, now: Int64) -> String {
    let seconds = now - time
    if seconds < -60 { return "in the future" }
    if seconds < 60 { return "just now" }
    let steps: [(Int64, String)] = [
      (365 * 86400, "year"), (30 * 86400, "month"), (7 * 86400, "week"), (86400, "day"), (3600, "hour"), (60, "min"),
    ]
    for (length, unit) in steps where seconds >= length {
      let count = seconds / length
      return "\(count) \(unit)\(count == 1 || unit == "min" ? "" : "s") ago"
    }
    return "just now"
  }

  /// A path with the home folder as `~`.
  static func place(_ path: String, home: String?) -> String {
    guard let home, home.count > 1 else { return path }
    if path == home { return "~" }
    return path.path(within: home).map { "~/\($0)" } ?? path
  }

  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
