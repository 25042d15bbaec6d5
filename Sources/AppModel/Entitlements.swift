/// What an app's `Entitlements.plist` asks for, of that which has a meaning to Ambit now.
///
/// An entitlement asks; a policy decides whether asking is enough.
package struct Entitlements: Equatable, Sendable {
  /// `com.apple.security.network.client`: outgoing connections.
  package var networkClient: Bool
  /// `com.apple.security.network.server`: incoming connections.
  package var networkServer: Bool
  /// The file's other keys, sorted. They change nothing.
  package var unknown: [String]

  /// What an app without an `Entitlements.plist` has.
  package static let none = Entitlements()

  package init(networkClient: Bool = false, networkServer: Bool = false, unknown: [String] = []) {
    self.networkClient = networkClient
    self.networkServer = networkServer
    self.unknown = unknown
  }
}

extension Entitlements {
  private static let client = "com.apple.security.network.client"
  private static let server = "com.apple.security.network.server"

  init(_ list: PropertyListFile) throws(AppBundleError) {
    networkClient = try list.flag(Self.client) ?? false
    networkServer = try list.flag(Self.server) ?? false
    unknown = list.keys.filter { $0 != Self.client && $0 != Self.server }
  }
}
