internal import ContentTypes
public import Foundation
internal import Kernel
internal import Query
internal import Synchronization
internal import Wire

/// A live query over the documents that the app may know.
///
/// As Foundation's on Apple's systems. It needs no run loop: notifications are posted on ``operationQueue``, or without one on a queue of the
/// query's own. Results change as soon as the query is told of a change; notifications collect changes for
/// ``notificationBatchingInterval``. A change by a coordinated access is in the results before that access returns, and is told at once
/// (`MDQ-7`).
///
///     let query = NSMetadataQuery()
///     query.predicate = NSPredicate(format: "%K ENDSWITH '.txt'", NSMetadataItemFSNameKey)
///     query.searchScopes = [NSMetadataQueryUbiquitousDocumentsScope]
///     query.start()
open class NSMetadataQuery: NSObject, @unchecked Sendable {
  // MARK: Before the start

  /// The condition on the results, made by a format. A query needs one (`MDQ-8`). Another one for a running query starts it anew.
  open var predicate: NSPredicate? { didSet { restart() } }
  /// Where it looks: constants such as ``NSMetadataQueryUbiquitousDocumentsScope``, and URLs or paths of folders. Empty: everywhere.
  open var searchScopes: [Any] = [] { didSet { restart() } }
  /// The order of the results; ones made by `NSSortDescriptor(key:ascending:)`.
  open var sortDescriptors: [NSSortDescriptor] = [] { didSet { restart() } }
  /// Attributes of which ``valueLists`` has all values.
  open var valueListAttributes: [String] = []
  /// Attributes by which ``groupedResults`` has the results.
  open var groupingAttributes: [String]?
  /// Seconds for which changes are collected before they are told (`MDQ-9`).
  open var notificationBatchingInterval: TimeInterval = 1.0
  /// Replaces results and values, for this query's own users.
  open weak var delegate: (any NSMetadataQueryDelegate)?
  /// Where notifications are posted; `nil`: on a queue of the query's own.
  open var operationQueue: OperationQueue?
  /// Why ``start()`` answered `false`, or why the query has ended by itself. Ambit's addition.
  public var lastError: (any Error)? { state.withLock { $0.error } }

  // MARK: State

  enum Phase: Sendable { case idle, gathering, live, stopped }

  struct State: Sendable {
    var phase = Phase.idle
    var results = QueryResults([])
    var stream: QueryStream?
    /// Which start it is. The stream of an earlier one has nothing to say any more.
    var run = 0
    /// Of all streams, which one's updates are taken; 0: none's.
    var current = 0
    var lastStream = 0
    /// `DidFinishGathering` has not been queued: changes until then are progress.
    var tellsGathering = false
    var disabled = 0
    /// Updates that came while updates were disabled.
    var held: [QueryInterface.Update] = []
    var isNotificationDue = false
    var error: (any Error)?
    var listeners: [Int: AsyncStream<Update>.Continuation] = [:]
    var lastListener = 0
  }

