/// Whether a launch may go ahead: its layers, held against those that its policy requires and those that its user lets be less.
package struct LayerAdmission: Equatable, Sendable {
  /// Required, not full, and not allowed to be so: any of these ends the launch.
  package let refused: [LayerReport.Entry]
  /// Not full, and the user said that this may be.
  package let allowed: [LayerReport.Entry]
  /// Allowed to be less, and full all the same.
  package let needless: [Layer]
  /// Neither required nor asked about, and less than the plan asks for: the kernel does not have it.
  package let degraded: [LayerReport.Entry]

  package init(_ report: LayerReport, required: [Layer], allowing: [Layer]) {
    let lacking = report.entries.filter { !$0.enforcement.isFull }
    refused = lacking.filter { required.contains($0.layer) && !allowing.contains($0.layer) }
    allowed = lacking.filter { allowing.contains($0.layer) }
    needless = Layer.allCases.filter { layer in allowing.contains(layer) && !lacking.contains { $0.layer == layer } }
    degraded = report.degraded.filter { !required.contains($0.layer) && !allowing.contains($0.layer) }
  }

  /// The reason why the launch is refused, with the remedy; `nil` if it may go ahead.
  ///
  /// - Parameter machine: the file of the machine-wide policy that requires some of it.
  package func refusal(policy: String, machine: String? = nil) -> String? {
    guard !refused.isEmpty else { return nil }
    let layers = refused.map { entry in
      "\(entry.layer.rawValue) is \(entry.enforcement.words) here: \(entry.enforcement.reason ?? "")."
        + (entry.remedy.map { " \($0)" } ?? "")
    }
    let options = refused.map { "--allow-degraded \($0.layer.rawValue)" }.joined(separator: " ")
    let requiring = policy + (machine.map { ", as the machine-wide policy \($0) narrows it," } ?? "")
    return "The policy \(requiring) requires what does not hold in full: \(layers.joined(separator: " ")) "
      + "To run the app all the same: \(options)"
  }

  /// The remarks for the user about a launch that goes ahead by their permission.
  package var remarks: [String] {
    allowed.map { entry in
      "running although \(entry.layer.rawValue) is \(entry.enforcement.words): \(entry.enforcement.reason ?? "")"
    }
      + needless.map { "--allow-degraded \($0.rawValue): it holds in full here, so there is nothing to allow" }
  }
}
