internal import BrokerCore
internal import Decisions
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// The user's side's facts about an app that it launches.
struct AppDescription {
  let bundleIdentifier: String
  let name: String
  let policy: String
  let scopeLimit: Int
  let references: Bool
  let rules: LauncherInterface.GrantRules
  /// What it may be given, and use.
  let decisions: DocumentRules
  /// What becomes of a document whose file was replaced by another.
  let replaced: ReplacementRule.Setting
  /// Its place on the host, and the digest of its files.
  let path: String
  let digest: String

  /// Which folders are documents to it.
  var packages: PackageTypes { PackageTypes(declared: rules.packages) }
  /// Lower-case extensions of files that it may have beside a document (`COO-25`).
  var related: Set<String> { Set(rules.related) }
}

/// A launch whose sandbox is being set up.
struct Preparation {
  /// The launcher's connection; when it goes, so does the launch.
  let connection: Int
  let bundleIdentifier: String
  let name: String
  let policy: String
  let hostID: UInt32?
  let rules: LauncherInterface.GrantRules
  /// The profile that holds besides Ambit's own, or the word for none.
  let seccomp: String
  /// The policy's content, and the entitlements that it goes by.
  let settings: String
  let entitlements: EntitledLaunch
  /// The interpreter, if the app is a script.
  let interpreter: String?
  /// The fields that machine-wide policies took away of the policy.
  let narrowed: [String]
  /// The documents that it is given.
  let given: [PreparedOpening]
}

/// The broker's hold on one sandbox.
struct InstanceSandbox {
  let mounts: any ScopeMounting
  let staging: Staging
  let table: SandboxTable
  /// Stops its processes, and lets them go on; `nil` where the kernel does not show which they are.
  let suspension: (any ProcessSuspending)?
}

/// One launch of an app: known by the socket that it was given, never by its own words about itself.
@BrokerLoop
final class Instance {
  let id: String
  let app: AppDescription
  let pid: Int32
  /// The pidfd of the sandbox's init: readable once it has ended.
  let process: Descriptor
  let endpoint: WireEndpoint
  let sandbox: InstanceSandbox
  /// The app's host id, where it is not the broker's own.
  let hostID: UInt32?
  /// Nanoseconds since 1970.
  let started: Int64
  /// The facts of its launch in the log, besides its identity.
  var facts: [String: String] = [:]

  var scopes: InstanceScopes
  var picker = InstancePicker()
  var opening = InstanceOpenings()
  var ending = InstanceEnding()
  /// Since when the user has it suspended, in nanoseconds since 1970; `nil`: it runs.
  var suspended: Int64?
  /// Calls of the app that are being served.
  var requests = RequestTable()

  #if AMBIT_MUTANTS
    /// Slots in use at the end of an app.
    static var leftSlots: [String: Int] = [:]
  #endif
  init(
    id: String, app: AppDescription, pid: Int32, process: Descriptor, endpoint: WireEndpoint,
    sandbox: InstanceSandbox, hostID: UInt32?, started: Int64
  ) {
    self.id = id
    self.app = app
    self.pid = pid
    self.process = process
    self.endpoint = endpoint
    self.sandbox = sandbox
    self.hostID = hostID
    self.started = started
    #if AMBIT_MUTANTS
      let left = Mutant.slotsOutlive.isActive ? Self.leftSlots[app.bundleIdentifier] ?? 0 : 0
      scopes = InstanceScopes(owners: ScopeOwners(limit: max(1, app.scopeLimit - left)))
    #else
      scopes = InstanceScopes(owners: ScopeOwners(limit: app.scopeLimit))
    #endif
  }

  /// None of its processes runs, by the user's wish. Its scopes stay started, and its grants can end.
  var isSuspended: Bool { suspended != nil }

