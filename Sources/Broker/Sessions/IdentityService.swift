internal import AppModel
internal import Audit
internal import BrokerCore
internal import ScopedAccess
internal import Wire

/// The records of apps, and forgetting them.
@BrokerLoop
final class IdentityService {
  private let grants: GrantStore
  private let trail: AuditTrail

  init(_ grants: GrantStore, _ trail: AuditTrail) {
    (self.grants, self.trail) = (grants, trail)
  }

  func list() throws -> [GrantsInterface.Identity] {
    let records = try grants.records()
    return try grants.identities().map { app, seen in
      GrantsInterface.Identity(
        bundleIdentifier: app.identifier, claimed: app.claimed, path: app.path, digest: app.digest.description,
        owners: app.owners.map { Int($0) }, remembered: Instance.rfc3339(seen),
        grants: records.count { $0.grant.bundleIdentifier == app.identifier })
    }
  }

  /// Its container and its grants stay: the next app that claims the identifier has them.
  func forget(_ app: String) throws -> GrantsInterface.ForgetReply {
    guard let record = try grants.identities().first(where: { $0.app.identifier == app })?.app else {
      throw GrantsInterface.Failure.notFound(
        "Nothing is remembered of an app called \(app); “ambit identity list” has those that are known.")
    }
    try trail.decide([
      AuditEvent(
        .identity, app: app, how: "forgotten",
        detail: [
          AuditEvent.Fact.formerPath: record.path, AuditEvent.Fact.formerDigest: record.digest.description,
        ])
    ])
    try grants.forgetEntitlements(of: app)
    _ = try grants.forgetIdentity(of: app)
    return .init(grants: try grants.records(of: app).count)
  }
}
