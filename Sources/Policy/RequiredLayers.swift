package import Sandbox

extension Layer {
  /// The rest of a sentence about a name that no layer has.
  package static func hint(for name: String) -> String {
    let names = allCases.map(\.rawValue)
    let nearest = names.nearest(to: name).map { "; did you mean \"\($0)\"?" } ?? "."
    return "\(nearest) Layers: \(names.joined(separator: ", "))."
  }
}

/// A layer that a policy requires, and a setting of the same policy under which it cannot hold in full.
struct Contradiction: Equatable {
  let layer: Layer
  /// The setting's table and key, and its value as TOML has it.
  let table: String
  let key: String
  let value: String

  /// Those that settings hold. What only a launch decides (an app's entitlements, the kernel) is no contradiction.
  static func all(in settings: PolicySettings) -> [Contradiction] {
    settings.requiredLayers.compactMap { layer in
      switch layer {
      case .network where settings.network == .host:
        Contradiction(layer: layer, table: "network", key: "access", value: "\"host\"")
      case .observer where !settings.observe:
        Contradiction(layer: layer, table: "audit", key: "observe", value: "false")
      case .landlock where !settings.landlockFiles:
        Contradiction(layer: layer, table: "landlock", key: "files", value: "false")
      default: nil
      }
    }
  }

  /// Whether a file is the one that says so.
  func isSet(by file: PolicyOverrides) -> Bool {
    switch layer {
    case .network: file.network != nil
    case .observer: file.observe != nil
    case .landlock: file.landlockFiles != nil
    default: false
    }
  }
}
