internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The Documents of apps that show them in other apps' pickers (`SBX-6`, `SBX-7`).
@BrokerLoop
final class OfferedPlaces {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail

  init(_ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail) {
    (self.host, self.grants, self.trail) = (host, grants, trail)
  }

  /// Notes a launch's manifest's word on it. Only under the app's own identifier: a container that the user chose
  /// for it is not its to show.
  func noteSharing(_ request: LauncherInterface.PrepareCall, of app: String) throws {
    guard let manifest = request.manifest, request.container == nil else { return }
    let said = SharedDocuments(
      isBrowsable: manifest.sharesDocuments, isPublicScope: manifest.publicScope, version: manifest.version)
    let before = try grants.sharedDocuments(of: app)
    let now = before?.after(said) ?? said
    guard now != before else { return }
    // A folder that was never shown, and is not, is no event.
    if now.isShown != (before?.isShown ?? false) {
      try trail.decide([
        AuditEvent(
          .sharing, app: app, how: "manifest",
          rule: now.isBrowsable == (before?.isBrowsable ?? false) ? "SBX-7" : "SBX-6",
          detail: [AuditEvent.Fact.shown: "\(now.isShown)", "version": manifest.version ?? ""])
      ])
    }
    try grants.note(now, of: app)
  }

  /// The places of other apps that this one's picker offers: folders, and no link that an app has put there.
  func places(for asking: String) -> [LauncherInterface.Place] {
    let apps = (try? grants.sharingApps()) ?? []
    let shared = apps.filter { $0.bundleIdentifier != asking }.prefix(Self.mostPlaces).compactMap {
      app -> LauncherInterface.Place? in
      guard
        let container = try? Descriptor.open(
          app.bundleIdentifier, below: host.containers(), flags: [.path, .noFollow]),
        let documents = try? Descriptor.open("Documents", below: container, flags: [.path, .directory, .noFollow]),
        let path = documents.currentPath
      else { return nil }
      return .init(name: app.name, path: path)
    }
    return locations() + shared
  }

  /// The folders of enabled file providers.
  var locations: () -> [LauncherInterface.Place] = { [] }

  private static let mostPlaces = 256

  /// Why a document may not be granted to an app, wherever it came from.
  ///
  /// - Parameter app: `nil`: it is shown no places of others.
  func refusal(of kind: Folders.DocumentKind, at path: String?, for app: String?) -> String? {
    guard let app, let path, host.rules.holdsOwn(path) else { return host.rules.refusal(of: kind, at: path) }
    return host.rules.refusal(of: kind, at: path, shared: places(for: app).map(\.path))
  }
}
