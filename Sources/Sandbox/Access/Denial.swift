/// Why a sandbox refuses something, in words that a person can act on (`SBX-16`).
package struct Denial: Equatable, Sendable {
  package enum Code: String, Sendable {
    case notPermitted = "EPERM"
    case familyNotSupported = "EAFNOSUPPORT"
    case typeNotSupported = "ESOCKTNOSUPPORT"
  }

  /// What the call fails with (`SBX-3`).
  package var code: Code
  /// The rule that decides: an identifier of the catalogue, or the layer's name.
  package var rule: String
  /// The end of a sentence that begins with what was refused.
  package var reason: String
  /// What would have granted it.
  package var remedy: String
}

/// What an app wants of a path.
package enum AccessOperation: String, Sendable, CaseIterable {
  case read, write, create, connect
}
