internal import Sandbox

/// The settings of one policy file; `nil` for each field that it does not set.
struct PolicyOverrides: Equatable, Sendable {
  var description: String?
  /// The names of others, the one that counts least first.
  var inherits: [String]?
  var scopeLimit: Int?
  var references: Bool?
  var startsPicked: Bool?
  var outlived: OutlivedScopes?
  var persisted: PersistedGrants?
  var passing: AppPermission?
  var executing: AppPermission?
  var entitlementTrust: EntitlementTrust?
  var tellsHostPaths: Bool?
  var replacedDocuments: ReplacedDocuments?
  var readOnlyPaths: [String]?
  var environmentPass: [String]?
  var environmentSet: [String: String]?
  var network: NetworkAccess?
  var entitledNetwork: EntitledNetwork?
  var execute: Bool?
  var processes: Int?
  var openFiles: Int?
  var fileSize: Int?
  var memory: Ceiling<Capabilities.Limits.Memory>?
  var cpuTime: Ceiling<Int>?
  var wallTime: Ceiling<Int>?
  var processors: Ceiling<Int>?
  var container: Ceiling<Int>?
  var containerFiles: Ceiling<Int>?
  var cgroup: Bool?
  var observe: Bool?
  /// A path, or `standard` for none.
  var seccompProfile: String?
  var landlockFiles: Bool?
  var requiredLayers: [Layer]?
  var pickerModes: [PickerMode]?
  var pickedTypes: PickedTypes?
  var pickedFolders: Bool?
  var access: GrantedAccess?
  var lifetime: GrantLifetime?
  var createsBookmarks: Bool?
  var documentBookmarks: Bool?
  var implicitBookmarks: Bool?
  var bookmarkLifetime: Ceiling<Int>?
  var patience: Ceiling<Int>?
  var silentPresenters: SilentPresenters?
  var sync: AuditSync?
  /// The others of an array, and those of a machine-wide policy; never without ``seccompProfile``.
  var furtherSeccompProfiles: [String]?
}

/// A ceiling that a file sets, or takes away: `"none"`.
enum Ceiling<Value: Equatable & Sendable>: Equatable, Sendable {
  case none
  case at(Value)

  var value: Value? { if case .at(let value) = self { value } else { nil } }
}

extension PolicySettings {
  /// These settings with a file's laid over them.
  ///
  /// One rule: a file's settings replace the inherited ones, lists and tables as a whole. So a file shows all entries of such a
  /// list, and can narrow it. A variable is either set or passed, and the nearer file decides which.
  func overridden(by file: PolicyOverrides) -> PolicySettings {
    var result = self
    for field in PolicyField.all { field.access.apply(file, &result) }
    return result
  }
}
