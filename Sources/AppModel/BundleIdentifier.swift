internal import Cryptography
internal import Foundation
internal import Paths

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The rules for the identifier of an app.
///
/// An identifier names the app's container folder and its rows in the broker's state, so it must never be able
/// to name another folder: no separators, no `..`, nothing hidden, nothing longer than a file name may be.
package struct BundleIdentifier: Equatable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: String

  /// The longest identifier in bytes: it becomes one file name (`NAME_MAX`).
  package static let maximumLength = 255

  /// The beginning of the identifiers of plain programs. Bundles may not take one: they would share its container.
  package static let programPrefix = "program."

  /// The beginning of the identifiers of apps that run while their own identifier belongs to another app.
  /// No manifest may have one.
  package static let anotherPrefix = "another."

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

  /// The identifier of an app that claims another one's: `another.`, the claim, and the beginning of its digest.
  ///
  /// - Parameter attempt: from 1; the identifiers of further attempts have it at their end.
  package static func forAnother(_ claimed: String, _ digest: AppDigest, attempt: Int) -> String {
    let end = "-\(Hexadecimal.text(digest.bytes.prefix(6)))" + (attempt > 1 ? "-\(attempt)" : "")
    var name = claimed.prefix(maximumLength - anotherPrefix.utf8.count - end.utf8.count)
    while let last = name.last, isSeparator(last) { name.removeLast() }
    return anotherPrefix + name + end
  }

  /// The identifier that a plain program runs under: `program.`, its file name with `-` for characters that an
  /// identifier cannot hold, and the beginning of the SHA-256 of its path: `program.foo-0123456789ab`. So another
  /// program of the same name is another app.
  ///
  /// - Parameter path: absolute, the way to its folder without links.
  package static func forProgram(_ path: String) -> String {
    #if AMBIT_MUTANTS
      if Mutant.programsShare.isActive, let name = path.pathNames.last, name != path { return forProgram(name) }
    #endif
    let end = "-\(Hexadecimal.text(SHA256.digest(path).prefix(6)))"
    let fileName = path.pathNames.last ?? ""
    var name = ""
    for scalar in fileName.unicodeScalars {
      let next = isAllowed(scalar) ? Character(scalar) : "-"
      // Runs of separators are folded, so that no component is empty.
      if let last = name.last, isSeparator(last), isSeparator(next) { continue }
      name.append(next)
    }
    name = String(name.prefix(maximumLength - programPrefix.utf8.count - end.utf8.count))
    while let first = name.first, isSeparator(first) { name.removeFirst() }
    while let last = name.last, isSeparator(last) { name.removeLast() }
    return programPrefix + (name.isEmpty ? "unnamed" : name) + end
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "A"..."Z", "a"..."z", "0"..."9", ".", "-": true
    default: false
    }
  }

  private static func isSeparator(_ character: Character) -> Bool { character == "." || character == "-" }
}
