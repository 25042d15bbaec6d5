internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// The trusted service of one user: the only process that sees both documents and apps.
///
/// It wires the services together and has no rules of its own. A request comes in on a socket; the socket says which app asks; one
/// service decides, changes kernel and store, writes the audit event, and only then answers.
@BrokerLoop
final class Broker {
  let loop: EventLoop
  let grants: GrantStore
  let trail: AuditTrail
  let keeper: LogKeeper
  let sessions = SessionTable()
  let events: AppEvents
  let leases: LeaseKeeper
  let jobs: Jobs
  let sidecars: SidecarKeeper
  let ender: SessionEnder
  let replies: PendingReplies
  let user: UserServer
  let lifetime: Lifetime
  let catalog: CatalogService
  let providers: ProviderExtensions
  let placeholders: ProviderGuard

  /// - Parameters:
  ///   - listener: the socket of the user's side.
  ///   - signals: those that tell it to go; `nil`: none does.
  ///   - hostMounts: the mounts that the host had before the broker entered its own namespace.
  init(
    _ host: BrokerHost, listener: Descriptor, signals: SignalQueue?, idleLimit: Duration?, hostMounts: HostMounts? = nil
  ) throws {
    let clock = host.clock
    loop = EventLoop(clock: clock)
    let endpoint = WireEndpoint(
      listener: listener, service: WireService(info: .broker, interfaces: Interface.user), limits: .user,
      now: clock.monotonic)
    grants = try GrantStore(path: host.folders.grants)
    // Before the log is: with another key than theirs, the grants would end one after the other.
    let key = try grants.sealingKey(at: host.folders.sealingKey)
    trail = try AuditTrail(host, grants)
    events = AppEvents(sessions)
    keeper = LogKeeper(trail, grants, sessions, clock)
    replies = PendingReplies(trail.log)
    jobs = Jobs(clock: clock)
    let mounts = MountState()
    let absent = AbsentFiles(mounts, clock)
    let scan = BackgroundScan(host, grants, host.kernel.finder, mounts, absent)
    let locator = DocumentLocator(host, host.kernel.finder, mounts, scan, absent, jobs)
    let files = FolderMonitor(host)
    leases = LeaseKeeper(mounts, clock)
    let places = OfferedPlaces(host, grants, trail)
    let succession = Succession(grants, trail, sessions, locator, files, places, events)
    let documents = GrantLocator(host, locator, mounts, grants, trail, succession)

    let versions = VersionKeeper(
      try VersionStore(path: "\(host.folders.versions).sqlite", contents: host.folders.versions), trail, jobs,
      leases, clock)
    succession.versions = versions
    let leaks = LeakDetector(sessions, trail)
    sidecars = SidecarKeeper(jobs, trail, grants, staging: host.staging)
    let related = RelatedItems(grants, trail, places, mounts, leaks, clock)
    let scopes = ActiveScopes(sessions, grants, trail, locator, files, sidecars, leaks, related, clock, events)
    let tokens = ScopeTokens(key, grants, trail)
    let references = ReferenceFiles(host, grants, trail, key, jobs)
    let revoker = GrantRevoker(grants, trail, sessions, scopes, locator, references, sidecars, clock, events)
    let issuer = GrantIssuer(grants, trail, sessions, revoker, tokens, locator, clock)
    let orphans = OrphanedGrants(host, grants, key, sessions, revoker, jobs)

    let access = ScopeService(
      tokens, ScopeOwnership(scopes, trail), scopes, leaks, documents, locator, sidecars, grants, issuer, revoker,
      trail, jobs, clock, events)
    let copies = PickedCopies(host, jobs)
    let items = CoordinatedItems(host: host, grants: grants, sessions: sessions)
    let handover = DocumentHandover(grants, trail, locator, issuer, references, clock)
    let picker = PickService(
      trail, sessions, locator, places, handover, access, sidecars, copies, items, clock, loop,
      RecentKeeper(trail, path: host.folders.auditLog))
    let index = IndexService(host, grants, tokens)
    let browser = BrowserService(
      host, grants, trail, sessions, locator, documents, places, handover, issuer, tokens, copies)
    let openings = OpeningService(host, grants, trail, sessions, locator, places, handover, access, jobs, clock)
    let transfers = TransferService(grants, key, trail, tokens, documents, locator, issuer, references, clock)
    let resolver = BookmarkResolver(
      host, grants, key, trail, mounts, tokens, documents, locator, FolderContents(locator, trail), places, issuer,
      access)
    let bookmarks = BookmarkService(BookmarkMaker(host, grants, key, trail, tokens, documents, issuer), resolver)

    let presented = PresentedFiles(clock)
    let leased = LeasedDocuments(leases, clock)
    let coordination = CoordinationService(
      items, CoordinationTrail(trail: trail), presented, leased, related, clock)
    let catalog = CatalogService(host, grants, trail, sessions, documents, locator, issuer, key, jobs)
    let providers = ProviderExtensions(host, clock)
    self.providers = providers
    let provided = ProviderFiles(host, trail)
    let sent = ProvidedChanges(provided, providers, jobs)
    let contents = ProvidedContents(provided, providers, sent, jobs)
    let locations = LocationService(provided, contents, sent, providers, jobs, trail)
    let placeholders = ProviderGuard(host, contents)
    self.placeholders = placeholders
    provided.group = { placeholders.group }
    leases.beforeLease = { file in
      if file.currentPath?.path(within: provided.root) != nil { placeholders.group?.passOver(file) }
    }
    locations.onFolder = { placeholders.watch($0) }
    places.locations = { locations.places }
    locator.isReadOnly = { contents.lacks(.writing, $0) }
    handover.provided = contents
    coordination.contents = contents
    contents.onTransfer = { coordination.transferred($0, $1) }
    sent.onTransfer = { coordination.transferred($0, $1) }
    copies.bring = { try await contents.bringAll($0) }
    copies.onChanged = { sent.changed(around: $0) }
    openings.bring = { try await contents.bringAll($0) }
    coordination.onWritten = {
      catalog.wrote($0)
      sent.wrote($0)
    }
    self.catalog = catalog
    let groups = OrphanedGroups(host, sessions)
    let shutdown = Shutdown(clock)
    let rules = LaunchRules(host.folders)
    let entitlements = EntitlementService(rules, grants)
    let identification = AppIdentification(rules, grants, trail, mounts, jobs, clock)
    let preparer = LaunchPreparer(
      host, rules, grants, sessions, identification, entitlements, places, openings, shutdown)
    let suspensions = SuspensionService(host, grants, trail, sessions, jobs)
    let attacher = LaunchAttacher(host, grants, trail, sessions, preparer, references, suspensions, openings)
    let unsettled = UnsettledLaunches(LauncherRecords(host.folders))
    ender = SessionEnder(
      host, grants, trail, sessions, scopes, leaks, revoker, references, orphans, groups, sidecars, copies,
      unsettled)
    let inPlace = InPlaceSaver(host, leases, trail, sessions, jobs)
    let saves = SaveService(grants, trail, sessions, succession, inPlace, versions, jobs)
    let launches = LaunchService(
      sessions, preparer, attacher, ender, picker, saves, scopes, DenialService(trail), groups, shutdown, suspensions,
      MemoryPressure(trail, sessions, suspensions, jobs), openings)
    let remover = AppRemover(host, grants, trail, sessions, revoker, jobs, loop, index)
    let service = GrantService(
      host, grants, trail, sessions, locator, places, issuer, revoker, references, IdentityService(grants, trail),
      entitlements, remover)
    leased.onOverwrite = versions.keepBeforeOverwriting
    versions.onChange = { coordination.versionsChanged($0, $1, $2) }
    let kept = VersionService(items, versions, grants, trail)
    user = UserServer(
      endpoint, launches, service, InspectionService(grants, key, host, documents, coordination, index), coordination,
      kept,
      catalog, locations, sessions, trail, replies)
    let apps = AppServer(
      sessions, picker, access, transfers, bookmarks, coordination, kept, catalog, openings, browser, index,
      providers, scopes, ender,
      trail,
      replies)
    lifetime = Lifetime(
      signals, sessions, user, shutdown, idleLimit: idleLimit, hostMounts: hostMounts,
      isBusy: { [trail, grants, sidecars] in
        !trail.isWhole || grants.awaitsRoom || !sidecars.isIdle || !references.isIdle || placeholders.isGuarding
      })

    // In this order. Due grants end before a request is answered, and the user's side comes first: a launcher's answer is then
    // known before its app's next act.
    for member in [
      revoker, lifetime, trail, keeper, replies, groups, leases, files, scan, user, apps, ender, locator, jobs, scopes,
      preparer, orphans, GrantMoves(grants), events, presented, leased, coordination,
      catalog, providers, placeholders,
    ] as [any LoopMember] { loop.add(member) }
    loop.add(DeferredWork(awake: 20_000, patience: 1_000_000, since: { files.pendingSince }, run: { files.settle() }))
    loop.add(
      DeferredWork(awake: 100_000, patience: 10_000_000, since: { [grants] in grants.pendingSince }) { [grants] in
        // Entries that cannot be written now stay in the journal, and are tried again.
        if let failure = grants.settleIfPossible() { complain("\(failure)") }
      })

    // The remains of a broker that died.
    let left = try Reconciliation.reconcile(grants, host.folders)
    try trail.append([Reconciliation.started(trail.log, grants, boot: host.boot, unsettled)] + left)
    try succession.settleReplacements()
    try inPlace.settleInterrupted()
    sidecars.clearStaging()
    remover.removeRetired()
    // Launches that ended while no broker was there.
    revoker.endDue()
    ender.prepare(now: clock.monotonic)
    locations.tellFolders()
    if trail.log.lacksCarried { try keeper.beginSnapshot() }
  }
}
