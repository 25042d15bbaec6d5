internal import AppModel
package import Policy
internal import Sandbox

/// An app's abilities under a policy, each with its decision; or those of any app, if the question names only a policy.
///
/// Every ability of the vocabulary is in it, those that the app does not have as well: that something is impossible is an answer.
package struct Explanation: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    package var ability: Ability
    package var extent: Extent
    /// The parts of the subject that this does not open.
    package var except: [String] = []
    /// How it happens, where there are several ways that are neither more nor less.
    package var manner: String?
    package var decisions: [Decision]

    package init(
      _ ability: Ability, _ extent: Extent, except: [String] = [], manner: String? = nil, by decisions: [Decision]
    ) {
      self.ability = ability
      self.extent = extent
      self.except = except
      self.manner = manner
      self.decisions = decisions
    }
  }

  /// In the order of the vocabulary; of one verb, as the policy has them.
  package let entries: [Entry]
  /// The decisions by which a verb has no more than its entries.
  package let closing: [Ability.Verb: [Decision]]

  package init(entries: [Entry], closing: [Ability.Verb: [Decision]] = [:]) {
    self.closing = closing
    let order = Dictionary(uniqueKeysWithValues: Ability.Verb.allCases.enumerated().map { ($1, $0) })
    self.entries = entries.enumerated().sorted { left, right in
      (order[left.element.ability.verb] ?? 0, left.offset) < (order[right.element.ability.verb] ?? 0, right.offset)
    }
    .map(\.element)
  }

  /// - Parameter app: `nil`: the abilities that the policy gives to any app.
  package init(policy: Policy, origins: PolicyOrigins, app: DeclaredApp?, on ground: Ground) {
    self.init(Rules(policy: policy, origins: origins, app: app, on: ground))
  }

  init(_ rules: Rules) {
    self.init(
      entries: rules.network + rules.files + rules.documents.map(rules.held) + rules.host + rules.resources
        + rules.kernel,
      closing: [
        .readPath: rules.decided("system.read_only"), .seeVariable: rules.decided("environment.pass"),
        .givenVariable: rules.decided("environment.set"), .pickTypes: rules.decided("picker.types"),
      ])
  }

  /// The entries of a verb.
  package subscript(_ verb: Ability.Verb) -> [Entry] { entries.filter { $0.ability.verb == verb } }

  /// How far an ability goes, by the entry itself or one that covers it.
  package func extent(of ability: Ability) -> Extent {
    entries.filter { $0.ability.covers(ability) && !$0.except.contains(ability.subject) }.map(\.extent).max() ?? .no
  }
}

/// The inputs of explanations; one file for each group of abilities.
struct Rules {
  let settings: PolicySettings
  let origins: PolicyOrigins
  let narrowings: [Narrowing]
  let app: DeclaredApp?
  let capabilities: Capabilities
  let plan: SandboxPlan
  let layers: LayerReport

  init(policy: Policy, origins: PolicyOrigins, app: DeclaredApp?, on ground: Ground) {
    settings = policy.settings
    self.origins = origins
    narrowings = policy.narrowings
    self.app = app
    // The most that the app can come to have: the user may allow each thing that Ambit asks about.
    let ruling = EntitlementRuling(
      declared: app?.entitlements ?? .none, under: policy.settings, allowing: Set(WideningEntitlement.allCases))
    capabilities = Capabilities(policy: policy, entitlements: ruling.given)
    plan = capabilities.plan(on: ground)
    layers = LayerReport(plan, on: ground.features)
  }

  typealias Entry = Explanation.Entry

  /// Who decided by a policy's key: a line, or no decision at all; and a machine-wide policy that has taken something away.
  func decided(_ key: String) -> [Decision] {
    [origins[key].map { .policy($0) } ?? .unsaid(key: key)] + narrowed(key)
  }

  func decided(_ key: String, _ element: String) -> [Decision] {
    [origins[key, element].map { .policy($0) } ?? .unsaid(key: key)] + narrowed(key)
  }

  private func narrowed(_ key: String) -> [Decision] {
    narrowings.filter { $0.field == key }.map { .machine($0) }
  }

  /// The kernel's part in a layer that holds less than in full.
  func kernel(_ layer: Layer) -> [Decision] {
    let enforcement = layers[layer].enforcement
    return enforcement.isFull ? [] : [.kernel(layer, enforcement)]
  }

  /// A permission that a policy gives to none, to all, or to those that ask.
  func permission(
    _ verb: Ability.Verb, _ permission: AppPermission, key: String, asked: Bool, entitlement: String
  ) -> Entry {
    var decisions = decided(key)
    guard permission == .entitlement else { return Entry(Ability(verb), Extent(permission == .any), by: decisions) }
    decisions += decidedOnEntitlements(asked)
    if let app { decisions.append(asked ? app.asks(by: entitlement) : .notAsked(keys: [entitlement])) }
    return Entry(Ability(verb), entitled(asked), by: decisions)
  }

  /// How far something goes that an entitlement opens.
  ///
  /// - Parameter asked: the app declares it.
  func entitled(_ asked: Bool) -> Extent {
    guard app == nil || asked else { return .no }
    switch settings.entitlementTrust {
    case .none: return .no
    case .ask: return .ifAllowed
    case .declared: return app == nil ? .ifAsked : .yes
    }
  }

  /// The decision about the entitlements that an app declares.
  func decidedOnEntitlements(_ asked: Bool) -> [Decision] {
    app == nil || asked ? decided("entitlements.trust") : []
  }
}
