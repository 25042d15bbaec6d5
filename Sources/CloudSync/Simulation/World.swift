/// Devices, a server and a network between them, in one step after another.
package struct World {
  var server: ModelServer
  var devices: [ModelDevice]
  /// Questions, answers and a device's work under way. A step picks one, so they overtake each other.
  var pending: [Pending] = []
  /// In nanoseconds.
  var now: Int64 = 0
  var writes = Writes()
  /// The first broken invariant.
  package private(set) var failure: Failure?
  package private(set) var log: [String] = []
  /// The acts of users and the surroundings, by path; `nil`: they are not recorded.
  var acts: [[String]]?
  let keepsLog: Bool
  let planted: PlantedFault?
  /// How a device loads its saved state.
  let restore: @Sendable (SavedSync) -> SyncEngine

  static let stepTime: Int64 = 10_000_000
  static let pageLimit = 3

  package init(
    devices count: Int, planted: PlantedFault?, keepsLog: Bool,
    restore: @escaping @Sendable (SavedSync) -> SyncEngine = { $0.engine }
  ) {
    self.restore = restore
    self.planted = planted
    self.keepsLog = keepsLog
    server = ModelServer(planted: planted)
    devices = (0..<count).map { ModelDevice(name: ["A", "B", "C"][$0], planted: planted) }
    for d in devices.indices { pending.append(Pending(device: d, epoch: 0, work: .scan)) }
  }

  mutating func fail(_ invariant: Invariant, _ sentence: String) {
    if failure == nil { failure = Failure(invariant: invariant, sentence: sentence) }
  }

  mutating func note(_ line: (World) -> String) {
    if keepsLog { log.append(line(self)) }
  }

  mutating func record(_ d: Int, _ verb: String, _ words: String...) {
    if acts != nil { acts?.append([devices[d].name, verb] + words) }
  }

  // MARK: Steps

  mutating func take(_ decision: Decision) {
    now += Self.stepTime
    let d = decision.device
    switch decision.kind {
    case .deliver:
      if pending.isEmpty { passTime() } else { deliver(decision.first % pending.count) }
    case .lose, .late: lose(decision)
    case .duplicate:
      let questions = pending.indices.filter { pending[$0].isQuestion }
      guard !questions.isEmpty else { return }
      note { _ in "The network repeats a question." }
      pending.append(pending[questions[decision.first % questions.count]])
    case .crash:
      let count = decision.first % 4
      if count == 0 { crash(d) } else { devices[d].crashesIn = count - 1 }
    case .offline:
      goOffline(d)
    case .online: goOnline(d)
    case .restartServer:
      note { _ in "The server restarts." }
      acts?.append(["server", "restarts"])
      server.restart()
      checkLedger()
    case .purge:
      note { _ in "The server forgets tombstones." }
      server.purge()
    case .wait: passTime()
    default: use(decision)
    }
  }

  package mutating func goOffline(_ d: Int) {
    guard devices[d].isOnline else { return }
    note { "\($0.devices[d].name) goes offline." }
    record(d, "offline")
    devices[d].isOnline = false
    give(.offline, to: d)
  }

  package mutating func goOnline(_ d: Int) {
    guard !devices[d].isOnline else { return }
    note { "\($0.devices[d].name) goes online." }
    record(d, "online")
    devices[d].isOnline = true
    give(.online, to: d)
  }

  /// The clock goes to the next time that a device waits for.
  mutating func passTime() {
    guard let d = devices.indices.min(by: { due($0) < due($1) }), due(d) < Int64.max else { return }
    now = max(now, due(d))
    note { "\($0.devices[d].name) has waited." }
    give(.tick, to: d)
  }

  private func due(_ d: Int) -> Int64 { devices[d].engine.nextDue ?? Int64.max }

  // MARK: The end

  /// Everything works from here on.
  ///
  /// - Returns: the number of steps.
  package mutating func heal(limit: Int) -> Int {
    for d in devices.indices {
      devices[d].crashesIn = nil
      goOnline(d)
    }
    let steps = settle(limit: limit)
    if failure == nil { checkEnd() }
    return steps
  }

  /// Goes on without faults until the devices that are online have nothing to do.
  ///
  /// - Returns: the number of steps.
  package mutating func settle(limit: Int) -> Int {
    var steps = 0
    while failure == nil {
      if pending.isEmpty, isQuiescent { return steps }
      steps += 1
      now += Self.stepTime
      if steps > limit {
        fail(.rest, "The devices do not come to rest in \(limit) steps without faults.")
      } else if pending.isEmpty {
        passTime()
      } else {
        deliver(0)
      }
    }
    return steps
  }

  private var isQuiescent: Bool {
    devices.allSatisfy { !$0.isOnline || $0.engine.isIdle && $0.engine.anchor == server.ledger.revision }
  }

  // MARK: Devices

  mutating func give(_ input: SyncInput, to d: Int) { give([input], to: d) }

  mutating func give(_ inputs: [SyncInput], to d: Int) {
    let wasIdle = devices[d].engine.isIdle
    let effects = devices[d].engine.apply(inputs, at: now)
    carryOut(
      planted == .saveAfterEffects ? effects.filter { $0 != .save } + effects.filter { $0 == .save } : effects, on: d)
    // At rest, a device saves its state as well.
    if devices[d].engine.isIdle, !wasIdle { devices[d].saved.apply(devices[d].engine.takeDelta()) }
  }

  private mutating func carryOut(_ effects: [SyncEffect], on d: Int) {
    for effect in effects {
      if devices[d].isCrashDue() {
        crash(d)
        return
      }
      note { "  \($0.devices[d].name): \(effect)" }
      switch effect {
      case .save: devices[d].saved.apply(devices[d].engine.takeDelta())
      case .fetch(let request, let since, let tombstonesSince):
        start(.fetch(request: request, since: since, tombstonesSince: tombstonesSince), on: d)
      case .send(let request, let changes): start(.send(request: request, changes), on: d)
      case .upload(let request, let id, let stamp): start(.upload(request: request, id: id, stamp: stamp), on: d)
      case .stage(let request, let item): start(.stage(request: request, item), on: d)
      case .discard(let id): _ = devices[d].disk.takeTemporary(id)
      case .act(let number, let act): start(.act(number: number, act), on: d)
      case .scan: startScan(d)
      }
    }
  }

  mutating func start(_ work: Pending.Work, on d: Int) {
    pending.append(Pending(device: d, epoch: devices[d].epoch, work: work))
  }

  mutating func startScan(_ d: Int) {
    let isUnderWay = pending.contains {
      if case .scan = $0.work { $0.device == d } else { false }
    }
    if !isUnderWay { start(.scan, on: d) }
  }

  /// The program on the device ends and starts again. The disk and the saved state stay.
  package mutating func crash(_ d: Int) {
    note { "\($0.devices[d].name) ends and starts again." }
    record(d, "crash")
    devices[d].crashesIn = nil
    devices[d].epoch += 1
    devices[d].engine = restore(devices[d].saved)
    devices[d].engine.planted = planted
    devices[d].engine.limits = ModelDevice.limits
    pending.removeAll { $0.device == d && !$0.isQuestion }
    give(.restored, to: d)
    devices[d].disk.temporaries = []
    if !devices[d].isOnline { give(.offline, to: d) }
    startScan(d)
  }
}
