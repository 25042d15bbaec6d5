internal import Terminal

/// Makes texts fit to be shown: short paths, no control characters, no endless lines.
struct Display: Equatable, Sendable {
  /// Folders and their short forms, the longest first.
  private let folders: [(folder: String, short: String)]

  static func == (one: Display, other: Display) -> Bool {
    one.folders.elementsEqual(other.folders) { $0 == $1 }
  }

  init(home: String, apps: String, scratch: String, containers: String) {
    folders = [(apps + "/", ""), (containers + "/", "container:"), (home, "~"), (scratch, "${scratch}")].sorted {
      $0.folder.count > $1.folder.count
    }
  }

  /// One text, on as many lines as it has, without its last line end.
  func clean(_ text: String) -> String {
    var text = text
    while text.hasSuffix("\n") { text.removeLast() }
    for (folder, short) in folders where folder.count > 1 { text = text.replacing(folder, with: short) }
    // Apps print any text, and a hostile one would like to move the cursor.
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
      .joined(separator: "\n")
  }

  /// One line of at most `width` characters; the omitted part is in the middle.
  func line(_ text: String, width: Int = 100) -> String {
    let line = clean(text).split(separator: "\n").joined(separator: " ⏎ ")
    guard line.count > width else { return line }
    let half = (width - 1) / 2
    return "\(line.prefix(half))…\(line.suffix(width - 1 - half))"
  }

  /// The last lines of a text.
  func tail(_ text: String, lines count: Int = 12) -> [String] {
    let all = clean(text).split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    let shown = all.suffix(count).map { line($0, width: 200) }
    return all.count > count ? ["… \(all.count - count) lines before"] + shown : shown
  }
}
