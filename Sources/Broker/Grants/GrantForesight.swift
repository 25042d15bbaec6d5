internal import Decisions
package import Folders
internal import Kernel
internal import Paths
package import ScopedAccess
package import Wire

/// An app's grants and its policy's word on them, by the rules that a start goes by; for those who ask beforehand and
/// start nothing (`ambit why`).
package struct GrantForesight {
  /// Whether a granted document could be started.
  package enum Verdict: Equatable {
    case usable(AccessRights)
    case refused(rule: String, reason: String)
    /// The end of a sentence: why that cannot be said.
    case unknown(String)
  }

  /// A grant that a path is about.
  package struct Match {
    package let id: String
    package let kind: Folders.DocumentKind
    /// On the host, where it was last seen.
    package let host: String
    /// Where the path leads inside, once the document is started.
    package let inside: String
    package let verdict: Verdict
    /// It is the document, or lies in it; otherwise beside it, in a folder that is the app's own while it is started.
    package let isDocument: Bool
  }

  private let grants: [Grant]
  private let rules: LauncherInterface.GrantRules

  /// Reads the present files, whether a broker runs or not. None is started, and nothing is written but a copy that is removed.
  ///
  /// - Throws: `StateError` where the grants cannot be read.
  package init(of app: String, under rules: LauncherInterface.GrantRules, in folders: AmbitFolders) throws {
    grants = try GrantStore.copy(of: folders.grants) { store in try store.records(of: app).map(\.grant) }
    self.rules = rules
  }

  init(_ grants: [Grant], _ rules: LauncherInterface.GrantRules) { (self.grants, self.rules) = (grants, rules) }

  /// - Parameter path: below `/documents`.
  package func match(inside path: String) -> Match? {
    let names = path.pathNames
    guard names.count > 1, let grant = grants.first(where: { $0.id == names[1] }) else { return nil }
    let isDocument = names.count > 2 && names[2].isSamePath(as: grant.name)
    return match(grant, path, isDocument: isDocument)
  }

  /// - Parameter path: on the host. Of several grants the one that gives most.
  package func match(host path: String) -> Match? {
    let matches = grants.compactMap { grant -> Match? in
      guard let rest = path.path(within: grant.path), rest.isEmpty || grant.kind.isFolder else { return nil }
      let inside = ScopeMounts.path(grant: grant.id, name: grant.name)
      return match(grant, rest.isEmpty ? inside : inside.path(of: rest), isDocument: true)
    }
    return matches.max { Self.rank($0.verdict) < Self.rank($1.verdict) }
  }

  private static func rank(_ verdict: Verdict) -> Int {
    switch verdict {
    case .refused: 0
    case .unknown: 1
    case .usable(.readOnly): 2
    case .usable(.readWrite): 3
    }
  }

  private func match(_ grant: Grant, _ inside: String, isDocument: Bool) -> Match {
    Match(
      id: grant.id, kind: grant.kind, host: grant.path, inside: inside, verdict: verdict(grant), isDocument: isDocument)
  }

  private func verdict(_ grant: Grant) -> Verdict {
    if let until = grant.term.until, until <= Clock.realtime() {
      return .refused(rule: "AUD-1", reason: "the grant's time is up")
    }
    if let refusal = DocumentRules(rules).refusal(ofUsing: grant, isOfThisLaunch: true, now: Clock.realtime()) {
      return .refused(rule: refusal.rule, reason: refusal.reason)
    }
    if rules.endsWithLaunch || grant.term.launch != nil {
      return .unknown("the grant holds only in the launch that the user decided it for, and this may be another one")
    }
    guard let there = try? Descriptor.open(grant.path, flags: [.path, .noFollow], resolve: .noSymlinks),
      let identity = try? FileIdentity(of: there)
    else {
      return .unknown("the document is not where it was last seen, and only a start looks for it")
    }
    guard identity == grant.identity else {
      return .unknown("another file stands where the document was last seen, and only a start looks for it")
    }
    return .usable(rules.readOnly ? .readOnly : grant.rights)
  }
}
