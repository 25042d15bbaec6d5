/// Why a sandbox refuses something, in words that a person can act on (`SBX-16`).
package struct Denial: Equatable, Sendable {
  package enum Code: String, Sendable {
    case notPermitted = "EPERM"
    case familyNotSupported = "EAFNOSUPPORT"
    case typeNotSupported = "ESOCKTNOSUPPORT"
  }

  /// The error of the call (`SBX-3`).
  package var code: Code
  /// The rule that decides: an identifier of the catalogue, or the layer's name.
  package var rule: String
  /// The end of a sentence that begins with the refused operation.
  package var reason: String
  /// The change that would have granted it.
  package var remedy: String
}

/// An app's use of a path.
package enum AccessOperation: String, Sendable, CaseIterable {
  case read, write, create, connect
}
