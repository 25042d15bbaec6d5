internal import Audit
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The end of grants by themselves: when their time is up, or with the launch that they were made in.
extension Broker {
  /// When and with what a grant ends that the user decides on now, for an app.
  func term(for instance: Instance, at now: Int64, within parent: Grant? = nil) -> Grant.Term {
    let rules = instance.app.rules
    let own = rules.lifetime.map { now + Int64($0) * 1_000_000_000 }
    return Grant.Term(
      decided: now, until: [own, parent?.term.until].compactMap { $0 }.min(),
      launch: rules.endsWithLaunch ? instance.id : nil)
  }

  /// When a policy stops a grant from being used that was made under another one.
  static func end(of grant: Grant, under rules: LauncherInterface.GrantRules) -> Int64? {
    rules.lifetime.map { grant.term.decided + Int64($0) * 1_000_000_000 }
  }

  /// A grant from before has to be taken away from a running app when its policy says so, though it does not end.
  func noteEnd(of grant: Grant, _ instance: Instance) {
    instance.ends[grant.id] = Self.end(of: grant, under: instance.app.rules)
  }

  /// Nanoseconds of CLOCK_REALTIME until something ends; `nil`: nothing will.
  func nextEnd() -> Int64? {
    let running = instances.values.flatMap { $0.ends.values }.min()
    return [running, (try? grants.nextEnd()) ?? nil].compactMap { $0 }.min()
  }

  /// Ends what is due. What cannot be ended now, because that cannot be written down, is tried again; nor can it be started then.
  func endDue() {
    let now = Clock.realtime()
    guard Clock.monotonic() >= endsAgain, let next = nextEnd(), next <= now else { return }
    if let due = try? grants.due(at: now), !due.isEmpty {
      for grant in due {
        let ending = GrantEnding(
          how: Self.lifetime, rule: "AUD-1", reason: "its time was up at \(Instance.rfc3339(grant.term.until ?? now))")
        // With one that it was made from it may have ended already.
        guard (try? grants.grant(grant.id))??.revoked == .some(nil) else { continue }
        do { try end([grant], ending) } catch { endsAgain = Clock.monotonic() + 1_000_000_000 }
      }
    }
    for instance in instances.values {
      for (id, end) in instance.ends where end <= now {
        instance.ends[id] = nil
        guard instance.owners.isActive(id), let grant = try? grants.grant(id) else { continue }
        var result = EndedGrant(grant: grant)
        endScopes(
          of: grant, GrantEnding(how: Self.lifetime, rule: "AUD-1", reason: "the policy allows it no longer"),
          in: [instance], &result)
      }
    }
  }

  /// Ends what was granted for launches that are over.
  ///
  /// - Parameter launches: these; `nil`: all that are not known to run. One that nobody has handed over yet may.
  func endLaunches(_ launches: [String]? = nil) {
    guard let all = try? grants.launches() else { return }
    let unsettled = unsettled.instances
    for launch in launches ?? Array(all)
    where all.contains(launch) && (launches != nil || instances[launch] == nil && !unsettled.contains(launch)) {
      guard let due = try? grants.grants(ofLaunch: launch), !due.isEmpty else { continue }
      _ = try? end(
        due, GrantEnding(how: Self.lifetime, rule: "AUD-1", reason: "the launch that it was made in is over"))
    }
  }

  static let lifetime = "lifetime"

  /// How long a new grant holds, as events say it.
  static func until(_ grant: Grant) -> String { until(grant.term) }

  static func until(_ term: Grant.Term) -> String {
    let ends = [term.launch.map { _ in "the launch ends" }, term.until.map(Instance.rfc3339)].compactMap { $0 }
    return ends.isEmpty ? "withdrawn" : ends.joined(separator: " or ")
  }
}
