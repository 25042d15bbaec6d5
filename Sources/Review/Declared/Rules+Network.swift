internal import AppModel
internal import Policy
internal import Sandbox

/// The namespace that a network entitlement opens knows no directions: an app that may connect also accepts connections.
extension Rules {
  var network: [Entry] {
    let (host, loopback) = reach
    let decisions = networkDecisions
    return [
      Entry(Ability(.connectOut), host, by: decisions),
      Entry(Ability(.listenIn), host, by: decisions),
      Entry(Ability(.hostLoopback), host, by: decisions),
      Entry(Ability(.ownLoopback), loopback, by: decisions),
      Entry(Ability(.hostSockets), .no, by: [.ambit(rule: "sockets")]),
    ]
  }

  /// How far the host's network is open, and how far any loopback is.
  private var reach: (host: Extent, loopback: Extent) {
    guard settings.network == .entitlement else {
      return (Extent(capabilities.network == .host), Extent(capabilities.network != .none))
    }
    let reach = entitled(asksForNetwork)
    return (settings.entitledNetwork == .host ? reach : .no, reach)
  }

  private var asksForNetwork: Bool {
    app.map { $0.entitlements.networkClient || $0.entitlements.networkServer } ?? false
  }

  private var networkDecisions: [Decision] {
    var decisions = decided("network.access")
    guard settings.network == .entitlement else { return decisions }
    guard let app else { return decisions + decided("network.entitled") + decidedOnEntitlements(false) }
    let asked = [
      (EntitlementKey.client, app.entitlements.networkClient), (EntitlementKey.server, app.entitlements.networkServer),
    ]
    .filter(\.1).map(\.0)
    if asked.isEmpty { return decisions + [.notAsked(keys: [EntitlementKey.client, EntitlementKey.server])] }
    decisions += decided("network.entitled") + decidedOnEntitlements(true)
    return decisions + asked.map(app.asks)
  }
}
