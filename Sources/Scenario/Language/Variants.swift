extension Scenario {
  /// The scenario once for each policy that it is played under.
  package var variants: [Scenario] {
    if policies.isEmpty { return [self] }
    return policies.map { policy in
      var variant = self
      variant.policies = []
      variant.policy = Template(text: policy)
      variant.title += " (policy \(policy))"
      return variant
    }
  }
}
