internal import Paths

/// The rules for the identifier of an app.
///
/// An identifier names the app's container folder and its rows in the broker's state, so it must never be able
/// to name another folder: no separators, no `..`, nothing hidden, nothing longer than a file name may be.
package struct BundleIdentifier: Equatable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: String

  /// The longest identifier in bytes: it becomes one file name (`NAME_MAX`).
  package static let maximumLength = 255

  /// What identifiers of plain programs begin with. Bundles may not take one: they would share its container.
  package static let programPrefix = "program."

  /// Fails when ``check(_:)`` has something to say.
  package init?(_ rawValue: String) {
    guard Self.check(rawValue) == nil else { return nil }
    self.rawValue = rawValue
  }

  package var description: String { rawValue }

  /// Why a text cannot be an identifier, as the end of a sentence ("it is empty"); `nil` when it can.
  ///
  /// The characters are those of a uniform type identifier: `A-Z a-z 0-9 . -`.
  package static func check(_ text: String) -> String? {
    if text.utf8.isEmpty { return "it is empty" }
    if text.utf8.count > maximumLength {
      return "it is \(text.utf8.count) bytes long, and \(maximumLength) are allowed"
    }
    for scalar in text.unicodeScalars where !isAllowed(scalar) {
      return "it has the character \(String(scalar).quoted), and only A-Z, a-z, 0-9, '.' and '-' are allowed"
    }
    if text.utf8.first == UInt8(ascii: "-") { return "it begins with '-'" }
    if text.utf8.first == UInt8(ascii: ".") { return "it begins with '.'" }
    if text.utf8.last == UInt8(ascii: ".") { return "it ends with '.'" }
    if text.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
      return "it has '..' in it"
    }
    return nil
  }

  /// The identifier that a plain program runs under: `program.` and its file name, with `-` for what an identifier
  /// cannot hold. Programs of the same file name share it, whatever folder they are in.
  package static func forProgram(_ path: String) -> String {
    let fileName = path.pathNames.last ?? ""
    var name = ""
    for scalar in fileName.unicodeScalars {
      let next = isAllowed(scalar) ? Character(scalar) : "-"
      // Runs of separators are folded, so that no component is empty.
      if let last = name.last, isSeparator(last), isSeparator(next) { continue }
      name.append(next)
    }
    name = String(name.prefix(maximumLength - programPrefix.utf8.count))
    while let first = name.first, isSeparator(first) { name.removeFirst() }
    while let last = name.last, isSeparator(last) { name.removeLast() }
    return programPrefix + (name.isEmpty ? "unnamed" : name)
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "A"..."Z", "a"..."z", "0"..."9", ".", "-": true
    default: false
    }
  }

  private static func isSeparator(_ character: Character) -> Bool { character == "." || character == "-" }
}