  let state = Mutex(State())
  /// Notifications are queued in the order in which their changes were taken.
  private let order = Mutex(())
  /// In their order, whatever queue they are posted on.
  private let notifications: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }()

  deinit { state.withLock { $0.stream }?.stop() }

  /// It was started, and not stopped since.
  open var isStarted: Bool { state.withLock { $0.phase == .gathering || $0.phase == .live } }
  /// It collects the results that were there already.
  open var isGathering: Bool { state.withLock { $0.phase == .gathering } }
  /// It was stopped.
  open var isStopped: Bool { state.withLock { $0.phase == .stopped } }

  // MARK: Start and stop

  /// Starts the query.
  ///
  /// - Returns: `false` without a predicate, for a query that runs, and where the broker does not carry it out: ``lastError`` says why.
  @discardableResult
  open func start() -> Bool {
    guard !isStarted else { return false }
    do {
      guard let predicate = try predicate?.metadataPredicate() else {
        throw PredicateFormatError(.syntax, "the query has no predicate")
      }
      let call = try Self.call(predicate, searchScopes)
      let run = state.withLock { state in
        state.run += 1
        state.current = 0
        state.tellsGathering = true
        state.results = QueryResults(sortDescriptors.compactMap(\.resultOrder))
        state.held = []
        state.error = nil
        state.phase = .gathering
        return state.run
      }
      post(.NSMetadataQueryDidStartGathering)
      try open(call, of: run)
      return true
    } catch {
      state.withLock { state in
        if state.phase == .gathering { state.phase = .idle }
        state.error = (error as? WireError).map(\.query) ?? error
      }
      return false
    }
  }

  /// Ends it. The results stay as they are.
  open func stop() {
    let (stream, listeners) = state.withLock { state in
      if state.phase == .gathering || state.phase == .live { state.phase = .stopped }
      state.forgetStream()
      defer { (state.stream, state.listeners) = (nil, [:]) }
      return (state.stream, state.listeners)
    }
    stream?.stop()
    for listener in listeners.values { listener.finish() }
  }

  private func restart() {
    guard isStarted else { return }
    let stream = state.withLock { state in
      state.phase = .idle
      state.forgetStream()
      defer { state.stream = nil }
      return state.stream
    }
    stream?.stop()
    start()
  }

  static func call(_ predicate: MetadataPredicate, _ scopes: [Any]) throws -> QueryInterface.RunCall {
    var (all, places): (Set<QueryInterface.Scope>, [String]) = ([], [])
    for scope in scopes {
      switch scope {
      case let name as String where name.hasPrefix("NSMetadataQuery"):
        switch name {
        case NSMetadataQueryUbiquitousDocumentsScope, NSMetadataQueryUserHomeScope: all.insert(.local)
        case NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope: all.insert(.external)
        case NSMetadataQueryUbiquitousDataScope: break
        default: all.formUnion([.local, .external])
        }
      case let path as String: places.append(path)
      case let url as URL: places.append(NSFileCoordinator.path(of: url))
      default: throw PredicateFormatError(.unsupported, "a scope is a constant, a URL or a path")
      }
    }
    if scopes.isEmpty { all = [.local, .external] }
    return .init(
      predicate: predicate.description, scopes: all.sorted { $0.rawValue < $1.rawValue },
      places: places.isEmpty ? nil : places,
      types: AppTypes.declared.isEmpty
        ? nil
        : AppTypes.declared.map {
          .init(
            identifier: $0.identifier, conformsTo: $0.conformsTo, extensions: $0.extensions, exported: $0.isExported)
        })
  }

  private func open(_ call: QueryInterface.RunCall, of run: Int) throws {
    let number = state.withLock { state in
      state.lastStream += 1
      return state.lastStream
    }
    let stream = try QueryStream(call) { [weak self] in self?.take($0, from: number) }
    let isWanted = state.withLock { state in
      guard state.run == run, state.phase == .gathering || state.phase == .live else { return false }
      state.stream = stream
      state.current = number
      // By the numbers of a stream that has ended; the new one tells everything.
      state.held = []
      state.results.follow(stream.number)
      return true
    }
    guard isWanted else { return stream.stop() }
    try stream.begin { [weak self] in self?.reopen(call, of: run, after: 0.05) }
  }

  private func isRunning(_ run: Int) -> Bool { isStarted && state.withLock { $0.run == run } }

  /// The broker has gone, and another one may be there, which does not know this query.
  private func reopen(_ call: QueryInterface.RunCall, of run: Int, after pause: Double) {
    guard isRunning(run) else { return }
    Thread.sleep(forTimeInterval: pause)
    guard isRunning(run) else { return }
    do { try open(call, of: run) } catch {
      guard isRunning(run) else { return }
      if case WireError.remote = error { return give(up: error) }
      guard pause < 5 else { return give(up: error) }
      reopen(call, of: run, after: pause * 2)
    }
  }

  private func give(up error: any Error) {
    stop()
    state.withLock { $0.error = (error as? WireError).map(\.query) ?? error }
  }

  // MARK: Updates

  /// Keeps the results as they are, until as many calls of ``enableUpdates()`` (`MDQ-10`).
  open func disableUpdates() { state.withLock { $0.disabled += 1 } }

  /// Takes over all that has changed since ``disableUpdates()``, and tells it.
  open func enableUpdates() {
    // In one step, so that no later update comes before these.
    let applied = state.withLock { state -> [Applied] in
      guard state.disabled > 0 else { return [] }
      state.disabled -= 1
      guard state.disabled == 0 else { return [] }
      defer { state.held = [] }
      return state.held.map { state.apply($0, isHeld: true) }
    }
    guard !applied.isEmpty else { return }
    for each in applied { tell(each) }
    notify()
  }

  private func take(_ update: QueryInterface.Update, from stream: Int) {
    let applied = state.withLock { state -> Applied? in
      guard state.current == stream else { return nil }
      guard state.disabled == 0 else {
        state.held.append(update)
        return nil
      }
      return state.apply(update, isHeld: false)
    }
    if let applied { tell(applied) }
  }

  /// The consequences of an update that is in the results.
  struct Applied {
    var told: Update?
    var listeners: [AsyncStream<Update>.Continuation]
    var isFinished: Bool
    /// A notification at once, or after the interval.
    var notifiesNow: Bool
    var notifiesLater: Bool
  }

  private func tell(_ applied: Applied) {
    if let told = applied.told { for listener in applied.listeners { listener.yield(told) } }
    if applied.isFinished {
      notify(finishing: true)
    } else if applied.notifiesNow {
      notify()
    } else if applied.notifiesLater {
      let interval = max(0, notificationBatchingInterval)
      DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [weak self] in self?.notify() }
    }
  }

  /// Tells the changes that have not been told, and at last that the first results are all there.
  private func notify(finishing: Bool = false) {
    // Another thread does not come between the look and the notification.
    order.withLock { _ in
      let (changes, isGathering) = state.withLock { state in
        state.isNotificationDue = false
        defer { if finishing { state.tellsGathering = false } }
        return (state.results.takeUntold(), state.tellsGathering)
      }
      if !changes.isEmpty {
        post(
          isGathering ? .NSMetadataQueryGatheringProgress : .NSMetadataQueryDidUpdate,
          [
            NSMetadataQueryUpdateAddedItemsKey: changes.added, NSMetadataQueryUpdateChangedItemsKey: changes.changed,
            NSMetadataQueryUpdateRemovedItemsKey: changes.removed,
          ])
      }
      if finishing { post(.NSMetadataQueryDidFinishGathering) }
    }
  }

  private func post(_ name: Notification.Name, _ items: [String: [NSMetadataItem]] = [:]) {
    let queue = operationQueue
    notifications.addOperation { [weak self] in
      guard let self else { return }
      let operation = BlockOperation {
        NotificationCenter.default.post(name: name, object: self, userInfo: items.isEmpty ? nil : items)
      }
      if let queue { queue.addOperations([operation], waitUntilFinished: true) } else { operation.start() }
    }
  }
}

