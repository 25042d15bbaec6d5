internal import CLinux
internal import SystemPackage

/// The kernel's key rings (`keyrings(7)`).
package enum Keyrings {
  package enum Support: Equatable, Sendable {
    case present
    /// This kernel was built without them, so there is none that could be shared.
    case absent
    /// They are there, and something in between forbids this process to use them.
    case refused
  }

  /// The kernel's answer when this process asks for its session's key ring.
  package static var support: Support {
    let answer = ambit_session_keyring()
    if answer >= 0 { return .present }
    // A session that has none yet is answered ENOKEY.
    switch Errno(rawValue: CInt(-answer)) {
    case .noFunction: return .absent
    case .notPermitted, .permissionDenied: return .refused
    default: return .present
    }
  }
}
