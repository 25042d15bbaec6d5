/// One device's side of the sync: keeps the device's folder and the cloud's ledger the same.
///
/// A value without input, output, clock or chance. An input leads to effects, which the device carries out in their order; the same
/// inputs at the same times lead to the same effects. Ids and keys come from the device's name and a counter.
///
/// The engine compares three trees (``SyncEntry``) after each input and starts what brings them closer. It plans nothing ahead, so it
/// goes on from any state. One change of the ledger and one local act are under way at a time, and a few transfers.
///
/// The contract with the device:
/// - The state (``takeDelta()``) is durable before the effects after ``SyncEffect/save`` are carried out. A device that ends in between starts again
///   with the state saved last, ``SyncInput/restored``, and a scan; it removes temporaries that are not in the state.
/// - Scans and local acts run one after another. Their results reach the engine in the same order, before the next one runs.
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
  var acting: Acting?
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

  enum CodingKeys: CodingKey {
    case device, nextDue, anchor, counter, lastNumber, entries, sending, acting, fetching, fetchFailures, fetchRetry,
      fetchDue
    case wantsFetch, isStale, isScanned, isRestored, isOnline, listing
  }

  /// A change of the ledger under way. The same key goes with each attempt.
  struct Sending: Codable, Hashable, Sendable {
    var key: String
    let change: CloudChange
    /// The snapshot whose content the change carries.
    let snapshot: SyncEntry.Snapshot?
    /// The attempt that is not answered.
    var request: Int?
    var failures = 0
    var due: Int64 = 0
  }

  struct Listing: Codable, Hashable, Sendable {
    /// Items that have come so far.
    var ids: [String] = []
    /// The ledger's revision at the first page.
    var revision: Int?
  }

  struct Acting: Codable, Hashable, Sendable {
    let number: Int
    let entry: String
    let act: LocalAct
    /// The temporary that the act moves into the folder.
    let staged: SyncEntry.Staged?
  }

  /// Times in nanoseconds, and numbers.
  enum Limits {
    static let poll: Int64 = 30_000_000_000
    static let firstRetry: Int64 = 500_000_000
    static let lastRetry: Int64 = 60_000_000_000
    static let transfers = 4
  }

  /// - Parameter device: unique among the account's devices, and part of ids and keys.
  package init(device: String) { self.device = device }

  /// - Parameter now: nanoseconds of a clock that does not go back.
  package mutating func apply(_ input: SyncInput, at now: Int64) -> [SyncEffect] {
    self.now = max(self.now, now)
    effects = []
    needsSave = false
    take(input)
    plan()
    if needsSave { effects.insert(.save, at: 0) }
    let result = effects
    effects = []
    return result
  }

  /// Cloud and device are the same as far as the engine knows, and nothing is under way.
  package var isIdle: Bool {
    isScanned && !isStale && !wantsFetch && fetching == nil && sending == nil && acting == nil
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
    case .answer(let request, let answer): if sending?.request == request { take(answer) }
    case .lost(let request): lose(request)
    case .uploaded(let request, let content, let size, let stamp):
      guard let i = entries.position(ofRequest: request) else { return }
      entries[i].endTransfer()
      entries[i].snapshot = SyncEntry.Snapshot(content: content, size: size, stamp: stamp)
    case .staged(let request, let item): takeStaged(request, item)
    case .transferFailed(let request):
      guard let i = entries.position(ofRequest: request) else { return }
      entries[i].transfer = nil
      hold(i)
    case .acted(let number, let item): if acting?.number == number { finishAct(item) }
    case .refused(let number): if acting?.number == number { refuseAct() }
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
    for i in entries.positions {
      if entries[i].transfer != nil { entries[i].transfer = nil }
      if entries[i].heldUntil != nil { entries[i].heldUntil = nil }
      if let staged = entries[i].staged {
        // The temporary of an act under way may be in the folder already; the scan shows it.
        entries[i].staged = nil
        if acting?.staged != staged { effects.append(.discard(id: staged.local.id)) }
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
  }

  // MARK: Entries

  func entry(_ id: String) -> SyncEntry? { entries.position(of: id).map { entries[$0] } }

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func nextName() -> String {
    counter += 1
    return "\(device)-\(counter)"
  }

  /// Leaves an item alone for a while after a failure.
  mutating func hold(_ i: Int) {
    entries[i].failures += 1
    entries[i].heldUntil = now + Self.backOff(entries[i].failures)
  }

  static func backOff(_ failures: Int) -> Int64 {
    min(Limits.firstRetry << min(Int64(failures - 1), 16), Limits.lastRetry)
  }
}
