import AppModel
import Testing

@testable import Policy

/// Which of the entitlements that an app declares a launch goes by.
@Suite struct EntitlementTrustTests {
  private static func settings(_ trust: EntitlementTrust, _ change: (inout PolicySettings) -> Void = { _ in })
    -> PolicySettings
  {
    var settings = PolicySettings.closed
    settings.network = .entitlement
    settings.entitlementTrust = trust
    change(&settings)
    return settings
  }

  private static let all = Entitlements(
    networkClient: true, networkServer: true, passGrants: true, executePicked: true,
    sandbox: AppSandbox(selection: .readOnly, appBookmarks: true))

  @Test func `under ask what widens is withheld until the user has said yes, and asked about once`() {
    let first = EntitlementRuling(declared: Self.all, under: Self.settings(.ask))
    #expect(first.given == Entitlements(sandbox: Self.all.sandbox))
    #expect(first.withheld == WideningEntitlement.allCases)
    // Of the network once, though two entitlements open it.
    #expect(first.undecided == [.network, .passGrants, .executePicked])
    let answered = EntitlementRuling(
      declared: Self.all, under: Self.settings(.ask), answers: [.network: true, .passGrants: false])
    #expect(answered.given == Entitlements(networkClient: true, networkServer: true, sandbox: Self.all.sandbox))
    #expect(answered.refused == [.passGrants] && answered.undecided == [.executePicked])
    #expect(answered.withheld == [.passGrants, .executePicked] && answered.allowed.isEmpty)
  }

  @Test func `what the command line allows is given, also after a no, and is an answer to be remembered`() {
    let ruling = EntitlementRuling(
      declared: Self.all, under: Self.settings(.ask), allowing: [.networkServer, .passGrants],
      answers: [.network: false, .passGrants: true])
    #expect(ruling.given.widening == [.networkClient, .networkServer, .passGrants])
    #expect(ruling.allowed == [.network] && ruling.refused.isEmpty && ruling.undecided == [.executePicked])
    // Nobody gets what they do not declare.
    let silent = EntitlementRuling(
      declared: .none, under: Self.settings(.ask), allowing: Set(WideningEntitlement.allCases))
    #expect(silent.given == .none && silent.allowed.isEmpty && silent.withheld.isEmpty)
  }

  @Test func `under declared all are given and nobody is asked; under none none are, whatever else is said`() {
    let declared = EntitlementRuling(declared: Self.all, under: Self.settings(.declared), answers: [.network: false])
    #expect(declared.given == Self.all && declared.withheld.isEmpty && declared.undecided.isEmpty)
    let none = EntitlementRuling(
      declared: Self.all, under: Self.settings(.none), allowing: Set(WideningEntitlement.allCases),
      answers: [.network: true])
    #expect(none.given == Entitlements(sandbox: Self.all.sandbox))
    #expect(none.undecided.isEmpty && none.allowed.isEmpty && none.withheld == WideningEntitlement.allCases)
  }

  @Test func `what changes nothing under the policy is not asked about`() {
    let closed = Self.settings(.ask) { settings in
      (settings.network, settings.passing, settings.executing) = (.none, .none, .none)
    }
    let nothing = EntitlementRuling(declared: Self.all, under: closed)
    #expect(nothing.undecided.isEmpty && nothing.withheld == WideningEntitlement.allCases)
    let open = Self.settings(.ask) { settings in
      (settings.network, settings.passing, settings.executing) = (.host, .any, .any)
    }
    let everything = EntitlementRuling(declared: Self.all, under: open)
    #expect(everything.undecided.isEmpty && everything.withheld.isEmpty)
    #expect(EntitlementRuling(declared: .none, under: Self.settings(.ask)).undecided.isEmpty)
  }

