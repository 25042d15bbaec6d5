internal import Audit
internal import BrokerCore
internal import Catalog
internal import ContentTypes
internal import Folders
internal import Kernel
internal import Paths
internal import Query
internal import ScopedAccess
internal import Synchronization
internal import Wire

/// Live queries (`io.ambit.Query`) and the catalogs that they read. A query of an app reads the catalog of that app alone: its container's
/// `Documents`, and the documents of its grants.
@BrokerLoop
final class CatalogService: LoopMember {
  let host: BrokerHost
  let grants: GrantStore
  let documents: GrantLocator
  let locator: DocumentLocator
  let sessions: SessionTable
  let key: SealingKey
  let jobs: Jobs
  private let trail: AuditTrail
  private let issuer: GrantIssuer
  let watches = CatalogWatches()
  /// The findings of threads, for the loop.
  let inbox = CatalogInbox()
  private var store: CatalogStore?
  var apps: [String: AppCatalog] = [:]
  private var running = RunningQueries()
  /// Whether a document's content is on this machine.
  var isHere: (_ path: String) -> Bool = { _ in true }
  private var times = Times()
  /// Entries of new folders that may still be read on the loop for the access that ends.
  var inlineLeft = 0

  var queries: [RunningQuery] { running.queries }

  /// In nanoseconds of CLOCK_MONOTONIC.
  private struct Times {
    /// When the folders in which something has happened are looked at.
    var settled: Int64?
    /// When folders that are not watched are read again.
    var polled: Int64?
    /// Barriers that let others have a turn.
    var turns: [Wait<Void>] = []
  }

