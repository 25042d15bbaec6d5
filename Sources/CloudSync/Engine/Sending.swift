/// Changes of the ledger that are under way as one message. The same keys go with each attempt.
struct Sending: Sendable {
  /// At most one for each entry.
  private(set) var changes: [Sent] = []
  /// The attempt that is not answered.
  var request: Int?
  var failures = 0
  var due: Int64 = 0
  private var ids: Set<String> = []
  private var targets: Set<FolderIndex.Place> = []

  struct Sent: Codable, Hashable, Sendable {
    var key: String
    let change: CloudChange
    /// The snapshot whose content the change carries.
    let snapshot: SyncEntry.Snapshot?
  }

  init() {}

  func has(_ id: String) -> Bool { ids.contains(id) }

  /// A change of the same message is about to take the place, or a name that collides.
  func isTaken(_ parent: String, _ name: String) -> Bool { targets.contains(FolderIndex.Place(parent, name)) }

  mutating func add(_ sent: Sent) {
    changes.append(sent)
    ids.insert(sent.change.id)
    switch sent.change {
    case .create(let item): targets.insert(FolderIndex.Place(item.parent, item.name))
    case .move(_, let parent, let name, _): targets.insert(FolderIndex.Place(parent, name))
    case .replace, .delete: break
    }
  }

  /// A planted fault.
  mutating func setKeys(_ key: () -> String) {
    for i in changes.indices { changes[i].key = key() }
  }

  var keyed: [KeyedChange] { changes.map { KeyedChange(key: $0.key, change: $0.change) } }
}

extension Sending: Codable {
  enum CodingKeys: CodingKey { case changes, request, failures, due }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    for sent in try values.decode([Sent].self, forKey: .changes) { add(sent) }
    request = try values.decodeIfPresent(Int.self, forKey: .request)
    failures = try values.decode(Int.self, forKey: .failures)
    due = try values.decode(Int64.self, forKey: .due)
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(changes, forKey: .changes)
    try values.encodeIfPresent(request, forKey: .request)
    try values.encode(failures, forKey: .failures)
    try values.encode(due, forKey: .due)
  }
}
