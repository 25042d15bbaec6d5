package import AppModel

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The decision by which an app gets its widening entitlements.
package enum EntitlementTrust: String, CaseIterable, Equatable, Sendable, Codable {
  /// No app gets them.
  case none
  /// The user decides, and is asked once.
  case ask
  /// The app, by declaring them.
  case declared
}

/// The access that an entitlement adds to an app. Users are asked about this, and their answers are about this: a yes to a network
/// of the app's own is none to the host's.
package enum Widening: String, CaseIterable, Equatable, Hashable, Sendable, Codable {
  /// The host's network.
  case network
  /// A network with nothing in it but the app's own processes.
  case ownNetwork = "own-network"
  /// Passing rights of its own on to other apps.
  case passGrants = "pass-grants"
  /// Running programs in documents that the user picked.
  case executePicked = "execute-picked"

  /// The app's request, as the text after “It asks to”.
  package var request: String {
    switch self {
    case .network: "connect to the internet and to every device and service on your network, and take connections"
    case .ownNetwork: "have a network of its own, with nothing in it but its own processes"
    case .passGrants: "hand documents that you gave it on to other apps"
    case .executePicked: "run programs that are in the files and folders that you pick for it"
    }
  }

  /// The same in short, as a noun.
  package var noun: String {
    switch self {
    case .network: "the network"
    case .ownNetwork: "a network of its own"
    case .passGrants: "passing documents on to other apps"
    case .executePicked: "running programs that you pick for it"
    }
  }
}

extension PolicySettings {
  /// The effect of an entitlement under these settings.
  enum EntitlementEffect: Equatable {
    case opens(Widening)
    /// Apps without it have the same.
    case everybodyHas
    /// The policy gives it to no app.
    case nobodyHas
  }

  func effect(of entitlement: WideningEntitlement) -> EntitlementEffect {
    switch entitlement {
    case .networkClient, .networkServer:
      switch network {
      case .entitlement: .opens(entitledNetwork == .host ? .network : .ownNetwork)
      case .host: .everybodyHas
      case .none, .loopback: .nobodyHas
      }
    case .passGrants: effect(of: passing, .passGrants)
    case .executePicked: effect(of: executing, .executePicked)
    }
  }

  /// The access that an entitlement adds under these settings; `nil`: none, or one that every app has without it.
  package func widening(of entitlement: WideningEntitlement) -> Widening? {
    if case .opens(let widening) = effect(of: entitlement) { widening } else { nil }
  }

  /// Whether these settings give it to no app, even to one that declares it.
  package func isForNobody(_ entitlement: WideningEntitlement) -> Bool { effect(of: entitlement) == .nobodyHas }

  private func effect(of permission: AppPermission, _ widening: Widening) -> EntitlementEffect {
    switch permission {
    case .entitlement: .opens(widening)
    case .any: .everybodyHas
    case .none: .nobodyHas
    }
  }
}

/// The entitlements of a launch, among those that an app declares.
///
/// Under `ask` an entitlement is given when the user has said so, on the command line or before, and withheld until then. Ambit
/// does not ask about an entitlement that changes nothing under the policy.
package struct EntitlementRuling: Equatable, Sendable {
  /// The entitlements of the launch.
  package let given: Entitlements
  /// Declared and not given.
  package let withheld: [WideningEntitlement]
  /// The access that the user has to be asked about.
  package let undecided: [Widening]
  /// The access that the user has refused.
  package let refused: [Widening]
  /// The access that the command line allows, and to which the user had not said yes before: an answer to be remembered.
  package let allowed: [Widening]

  /// - Parameters:
  ///   - declared: the entitlements of the app's bundle.
  ///   - settings: the policy, after everything that narrows it.
  ///   - named: the ones that the command line allows.
  ///   - answers: the user's earlier answers for this app.
  package init(
    declared: Entitlements, under settings: PolicySettings, allowing named: Set<WideningEntitlement> = [],
    answers: [Widening: Bool] = [:]
  ) {
    var kept: Set<WideningEntitlement> = []
    var (undecided, refused, allowed): ([Widening], [Widening], [Widening]) = ([], [], [])
    func note(_ widening: Widening, in list: inout [Widening]) {
      if !list.contains(widening) { list.append(widening) }
    }
    // A network knows no directions: the user who allows one of its entitlements allows the access that both open.
    let namedOpens = Set(
      named.compactMap { entitlement -> Widening? in
        if case .opens(let widening) = settings.effect(of: entitlement) { widening } else { nil }
      })
    for entitlement in declared.widening {
      switch (settings.effect(of: entitlement), settings.entitlementTrust) {
      case (.everybodyHas, _), (_, .declared): kept.insert(entitlement)
      case (.nobodyHas, _), (_, .none): break
      case (.opens(let widening), .ask):
        if answers.says(widening) == true {
          kept.insert(entitlement)
        } else if namedOpens.contains(widening) {
          kept.insert(entitlement)
          note(widening, in: &allowed)
        } else if answers.says(widening) == false {
          note(widening, in: &refused)
        } else {
          note(widening, in: &undecided)
        }
      }
    }
    #if AMBIT_MUTANTS
      if Mutant.entitlementsUnasked.isActive, settings.entitlementTrust == .ask {
        kept.formUnion(declared.widening)
        undecided = []
      }
    #endif
    given = declared.keeping(kept)
    withheld = declared.widening.filter { !kept.contains($0) }
    (self.undecided, self.refused, self.allowed) = (undecided, refused, allowed)
  }
}

extension EntitlementRuling {
  /// The entitlements that a recorded launch would have had under other settings. No log knows the answer to a question that the
  /// user was not asked: the decision stays as recorded.
  ///
  /// - Parameters:
  ///   - given: its entitlements.
  ///   - withheld: the other entitlements that it declared.
  package init(recorded given: Entitlements, withheld: [WideningEntitlement], under settings: PolicySettings) {
    self.init(
      declared: settings.entitlementTrust == .declared ? given.adding(withheld) : given, under: settings,
      allowing: Set(given.widening))
  }
}

extension [Widening: Bool] {
  /// The user's answer, as far as there is one: a yes to the host's network is one to less, and a no to less is one to more.
  fileprivate func says(_ widening: Widening) -> Bool? {
    if let answer = self[widening] { return answer }
    switch widening {
    case .ownNetwork: return self[.network] == true ? true : nil
    case .network: return self[.ownNetwork] == false ? false : nil
    case .passGrants, .executePicked: return nil
    }
  }
}

extension WideningEntitlement {
  /// The rest of a sentence about a name that none of them has.
  package static func hint(for name: String) -> String {
    let names = allCases.flatMap { [$0.shortName, $0.key] }
    let nearest = names.nearest(to: name).map { "; did you mean \"\($0)\"?" } ?? "."
    return "\(nearest) Entitlements that widen what an app has: \(allCases.map(\.shortName).joined(separator: ", "))."
  }
}