  /// Nanoseconds from an event to a look at the files: programs that replace a file do it in several steps.
  private static let settling: Int64 = 4_000_000
  /// Nanoseconds after which folders that are not watched are read again.
  private static let polling: Int64 = 5_000_000_000
  /// The same where nothing is watched at all, and the kernel is asked again for a watcher.
  private static let pollingWithoutWatcher: Int64 = 500_000_000
  /// Queries of one launch, and how large their predicates may be together.
  private static let mostQueries = 16
  /// That an app declares; and extensions and parents of each.
  private static let mostTypes = 256
  private static let mostParts = 1024
  private static let mostPatterns = 32
  private static let mostInstructions = 1024
  /// Grants that are looked at in one turn of the loop.
  private static let mostLooks = 32
  private static let mostInline = 2048
  /// Looks at the kernel's queue that are more than it can hold (`fs.inotify.max_queued_events`).
  private static let mostParcels = 128

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ documents: GrantLocator,
    _ locator: DocumentLocator, _ issuer: GrantIssuer, _ key: SealingKey, _ jobs: Jobs
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.documents, self.locator, self.issuer, self.key, self.jobs) = (documents, locator, issuer, key, jobs)
    trail.onGrantEvent = { [weak self] in self?.noted($0) }
  }

  // MARK: Calls

  /// - Parameter instance: `nil`: the user's side.
  /// - Returns: `nil`: further answers are updates.
  func serve(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) async throws -> Answer? {
    switch call.member {
    case "Run":
      try run(try QueryInterface.RunCall(json: call.parameters), on: connection, for: instance)
      return nil
    case "Barrier":
      try await barrier(try QueryInterface.BarrierCall(json: call.parameters).query, for: instance)
      return Answer([:])
    default:
      let request = try QueryInterface.ResolveCall(json: call.parameters)
      guard let instance else { throw QueryInterface.Failure.notFound }
      return Answer(try await resolve(request, for: instance))
    }
  }

  private func run(
    _ request: QueryInterface.RunCall, on connection: WireConnection, for instance: Instance?
  ) throws {
    guard (instance == nil) == (request.app != nil) else { throw ErrorReply.invalidParameter("app") }
    let app = instance?.app.bundleIdentifier ?? request.app ?? ""
    if instance == nil, try grants.number(of: app) == nil { throw QueryInterface.Failure.notFound }
    let predicate = try Self.predicate(request.predicate)
    let scope = try Self.scope(request)
    let own = queries.filter { $0.instance === instance }
    guard own.count < Self.mostQueries else {
      throw QueryInterface.Failure.tooMany("\(Self.mostQueries) queries run already", limit: Self.mostQueries)
    }
    guard own.reduce(predicate.parts, { $0 + $1.predicate.parts }) <= Self.mostParts,
      own.reduce(predicate.patterns, { $0 + $1.predicate.patterns }) <= Self.mostPatterns
    else {
      throw QueryInterface.Failure.tooMany("the running queries are too large together", limit: Self.mostParts)
    }
    let types = try Self.types(request.types ?? [], of: app)
    let catalog = try catalog(of: app, instance)
    let number = running.number(for: instance?.id ?? "")
    let query = RunningQuery(number, connection, instance, catalog, predicate, scope, types)
    guard own.reduce(query.matcher.instructions, { $0 + $1.matcher.instructions }) <= Self.mostInstructions else {
      throw QueryInterface.Failure.tooMany(
        "the patterns of the running queries are too long together", limit: Self.mostInstructions)
    }
    running.queries.append(query)
    query.begin()
    gather(query)
  }

  private static func predicate(_ text: String) throws -> MetadataPredicate {
    do throws(PredicateFault) { return try PredicateParser.parse(text) } catch {
      let problem: QueryInterface.Problem
      switch error.problem {
      case .tooLarge(let words): throw QueryInterface.Failure.tooLarge(words)
      case .unsupported: problem = .unsupported
      case .pattern: problem = .pattern
      case .syntax, .argument: problem = .syntax
      }
      throw QueryInterface.Failure.badPredicate("\(error)", position: error.position, problem: problem)
    }
  }

  /// The system's types and an app's own; `nil`: it declares none.
  private static func types(_ declared: [QueryInterface.DeclaredType], of app: String) throws -> TypeDecider? {
    guard declared.count <= mostTypes, declared.allSatisfy({ $0.extensions.count + $0.conformsTo.count <= mostTypes })
    else { throw QueryInterface.Failure.tooLarge("a query takes at most \(mostTypes) types") }
    let types = declared.compactMap { type in
      TypeDeclaration.ofApp(
        identifier: type.identifier, conformsTo: type.conformsTo, extensions: type.extensions, mimeTypes: [],
        description: nil, origin: type.exported ? .exported(by: app) : .imported(by: app))
    }
    return types.isEmpty ? nil : TypeDecider.system.adding(types)
  }

  private static func scope(_ request: QueryInterface.RunCall) throws -> QueryScope {
    let places = request.places ?? []
    guard places.count <= QueryScope.mostPlaces else {
      throw QueryInterface.Failure.tooLarge("a query looks through at most \(QueryScope.mostPlaces) places")
    }
    for place in places {
      guard place.isAbsolutePath, place.utf8.count <= 4096, !place.utf8.contains(0),
        !place.pathNames.contains(where: { $0 == "." || $0 == ".." })
      else { throw ErrorReply.invalidParameter("places") }
    }
    return QueryScope(
      local: request.scopes.contains(.local), external: request.scopes.contains(.external),
      places: places.map(\.withoutTrailingSlashes))
  }

  /// Reads the results that are there already, in a thread: whether they are, is looked at again when they are told.
  private func gather(_ query: RunningQuery) {
    let (table, matcher, scope, inbox) = (query.catalog.table, query.matcher, query.scope, inbox)
    let narrowing = Narrowing(query.predicate, scope, knowsTypes: !query.declaresTypes)
    let target = ObjectIdentifier(query)
    jobs.start(owner: "queries of \(query.catalog.app)", subject: "\(query.instance?.id ?? "") \(query.number)") {
      heartbeat in
      do throws(StateError) {
        try table.candidates(for: narrowing) { items in
          var isWanted = true
          let ids = items.filter { item in
            isWanted = isWanted && heartbeat.beat()
            return isWanted && scope.contains(item.record) && matcher.matches(item.record)
          }.map(\.id)
          guard isWanted else { return false }
          if !ids.isEmpty { inbox.add(.results(target, ids)) }
          return true
        }
        return String?.none
      } catch { return "\(error)" }
    } then: { (failure: String??) in
      self.takeReports()
      query.isReading = false
      // One that has ended has nothing to say.
      guard self.queries.contains(where: { $0 === query }) else { return }
      guard let failure else { return self.giveUp([query], "the catalog could not be read in time") }
      if let failure {
        complain("\(failure)")
        self.startAnew()
      }
    }
  }

  private func find(_ number: Int, for instance: Instance?) throws -> RunningQuery {
    guard let query = queries.first(where: { $0.number == number && $0.instance === instance }) else {
      throw QueryInterface.Failure.notFound
    }
    return query
  }

  /// The kernel notes an event before the call that causes it returns. So the events of all that happened before are there to be read,
  /// and no file has to be written whose event would come after them.
  private func barrier(_ number: Int, for instance: Instance?) async throws {
    let query = try find(number, for: instance)
    let catalog = query.catalog
    openWatches()
    // As many as the kernel queues. Others have their turns in between.
    for _ in 0..<Self.mostParcels {
      if !drain() { break }
      try await nextTurn()
    }
    catalog.lookAt(catalog.externals.keys.sorted())
    readUnwatched(catalog)
    lookAtGrants(of: catalog, most: .max)
    try await catalog.whenSettled().get()
    try await query.whenTold().get()
  }

  /// Hands an external item over, as a reference to it would be (`MDQ-3`).
  private func resolve(
    _ request: QueryInterface.ResolveCall, for instance: Instance
  ) async throws -> QueryInterface.ResolveReply {
    let query = try find(request.query, for: instance)
    guard let id = query.item(request.item), let item = try query.catalog.table.items([id])[id],
      let granted = item.record.grant
    else { throw QueryInterface.Failure.notFound }
    func current() throws -> Grant {
      guard let grant = try grants.grant(granted), grant.revoked == nil,
        grant.bundleIdentifier == instance.app.bundleIdentifier,
        grant.term.launch == nil || grant.term.launch == instance.id
      else { throw QueryInterface.Failure.notFound }
      return grant
    }
    guard case .success(let location) = try await documents.search(for: instance, current) else {
      throw QueryInterface.Failure.notFound
    }
    let grant = try current()
    try trail.decide([
      AuditEvent(
        .referenceResolved, .allowed, instance, grant: grant, document: location.document, how: "query",
        detail: [
          AuditEvent.Fact.matchedBy: location.isReplacement ? "path" : "identity", "by": location.by.rawValue,
        ])
    ])
    return .init(document: try issuer.expose(grant, as: location.document, to: instance, how: "query"))
  }

  // MARK: Ends

  /// A connection has closed.
  func left(_ connection: WireConnection) { remove { $0.connection === connection } }

  /// A launch is over.
  func ended(_ instance: Instance) {
    remove { $0.instance === instance }
    running.forget(instance.id)
    let app = instance.app.bundleIdentifier
    if sessions.running(app).isEmpty, !queries.contains(where: { $0.catalog.app == app }) { forget(app) }
  }

  private func remove(where isOver: (RunningQuery) -> Bool) {
    let over = queries.filter(isOver)
    guard !over.isEmpty else { return }
    running.queries.removeAll(where: isOver)
    for query in over {
      query.end()
      let app = query.catalog.app
      // While the app runs, its next query finds the catalog as it is.
      if sessions.running(app).isEmpty, !queries.contains(where: { $0.catalog.app == app }) { forget(app) }
    }
  }

  private func forget(_ app: String) {
    apps.removeValue(forKey: app)?.endWaits()
    if apps.isEmpty { watches.close() } else { watches.leaveAll(of: app) }
  }

  // MARK: Catalogs

  private func catalog(of app: String, _ instance: Instance?) throws -> AppCatalog {
    openWatches()
    if let known = apps[app] {
      guard let instance, !known.isOf(instance), !queries.contains(where: { $0.catalog === known }) else {
        return known
      }
      // It was made for the user's side, before this launch.
      forget(app)
    }
    // With the last catalog it may have been closed.
    watches.open()
    do throws(StateError) {
      let table = try openStore().table(of: app)
      // Where they are, and whether they still are, is looked at anew.
      _ = try table.remove(try table.external().map(\.record.path))
      let known = try grants.knownApps().first { $0.bundleIdentifier == app }
      let files = host.openContainer(app).map { container in
        LocalFiles(
          app: app, name: instance?.app.name ?? known?.name ?? app, container: container,
          packages: instance?.app.packages ?? PackageTypes(), key: key)
      }
      let catalog = AppCatalog(app, table, files)
      apps[app] = catalog
      for grant in try grants.grants(of: app).prefix(Self.mostGrants) { catalog.externals[grant.id] = .init() }
      catalog.lookAt(catalog.externals.keys.sorted())
      if files != nil { read("", in: catalog) }
      return catalog
    } catch {
      complain("\(error)")
      throw QueryInterface.Failure.unavailable("the catalog cannot be read now")
    }
  }

  private static let mostGrants = 16_384

  private func openStore() throws(StateError) -> CatalogStore {
    if let store { return store }
    let opened = try CatalogStore(path: host.folders.catalog, key: try storeName())
    store = opened
    return opened
  }

  /// Which store the grants are in: the catalog of another one is of no use.
  private func storeName() throws(StateError) -> String {
    String("\(try grants.stamp())".prefix { $0 != "-" })
  }

  /// The database cannot be used: it is made anew, and the running queries begin again.
  func startAnew() {
    store?.discard()
    store = nil
    let former = queries
    running.queries = []
    for app in Array(apps.keys) { forget(app) }
    for query in former {
      query.end()
      query.connection.send(Reply(QueryInterface.Failure.unavailable("the catalog has to be made anew")))
    }
  }

  /// These queries end; nothing is wrong with the catalogs of others.
  private func giveUp(_ over: [RunningQuery], _ reason: String) {
    complain(reason)
    running.queries.removeAll { query in over.contains { $0 === query } }
    for query in over {
      query.end()
      query.connection.send(Reply(QueryInterface.Failure.unavailable(reason)))
    }
  }

  /// The same for all queries of an app, and its catalog.
  func giveUp(_ catalog: AppCatalog, _ reason: String) {
    giveUp(queries.filter { $0.catalog === catalog }, reason)
    if apps[catalog.app] === catalog { forget(catalog.app) }
  }

  /// The broker ends in order, and the next one goes on with the catalog.
  func finish() {
    guard let store else { return }
    store.close(key: (try? storeName()) ?? "")
    self.store = nil
  }

  /// Items have changed: the app's queries are told of them.
  func post(_ ids: [Int64], in catalog: AppCatalog) {
    guard !ids.isEmpty else { return }
    for query in queries where query.catalog === catalog { query.note(ids) }
  }

  // MARK: Grants

  private func noted(_ event: AuditEvent) {
    guard let app = event.app, let catalog = apps[app] else { return }
    if event.kind == .appRemoved {
      for query in queries where query.catalog === catalog { query.end() }
      running.queries.removeAll { $0.catalog === catalog }
      forget(app)
      try? store?.remove(app)
      return
    }
    guard let grant = event.grant else { return }
    if catalog.externals[grant] == nil, catalog.externals.count < Self.mostGrants {
      catalog.externals[grant] = .init()
    }
    catalog.lookAt([grant])
  }

  // MARK: What coordinated accesses have written

  /// An access is about to end: every query that it matters to is told before (`MDQ-7`).
  func wrote(_ places: [PathKey]) {
    guard !queries.isEmpty else { return }
    inlineLeft = Self.mostInline
    for _ in 0..<4 { if !drain(inline: true) { break } }
    var concerned: Set<String> = []
    for catalog in apps.values {
      if lookAt(written: places, in: catalog) { concerned.insert(catalog.app) }
      lookAtGrants(of: catalog, most: Self.mostLooks)
      if catalog.hasFound(in: places) { concerned.insert(catalog.app) }
    }
    // The queries of one launch have one budget. The loop's next turns tell them the rest.
    var budgets: [String: QueryBudget] = [:]
    // Others are not told of it by their own changes coming at once: they may not know of this access.
    for query in queries where concerned.contains(query.catalog.app) {
      if query.hasDue {
        flush(query, coordinated: true, within: &budgets[query.instance?.id ?? "", default: .ofTurn])
      } else {
        query.tellEnd()
      }
    }
  }

  // MARK: LoopMember

  private func flush(_ query: RunningQuery, coordinated: Bool, within budget: inout QueryBudget) {
    do { try query.flush(coordinated: coordinated, within: &budget) } catch {
      complain("\(error)")
      startAnew()
    }
  }

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    // While something settles, more of it is no news.
    if let watcher = watches.watcher, times.settled == nil, !apps.isEmpty {
      entries.append(PollEntry(watcher.descriptor, .read))
    }
  }

  func nextDue(now: Int64) -> Int64? {
    if !times.turns.isEmpty || queries.contains(where: \.canSend)
      || apps.values.contains(where: { !$0.dueGrants.isEmpty })
    {
      return now
    }
    return [times.settled, times.polled].compactMap(\.self).min()
  }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    guard entries.contains(where: \.hasHappened), times.settled == nil else { return }
    times.settled = now + Self.settling
  }

  func finishTurn(now: Int64) {
    for wait in times.turns { wait.finish(()) }
    times.turns = []
    guard !apps.isEmpty else { return }
    if let due = times.settled, due <= now { drain() }
    poll(now: now)
    takeReports()
    for catalog in apps.values { lookAtGrants(of: catalog, most: Self.mostLooks) }
    var budget = QueryBudget.ofTurn
    for query in running.inTurn() where !budget.isSpent {
      do { try query.flush(within: &budget) } catch {
        complain("\(error)")
        return startAnew()
      }
    }
    for catalog in apps.values { catalog.settleWaits() }
    if queries.contains(where: \.connection.isClosed) { remove { $0.connection.isClosed } }
  }

  /// Looks at what has happened until now, as far as one look at the kernel's queue tells.
  ///
  /// - Parameter inline: new folders are read here, as far as that is little.
  /// - Returns: `false`: that was all.
  @discardableResult
  func drain(inline: Bool = false) -> Bool {
    times.settled = nil
    takeReports()
    guard let watcher = watches.watcher, !apps.isEmpty else { return false }
    let events = watcher.events()
    if events.isEmpty { return false }
    carryOut(events, inline: inline)
    return true
  }

  /// Where the kernel has no room for watches, folders are read again now and then.
  private func poll(now: Int64) {
    let blind = apps.values.filter { catalog in
      (!catalog.listing.unwatched.isEmpty || watches.watcher == nil) && queries.contains { $0.catalog === catalog }
    }
    guard !blind.isEmpty else {
      times.polled = nil
      return
    }
    let pause = watches.watcher == nil ? Self.pollingWithoutWatcher : Self.polling
    guard let due = times.polled else {
      times.polled = now + pause
      return
    }
    guard due <= now else { return }
    times.polled = now + pause
    openWatches()
    for catalog in blind {
      readUnwatched(catalog)
      catalog.lookAt(catalog.externals.filter { $0.value.watches.isEmpty }.keys.sorted())
    }
  }

  /// Opens the watcher, if the kernel has room for it by now, and looks at all that was not watched.
  private func openWatches() {
    guard watches.watcher == nil, !apps.isEmpty else { return }
    watches.open()
    guard watches.watcher != nil else { return }
    for catalog in apps.values {
      readUnwatched(catalog)
      catalog.lookAt(catalog.externals.keys.sorted())
    }
  }

  private func readUnwatched(_ catalog: AppCatalog) {
    let folders = catalog.listing.unwatched
    catalog.listing.unwatched = []
    // With a folder all that is in it is read.
    func isInAnother(_ folder: String) -> Bool {
      var outer = folder
      while !outer.isEmpty {
        outer = LocalFiles.split(outer).folder
        if folders.contains(PathKey(outer)) { return true }
      }
      return false
    }
    for folder in folders where !isInAnother(folder.text) { read(folder.text, in: catalog) }
  }

  /// Waits until all others have had a turn.
  private func nextTurn() async throws(CancellationError) {
    let wait = Wait<Void>()
    times.turns.append(wait)
    try await wait.get()
  }

  func takeReports() {
    for report in inbox.take() { take(report) }
  }
}

/// The queries that run, and their numbers: each client counts its own.
struct RunningQueries {
  var queries: [RunningQuery] = []
  private var last: [String: Int] = [:]
  private var turn = 0

  /// All of them. Each time another one comes first, so that a slow one does not keep the others waiting for ever.
  mutating func inTurn() -> [RunningQuery] {
    guard queries.count > 1 else { return queries }
    turn = (turn + 1) % queries.count
    return Array(queries[turn...] + queries[..<turn])
  }

  mutating func number(for client: String) -> Int {
    last[client, default: 0] += 1
    return last[client] ?? 1
  }

  mutating func forget(_ client: String) { last[client] = nil }
}

/// Reports of threads.
final class CatalogInbox: Sendable {
  enum Report: Sendable {
    /// Items that may be results of a query.
    case results(ObjectIdentifier, [Int64])
    case scan(ObjectIdentifier, LocalScan.Report)
  }

  private let reports = Mutex<[Report]>([])

  func add(_ report: Report) {
    reports.withLock { $0.append(report) }
    BrokerLoop.wake()
  }

  func take() -> [Report] {
    reports.withLock { reports in
      defer { reports = [] }
      return reports
    }
  }
}