extension NSMetadataQuery.State {
  /// Updates of the present stream are not taken any more.
  mutating func forgetStream() {
    run += 1
    current = 0
    held = []
  }

  /// - Parameter isHeld: it is told together with others.
  mutating func apply(_ update: QueryInterface.Update, isHeld: Bool) -> NSMetadataQuery.Applied {
    let changes = results.apply(update)
    let wasGathering = phase == .gathering
    let isFinished = update.phase == .gathered && wasGathering
    if isFinished { phase = .live }
    let isNow = !isHeld && update.coordinated == true
    let isDue = !changes.isEmpty && !isHeld && !isNow && !isNotificationDue
    if isDue { isNotificationDue = true }
    let kind: NSMetadataQuery.Update.Kind = isFinished ? .gathered : wasGathering ? .gathering : .changed
    return NSMetadataQuery.Applied(
      told: changes.isEmpty && !isFinished
        ? nil : .init(kind: kind, added: changes.added, changed: changes.changed, removed: changes.removed),
      listeners: Array(listeners.values), isFinished: isFinished, notifiesNow: isNow, notifiesLater: isDue)
  }
}

/// Replaces results and values of a query for its users.
public protocol NSMetadataQueryDelegate: AnyObject {
  /// The object that stands for a result.
  func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any
  /// The value of an attribute in lists and groups.
  func metadataQuery(_ query: NSMetadataQuery, replacementValueForAttribute attribute: String, value: Any) -> Any
}

extension NSMetadataQueryDelegate {
  /// The result itself.
  public func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any {
    result
  }
  /// The value itself.
  public func metadataQuery(
    _ query: NSMetadataQuery, replacementValueForAttribute attribute: String, value: Any
  ) -> Any { value }
}
