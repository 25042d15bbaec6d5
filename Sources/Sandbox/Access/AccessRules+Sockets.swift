internal import Kernel

/// The sockets that an app may connect to: its own, and the broker's.
///
/// A mount, read-only or not, does not keep a process from connecting to a socket that lies in it. So the launcher makes every
/// connection in the app's place, and asks here.
extension AccessRules {
  /// The places of the sandbox's own sockets: the container, and folders whose mounts hold only files that the sandbox has made.
  /// Other files that are shown there have mounts of their own, and do not count.
  package var ownPlaces: [String] {
    ["/"]
      + entries.compactMap { entry in
        switch entry {
        case .bind(InsidePath.home, _, _, _), .temporary: entry.path
        default: nil
        }
      }
  }

  /// For a socket that does not lie in one of the ``ownPlaces``.
  package func denial(ofSocketAt path: String) -> Denial {
    if case .documents? = entry(of: path) {
      return Denial(
        code: .notPermitted, rule: "sockets",
        reason: "a granted folder is for its documents; the programs behind its sockets are not granted with it",
        remedy: "nothing: what such a program would do for the app, the user has not been asked")
    }
    return Denial(
      code: .notPermitted, rule: "sockets",
      reason: "only sockets of the sandbox's own and the broker's can be connected to",
      remedy: "nothing: a service of the host's is no part of what is shown read-only")
  }

  func denial(ofConnectingAt path: String, _ presence: Presence) -> Denial? {
    switch entry(of: path) {
    case .bind(InsidePath.home, _, _, _), .temporary, .processes, .masked, .readOnly, .terminals, .listener, .file,
      .link:
      nil
    case .documents, .bind: presence == .missing || presence == .makeable ? nil : denial(ofSocketAt: path)
    case .directory, nil: isHidden(path) ? hidden(path) : nil
    }
  }

  /// For a socket in no file system. Such names belong to a network namespace: one's own has only one's own.
  package var denialOfAbstractSockets: Denial? {
    guard network == .host else { return nil }
    return Denial(
      code: .notPermitted, rule: "sockets",
      reason: "where the app shares the host's network, abstract names are the host's programs'",
      remedy: "a socket at a path below \(InsidePath.home) or /tmp")
  }

  /// For a socket that the app was handed from outside, of a family that it could not have made itself.
  package var denialOfInternet: Denial? { network.hasSockets ? nil : denial(ofSocketFamily: "AF_INET") }

  /// For a socket of a family that the filter does not let through, by its name in `address_families(7)`.
  package func denial(ofSocketFamily family: String) -> Denial {
    if ["AF_INET", "AF_INET6"].contains(family), !network.hasSockets {
      return Denial(
        code: .familyNotSupported, rule: "network", reason: "the app has no network",
        remedy:
          "com.apple.security.network.client in Entitlements.plist and --allow-entitlement network.client, or [network] access = \"host\" in the policy; "
          + "\"loopback\" where only the app's own processes talk to each other")
    }
    return Denial(
      code: .familyNotSupported, rule: "seccomp", reason: "only Unix and internet sockets are let through",
      remedy: "nothing: other families reach the kernel and the machine, not a service")
  }

  /// For a Unix socket that could be sent to any other by its name, without being connected.
  package static let datagrams = Denial(
    code: .typeNotSupported, rule: "sockets",
    reason: "a datagram names its receiver where nobody can look, so it could go to any socket in a granted folder",
    remedy: "SOCK_SEQPACKET, which keeps messages apart as well, or SOCK_STREAM")
}
