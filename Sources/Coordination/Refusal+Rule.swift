extension Refusal {
  /// The rule that it follows, by its name in the catalogue.
  package var rule: String {
    switch self {
    case .cancelled(.suspension): "COO-23"
    case .cancelled: "COO-14"
    case .presenterFailed: "COO-7"
    case .presenterSilent, .held: "COO-8"
    case .cycle: "COO-30"
    }
  }
}
