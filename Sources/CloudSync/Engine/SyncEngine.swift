/// How much is under way at a time.
package struct SyncLimits: Hashable, Sendable {
  package var transfers = 1024
  package var acts = 250
  /// In one message to the ledger.
  package var changes = 250

  package init() {}
}

/// One device's side of the sync: keeps the device's folder and the cloud's ledger the same.
///
/// A value without input, output, clock or chance. An input leads to effects, which the device carries out in their order; the same
/// inputs at the same times lead to the same effects. Ids and keys come from the device's name and a counter.
///
/// The engine compares three trees (``SyncEntry``) after each input and starts the acts that bring them closer. It plans nothing ahead, so it
/// goes on from any state. One message with changes of the ledger is under way at a time, and some local acts and transfers: one
/// change, act or transfer for each item.
///
/// The contract with the device:
/// - The state (``takeDelta()``) is durable before the effects after ``SyncEffect/save`` are carried out. A device that ends in between starts again
///   with the state saved last, ``SyncInput/restored``, and a scan; it removes temporaries that are not in the state.
/// - Scans and local acts run one after another. Their results reach the engine in the same order, and those of acts before the next scan.
/// - Each request is answered or reported as lost, each transfer and act as done or failed. Late and repeated answers do no harm.
///
/// Conflicts:
/// - Content against content: the first to reach the cloud wins. The device keeps its own content as a conflict version, then takes the
///   cloud's.
/// - Edit, or move into another folder, against delete: the document lives. A folder lives if an item in it does.
/// - Move against move: the one that the cloud accepted wins. A move that would close a cycle is put right.
/// - Name against name: the item that the cloud accepted later gets another name ("Letter 2.txt").
package struct SyncEngine: Codable, Sendable {
  package let device: String
  /// Begins ids and keys.
  private(set) var prefix: String
  /// The time for the next ``SyncInput/tick``, in nanoseconds of the same clock.
  internal(set) package var nextDue: Int64?
  /// The cloud's revision up to which the engine has all changes.
  internal(set) package var anchor = 0

  /// The number of the last id or key. It is durable before a request carries the id or key.
  var counter = 0
  /// The number of the last request, transfer or act.
  var lastNumber = 0
  var entries = EntryTable()
  var sending: Sending?
  var acts = Acts()
  /// Changes that this plan sends.
  var outgoing = Sending()
  /// The request for a page that is not answered.
  var fetching: Int?
  var fetchFailures = 0
  var fetchRetry: Int64 = 0
  /// The time of the next fetch without a hint.
  var fetchDue: Int64 = 0
  var wantsFetch = true
  /// The ledger has refused a change, so changes are missing here. Nothing is planned before they have come.
  var isStale = true
  var isScanned = false
  /// The device has started again, and it is unknown whether the act under way was done.
  var isRestored = false
  var isOnline = true
  /// A listing of everything that is under way. An engine begins with one.
  var listing: Listing? = Listing()

  var effects: [SyncEffect] = []
  var now: Int64 = 0
  /// The effects need the state to be durable first.
  var needsSave = false
  var planted: PlantedFault?
  package var limits = SyncLimits()

  enum CodingKeys: CodingKey {
    case device, prefix, nextDue, anchor, counter, lastNumber, entries, sending, acts, fetching, fetchFailures,
      fetchRetry,
      fetchDue
    case wantsFetch, isStale, isScanned, isRestored, isOnline, listing
  }

  struct Listing: Codable, Hashable, Sendable {
    /// Items that have come so far.
    var ids: [String] = []
    /// The ledger's revision at the first page.
    var revision: Int?
  }

  /// Times in nanoseconds.
  enum Limits {
    static let poll: Int64 = 30_000_000_000
    static let firstRetry: Int64 = 500_000_000
    static let lastRetry: Int64 = 60_000_000_000
  }

  /// - Parameters:
  ///   - device: unique among the account's devices, and part of ids and keys.
  ///   - run: part of ids and keys, and another one for each engine of a device that begins without a saved state. Else it would give
  ///     ids again that the cloud has.
  package init(device: String, run: String = "") {
    self.device = device
    prefix = run.isEmpty ? device : "\(device)-\(run)"
  }

  /// From now on ids and keys begin with another run. A device with an older state of its own would give some a second time.
  package mutating func begin(run: String) { prefix = "\(device)-\(run)" }

  /// - Parameter now: nanoseconds of a clock that does not go back.
  package mutating func apply(_ input: SyncInput, at now: Int64) -> [SyncEffect] { apply([input], at: now) }

  /// The same for several inputs, after which the engine plans once.
  package mutating func apply(_ inputs: [SyncInput], at now: Int64) -> [SyncEffect] {
    self.now = max(self.now, now)
    effects = []
    needsSave = false
    for input in inputs { take(input) }
    plan()
    if needsSave { effects.insert(.save, at: 0) }
    let result = effects
    effects = []
    return result
  }

  /// Cloud and device are the same as far as the engine knows, and nothing is under way.
  package var isIdle: Bool {
    isScanned && !isStale && !wantsFetch && fetching == nil && sending == nil && acts.isEmpty
      && entries.unsettled.isEmpty
  }

  private mutating func take(_ input: SyncInput) {
    switch input {
    case .restored: restore()
    case .scan(let items): scan(items)
    case .online: goOnline()
    case .offline: isOnline = false
    case .hint: wantsFetch = true
    case .page(let request, let page): if fetching == request { take(page) }
    case .anchorTooOld(let request): if fetching == request { listAgain() }
    case .answers(let request, let answers): if sending?.request == request { take(answers) }
    case .lost(let request): lose(request)
    case .uploaded(let request, let content, let size, let stamp):
      guard let i = entries.position(ofRequest: request) else { return }
      entries[i].endTransfer()
      entries[i].snapshot = SyncEntry.Snapshot(content: content, size: size, stamp: stamp)
    case .staged(let request, let item): takeStaged(request, item)
    case .transferFailed(let request):
      guard let i = entries.position(ofRequest: request) else { return }
      let stamp = entries[i].transfer?.stamp
      entries[i].transfer = nil
      if stamp != nil, stamp != entries[i].local?.item.stamp, entries[i].failures < Self.hastyFailures {
        entries[i].failures += 1
      } else {
        hold(i)
      }
    case .acted(let number, let item): finishAct(number, item)
    case .refused(let number): refuseAct(number)
    case .tick: if fetchDue <= self.now { wantsFetch = true }
    }
  }

  private mutating func restore() {
    fetching = nil
    wantsFetch = true
    isScanned = false
    isStale = true
    isRestored = true
    fetchRetry = 0
    isOnline = true
    sending?.request = nil
    sending?.due = 0
    let moving = Set(acts.all.compactMap(\.staged))
    for i in entries.positions {
      if entries[i].transfer != nil { entries[i].transfer = nil }
      if entries[i].heldUntil != nil { entries[i].heldUntil = nil }
      if let staged = entries[i].staged {
        // The temporary of an act under way may be in the folder already; the scan shows it.
        entries[i].staged = nil
        if !moving.contains(staged) { effects.append(.discard(id: staged.local.id)) }
      }
    }
    effects.append(.scan)
  }

  private mutating func goOnline() {
    isOnline = true
    wantsFetch = true
    fetchFailures = 0
    fetchRetry = 0
    sending?.due = 0
    // The network may have been the reason.
    for i in entries.positions where entries[i].heldUntil != nil { entries[i].heldUntil = nil }
  }

  // MARK: Entries

  func entry(_ id: String) -> SyncEntry? { entries.position(of: id).map { entries[$0] } }

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func nextName() -> String {
    counter += 1
    return "\(prefix)-\(counter)"
  }

  /// Another content is a reason to try again at once. A document that is written all the time is left alone all the same.
  static let hastyFailures = 3

  /// Leaves an item alone for a while after a failure.
  mutating func hold(_ i: Int) {
    entries[i].failures += 1
    entries[i].heldUntil = now + Self.backOff(entries[i].failures)
  }

  static func backOff(_ failures: Int) -> Int64 {
    min(Limits.firstRetry << min(Int64(failures - 1), 16), Limits.lastRetry)
  }
}