  @Test func `a yes to a network of its own is none to the host's, and a yes to the host's is one to less`() {
    let client = Entitlements(networkClient: true)
    let own = Self.settings(.ask) { $0.entitledNetwork = .loopback }
    func ruling(_ settings: PolicySettings, _ answers: [Widening: Bool]) -> EntitlementRuling {
      EntitlementRuling(declared: client, under: settings, answers: answers)
    }
    #expect(ruling(own, [:]).undecided == [.ownNetwork])
    #expect(ruling(own, [.ownNetwork: true]).given == client)
    #expect(ruling(Self.settings(.ask), [.ownNetwork: true]).undecided == [.network])
    #expect(ruling(own, [.network: true]).given == client)
    #expect(ruling(Self.settings(.ask), [.ownNetwork: false]).refused == [.network])
    #expect(ruling(own, [.network: false]).undecided == [.ownNetwork])
  }

  /// Every app, policy and answer that there can be, against what must hold of each.
  @Test func `nothing that narrows is ever dropped, nothing is added, and a stricter trust gives no more`() {
    let sandboxes: [AppSandbox?] = [nil, AppSandbox(selection: .nothing), AppSandbox(selection: .readWrite)]
    let answers: [[Widening: Bool]] = [
      [:], [.network: true, .executePicked: false], [.network: false, .passGrants: true],
    ]
    for bits in 0..<16 {
      let declared = WideningEntitlement.allCases.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
      for sandbox in sandboxes {
        let entitlements = Entitlements(sandbox: sandbox, unknown: ["x"]).adding(declared)
        #expect(entitlements.widening == declared)
        for network in NetworkAccess.allCases {
          for permission in AppPermission.allCases {
            for answer in answers {
              for allowing in [[], Set(WideningEntitlement.allCases), [.networkServer]] as [Set<WideningEntitlement>] {
                let rulings = [EntitlementTrust.none, .ask, .declared].map { trust in
                  let settings = Self.settings(trust) { settings in
                    (settings.network, settings.passing, settings.executing) = (network, permission, permission)
                  }
                  return EntitlementRuling(declared: entitlements, under: settings, allowing: allowing, answers: answer)
                }
                for ruling in rulings {
                  #expect(ruling.given.sandbox == sandbox && ruling.given.unknown == ["x"])
                  #expect(Set(ruling.given.widening).union(ruling.withheld) == Set(declared))
                  #expect(Set(ruling.given.widening).isDisjoint(with: ruling.withheld))
                  #expect(Set(ruling.undecided).isDisjoint(with: ruling.refused))
                }
                let given = rulings.map { Set($0.given.widening) }
                #expect(given[0].isSubset(of: given[1]) && given[1].isSubset(of: given[2]))
              }
            }
          }
        }
      }
    }
  }

  @Test func `an entitlement is named by its key or in short, and a slip is answered with the nearest`() {
    for entitlement in WideningEntitlement.allCases {
      #expect(WideningEntitlement(named: entitlement.key) == entitlement)
      #expect(WideningEntitlement(named: entitlement.shortName) == entitlement)
      #expect(Entitlements().adding([entitlement]).words == [entitlement.word])
    }
    #expect(WideningEntitlement(named: "network") == nil && WideningEntitlement(named: "app-sandbox") == nil)
    #expect(WideningEntitlement.hint(for: "network.clinet").contains("did you mean \"network.client\"?"))
    #expect(WideningEntitlement.hint(for: "xyz").hasPrefix(". Entitlements"))
  }

  @Test func `what a log has of a launch is held to another policy as far as the user's answers are known`() {
    let given = Entitlements(passGrants: true)
    func under(_ trust: EntitlementTrust) -> [WideningEntitlement] {
      EntitlementRuling(recorded: given, withheld: [.networkClient], under: Self.settings(trust)).given.widening
    }
    #expect(under(.ask) == [.passGrants] && under(.declared) == [.networkClient, .passGrants] && under(.none).isEmpty)
  }

  @Test func `the trust of a policy is ask unless something else is said`() throws {
    #expect(PolicySettings.closed.entitlementTrust == .ask)
    for name in PolicyLibrary(directories: []).names {
      #expect(try PolicyLibrary(directories: []).load(name).settings.entitlementTrust == .ask, "\(name)")
    }
    #expect(complaint("entitlements.trust = \"aks\"")?.contains("did you mean \"ask\"?") == true)
  }
}
