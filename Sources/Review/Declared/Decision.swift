internal import Paths
package import Policy
package import Sandbox

/// The person, file or layer that decided about an ability.
package enum Decision: Equatable, Sendable {
  /// A line of a policy.
  case policy(SettingOrigin)
  /// A machine-wide policy, which made the user's stricter.
  case machine(Narrowing)
  /// No file says anything about this key, and so it is as Ambit has it.
  case unsaid(key: String)
  /// A key of the app's `Info.plist`; the line is `nil` in a binary list.
  case manifest(file: String, key: String, line: Int? = nil)
  /// A key of the app's `Entitlements.plist`, which asks for it, or for less.
  case entitlement(file: String, key: String, line: Int? = nil)
  /// The app could ask for it by these entitlements, and does not.
  case notAsked(keys: [String])
  /// Ambit's own design, which no policy changes; the rule is a catalogue identifier or a layer.
  case ambit(rule: String)
  /// The extent to which this kernel enforces a layer; the reason is the end of a sentence.
  case kernel(Layer, Enforcement)

  /// In words, with the place.
  package var words: String {
    switch self {
    case .policy(let origin):
      // Options of a command line have no line numbers.
      origin.file.hasPrefix("--")
        ? origin.file : "\(origin.file):\(origin.position.line) \(origin.key) = \(origin.value)"
    case .machine(let narrowing): "\(narrowing.place) \(narrowing.field) = \(narrowing.to), for the whole machine"
    case .unsaid(let key): "no policy file sets \(key)"
    case .manifest(let file, let key, let line), .entitlement(let file, let key, let line):
      "\(Self.name(file))\(line.map { ":\($0)" } ?? "") \(key)"
    case .notAsked(let keys): "the app does not ask: \(keys.joined(separator: ", "))"
    case .ambit(let rule): "Ambit (\(rule))"
    case .kernel(let layer, let enforcement):
      "the kernel: \(layer.rawValue) \(enforcement.words)" + (enforcement.reason.map { ", \($0)" } ?? "")
    }
  }

  /// The bundle is known from the heading.
  private static func name(_ file: String) -> String { file.lastPathName }

  /// `policy`, `default`, `manifest`, `entitlement`, `notAsked`, `ambit` or `kernel`, for programs.
  package var kind: String {
    switch self {
    case .policy: "policy"
    case .machine: "machine"
    case .unsaid: "default"
    case .manifest: "manifest"
    case .entitlement: "entitlement"
    case .notAsked: "notAsked"
    case .ambit: "ambit"
    case .kernel: "kernel"
    }
  }
}
