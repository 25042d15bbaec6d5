internal import Sandbox

/// What one policy file says; `nil` where it says nothing.
struct PolicyOverrides: Equatable, Sendable {
  var description: String?
  var inherits: String?
  var scopeLimit: Int?
  var references: Bool?
  var startsPicked: Bool?
  var outlived: OutlivedScopes?
  var persisted: PersistedGrants?
  var passing: AppPermission?
  var executing: AppPermission?
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
  /// One rule: what a file sets takes the place of what it inherits, lists and tables whole; so a file shows all that
  /// such a list holds, and can narrow it. A variable is either set or passed, and the nearer file decides which.
  func overridden(by file: PolicyOverrides) -> PolicySettings {
    var result = self
    if let value = file.scopeLimit { result.scopeLimit = value }
    if let value = file.references { result.references = value }
    if let value = file.startsPicked { result.startsPicked = value }
    if let value = file.outlived { result.outlived = value }
    if let value = file.persisted { result.persisted = value }
    if let value = file.passing { result.passing = value }
    if let value = file.executing { result.executing = value }
    if let value = file.tellsHostPaths { result.tellsHostPaths = value }
    if let value = file.replacedDocuments { result.replacedDocuments = value }
    if let value = file.readOnlyPaths { result.readOnlyPaths = value }
    if let value = file.environmentPass {
      result.environmentPass = value
      if file.environmentSet == nil { for name in value { result.environmentSet[name] = nil } }
    }
    if let value = file.environmentSet {
      result.environmentSet = value
      if file.environmentPass == nil { result.environmentPass.removeAll { value[$0] != nil } }
    }
    if let value = file.network { result.network = value }
    if let value = file.entitledNetwork { result.entitledNetwork = value }
    if let value = file.execute { result.execute = value }
    if let value = file.processes { result.limits.processes = value }
    if let value = file.openFiles { result.limits.openFiles = value }
    if let value = file.fileSize { result.limits.fileSize = value }
    if let value = file.memory { result.limits.memory = value.value }
    if let value = file.cpuTime { result.limits.cpuTime = value.value }
    if let value = file.wallTime { result.limits.wallTime = value.value }
    if let value = file.processors { result.limits.processors = value.value }
    if let value = file.container { result.limits.container = value.value }
    if let value = file.containerFiles { result.limits.containerFiles = value.value }
    if let value = file.cgroup { result.limits.cgroup = value }
    if let value = file.observe { result.observe = value }
    if let value = file.seccompProfile { result.seccompProfile = value == SeccompFile.none ? nil : value }
    if let value = file.landlockFiles { result.landlockFiles = value }
    if let value = file.requiredLayers { result.requiredLayers = value }
    return result
  }
}
