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

  /// The contradictions within settings. Facts that only a launch decides (an app's entitlements, the kernel) are no contradiction.
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

/// A layer that is required and cannot hold in full under settings, on any kernel. An app is run under them only with another
/// option on the command line.
package struct UnmetRequirement: Equatable, Sendable {
  package let layer: Layer
  /// The setting that would have to be another: `limits.wall_time`; nil where none would help.
  package let field: String?
  /// Why it does not hold, as the end of a sentence.
  package let reason: String
  /// The command line's option to use instead; nil: only --allow-degraded helps.
  package let option: String?

  /// The options with which an app is run under it all the same.
  package var ways: String {
    [option, "--allow-degraded \(layer.rawValue)"].compactMap(\.self).joined(separator: " or ")
  }
}

extension PolicySettings {
  package var unmetRequirements: [UnmetRequirement] {
    func unless(_ isSet: Bool, _ layer: Layer, _ key: String, _ what: String) -> UnmetRequirement? {
      isSet
        ? nil
        : UnmetRequirement(
          layer: layer, field: "limits.\(key)", reason: "there is no limit on \(what)", option: "--limit \(key)=…")
    }
    func inPart(_ layer: Layer) -> UnmetRequirement {
      UnmetRequirement(
        layer: layer, field: nil, reason: "no kernel holds an app as a whole to it: it is looked at now and then",
        option: nil)
    }
    return requiredLayers.compactMap { layer in
      switch layer {
      case .memory: unless(limits.memory != nil, layer, "memory", "memory")
      case .wallTime: unless(limits.wallTime != nil, layer, "wall_time", "how long an app runs")
      case .processes: unless(limits.processes != nil, layer, "processes", "processes")
      case .rlimits:
        unless(limits.openFiles != nil, layer, "open_files", "open files")
          ?? unless(limits.fileSize != nil, layer, "file_size", "the size of files")
      case .cpuTime, .containerSize: inPart(layer)
      case .cgroup where !limits.cgroup:
        UnmetRequirement(
          layer: layer, field: "limits.cgroup", reason: "no control group is asked for", option: "--limit cgroup=true")
      default:
        Contradiction.all(in: self).first { $0.layer == layer }.map { contradiction in
          UnmetRequirement(
            layer: layer, field: "\(contradiction.table).\(contradiction.key)", reason: "it is \(contradiction.value)",
            option: layer == .observer ? "--trace" : nil)
        }
      }
    }
  }
}
