internal import Audit
internal import BrokerCore
internal import ScopedAccess
internal import Wire

#if AMBIT_MUTANTS
  internal import Kernel
  internal import Paths
#endif

/// The tokens by which apps name the grants of one launch (`TOK-15`).
@BrokerLoop
final class ScopeTokens {
  private let key: SealingKey
  private let grants: GrantStore
  private let trail: AuditTrail

  init(_ key: SealingKey, _ grants: GrantStore, _ trail: AuditTrail) {
    (self.key, self.grants, self.trail) = (key, grants, trail)
  }

  /// The grant that a token opens for an instance. Any other token, sealed for any other app or
  /// launch, is no token here.
  func grant(of scope: String, _ instance: Instance) throws -> Grant {
    #if AMBIT_MUTANTS
      if Mutant.anyToken.isActive, let id = known(scope, instance), let grant = try grants.grant(id) { return grant }
    #endif
    guard let id = known(scope, instance), var grant = try grants.grant(id),
      grant.bundleIdentifier == instance.app.bundleIdentifier
    else { throw unknown(instance) }
    if grant.revoked != nil {
      trail.record(
        AuditEvent(.refuse, .refused, instance, grant: grant, rule: "AUD-1", reason: "the grant was withdrawn"))
      throw AccessInterface.Failure.revoked
    }
    grant.rights = instance.rights(of: grant)
    return grant
  }

  /// The same whether or not the grant is in force.
  func grantID(of scope: String, _ instance: Instance) throws -> String {
    guard let id = known(scope, instance) else { throw unknown(instance) }
    return id
  }

  /// A token for new URLs.
  func token(for grant: String, _ instance: Instance) -> String {
    let token = instance.scopes.exposedTokens[grant] ?? key.token(instance: instance.id, grant: grant)
    instance.scopes.exposedTokens[grant] = token
    return token
  }

  private func known(_ scope: String, _ instance: Instance) -> String? {
    #if AMBIT_MUTANTS
      if Mutant.pathHasScope.isActive, scope.pathNames.count > 2 { return scope.pathNames[1] }
    #endif
    if let known = instance.scopes.tokens[scope] { return known }
    guard let id = key.grant(of: scope, instance: instance.id) else { return nil }
    instance.scopes.tokens[scope] = id
    return id
  }

  private func unknown(_ instance: Instance) -> ErrorReply {
    trail.record(AuditEvent(.refuse, .refused, instance, rule: "TOK-15", reason: "a token that is not of this launch"))
    return AccessInterface.Failure.invalidScope
  }
}
