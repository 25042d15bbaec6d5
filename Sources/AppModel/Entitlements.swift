/// The requests of an app's `Entitlements.plist`, as far as they have a meaning to Ambit now.
///
/// An entitlement asks; a policy decides whether asking is enough.
package struct Entitlements: Equatable, Sendable {
  /// `com.apple.security.network.client`: outgoing connections.
  package var networkClient: Bool
  /// `com.apple.security.network.server`: incoming connections.
  package var networkServer: Bool
  /// `io.ambit.pass-grants`: passing its own rights to documents on to other apps.
  package var passGrants: Bool
  /// `com.apple.security.files.user-selected.executable`: running programs that lie in documents that the user picked.
  package var executePicked: Bool
  /// Its rights in Apple's sandbox; `nil`: it does not ask for that sandbox, and is held to none of its rules.
  package var sandbox: AppSandbox?
  /// The file's other keys, sorted. They change nothing.
  package var unknown: [String]

  /// The entitlements of an app without an `Entitlements.plist`.
  package static let none = Entitlements()

  package init(
    networkClient: Bool = false, networkServer: Bool = false, passGrants: Bool = false,
    executePicked: Bool = false, sandbox: AppSandbox? = nil, unknown: [String] = []
  ) {
    self.networkClient = networkClient
    self.networkServer = networkServer
    self.passGrants = passGrants
    self.executePicked = executePicked
    self.sandbox = sandbox
    self.unknown = unknown
  }
}

extension Entitlements {
  private static let client = "com.apple.security.network.client"
  private static let server = "com.apple.security.network.server"
  private static let pass = "io.ambit.pass-grants"
  private static let execute = "com.apple.security.files.user-selected.executable"

  package init(_ list: PropertyListFile) throws(AppBundleError) {
    networkClient = try list.flag(Self.client) ?? false
    networkServer = try list.flag(Self.server) ?? false
    passGrants = try list.flag(Self.pass) ?? false
    executePicked = try list.flag(Self.execute) ?? false
    sandbox = try AppSandbox(list)
    unknown = list.keys.filter { !Self.known.contains($0) }
  }

  private static let known = [client, server, pass, execute] + AppSandbox.keys

  /// Every entitlement with a meaning here that is no boolean: each of them alone keeps the app from being launched.
  package static func faults(in list: PropertyListFile) -> [AppBundleError] {
    known.compactMap { key in
      do throws(AppBundleError) {
        _ = try list.flag(key)
        return nil
      } catch { return error }
    }
  }
}
