package import AppModel
package import Sandbox

/// The rights of one launch of an app: a policy, all of its inheritance resolved, joined with the app's entitlements.
///
/// Plain values. The code that carries them out finds nothing left to decide.
package struct Capabilities: Equatable, Sendable, Codable {
  package typealias Network = NetworkReach

  /// Ceilings on the app's use of resources. `nil` leaves the launcher's own in place, or none.
  package struct Limits: Equatable, Sendable, Codable {
    package enum Memory: Equatable, Sendable, Codable {
      case bytes(Int)
      /// Of the machine's, 1 to 100.
      case percent(Int)
    }

    /// Processes and threads (`RLIMIT_NPROC`).
    package var processes: Int?
    /// Open descriptors of one process (`RLIMIT_NOFILE`).
    package var openFiles: Int?
    /// Bytes of the largest file that may be written (`RLIMIT_FSIZE`).
    package var fileSize: Int?
    /// Memory of all of its processes together.
    package var memory: Memory?
    /// Seconds of processor time, of all of its processes together.
    package var cpuTime: Int?
    /// Seconds from its start.
    package var wallTime: Int?
    /// Thousandths of a processor that it may keep busy.
    package var processors: Int?
    /// Bytes that its container takes on the disk.
    package var container: Int?
    /// Files and folders in its container.
    package var containerFiles: Int?
    /// A control group is to enforce the limits that it can.
    package var cgroup = false

    package init(
      processes: Int? = nil, openFiles: Int? = nil, fileSize: Int? = nil, memory: Memory? = nil, cpuTime: Int? = nil,
      wallTime: Int? = nil, processors: Int? = nil, container: Int? = nil, containerFiles: Int? = nil,
      cgroup: Bool = false
    ) {
      self.processes = processes
      self.openFiles = openFiles
      self.fileSize = fileSize
      self.memory = memory
      self.cpuTime = cpuTime
      self.wallTime = wallTime
      self.processors = processors
      self.container = container
      self.containerFiles = containerFiles
      self.cgroup = cgroup
    }
  }

  /// How many documents may have an active scope at once in one app instance (LIM-1).
  package var scopeLimit: Int
  /// Whether a pick writes a document reference into the container's `Documents` (PCK-1).
  package var references: Bool
  /// Whether a file that took a document's place is the document (BMK-12).
  package var replacedDocuments: ReplacedDocuments
  /// Host folders shown read-only at the same path, in addition to the system's. Absolute and normal in form; their kind on the
  /// host (a link, missing) has not been checked.
  package var readOnlyPaths: [String]
  /// Names of variables copied from the launcher's environment; one ending in `*` stands for all that begin so.
  package var environmentPass: [String]
  /// Variables set for the app. They win over ``environmentPass``.
  package var environmentSet: [String: String]
  package var network: Network
  /// Whether files in the container and its tmp may be executed.
  package var execute: Bool
  package var limits: Limits
  /// Whether refusals to the app are seen and recorded (SBX-16). Opening a file by name then takes some microseconds more.
  package var observe: Bool
  /// The path of a seccomp profile that holds besides Ambit's own, which it cannot loosen.
  package var seccompProfile: String?
  /// Whether Landlock repeats the mounts' rules for files. Opening a file then takes a quarter more.
  package var landlockFiles: Bool
  /// The layers that must hold in full, or the app is not run.
  package var requiredLayers: [Layer]
  /// The app is ended if it has a leaked handle: something open of a document after the end of its scope (`TOK-16`).
  package var endsOutlived: Bool
  package var persisted: PersistedGrants
  /// The user's picks are started when they are handed over (`TOK-13`).
  package var startsPicked: Bool
  /// Whether it may pass rights of its own on to other apps (`TOK-18`).
  package var mayPass: Bool
  /// Whether files that the user picked, and those in picked folders, may be executed (`SBX-8`).
  package var executesPicked: Bool
  /// Whether it is told, when it asks, where on the host a document of its lies (`FSF-11`).
  package var tellsHostPaths: Bool
  /// The documents that the user may hand to it with the picker.
  package var picker: PickerRules
  /// The most that its grants allow.
  package var access: GrantedAccess
  /// When grants that are made under it end by themselves.
  package var lifetime: GrantLifetime
  package var bookmarks: BookmarkRules
  /// Seconds that coordinated access waits for one presenter, or for others without progress; `nil`: for ever.
  package var patience: Int?
  package var silentPresenters: SilentPresenters
  /// When a decision about it counts as written down.
  package var sync: AuditSync
  /// Profiles that hold besides ``seccompProfile``: others that the policy names, and those of a machine-wide one.
  package var furtherSeccompProfiles: [String]
  /// Entitlements for bookmarks that an app which asks for Apple's sandbox does not have (``AppSandbox/missingBookmarks``): those of
  /// that kind it neither makes nor opens.
  package var missingBookmarks: [String] = []
  /// The entitlements for the user's selections that it lacks, and without which it does not have modes of the picker that the
  /// policy allows.
  package var missingSelections: [String] = []
  /// The settings that machine-wide policies have narrowed.
  package var narrowings: [Narrowing]
  /// The policy that this came from, for messages and the audit log.
  package var policyName: String
  /// All that the policy says, as ``PolicySettings/text``: for the audit log.
  package var settingsText: String

  /// - Parameter entitlements: the app's entitlements. Under `access = "entitlement"`, a network entitlement of either direction
  ///   opens the policy's `entitled` network; under the other values it changes nothing. The network namespace that it opens knows
  ///   no directions. An app that asks for Apple's sandbox is held to the rights that it gives (``hold(to:)``).
  package init(policy: Policy, entitlements: Entitlements) {
    let settings = policy.settings
    scopeLimit = settings.scopeLimit
    references = settings.references
    replacedDocuments = settings.replacedDocuments
    readOnlyPaths = settings.readOnlyPaths
    environmentPass = settings.environmentPass
    environmentSet = settings.environmentSet
    network =
      switch settings.network {
      case .none: .none
      case .loopback: .loopback
      case .host: .host
      case .entitlement:
        if entitlements.networkClient || entitlements.networkServer {
          settings.entitledNetwork == .host ? .host : .loopback
        } else {
          .none
        }
      }
    execute = settings.execute
    limits = settings.limits
    observe = settings.observe
    seccompProfile = settings.seccompProfile
    landlockFiles = settings.landlockFiles
    requiredLayers = settings.requiredLayers
    endsOutlived = settings.outlived == .end
    persisted = settings.persisted
    startsPicked = settings.startsPicked
    mayPass = settings.passing.covers(entitlements.passGrants)
    executesPicked = settings.executing.covers(entitlements.executePicked)
    tellsHostPaths = settings.tellsHostPaths
    picker = settings.picker
    access = settings.access
    lifetime = settings.lifetime
    bookmarks = settings.bookmarks
    patience = settings.patience
    silentPresenters = settings.silentPresenters
    sync = settings.sync
    furtherSeccompProfiles = settings.furtherSeccompProfiles
    narrowings = policy.narrowings
    policyName = policy.name
    settingsText = settings.text
    if let sandbox = entitlements.sandbox { hold(to: sandbox) }
  }

  /// The machine-wide policy that some of ``requiredLayers`` come from.
  package var requiringMachine: String? { narrowings.last { $0.field == "require.layers" }?.file }

  /// ``requiredLayers`` as messages have them.
  package var namesOfRequiredLayers: [String] { requiredLayers.map(\.rawValue) }

  /// Whether a variable of the launcher's environment reaches the app, unless ``environmentSet`` or the sandbox itself
  /// (`HOME`, `TMPDIR`, `AMBIT_ADDRESS`…) sets it.
  ///
  /// Variables that a policy may not name are not passed either, even if a pattern matches them.
  package func passes(_ name: String) -> Bool {
    EnvironmentName.check(name) == nil && environmentPass.contains { EnvironmentName.matches($0, name) }
  }

  /// Whether the app may make internet sockets.
  package var hasInternetSockets: Bool { network.hasSockets }

  /// Whether the app has a network namespace of its own.
  package var hasOwnNetwork: Bool { network != .host }

  /// ``network`` as messages have it.
  package var networkName: String { network.rawValue }
}
