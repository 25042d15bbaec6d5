package import Sandbox

/// A policy with its inheritance resolved.
package struct Policy: Equatable, Sendable {
  /// The name that it was asked for by, or its file's name without `.toml`.
  package let name: String
  /// The file it was read from, or `built-in:NAME`.
  package let file: String
  package let description: String?
  /// The files that went into it, nearest first; ``file`` is the first.
  package let lineage: [String]
  package let settings: PolicySettings
  /// The settings that machine-wide policies have narrowed, in the order of the narrowing.
  package let narrowings: [Narrowing]

  package init(
    name: String, file: String, description: String?, lineage: [String], settings: PolicySettings,
    narrowings: [Narrowing] = []
  ) {
    self.name = name
    self.file = file
    self.description = description
    self.lineage = lineage
    self.settings = settings
    self.narrowings = narrowings
  }

  /// The same policy with other settings.
  package func with(_ settings: PolicySettings, narrowings: [Narrowing] = []) -> Policy {
    Policy(
      name: name, file: file, description: description, lineage: lineage, settings: settings,
      narrowings: self.narrowings + narrowings)
  }
}

extension Policy {
  /// This policy with some limits from a command line in place of its own: `memory=512MiB`, `cgroup=true`.
  package func limited(by words: [String]) throws(PolicyError) -> Policy {
    var settings = settings
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts[0].allSatisfy({ "a"..."z" ~= $0 || $0 == "_" }),
        parts[1].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || " .%_-".contains($0)) })
      else { throw .wrongLimit(word, "it has to be a key of a policy's [limits] and a value, such as memory=512MiB") }
      // Numbers and truth values stand in a policy as they are; anything else stands between quotes.
      let isPlain = Int(parts[1]) != nil || Double(parts[1]) != nil || ["true", "false"].contains(parts[1])
      let value = isPlain ? parts[1] : "\"\(parts[1])\""
      do throws(SourceError) {
        let overrides = try PolicyOverrides(
          StrictTOML.parse("limits.\(parts[0]) = \(value)", file: "--limit \(word)"))
        settings = settings.overridden(by: overrides)
      } catch {
        throw .wrongLimit(word, error.message)
      }
    }
    return with(settings)
  }
}

/// The source of the decision about the network.
package enum NetworkAccess: String, CaseIterable, Equatable, Sendable, Codable {
  case none, loopback, host
  /// The app's own entitlements.
  case entitlement
}

/// The network that an entitlement opens, if the policy leaves the decision to the entitlements.
package enum EntitledNetwork: String, CaseIterable, Equatable, Sendable, Codable {
  case loopback, host
}

/// The rule for access to a document after another file of its name has replaced it, as programs do that save.
package enum ReplacedDocuments: String, CaseIterable, Equatable, Sendable, Codable {
  /// The new file is the document, if it stands in the same folder under the same name.
  case follow
  /// Only the very file that the user chose is the document.
  case refuse
}

/// Everything that a policy decides.
package struct PolicySettings: Equatable, Sendable {
  package var scopeLimit: Int
  package var references: Bool
  package var replacedDocuments: ReplacedDocuments = .follow
  package var readOnlyPaths: [String]
  package var environmentPass: [String]
  package var environmentSet: [String: String]
  package var network: NetworkAccess
  package var execute: Bool
  package var limits: Capabilities.Limits
  package var observe: Bool
  /// The path of a seccomp profile that holds besides Ambit's own.
  package var seccompProfile: String? = nil
  /// Whether Landlock looks at files as well, and not only at the accesses that mounts and filter leave open.
  package var landlockFiles: Bool = false
  package var entitledNetwork: EntitledNetwork = .host
  /// The layers that must hold in full, or the app is not run.
  package var requiredLayers: [Layer] = []
  package var startsPicked = false
  package var outlived: OutlivedScopes = .allow
  package var persisted: PersistedGrants = .unlimited
  package var passing: AppPermission = .entitlement
  package var executing: AppPermission = .entitlement
  /// The source of the decision about entitlements that widen an app's rights.
  package var entitlementTrust: EntitlementTrust = .ask
  package var tellsHostPaths = false
  package var picker = PickerRules()
  /// The most that grants allow.
  package var access: GrantedAccess = .readWrite
  package var lifetime: GrantLifetime = .forever
  package var bookmarks = BookmarkRules()
  /// Seconds that coordinated access waits for one presenter, or for others without progress; `nil`: for ever.
  package var patience: Int? = 30
  package var silentPresenters: SilentPresenters = .refuse
  package var sync: AuditSync = .group
  /// Profiles that hold besides ``seccompProfile``: others that the policy names, and those of a machine-wide one.
  package var furtherSeccompProfiles: [String] = []

  /// The settings without any file: closed, but for the scopes that are the purpose of the thing.
  package static let closed = PolicySettings(
    scopeLimit: ScopeLimit.presets["default"] ?? 256, references: true, readOnlyPaths: [], environmentPass: [],
    environmentSet: [:], network: .none, execute: false, limits: Capabilities.Limits(), observe: false)
}

/// The range of `scopes.limit`, and its names.
package enum ScopeLimit {
  package static let range = 1...100_000
  package static let presets = ["teach": 8, "default": 256, "stress": 4096]
}
