internal import Audit
internal import Foundation

/// Which app had to do with which document, counted.
struct ReachTally: Sendable {
  struct Result {
    var apps: [ReportModel.App]
    var appsLeftOut: Int
    var places: [ReportModel.Place]
    var folding: ReportModel.Folding
    var reaches: [ReportModel.Reach]
  }

  struct Key: Hashable, Sendable {
    let app: String
    let document: Int
  }

  struct Reach: Sendable {
    var isUsed = false
    var isGranted = false
    var access: RecordedAccess?
    var how: Set<String> = []
    var starts = 0
    var refused = 0
    var leaks = 0
    var first: Date
    var last: Date
  }

  private(set) var apps: [String: ReportModel.App] = [:]
  private var reaches: [Key: Reach] = [:]
  /// The settings of each app's latest launch.
  private var launched: [String: Launched] = [:]
  /// Most launches are under the same.
  private var texts: Set<String> = []

  struct Launched: Sendable {
    struct Policy: Hashable, Sendable {
      let name: String
      /// As the launch's entry has it.
      let text: String?
    }

    var policy: Policy
    var launch: String
    var sequence: Int64
    var isCounted: Bool
    /// Others went by another one.
    var isVaried = false
  }

  mutating func count(_ event: AuditEvent, _ id: String, _ document: Int?, weight: Int) {
    apps[id, default: Self.app(id)].count(event, weight: weight)
    guard let document, Self.kinds.contains(event.kind) else { return }
    change(id, document, event.time) { reach in
      guard event.result == .allowed else {
        if event.result == .refused { reach.refused += weight }
        return
      }
      if let how = event.how, reach.how.count < 8 { reach.how.insert(how) }
      switch event.kind {
      case .start:
        reach.starts += weight
        reach.isUsed = true
      case .descriptor: reach.isUsed = true
      default: reach.isGranted = true
      }
    }
  }

  mutating func granted(_ grant: RecordedGrant, _ document: Int) {
    touch(grant.app)
    change(grant.app, document, grant.since) { reach in
      reach.isGranted = true
      reach.widen(grant.access)
      if let how = grant.how, reach.how.count < 8 { reach.how.insert(how) }
    }
  }

  mutating func used(_ scope: RecordedScope, _ document: Int) {
    touch(scope.app)
    change(scope.app, document, scope.since) { reach in
      reach.isUsed = true
      reach.widen(scope.access)
    }
  }

  mutating func leak(_ app: String, _ document: Int) {
    touch(app)
    apps[app]?.leaks += 1
    reaches[Key(app: app, document: document)]?.leaks += 1
  }

  /// Notes the settings of a launch, also of one before the requested period: its app may still run then.
  ///
  /// - Parameter isRunning: whether a launch still runs.
  mutating func launched(_ event: AuditEvent, isCounted: Bool, isRunning: (String) -> Bool) {
    let isCarried = event.kind == .carried && event.detail[AuditEvent.Fact.carries] == "launch"
    guard isCarried || event.kind == .launch, event.result == .allowed, let app = event.app,
      let launch = event.instance,
      let name = event.detail[AuditEvent.Fact.policy]
    else { return }
    let known = launched[app]
    // A carried entry is news only to a reader that has not read the earlier entries.
    if isCarried, known != nil { return }
    let text = event.detail[AuditEvent.Fact.settings].map { texts.insert($0).memberAfterInsert }
    let policy = Launched.Policy(name: name, text: text)
    launched[app] = Launched(policy: policy, launch: launch, sequence: event.sequence, isCounted: isCounted)
    guard let known, known.isCounted || isRunning(known.launch) else { return }
    launched[app]?.isVaried = known.isVaried || known.policy != policy
  }

  /// The policies that the latest launch of each app went by, still without words; those of most apps first.
  func policies() -> [ReportModel.PolicyWords] {
    var found: [Launched.Policy: ReportModel.PolicyWords] = [:]
    for app in apps.values {
      // Taken over by another broker, and its launch is not in the log.
      guard let policy = launched[app.id]?.policy ?? app.policies.first.map({ .init(name: $0, text: nil) }) else {
        continue
      }
      var words =
        found[policy]
        ?? ReportModel.PolicyWords(name: policy.name, text: policy.text, apps: [], varied: [], sections: [], note: nil)
      words.apps.append(app.id)
      if let launched = launched[app.id] {
        if launched.isVaried { words.varied.append(app.id) }
        if launched.sequence > words.entry ?? 0 { (words.launch, words.entry) = (launched.launch, launched.sequence) }
      } else if app.policies.count > 1 {
        words.varied.append(app.id)
      }
      found[policy] = words
    }
    return found.values.map { words in
      var words = words
      words.apps.sort()
      words.varied.sort()
      return words
    }.sorted { ($1.apps.count, $0.name, $1.entry ?? 0) < ($0.apps.count, $1.name, $0.entry ?? 0) }
  }

