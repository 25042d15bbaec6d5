internal import BrokerCore
internal import Catalog
internal import ContentTypes
internal import Query
internal import Wire

/// The work of queries in one turn of the loop. It is bounded, so that the broker gets to its other work.
struct QueryBudget {
  private(set) var items: Int
  /// Parts and instructions of a predicate, each for every byte of an item's path.
  private(set) var steps: Int

  /// A few milliseconds.
  static let ofTurn = QueryBudget(items: 1024, steps: 4 << 20)

  var isSpent: Bool { items <= 0 || steps <= 0 }

  mutating func spend(_ steps: Int) { (items, self.steps) = (items - 1, self.steps - steps) }
}

/// A query that runs: which items its client knows as results, and which it has to be told of.
///
/// The client is told of an item's state when there is room for that, so nothing is lost and nothing piles up: an item that changes often
/// is told as it is then.
@BrokerLoop
final class RunningQuery {
  /// The client's own number for it.
  let number: Int
  let connection: WireConnection
  /// `nil`: the user's side asks for the app.
  let instance: Instance?
  let catalog: AppCatalog
  let predicate: MetadataPredicate
  let scope: QueryScope
  let declaresTypes: Bool
  let matcher: PredicateMatcher

  /// The steps for an item under a predicate without parts.
  private static let least = 64

  /// The results that the client knows: their numbers, and the changes that they were last part of.
  private var told: [Int64: (number: Int, ordinal: Int64)] = [:]
  private var lastItem = 0
  private var due: [Int64] = []
  private var isDue: Set<Int64> = []
  /// Its first results are being read.
  var isReading = true
  /// The client has not been told yet that those were all.
  private(set) var isGathering = true
  private var waits: [Wait<Void>] = []
  /// The client was told something since it was last told that an access has ended.
  private var hasToldPlainly = false

  /// Items that go into one message.
  private static let batch = 256

  /// - Parameter types: what the app declares; `nil`: nothing.
  init(
    _ number: Int, _ connection: WireConnection, _ instance: Instance?, _ catalog: AppCatalog,
    _ predicate: MetadataPredicate, _ scope: QueryScope, _ types: TypeDecider?
  ) {
    (self.number, self.connection, self.instance, self.catalog) = (number, connection, instance, catalog)
    (self.predicate, self.scope) = (predicate, scope)
    declaresTypes = types != nil
    matcher = PredicateMatcher(predicate, by: types ?? .system)
  }

  var hasDue: Bool { !due.isEmpty }
  /// There is something to send, and room for it.
  var canSend: Bool { (hasDue || isAllRead && isGathering) && !connection.wantsWrite && !connection.isClosed }

  /// The items may be other than they were, or results that were none.
  func note(_ ids: some Sequence<Int64>) {
    for id in ids where isDue.insert(id).inserted { due.append(id) }
  }

  /// All that it knows may be another's now: the catalog was made anew.
  func forgetAll() {
    due = []
    isDue = []
    let gone = told.values.map(\.number).sorted()
    told = [:]
    if !gone.isEmpty { send(.init(phase: isGathering ? .gathering : .changed, removed: gone)) }
  }

  private func take() -> [Int64] {
    let ids = Array(due.prefix(Self.batch))
    due.removeFirst(ids.count)
    isDue.subtract(ids)
    return ids
  }

  private func giveBack(_ ids: ArraySlice<Int64>) {
    guard !ids.isEmpty else { return }
    due.insert(contentsOf: ids, at: 0)
    isDue.formUnion(ids)
  }

  /// What the client was told before belongs to an access that is about to end, as far as it has not been notified of it.
  func tellEnd() {
    guard hasToldPlainly, !isGathering, !connection.wantsWrite else { return }
    send(.init(phase: .changed, coordinated: true))
  }

  private func send(_ update: QueryInterface.Update) {
    hasToldPlainly = update.coordinated != true && update.phase == .changed
    connection.send(Reply(QueryInterface.RunReply(update: update), continues: true))
  }

  func begin() { send(.init(phase: .running, query: number)) }

  /// Tells as much as there is room for.
  ///
  /// - Parameters:
  ///   - coordinated: what an access has written that is about to end.
  ///   - budget: what may be looked at.
  func flush(coordinated: Bool = false, within budget: inout QueryBudget) throws {
    while hasDue, !budget.isSpent, !connection.wantsWrite, !connection.isClosed {
      let ids = take()
      let items = try catalog.table.items(ids)
      var update = QueryInterface.Update(
        phase: isGathering ? .gathering : .changed, coordinated: coordinated ? true : nil)
      var next = ids.startIndex
      while next < ids.endIndex, !budget.isSpent {
        let id = ids[next]
        next += 1
        budget.spend(steps(for: items[id]))
        if let item = items[id], isResult(item) {
          if let known = told[id], known.ordinal == item.ordinal { continue }
          if told[id] == nil { lastItem += 1 }
          let number = told[id]?.number ?? lastItem
          told[id] = (number, item.ordinal)
          update.present.append(message(item, number))
        } else if let known = told.removeValue(forKey: id) {
          update.removed.append(known.number)
        }
      }
      giveBack(ids[next...])
      if !update.present.isEmpty || !update.removed.isEmpty { send(update) }
    }
    if !hasDue, isGathering, isAllRead, !connection.wantsWrite {
      isGathering = false
      send(.init(phase: .gathered, partial: catalog.listing.isFull ? true : nil))
    }
    settleWaits()
  }

  private func steps(for item: CatalogItem?) -> Int {
    guard let item else { return 1 }
    return (Self.least + predicate.parts + matcher.instructions) * item.record.path.utf8.count
  }

  private var isAllRead: Bool { !isReading && catalog.isSettled }

  private func isResult(_ item: CatalogItem) -> Bool {
    scope.contains(item.record) && (item.launch == nil || item.launch == instance?.id) && catalog.knows(item)
      && matcher.matches(item.record)
  }

  private func message(_ item: CatalogItem, _ number: Int) -> QueryInterface.Item {
    let record = item.record
    let isReadOnly = !record.isWritable || record.isExternal && instance?.app.rules.readOnly == true
    return .init(
      item: number, external: record.isExternal, path: record.path, kind: .init(record.kind),
      size: record.size.map(Int.init), created: record.created.map(Int.init), modified: record.modified.map(Int.init),
      access: isReadOnly ? .readOnly : .readWrite, container: record.container, reference: record.reference,
      absent: record.isHere ? nil : true)
  }

  /// The item that the client knows by a number.
  func item(_ number: Int) -> Int64? { told.first { $0.value.number == number }?.key }

  // MARK: Barriers

  /// Finishes when the client has been told all that is due now.
  func whenTold() -> Wait<Void> {
    let wait = Wait<Void>()
    waits.append(wait)
    settleWaits()
    return wait
  }

  /// What was sent lies in the client's own socket once nothing waits here.
  private func settleWaits() {
    guard !waits.isEmpty, connection.isClosed || !hasDue && !isGathering && !connection.wantsWrite else { return }
    for wait in waits { wait.finish(()) }
    waits = []
  }

  func end() {
    for wait in waits { wait.finish(()) }
    waits = []
  }
}

extension Wire.DocumentKind {
  init(_ kind: MetadataRecord.Kind) {
    switch kind {
    case .file: self = .file
    case .folder: self = .folder
    case .package: self = .package
    }
  }
}
