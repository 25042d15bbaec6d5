internal import Sandbox
internal import Wire

/// Whether this launch may go ahead with the layers that it has, told to its user as it becomes known.
struct Admission {
  private let policy: String
  private let machine: String?
  private let required: [Layer]
  private let allowed: [Layer]
  private var said: Set<String> = []
  /// The layers that hold less than was asked for, for the log.
  private(set) var degraded: [LauncherInterface.DegradedLayer] = []

  init(_ capabilities: LauncherInterface.Capabilities, allowing allowed: [Layer]) throws {
    policy = capabilities.policy
    machine = capabilities.requiredBy
    required = try capabilities.requiredLayers.map { name in
      guard let layer = Layer(rawValue: name) else {
        throw Failure("the running broker requires a layer that this launcher does not know: \(name)")
      }
      return layer
    }
    self.allowed = allowed
  }

  /// Whether anything hangs on the report. Where it does not, there is time for it while the sandbox is being made.
  var isAsked: Bool { !required.isEmpty || !allowed.isEmpty }

  /// - Returns: why the launch is refused; `nil` if it may go ahead.
  mutating func refusal(_ report: LayerReport) -> String? {
    let admission = LayerAdmission(report, required: required, allowing: allowed)
    if let refusal = admission.refusal(policy: policy, machine: machine) { return refusal }
    for remark in admission.remarks where said.insert(remark).inserted { Failure.say(remark) }
    degraded =
      admission.allowed.compactMap { .init($0, allowed: true) }
      + admission.degraded.compactMap { .init($0, allowed: false) }
    return nil
  }

  func isDegraded(_ layer: Layer) -> Bool { degraded.contains { $0.layer == layer.rawValue } }
}
