internal import Synchronization

/// The policies that are there without any file on disk: those of `Policies/*.toml`, compiled in.
package enum BuiltinPolicies {
  /// File name without `.toml`, and text.
  package static let all: [String: String] = [
    "apple-identity": PackageResources.apple_identity_toml,
    "batch": PackageResources.batch_toml,
    "browser": PackageResources.browser_toml,
    "default": PackageResources.default_toml,
    "developer": PackageResources.developer_toml,
    "editor": PackageResources.editor_toml,
    "game": PackageResources.game_toml,
    "kiosk": PackageResources.kiosk_toml,
    "media-player": PackageResources.media_player_toml,
    "observed": PackageResources.observed_toml,
    "provider": PackageResources.provider_toml,
    "stress": PackageResources.stress_toml,
    "strict": PackageResources.strict_toml,
    "teach": PackageResources.teach_toml,
    "thumbnailer": PackageResources.thumbnailer_toml,
    "untrusted": PackageResources.untrusted_toml,
    "viewer": PackageResources.viewer_toml,
  ].mapValues { String(decoding: $0, as: UTF8.self) }

  /// The settings of one, read when it is asked for: some take the system's table of types, which is long. A test makes sure that all of
  /// them can be read.
  static func overrides(_ name: String) -> PolicyOverrides? {
    read.withLock { read in
      if let known = read[name] { return known }
      guard let text = all[name], let overrides = try? PolicyOverrides(StrictTOML.parse(text, file: "built-in")) else {
        return nil
      }
      read[name] = overrides
      return overrides
    }
  }

  private static let read = Mutex<[String: PolicyOverrides]>([:])
}
