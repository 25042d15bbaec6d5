/// A policy and its files. ``PolicyOrigins`` tells which file decided each setting.
package struct ResolvedPolicy: Sendable {
  struct Link: Sendable {
    let source: PolicySource
    let overrides: PolicyOverrides
  }

  package let policy: Policy
  /// Nearest first.
  let links: [Link]
  /// The machine-wide policies that it is under.
  package private(set) var machines: [MachinePolicy] = []

  init(policy: Policy, links: [Link]) {
    self.policy = policy
    self.links = links
  }

  /// The same under machine-wide policies. The origins of its values stay, and the policy records the narrowings.
  package func narrowed(by machines: [MachinePolicy], memory: Int) -> ResolvedPolicy {
    var narrowed = ResolvedPolicy(policy: policy.narrowed(by: machines, memory: memory), links: links)
    narrowed.machines = self.machines + machines
    return narrowed
  }
}
