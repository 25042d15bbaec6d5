/// How far an app's network goes.
package enum NetworkReach: String, CaseIterable, Equatable, Sendable, Codable {
  /// A network namespace of its own, and no internet sockets.
  case none
  /// A network namespace of its own with its own `127.0.0.1` and `::1`: the app's processes reach each other. No other process
  /// reaches them, nor do they reach any other. The host's loopback is another one.
  case loopback
  /// The host's network.
  case host

  /// Whether the app may make internet sockets.
  package var hasSockets: Bool { self != .none }

  /// For people.
  package var words: String {
    switch self {
    case .none: "none"
    case .loopback: "the app's own loopback"
    case .host: "the host's"
    }
  }
}
