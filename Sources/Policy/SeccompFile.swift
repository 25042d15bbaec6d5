internal import Paths

/// The rules for the profile that `seccomp.profile` names.
package enum SeccompFile {
  /// The word for Ambit's own profile and no other.
  package static let none = "standard"

  /// Why that word is none of several.
  static let alone = "it means Ambit's own profile alone; write it without the brackets"

  /// Why a text cannot be one, as the end of a sentence; `nil` when it can.
  static func check(_ text: String) -> String? {
    if text.isEmpty { return "it is empty; name a file, or \"\(none)\" for Ambit's own profile alone" }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "a path cannot have control characters in it"
    }
    return nil
  }

  /// A path is relative to the file that names it, so that the two can be moved about together.
  static func resolve(_ text: String, besides file: String) -> String {
    guard text != none, !text.isAbsolutePath, let folder = file.parentPath else { return text }
    return folder.path(of: text)
  }
}
