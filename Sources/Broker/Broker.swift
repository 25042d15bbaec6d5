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
  let locations: LocationServices

  /// - Parameters:
  ///   - listener: the socket of the user's side.
  ///   - signals: those that tell it to go; `nil`: none does.
  ///   - hostMounts: the mounts that the host had before the broker entered its own namespace.
  init(
    _ host: BrokerHost, listener: Descriptor, signals: SignalQueue?, idleLimit: Duration?, hostMounts: HostMounts? = nil
  ) throws {
    let clock = host.clock
    loop = EventLoop(clock: clock)
    let endpoint = WireEndpoint.user(listener, clock)
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
    let versions = VersionKeeper(try VersionStore(host.folders), trail, jobs, leases, clock)
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
    let index = IndexService(host, grants, tokens, jobs)
    let browser = BrowserService(
      host, grants, trail, sessions, locator, documents, places, handover, issuer, tokens, copies)
    let openings = OpeningService(host, grants, trail, sessions, locator, places, handover, access, jobs, clock)
    let transfers = TransferService(grants, key, trail, tokens, documents, locator, issuer, references, clock)
    let resolver = BookmarkResolver(
      host, grants, key, trail, mounts, tokens, documents, locator, FolderContents(locator, trail), places, issuer,
      access)
    let maker = BookmarkMaker(host, grants, key, trail, tokens, documents, issuer)
    let drawn = ThumbnailService(items: items, grants: grants, locator: locator, copies: copies, jobs: jobs)
    let presented = PresentedFiles(clock)
    let leased = LeasedDocuments(leases, clock)
    let coordination = CoordinationService(
      items, CoordinationTrail(trail: trail), presented, leased, related, clock)
    catalog = CatalogService(host, grants, trail, sessions, documents, locator, issuer, key, jobs)
    locations = LocationServices(host, trail, sessions, jobs, clock)
    locations.connect(leases, places, locator, handover, copies, openings, coordination)
    locations.connect(maker, resolver, scopes, picker, catalog)
    coordination.writeObservers = [catalog.wrote, locations.sent.wrote]
    let inPlace = InPlaceSaver(host, leases, trail, sessions, jobs)
    let saves = SaveService(grants, trail, sessions, succession, inPlace, versions, jobs)
    let launches = LaunchServices(
      host, grants, trail, sessions, LaunchRules(host.folders), mounts, jobs, clock, places: places, openings: openings,
      references: references)
    ender = SessionEnder(
      host, grants, trail, sessions, scopes, leaks, revoker, references, orphans, launches.groups, sidecars, copies,
      launches.unsettled)
    let remover = AppRemover(host, grants, trail, sessions, revoker, jobs, loop, index)
    let service = GrantService(
      host, grants, trail, sessions, locator, places, issuer, revoker, references, IdentityService(grants, trail),
      launches.entitlements, remover)
    (leased.onOverwrite, leased.hasConflicts) = (versions.keepBeforeOverwriting, versions.hasConflicts)
    versions.onChange = coordination.versionsChanged
    let kept = VersionService(items, versions, grants, locator, trail)
    let inspection = InspectionService(grants, key, host, documents, coordination, index)
    user = UserServer(
      endpoint, launches.service(ender, picker, saves, scopes, locations.forms), service, inspection, coordination,
      kept, drawn, catalog, locations.service, sessions, trail, replies)
    let apps = AppServer(
      sessions,
      AppServices(
        picker: picker, browser: browser, access: access, transfers: transfers,
        bookmarks: BookmarkService(maker, resolver), coordination: coordination, versions: kept, catalog: catalog,
        index: index, thumbnails: drawn, openings: openings, providers: locations.extensions),
      scopes, ender, trail, replies)
    lifetime = Lifetime(
      signals, sessions, user, launches.shutdown, idleLimit: idleLimit, hostMounts: hostMounts
    ) { [trail, grants, sidecars, placeholders = locations.placeholders] in
      !trail.isWhole || grants.awaitsRoom || !sidecars.isIdle || !references.isIdle || placeholders.isGuarding
    }
    // In this order. A program that waits in open(2) goes on first. Due grants end before a request is answered, and the user's side comes
    // first: a launcher's answer is then known before its app's next act.
    for member in [
      leases, revoker, lifetime, trail, keeper, replies, launches.groups, files, scan, user, apps, ender, locator,
      jobs, scopes, launches.preparer, orphans, GrantMoves(grants), events, presented, leased, coordination, catalog,
      locations.extensions, locations.placeholders,
    ] as [any LoopMember] { loop.add(member) }
    loop.add(DeferredWork(awake: 20_000, patience: 1_000_000, since: { files.pendingSince }, run: { files.settle() }))
    loop.add(settlingGrants)

    try takeOver(host, launches.unsettled)
    try succession.settleReplacements()
    try inPlace.settleInterrupted()
    sidecars.clearStaging()
    remover.removeRetired()
    // Launches that ended while no broker was there.
    revoker.endDue()
    ender.prepare(now: clock.monotonic)
    locations.service.tellFolders()
    if trail.log.lacksCarried { try keeper.beginSnapshot() }
  }
}
