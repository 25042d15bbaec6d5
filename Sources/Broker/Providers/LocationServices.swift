internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Kernel
internal import Paths

/// File providers and their folders, wired: the parts that know each other.
@BrokerLoop
struct LocationServices {
  let extensions: ProviderExtensions
  let sent: ProvidedChanges
  let service: LocationService
  let placeholders: ProviderGuard
  private let files: ProviderFiles
  private let contents: ProvidedContents

  init(_ host: BrokerHost, _ trail: AuditTrail, _ jobs: Jobs, _ clock: any LoopClock) {
    extensions = ProviderExtensions(host, clock)
    files = ProviderFiles(host, trail)
    sent = ProvidedChanges(files, extensions, jobs)
    contents = ProvidedContents(files, extensions, sent, jobs)
    service = LocationService(files, contents, sent, extensions, jobs, trail)
    placeholders = ProviderGuard(host, contents)
  }

  /// Content comes before a service hands a document out, and changes go to the provider after a service wrote.
  func connect(
    _ leases: LeaseKeeper, _ places: OfferedPlaces, _ locator: DocumentLocator, _ handover: DocumentHandover,
    _ copies: PickedCopies, _ openings: OpeningService, _ coordination: CoordinationService
  ) {
    let (files, sent, contents, service, placeholders) = (files, sent, contents, service, placeholders)
    files.group = { placeholders.group }
    leases.beforeLease = { file in
      if file.currentPath?.path(within: files.root) != nil { placeholders.group?.passOver(file) }
    }
    service.onFolder = { placeholders.watch($0) }
    places.locations = { service.places }
    locator.isReadOnly = { contents.lacks(.writing, $0) }
    handover.provided = contents
    coordination.contents = contents
    contents.onTransfer = { coordination.transferred($0, $1) }
    sent.onTransfer = { coordination.transferred($0, $1) }
    copies.bring = { try await contents.bringAll($0) }
    copies.onChanged = { sent.changed(around: $0) }
    openings.bring = { try await contents.bringAll($0) }
  }
}