  nonisolated static func rfc3339(_ nanoseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(
      Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}

/// The processes of a sandbox, as the kernel shows them.
struct SandboxTable {
  /// The sandbox's own `/proc`.
  let folder: Descriptor?
  /// `nil` where the kernel does not show which processes are the sandbox's: then nothing can be started.
  let processes: (any ProcessLookup)?
}

/// The documents of one launch: the known and the started ones.
struct InstanceScopes {
  var owners: ScopeOwners
  /// Processes that have started something at some time and still run, by their number on the host. At most
  /// ``ScopeOwners/mostProcesses``.
  var processes: [Int32: SandboxProcess] = [:]
  /// The documents that this instance has been told of, by grant.
  var exposed: [String: Exposure] = [:]
  /// Tokens that have been found good, by the grants that they open: working one out again costs more than the rest of a start.
  var tokens: [String: String] = [:]
  /// When started documents have to be taken away again by its policy, in nanoseconds of CLOCK_REALTIME, by grant.
  var ends: [String: Int64] = [:]
  /// Tokens of documents that it has been told of, by grant.
  var exposedTokens: [String: String] = [:]
  /// Documents that are shown now.
  var shown: [String: FoundDocument] = [:]
  /// Files that are shown beside them, by grant and name.
  var related: [String: [PathKey: RelatedItem]] = [:]
  /// Databases that other programs are kept out of meanwhile, by grant.
  var holds: [String: DatabaseHold] = [:]
  /// Documents of which it may have something by a mount of another launch of its app, from which that was taken away.
  var elsewhere: Set<FileIdentity> = []
  /// The names of references in the container, by grant, as far as they are known.
  var references: [String: String] = [:]
  /// When all of them were looked at last, in nanoseconds of CLOCK_MONOTONIC.
  var referencesRead: Int64?
  var saves = InstanceSaves()
}

/// How an instance knows a document.
struct Exposure: Equatable {
  /// The name under which it appears inside, and which new URLs have.
  let name: String
  /// Names that URLs of this launch have as well, the latest first: the document was renamed since. It appears under these, too.
  var earlier: [String] = []
  /// The way in which the instance came by it: `user`, `scripted`, `bookmark`, `reference`, `resumed`.
  let how: String

  init(name: String, earlier: [String] = [], how: String) {
    self.name = name
    self.earlier = earlier
    self.how = how
  }

  /// With another name from now on. The oldest of many are forgotten.
  func renamed(_ name: String, how: String) -> Exposure {
    let others = names.filter { !$0.isSamePath(as: name) }
    return Exposure(name: name, earlier: Array(others.prefix(Self.mostEarlier)), how: how)
  }

  var names: [String] { [name] + earlier }

  func has(_ other: String) -> Bool {
    name.isSamePath(as: other) || earlier.contains { $0.isSamePath(as: other) }
  }

  private static let mostEarlier = 15
}

/// Documents whose content is being copied for a save, by grant, and the saves that wait for that.
struct InstanceSaves {
  var running: Set<String> = []
  var waiting: [String: [Wait<Void>]] = [:]
}

/// The questions of one launch for its user.
struct InstancePicker {
  /// Picks that wait for the user, in order; the first is the one being asked.
  var picks: [PendingPick] = []
  /// Forms of file providers that wait for the user.
  var forms: [PendingForm] = []
  /// The first of them is being asked, and no pick.
  var isFormShown = false
  /// The launcher's subscription to questions for the user.
  var prompts: Subscription<LauncherInterface.PromptsReply>?
  /// Its launcher has handed the app over, and is about to say that it takes questions: the app's requests meanwhile wait.
  var awaitsPrompts = true
  var lastPick = 0
  /// The user has asked for a new document, which the app has not made yet.
  var creation: DocumentCreation?
  /// How many requests in a row its user has cancelled, and when the last one, in nanoseconds of CLOCK_MONOTONIC.
  var cancelled = 0
  var lastCancelled: Int64 = 0

  /// When an app may ask again that was cancelled several times: each time it waits twice as long, at most 8 seconds.
  var asksAgain: Int64 {
    cancelled < 2 ? 0 : lastCancelled + min(8_000_000_000, 250_000_000 << Int64(min(cancelled - 2, 5)))
  }
}

/// A pick that waits for its user.
struct PendingPick {
  let id: Int
  let call: PickerInterface.PickCall
  let caller: Caller
  let answer: Wait<Result<PickerInterface.PickReply, ErrorReply>>
  /// What the app hands over, in the modes that do.
  var sources: [HandedItem] = []
  let ticket = CopyTicket()
  /// Of the copy, and of contents that come for it.
  let copying: Cancellation
}

/// The known facts about the end of a launch.
struct InstanceEnding {
  /// Scopes that were still started when the app ended, or a process of it before; of those the first ``mostLeaks``.
  var leaks: [LauncherInterface.Scope] = []
  static let mostLeaks = 256
  /// Why the broker has ended it; the end of a sentence.
  var reason: String?
}