  /// The contents of the picture, within its limits.
  func folded(_ paths: [String], _ limits: ReportLimits) -> Result {
    let busiest = apps.values.sorted { left, right in
      let (l, r) = (left.starts + left.refused, right.starts + right.refused)
      return l == r ? left.id < right.id : l > r
    }
    let shown = busiest.prefix(limits.apps).sorted { $0.id < $1.id }
    let places = Dictionary(uniqueKeysWithValues: shown.enumerated().map { ($1.id, $0) })
    let reached = reaches.filter { places[$0.key.app] != nil }
    let documents = Set(reached.keys.map(\.document)).sorted()
    let folded = PlaceFolding.fold(documents.map { paths[$0] }, most: limits.places)
    let place = Dictionary(uniqueKeysWithValues: zip(documents, folded.indices))

    var joined: [[Int]: ReportModel.Reach] = [:]
    for (key, reach) in reached.sorted(by: { ($0.key.app, $0.key.document) < ($1.key.app, $1.key.document) }) {
      guard let app = places[key.app], let place = place[key.document] else { continue }
      joined[[app, place], default: .init(app: app, place: place, at: reach.first)].add(
        isUsed: reach.isUsed, isGranted: reach.isGranted, reach.access, how: reach.how, starts: reach.starts,
        refused: reach.refused, leaks: reach.leaks, reach.first, reach.last)
    }
    return Result(
      apps: Array(shown), appsLeftOut: apps.count - shown.count,
      places: folded.places.map { .init(path: $0.path, documents: $0.documents, isFolded: $0.isFolded) },
      folding: .init(documents: documents.count, most: limits.places),
      reaches: joined.values.sorted { ($0.app, $0.place) < ($1.app, $1.place) })
  }

  /// The events that connect an app with a document. Others name documents only to say where they are.
  private static let kinds: Set<AuditEvent.Kind> = [
    .pick, .grant, .start, .stop, .replaced, .reference, .bookmarkCreated, .bookmarkResolved, .referenceResolved,
    .descriptor, .hostPath, .passed, .refuse,
  ]

  private static func app(_ id: String) -> ReportModel.App {
    .init(id: id, name: nil, policies: [], launches: 0, starts: 0, refused: 0, leaks: 0)
  }

  private mutating func touch(_ id: String) {
    if apps[id] == nil { apps[id] = Self.app(id) }
  }

  private mutating func change(_ app: String, _ document: Int, _ time: Date, _ body: (inout Reach) -> Void) {
    func change(_ reach: inout Reach) {
      reach.first = min(reach.first, time)
      reach.last = max(reach.last, time)
      body(&reach)
    }
    change(&reaches[Key(app: app, document: document), default: Reach(first: time, last: time)])
  }
}

extension ReportModel.App {
  fileprivate mutating func count(_ event: AuditEvent, weight: Int) {
    if event.kind == .launch || event.kind == .attach, event.result == .allowed {
      if event.kind == .launch { launches += 1 }
      if let policy = event.detail[AuditEvent.Fact.policy], !policies.contains(policy), policies.count < 16 {
        policies = (policies + [policy]).sorted()
      }
    }
    if event.kind == .launch, let named = event.detail[AuditEvent.Fact.name] { name = named }
    if event.result == .refused { refused += weight }
    if event.kind == .start, event.result == .allowed { starts += weight }
  }
}

extension ReachTally.Reach {
  fileprivate mutating func widen(_ other: RecordedAccess?) { access = access.widened(other) }
}

extension RecordedAccess? {
  fileprivate func widened(_ other: RecordedAccess?) -> RecordedAccess? {
    self == .readWrite || other == .readWrite ? .readWrite : self ?? other
  }
}

extension ReportModel.Reach {
  fileprivate init(app: Int, place: Int, at time: Date) {
    self.init(
      app: app, place: place, outcome: .refused, access: nil, how: [], documents: 0, starts: 0, refused: 0, leaks: 0,
      first: time, last: time)
  }

  fileprivate mutating func add(
    isUsed: Bool, isGranted: Bool, _ access: RecordedAccess?, how: Set<String>, starts: Int, refused: Int, leaks: Int,
    _ first: Date, _ last: Date
  ) {
    if isUsed { outcome = .used } else if isGranted, outcome == .refused { outcome = .granted }
    self.access = self.access.widened(access)
    self.how = Set(self.how).union(how).sorted()
    documents += 1
    self.starts += starts
    self.refused += refused
    self.leaks += leaks
    self.first = min(self.first, first)
    self.last = max(self.last, last)
  }
}
