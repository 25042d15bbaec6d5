internal import AppModel
internal import BrokerCore
internal import Policy
internal import ScopedAccess
internal import Wire

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The entitlements that a launch goes by, and its user's answers about them.
struct EntitledLaunch {
  let ruling: EntitlementRuling
  /// Answers that were given with this launch: to be remembered, and for the log.
  var answers: [Widening: Bool] = [:]
  /// How they were given: `user`, on the terminal, or `option`.
  var how = ""
  /// Messages that the user has to get.
  var notices: [String] = []

  /// For the log; `nil`: nothing was answered.
  var answered: String? {
    guard !answers.isEmpty else { return nil }
    let words = answers.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      "\($0.key.rawValue)=\($0.value ? "yes" : "no")"
    }
    return (words + ["by=\(how)"]).joined(separator: " ")
  }
}

/// Entitlements that widen an app's rights: asked about once, and remembered for the app.
@BrokerLoop
final class EntitlementService {
  private let rules: LaunchRules
  private let grants: GrantStore

  init(_ rules: LaunchRules, _ grants: GrantStore) {
    (self.rules, self.grants) = (rules, grants)
  }

  /// Decides which of the entitlements that an app declares a launch goes by.
  ///
  /// - Parameters:
  ///   - identifier: the app whose answers hold.
  ///   - program: tells apps apart that run in one container by their user's wish; empty: the identifier does.
  /// - Throws: `NeedsAnswer` where the user can be asked and has not been; `Failed` where they do not want the app to run.
  func entitle(
    _ request: LauncherInterface.PrepareCall, of identifier: String, program: String, under policy: Policy
  ) throws -> EntitledLaunch {
    let declared = request.manifest?.entitlements ?? .none
    let named = try LaunchRules.allowed(by: request)
    let mayAsk = policy.settings.entitlementTrust == .ask && !declared.widening.isEmpty
    let known = mayAsk ? try answers(of: identifier, program: program) : [:]
    func ruling(_ answers: [Widening: Bool]) -> EntitlementRuling {
      EntitlementRuling(declared: declared, under: policy.settings, allowing: named, answers: answers)
    }
    let words = EntitlementWords(
      name: rules.name(of: request), identifier: identifier, policy: policy, declared: declared)
    let first = ruling(known)
    var launch = EntitledLaunch(ruling: first, notices: words.notices(ofNaming: named))
    if !first.allowed.isEmpty {
      launch.answers = Dictionary(uniqueKeysWithValues: first.allowed.map { ($0, true) })
      launch.how = "option"
    }
    guard !first.undecided.isEmpty else { return launch }
    let isAllowed: Bool
    switch request.answer(.entitlements) {
    case EntitlementWords.allow: isAllowed = true
    case EntitlementWords.without: isAllowed = false
    case nil where request.canAsk: throw LauncherInterface.Failure.needsAnswer(words.question(first.undecided))
    case nil:
      launch.notices.append(words.notice(ofUndecided: first.undecided))
      return launch
    default: throw LauncherInterface.Failure.failed("\(words.name) was not run.")
    }
    let answers = Dictionary(uniqueKeysWithValues: first.undecided.map { ($0, isAllowed) })
    return EntitledLaunch(
      ruling: ruling(known.merging(answers) { $1 }), answers: launch.answers.merging(answers) { $1 }, how: "user",
      notices: launch.notices)
  }

  func answers(of identifier: String, program: String = "") throws -> [Widening: Bool] {
    let known = try grants.entitlementAnswers(of: identifier, program: program)
    return Dictionary(
      uniqueKeysWithValues: known.compactMap { word, answer in Widening(rawValue: word).map { ($0, answer) } })
  }

  /// Remembers a user's answers about an app that is registered.
  func remember(_ launch: EntitledLaunch, of identifier: String, program: String) throws {
    #if AMBIT_MUTANTS
      if Mutant.answerForgotten.isActive { return }
    #endif
    guard !launch.answers.isEmpty else { return }
    let answers = Dictionary(uniqueKeysWithValues: launch.answers.map { ($0.key.rawValue, $0.value) })
    try grants.note(entitlements: answers, of: identifier, program: program)
  }
}

/// The question and the message to the user about an app's entitlements.
struct EntitlementWords {
  let name: String
  let identifier: String
  let policy: Policy
  let declared: Entitlements

  static let allow = "allow"
  static let without = "without"

  func question(_ undecided: [Widening]) -> LauncherInterface.Question {
    let requests = undecided.map { "to \($0.request)" }
    let text =
      requests.count < 2
      ? requests.joined() : requests.dropLast().joined(separator: "; ") + "; and \(requests.last ?? "")"
    return .init(
      kind: .entitlements,
      text: "\(name) (\(identifier)) asks \(text). No app has that here unless you allow it.",
      choices: [
        .init(Self.allow, "allow it, from now on"), .init(Self.without, "run it without, from now on"),
        .init("quit", "do not run it"),
      ])
  }

  func notice(ofUndecided undecided: [Widening]) -> String {
    let nouns = undecided.map(\.noun)
    let list = nouns.count < 2 ? nouns.joined() : nouns.dropLast().joined(separator: ", ") + " and \(nouns.last ?? "")"
    let options = undecided.compactMap { widening in
      declared.widening.first { policy.settings.widening(of: $0) == widening }.map {
        "--allow-entitlement \($0.shortName)"
      }
    }
    return "\(name) runs without \(list), which its entitlements ask for: there is no terminal to ask you on. "
      + "To allow it: \(options.joined(separator: " "))"
  }

  /// The entitlements that the command line allows in vain.
  func notices(ofNaming named: Set<WideningEntitlement>) -> [String] {
    WideningEntitlement.allCases.filter(named.contains).compactMap { entitlement in
      let option = "--allow-entitlement \(entitlement.shortName) has no effect"
      if !declared.widening.contains(entitlement) { return "\(option): \(name) does not declare \(entitlement.key)" }
      if policy.settings.entitlementTrust == .none {
        return "\(option): under the policy \(policy.name) no app gets it (entitlements.trust = \"none\")"
      }
      if policy.settings.isForNobody(entitlement) { return "\(option): the policy \(policy.name) gives it to no app" }
      return nil
    }
  }
}
