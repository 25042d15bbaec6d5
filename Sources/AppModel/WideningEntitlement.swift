/// An entitlement that can give an app more than apps have without it. All others narrow (those of Apple's sandbox) or have no
/// meaning here.
package enum WideningEntitlement: String, CaseIterable, Equatable, Hashable, Sendable {
  case networkClient = "com.apple.security.network.client"
  case networkServer = "com.apple.security.network.server"
  case passGrants = "io.ambit.pass-grants"
  case executePicked = "com.apple.security.files.user-selected.executable"

  /// The key in an `Entitlements.plist`.
  package var key: String { rawValue }

  /// The key without the reversed domain that it begins with: `network.client`.
  package var shortName: String {
    for prefix in Self.prefixes where key.hasPrefix(prefix) { return String(key.dropFirst(prefix.count)) }
    return key
  }

  private static let prefixes = ["com.apple.security.", "io.ambit."]

  /// The word that a log has for it (``Entitlements/words``).
  package var word: String {
    switch self {
    case .networkClient: "networkClient"
    case .networkServer: "networkServer"
    case .passGrants: "passGrants"
    case .executePicked: "executePicked"
    }
  }

  /// By its key or its short name; `nil`: there is no such entitlement, or it widens nothing.
  package init?(named name: String) {
    guard let found = Self.allCases.first(where: { [$0.key, $0.shortName].contains(name) }) else { return nil }
    self = found
  }

  var flag: WritableKeyPath<Entitlements, Bool> {
    switch self {
    case .networkClient: \.networkClient
    case .networkServer: \.networkServer
    case .passGrants: \.passGrants
    case .executePicked: \.executePicked
    }
  }
}

extension Entitlements {
  /// The app's entitlements that can widen its rights, in a fixed order.
  package var widening: [WideningEntitlement] { WideningEntitlement.allCases.filter { self[keyPath: $0.flag] } }

  /// The same without the widening ones that are not among these. Narrowing ones stay as they are.
  package func keeping(_ kept: Set<WideningEntitlement>) -> Entitlements {
    var result = self
    for entitlement in WideningEntitlement.allCases where !kept.contains(entitlement) {
      result[keyPath: entitlement.flag] = false
    }
    return result
  }

  /// The same with these widening ones as well.
  package func adding(_ added: some Sequence<WideningEntitlement>) -> Entitlements {
    var result = self
    for entitlement in added { result[keyPath: entitlement.flag] = true }
    return result
  }
}
