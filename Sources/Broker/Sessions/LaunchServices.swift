internal import BrokerCore
internal import Folders
internal import ScopedAccess

/// Launches from their preparation to their end, wired.
@BrokerLoop
struct LaunchServices {
  let groups: OrphanedGroups
  let shutdown: Shutdown
  let entitlements: EntitlementService
  let preparer: LaunchPreparer
  let unsettled: UnsettledLaunches
  private let attacher: LaunchAttacher
  private let suspensions: SuspensionService
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let jobs: Jobs
  private let openings: OpeningService

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ rules: LaunchRules,
    _ mounts: MountState, _ jobs: Jobs, _ clock: any LoopClock, places: OfferedPlaces, openings: OpeningService,
    references: ReferenceFiles
  ) {
    groups = OrphanedGroups(host, sessions)
    shutdown = Shutdown(clock)
    entitlements = EntitlementService(rules, grants)
    let identification = AppIdentification(rules, grants, trail, mounts, jobs, clock)
    preparer = LaunchPreparer(
      host, rules, grants, sessions, identification, entitlements, places, openings, shutdown)
    suspensions = SuspensionService(host, grants, trail, sessions, jobs)
    attacher = LaunchAttacher(host, grants, trail, sessions, preparer, references, suspensions, openings)
    unsettled = UnsettledLaunches(LauncherRecords(host.folders))
    (self.trail, self.sessions, self.jobs, self.openings) = (trail, sessions, jobs, openings)
  }

  /// The launchers' side.
  func service(
    _ ender: SessionEnder, _ picker: PickService, _ saves: SaveService, _ scopes: ActiveScopes, _ forms: ProviderForms
  ) -> LaunchService {
    let service = LaunchService(
      sessions, preparer, attacher, ender, picker, saves, scopes, DenialService(trail), groups, shutdown, suspensions,
      MemoryPressure(trail, sessions, suspensions, jobs), openings)
    service.onFilledIn = { forms.filledIn($0, $1) }
    return service
  }
}
