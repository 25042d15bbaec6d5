/// A device: the real engine, its saved state, and the folder.
struct ModelDevice {
  let name: String
  var engine: SyncEngine
  var saved: SavedSync
  var disk = ModelDisk()
  /// The number of starts. Work and answers of an earlier start are dropped.
  var epoch = 0
  var isOnline = true
  /// The document whose content was kept as a conflict version last, and the content. `nil`: the cloud has taken the content since,
  /// because the winning one was deleted.
  var kept: (document: String, content: String)?
  /// The device ends when it has carried out so many more effects.
  var crashesIn: Int?

  init(name: String, planted: PlantedFault?) {
    self.name = name
    engine = SyncEngine(device: name)
    engine.planted = planted
    engine.limits = Self.limits
    saved = SavedSync(device: name)
  }

  /// Small ones, so that lives reach them.
  static let limits: SyncLimits = {
    var limits = SyncLimits()
    (limits.transfers, limits.acts, limits.changes) = (4, 3, 4)
    return limits
  }()

  /// - Returns: whether the device ends now.
  mutating func isCrashDue() -> Bool {
    guard let left = crashesIn else { return false }
    crashesIn = left > 0 ? left - 1 : nil
    return left == 0
  }
}

/// Something that is under way.
struct Pending {
  let device: Int
  let epoch: Int
  let work: Work

  enum Work {
    case fetch(request: Int, since: Int, tombstonesSince: Int?)
    case send(request: Int, [KeyedChange])
    case answer(SyncInput)
    case upload(request: Int, id: String, stamp: String)
    case stage(request: Int, CloudItem)
    case act(number: Int, LocalAct)
    case scan
  }

  /// The request of work that a network can lose.
  var request: Int? {
    switch work {
    case .fetch(let request, _, _), .send(let request, _), .upload(let request, _, _): request
    case .stage(let request, let item): item.kind == .document ? request : nil
    case .answer(.page(let request, _)), .answer(.answers(let request, _)), .answer(.anchorTooOld(let request)): request
    case .answer, .act, .scan: nil
    }
  }

  var isQuestion: Bool {
    switch work {
    case .fetch, .send: true
    default: false
    }
  }
}
