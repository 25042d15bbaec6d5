internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Kernel
internal import Paths
internal import ScopedAccess

/// File providers and their folders, wired: the parts that know each other.
@BrokerLoop
struct LocationServices {
  let extensions: ProviderExtensions
  let sent: ProvidedChanges
  let service: LocationService
  let placeholders: ProviderGuard
  private let files: ProviderFiles
  private let contents: ProvidedContents
  private let items: ProvidedItems
  let forms: ProviderForms
  private let sessions: SessionTable

  init(_ host: BrokerHost, _ trail: AuditTrail, _ sessions: SessionTable, _ jobs: Jobs, _ clock: any LoopClock) {
    extensions = ProviderExtensions(host, clock)
    files = ProviderFiles(host, trail)
    sent = ProvidedChanges(files, extensions, jobs)
    contents = ProvidedContents(files, extensions, sent, jobs)
    items = ProvidedItems(files, contents, sent, extensions)
    forms = ProviderForms(files, extensions, sessions)
    service = LocationService(files, contents, sent, extensions, items, forms, jobs, trail)
    placeholders = ProviderGuard(host, contents)
    self.sessions = sessions
  }

  /// Bookmarks hold items, providers hear of the end of accesses, forms are asked where picks are, and queries show the contents
  /// that are here.
  func connect(
    _ maker: BookmarkMaker, _ resolver: BookmarkResolver, _ scopes: ActiveScopes, _ picker: PickService,
    _ catalog: CatalogService
  ) {
    let (items, contents, files) = (items, contents, files)
    catalog.isHere = { path in
      guard path.path(within: files.root) != nil, let known = try? files.known(path) else { return true }
      return known.1.isHere
    }
    contents.onContent = { catalog.contentChanged($0) }
    maker.provided = { items.item(at: $0) }
    resolver.provided = { try await items.path(of: $1, by: $0) }
    scopes.onHidden = { contents.accessEnded($0) }
    sent.onSent = { contents.accessEnded($0) }
    forms.ask = { picker.ask($0) }
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
    sent.transfers.onChange = { coordination.transferred($0, $1) }
    let (forms, sessions) = (forms, sessions)
    contents.isUsed = { path in
      coordination.isUsed(path)
        || sessions.instances.values.contains { $0.scopes.shown.values.contains { $0.path == path } }
    }
    coordination.onEnded = { contents.accessEnded($0) }
    coordination.mend = { try await forms.mend($0, for: $1) }
    copies.bring = { try await contents.bringAll($0) }
    copies.onChanged = { sent.changed(around: $0) }
    openings.bring = { try await contents.bringAll($0) }
  }
}
