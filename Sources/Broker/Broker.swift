internal import BrokerCore
internal import Audit
package import Folders
internal import Foundation
package import Kernel
internal import ScopedAccess
internal import Wire

/// The trusted service of one user: the only process that sees both documents and apps.
///
/// One thread, one loop; what may take long is found out by others (``Lookups``). A request comes in on a socket; the socket says who is asking; one service decides, changes
/// kernel and store, writes the audit event, and only then answers. Nothing below calls back up.
package final class Broker {
  /// `nil` keeps the broker running without anything to do.
  private let idleLimit: Duration?
  let folders: AmbitFolders
  let rules: GrantRules
  let grants: GrantStore
  let log: AuditLog
  /// Refusals that apps can cause without end: which are written, and how many were left out. Before `refusalsAgain`, in
  /// nanoseconds of CLOCK_MONOTONIC, what could not be told of them is not tried again.
  var refusals = RefusalLimiter()
  var refusalsAgain: Int64 = 0
  /// What took effect and could not be written down yet, and before when it is not tried again, in nanoseconds of CLOCK_MONOTONIC.
  var owed: [AuditEvent] = []
  var owedAgain: Int64 = 0
  /// The files of the log.
  var keeping = LogKeeper()
  let key: SealingKey
  let finder = DocumentFinder()
  let trash: TrashRule
  /// The kernel's name for the time since the machine was started.
  let boot: String
  let filters: FilterStore
  let launchRules: LaunchRules
  let groups: GroupRecords
  /// The broker's own mount namespace, to come back to.
  let home: Descriptor
  /// Where apps' sandboxes are made: the broker's own user and mount namespace, if it has them.
  let namespaces: [Descriptor]
  let privileged: Bool
  let user: WireEndpoint
  private let signals: SignalQueue

  var instances: [String: Instance] = [:]
  /// Instances that are over, and whose launcher has not said yet how they ended.
  var ended: [String: Instance] = [:]
  /// Launches of a broker that died, which nobody has handed over to this one yet.
  var unsettled: UnsettledLaunches
  /// Launches that have been prepared and not yet attached.
  var prepared: [String: Preparation] = [:]
  /// Instances that are over in every respect. What they held is let go of when everybody has been answered: the kernel takes
  /// its time to take a sandbox's mounts down, and whoever closes the last descriptor waits for it.
  var released: [Instance] = []
  /// Documents kept open so that they are found again without privilege wherever they are moved. Bounded.
  var pinned = KeptDocuments()
  /// Apps of which something has ended: whether they still have the references that their grants need is looked at when
  /// everybody has been answered.
  var forsakenApps: Set<String> = []
  /// Apps of which a running launch can watch files (`inotify(7)`). A descriptor for it can be sent from one launch to another.
  var watchingApps: Set<String> = []
  var network = SpareNetwork()
  /// Answers that the disk keeps waiting.
  var held = HeldAnswers()
  /// The call that is being served.
  var request: Request?
  /// Documents that are being looked for meanwhile.
  var lookups: Lookups
  /// What takes long and changes something.
  var errands = Errands()
  /// What belongs to databases, on its way to them.
  var sidecars = SidecarKeeping()
  /// References that are being removed, by app.
  var references = Batches<RemovedReference>()
  /// Requests that wait for apps to end.
  var awaitedEnds: [(request: Request, wait: WaitingForEnd, due: Int64)] = []
  /// Where documents are, before somebody asks.
  var surveys = Surveys()
  /// What is mounted, and what of it may keep one waiting.
  var mounts = MountWatch()
  /// The host's own mounts, where the broker is in a namespace of its own; `nil`: it is not, or a launcher has started it there.
  private var host: HostMounts?
  /// What of them the host has unmounted and this namespace still has.
  private var stale: [String] = []
  private var hostLooked: Int64 = 0
  /// Nanoseconds between two looks at the host's mounts.
  private static let hostPause: Int64 = 500_000_000
  /// How long nothing has to be asked before the broker goes for a medium's sake: launches that follow each other keep it.
  private static let mediumPause = Duration.seconds(3)
  /// Where documents of active single-file scopes stand.
  var files: FileWatch
  /// The folder of all instances' staging folders.
  let staging: Descriptor
  /// Control groups that nobody but this broker is left to remove, and until when it tries to: what was killed takes a moment
  /// to be gone. One that still runs after that has somebody.
  private var orphans: [String: Int64] = [:]
  /// How soon the next request comes: as long as there are many, each is waited for awake.
  private var eagerness = AdaptivePolling(most: 100_000, processors: Poll.processors)
  var leaving = Leaving()
  private var idleSince: Int64?

  /// Before this, in nanoseconds of CLOCK_MONOTONIC, grants that could not be ended are not tried again.
  var endsAgain: Int64 = 0
  /// What happens in folders of documents is looked at again no sooner than this: somebody may make files there without end. A few
  /// times it is looked at at once, since who saves a file makes another one first, and then once in each pause.
  private var foldersAgain: Int64 = 0
  private static let foldersPause: Int64 = 3_000_000
  private static let foldersAtOnce: Int64 = 10

  /// How long launchers take at most to find another broker, with room to spare.
  private static let settling: Int64 = 3_000_000_000

  package init(
    folders: AmbitFolders, listener: Descriptor, home: Descriptor, namespaces: [Descriptor], privileged: Bool,
    signals: SignalQueue, idleLimit: Duration?, host: HostMounts? = nil
  ) throws {
    self.folders = folders
    self.home = home
    self.namespaces = namespaces
    self.privileged = privileged
    self.signals = signals
    self.idleLimit = idleLimit
    self.host = host
    rules = folders.grantRules
    files = FileWatch(staying: Self.staying(rules))
    trash = Self.trash(rules.home)
    boot = try Self.bootIdentifier()
    grants = try GrantStore(path: folders.grants)
    // Before the log is: with another key than theirs, the grants would end one after the other.
    key = try grants.sealingKey(at: folders.sealingKey)
    log = try AuditLog(path: folders.auditLog, settings: Self.logSettings(folders, grants))
    filters = FilterStore(folder: folders.filters)
    launchRules = LaunchRules(folders)
    lookups = try Lookups()
    groups = GroupRecords(folders.groups)
    unsettled = UnsettledLaunches(LauncherRecords(folders))
    staging = try Descriptor.open(folders.staging, flags: [.read, .directory, .noFollow])
    user = WireEndpoint(
      listener: listener, service: WireService(info: Self.info, interfaces: Interface.user), limits: .user,
      now: Clock.monotonic())
    // Those of apps that ended with their launchers and their broker. What still runs keeps its own.
    forsake(groups.names)
    let left = try Self.reconcile(grants, folders)
    try log.append([Self.started(log, grants, boot: boot, unsettled)] + left)
    let wakeup = lookups.wakeup
    log.onDisk { wakeup.signal() }
    try settleReplacements()
    clearStaging()
    removeRetired()
    // What ended while no broker was there.
    endDue()
    settleLaunches(now: Clock.monotonic())
    if log.lacksCarried { try beginCarrying() }
  }

  static let info = ServiceInfo(version: AmbitVersion.current, url: "https://github.com/ambit-sandbox/ambit")

  // MARK: The loop

  /// Serves until it is told to stop, or until nothing has been there to serve for a while. Its connections are closed with the
  /// last reference to it: who called meanwhile, and was not read, can ask the next broker.
  package func run() throws {
    var lookForForsaken: Int64? = Clock.monotonic() + Self.settling
    var lookForLaunches = lookForForsaken
    while true {
      let now = Clock.monotonic()
      guard !isIdleTooLong(now: now), !mayLeave(now: now) else { break }
      writeOwed(now: now)
      tellRefusals(now: now)
      flushLog(now: now)
      keepLog(now: now)
      held.release(through: log.durable)
      removeOrphans(now: now)
      pinned.sweep(now: now)
      noteUnmounted(now: now)
      settleLaunches(now: now)
      var entries = [PollEntry(signals.descriptor, .read), PollEntry(lookups.wakeup.descriptor, .read)]
      let foldersRest = now < foldersAgain
      let watchers = foldersRest ? [] : [files.descriptor, surveys.watcher?.descriptor].compactMap { $0 }
      let watcherRange = entries.count..<(entries.count + watchers.count)
      entries += watchers.map { PollEntry($0, .read) }
      let userRange = user.appendEntries(to: &entries, now: now)
      let served = instances.values.map { instance in
        let process = entries.count
        entries.append(PollEntry(instance.process, .read))
        let owners = entries.count..<(entries.count + instance.processes.count)
        for (pid, owner) in instance.processes { entries.append(PollEntry(owner.descriptor, .read, tag: Int(pid))) }
        return (
          instance: instance, process: process, owners: owners,
          range: instance.endpoint.appendEntries(to: &entries, now: now)
        )
      }
      // Nanoseconds until something is due.
      var wait: Int64 = 1_000_000_000
      func note(_ due: Int64?) { if let due { wait = min(wait, max(0, due - now)) } }
      note(log.flushDeadline)
      for end in awaitedEnds { note(end.due) }
      if !orphans.isEmpty { note(now + 50_000_000) }
      if foldersRest { note(foldersAgain) }
      note(lookups.queue.nextDue)
      note(errands.queue.nextDue)
      note(surveys.catalog.nextDue)
      if now >= endsAgain, let next = nextEnd() { note(now + next - Clock.realtime()) }
      note(keeping.nextDue)
      if !owed.isEmpty { note(owedAgain) }
      note(unsettled.nextDue)
      note(leaving.by)
      if let due = refusals.nextDue { note(max(due, refusalsAgain)) }
      var timeout = user.timeout(now: now)
      for each in served {
        note(each.instance.mounts.exitDue)
        if let due = each.instance.endpoint.timeout(now: now) { timeout = min(timeout ?? due, due) }
      }
      let asked = Clock.monotonic()
      if try !isAsked(&entries, now: asked) {
        let left = Duration.nanoseconds(wait)
        try Poll.wait(&entries, timeout: timeout.map { min($0, left) } ?? left, awake: eagerness.patience)
      }

      let after = Clock.monotonic()
      eagerness.waited(after - asked)
      // Before anybody is answered.
      endDue()
      if entries[0].hasHappened { while try signals.next() != nil { leaving.begin(now: after) } }
      if entries[watcherRange].contains(where: \.hasHappened) {
        noteMoves(now: after)
        examineFiles()
        let atOnce = Self.foldersAtOnce * Self.foldersPause
        foldersAgain = max(foldersAgain, after - atOnce) + Self.foldersPause
      }
      // The user's side first: a launcher's answer is then known before what its app does next.
      for event in user.process(entries[userRange], now: after) { handleUser(event) }
      for each in served {
        for event in each.instance.endpoint.process(entries[each.range], now: after) {
          handle(event, of: each.instance)
        }
        if entries[each.process].hasHappened { end(each.instance) }
        // After what it sent: a stop that was on its way counts.
        for owner in entries[each.owners] where owner.hasHappened { ended(Int32(owner.tag), of: each.instance) }
      }
      if entries[1].hasHappened { lookups.wakeup.clear() }
      continueLookups(now: Clock.monotonic())
      continueErrands(now: Clock.monotonic())
      continueEnds(now: Clock.monotonic())
      continueSurveys(now: after)
      released = []
      grants.settleMoves()
      emptyExits(now: Clock.monotonic())
      files.leaveFolders(now: after)
      network.makeIfWanted()
      for app in forsakenApps { endForsaken(of: app) }
      forsakenApps = []
      if let due = lookForLaunches, due < now {
        lookForLaunches = nil
        endLaunches()
        removeReferencesLeft()
      }
      // Of what ended while no broker was there. Apps that still run are handed over first.
      if let due = lookForForsaken, due < now, instances.isEmpty, prepared.isEmpty {
        lookForForsaken = nil
        for app in (try? grants.knownApps()) ?? [] { endForsaken(of: app.bundleIdentifier) }
      }
    }
    user.stopListening()
    finishCarrying()
    for instance in Array(instances.values) { leave(instance) }
    finishSidecars()
    for instance in Array(ended.values) { recordExit(of: instance, nil) }
    try? grants.flushUses()
    // Here, so that it comes to the disk with the log's end.
    try? grants.settle()
    try writeOwed()
    try log.append(refusals.takeAll(now: Clock.monotonic(), time: Date()))
    var stopped = AuditEvent(.brokerStopped, pid: ProcessInfo.processInfo.processIdentifier)
    stopped.detail[AuditEvent.Fact.store] = Self.stamp(grants)
    try log.append([stopped])
    // Closed here and not with the last reference: a thread that waits for the disk may have one.
    try log.finish()
    held.release(through: log.durable)
  }

  /// Looks whether somebody asks for something while there is still something to do that nobody waits for: who has just been
  /// answered often asks again. Does it if nobody does, or if it has waited for long enough.
  private func isAsked(_ entries: inout [PollEntry], now: Int64) throws -> Bool {
    func isAsked(since: Int64, for awake: Int64, patience: Int64) throws -> Bool {
      guard now - since < patience else { return false }
      return try Poll.look(&entries, for: min(eagerness.patience, awake)) > 0
    }
    if let since = files.pendingSince {
      if try isAsked(since: since, for: Self.folderAwake, patience: Self.folderPatience) { return true }
      for grant in files.settle() { examine(grant) }
    }
    if let since = grants.pendingSince {
      if try isAsked(since: since, for: eagerness.most, patience: Self.grantPatience) { return true }
      // What cannot be written now stays in the journal, and is tried again.
      if let failure = grants.settleIfPossible() { complain("\(failure)") }
    }
    return false
  }

  /// Nanoseconds for which a folder waits to be watched while there are requests, and for which it is looked for one.
  private static let folderPatience: Int64 = 1_000_000
  private static let folderAwake: Int64 = 20_000
  /// Nanoseconds for which grants stay in their journal alone while there are requests.
  private static let grantPatience: Int64 = 10_000_000

  /// Unmounts what scopes that have ended have left: when some have gathered, or the first has waited long enough.
  private func emptyExits(now: Int64) {
    for instance in instances.values {
      guard let due = instance.mounts.exitDue, due <= now else { continue }
      do throws(KernelError) { try instance.mounts.beginEmptying() } catch {
        record(
          event(.stop, .failed, instance, reason: "what nobody has open any more could not be unmounted: \(error)"))
      }
    }
  }

  func forsake(_ names: [String]) {
    let deadline = Clock.monotonic() + 10_000_000_000
    for name in names { orphans[name] = deadline }
  }

  private func removeOrphans(now: Int64) {
    if orphans.isEmpty { return }
    orphans = orphans.filter { name, deadline in
      instances[name] == nil && !groups.remove(name) && now < deadline
    }
  }

  /// Looks whether the host has unmounted what this namespace keeps mounted. Nothing of it can be unmounted here by itself, so the
  /// broker goes as soon as no app runs.
  private func noteUnmounted(now: Int64) {
    guard host != nil, now - hostLooked >= Self.hostPause else { return }
    hostLooked = now
    host?.refresh()
    let kept = host?.kept ?? []
    guard kept != stale else { return }
    stale = kept
    guard !kept.isEmpty, !instances.isEmpty else { return }
    let points = kept.map { $0.shown }.joined(separator: ", ")
    complain(
      "\(points): unmounted outside, and still in use by the mount namespace of the apps that run; end them to free the medium"
    )
  }

  private func isIdleTooLong(now: Int64) -> Bool {
    guard instances.isEmpty, user.connections.isEmpty, owed.isEmpty, !grants.awaitsRoom, sidecars.batches.isIdle,
      references.isIdle
    else {
      idleSince = nil
      return false
    }
    let since = idleSince ?? now
    idleSince = since
    let idle = Duration.nanoseconds(now - since)
    // The medium is free when this namespace is gone; the next broker begins with the mounts that there are then.
    if !stale.isEmpty, prepared.isEmpty, idle > Self.mediumPause { return true }
    return idleLimit.map { idle > $0 } ?? false
  }

  // MARK: Who is asking

  private func handleUser(_ event: WireEndpoint.Event) {
    switch event {
    case .call(let connection, let call):
      answer(connection, failure: { Self.failure($0, of: call.interface) }) {
        switch call.interface {
        case GrantsInterface.name: try self.grantService(call)
        case InspectorInterface.name: try self.inspect(call)
        default: try self.launcher(call, on: connection)
        }
      }
    case .closed(let connection):
      for (instance, preparation) in prepared where preparation.connection == connection.id {
        prepared[instance] = nil
        forsake([instance])
      }
      for instance in instances.values where instance.prompts === connection { userLeft(instance) }
      for instance in ended.values where instance.prompts === connection { recordExit(of: instance, nil) }
    case .broken(_, let reason): record(AuditEvent(.protocolError, .refused, how: "user's socket", reason: reason))
    case .refused, .failed: break
    }
  }

  private static func failure(_ error: any Error, of interface: String) -> ErrorReply {
    interface == GrantsInterface.name
      ? GrantsInterface.Failure.failed("\(error)") : LauncherInterface.Failure.failed("\(error)")
  }

  private func handle(_ happened: WireEndpoint.Event, of instance: Instance) {
    switch happened {
    case .call(let connection, let call):
      // An app is not told why: reasons name the user's folders. The user finds them in the log.
      let failed: (any Error) -> ErrorReply = { error in
        self.record(self.event(.refuse, .failed, instance, reason: "\(call.interface).\(call.member): \(error)"))
        return AccessInterface.Failure.unavailable(Self.sentence("the broker could not do this", error))
      }
      answer(connection, for: instance, failure: failed) {
        switch call.interface {
        case PickerInterface.name: try self.pick(call, on: connection, for: instance)
        case AccessInterface.name: try self.access(call, for: instance)
        case TransferInterface.name: try self.transfers(call, for: instance)
        default: try self.bookmarks(call, for: instance)
        }
      }
    case .closed(let connection): abandonPicks(of: connection, instance)
    case .broken(_, let reason):
      record(event(.protocolError, .refused, instance, rule: "F9", reason: reason))
    case .refused(let limit):
      record(event(.refuse, .refused, instance, rule: "F9", reason: "more than \(limit) connections at a time"))
    case .failed: break
    }
  }

  /// - Parameter failure: how an error that no interface knows is told to this caller.
  private func answer(
    _ connection: WireConnection, for instance: Instance? = nil, failure: @escaping (any Error) -> ErrorReply,
    _ body: @escaping () throws -> Answer?
  ) {
    serve(Request(connection, instance, failure: failure, body))
  }

  struct Answer {
    let parameters: JSONObject
    var descriptors: [Descriptor] = []
    init(_ parameters: JSONObject, descriptors: [Descriptor] = []) {
      self.parameters = parameters
      self.descriptors = descriptors
    }
  }
}
