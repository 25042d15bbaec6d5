internal import CloudSync
internal import Databases
internal import Folders
internal import Foundation
internal import Kernel
internal import Synchronization
internal import SystemPackage

/// Keeps a folder of this machine the same as a simulated cloud: carries the effects of a ``SyncEngine`` out.
///
/// One thread applies inputs, scans the folder and changes it, so that these results reach the engine in their order. Further threads
/// ask the cloud, carry contents, and wait for news.
package final class CloudDevice {
  /// Tells people of the device's acts.
  package enum News: Sendable {
    case started(items: Int)
    case connected
    case lost(String)
    case came(String)
    case went(String)
    case conflict(String)
    case settled
    /// One input of the engine, or one effect.
    case step(String)
  }

  private let name: String
  private let folder: DeviceFolder
  private let lock: FileLock
  private let store: DeviceStore
  private var engine: SyncEngine
  private let inbox = Inbox()
  private let requests: Workers
  private let transfers: Workers
  private let connect: @Sendable () -> CloudConnection
  private let tell: (News) -> Void
  private let isTraced: Bool
  private let files: DeviceTransfers
  private var burst = Burst()
  private var isConnected = true
  private var goesOn: () -> Bool = { true }
  /// The time of the next look at a folder that could not be read.
  private var lookAgain: Int64?
  private static let lookPause: Int64 = 2_000_000_000
  /// The time of the next look at a folder that is moving.
  private static let movingPause: Int64 = 200_000_000
  /// The time of the next look at a folder that cannot be watched.
  private var nextPoll: Int64?
  private static let pollPause: Int64 = 5_000_000_000
  /// Sentences that people were told, each once.
  private var troubles: Set<String> = []
  private static let mostTroubles = 1000
  /// The reason why the device cannot go on.
  private var failure: (any Error)?

  /// - Parameters:
  ///   - device: its name, unique among the account's devices.
  ///   - folder: it and the items in it are kept the same as the cloud.
  ///   - socket: the path of the cloud's socket.
  ///   - isTraced: inputs and effects of the engine are news, too.
  /// - Throws: where the folder cannot be used, another device keeps it, or its state is of another device.
  package init(
    device: String, folder path: String, socket: String, token: String?, access: any DeviceAccess,
    isTraced: Bool = false, _ tell: @escaping (News) -> Void
  ) throws {
    (name, self.tell, self.isTraced) = (device, tell, isTraced)
    raiseDescriptorLimit()
    folder = try DeviceFolder(path, access)
    lock = try folder.lock()
    store = try folder.store()
    files = DeviceTransfers(reader: folder.reader, staging: folder.staging)
    // No id or key is given a second time, also if the device's state is gone or an older one.
    let run = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let saved = try store.engine()
    engine = saved ?? SyncEngine(device: device, run: run)
    guard engine.device == device else {
      throw StateError("\(path) belongs to the device “\(engine.device)”; move it away, or name the device so")
    }
    engine.begin(run: run)
    let known = try folder.knownCloud(at: engine.anchor)
    connect = { CloudConnection(socket: socket, device: device, token: token, known: known) }
    requests = Workers(1, connect)
    transfers = Workers(4, connect)
    try folder.removeTemporaries(but: saved == nil ? [] : engine.temporaries)
    if saved != nil { take([.restored]) }
  }

  // MARK: Running

  /// Goes on until it is stopped.
  ///
  /// - Parameter once: it ends as soon as folder and cloud are the same.
  /// - Throws: where the device cannot go on. All that it has done is known when it starts again.
  package func run(once: Bool, while goesOn: @escaping () -> Bool) throws {
    self.goesOn = goesOn
    try listen()
    try watch()
    scan()
    var wasIdle = false
    while goesOn(), failure == nil {
      let isIdle = engine.isIdle && !burst.isOpen && lookAgain == nil
      if isIdle, !wasIdle {
        // A device that starts again then knows the files that it has placed, also after changes by its user.
        try save()
        tell(.settled)
      }
      wasIdle = isIdle
      if isIdle, once { return }
      let looks = [burst.due, lookAgain, nextPoll].compactMap(\.self).min() ?? Int64.max
      let due = min(engine.nextDue ?? Int64.max, looks)
      take(
        inbox.next(within: min(max(0, due.subtractingReportingOverflow(Clock.monotonic()).partialValue), 500_000_000)))
      let look = [burst.due, lookAgain, nextPoll].compactMap(\.self).min() ?? Int64.max
      if look <= Clock.monotonic() { scan() }
      if let due = engine.nextDue, due <= Clock.monotonic() { take([.tick]) }
    }
    if let failure { throw failure }
    try store.save(engine.takeDelta())
  }

  private func take(_ messages: [Inbox.Message]) {
    var inputs: [SyncInput] = []
    for message in messages {
      switch message {
      case .changed:
        folder.clearChanges()
        burst.add(at: Clock.monotonic())
      case .inputs(let some): inputs += some
      case .ended(let sentence):
        failure = StateError(
          "\(sentence). To go on with it, move \(folder.path)/\(DeviceFolder.ownName) away: all documents here are new to this "
            + "cloud then. None is removed, and those that it has too are there twice (“Letter 2.txt”).")
      case .trouble(let sentence):
        if troubles.count >= Self.mostTroubles { troubles = [] }
        if troubles.insert(sentence).inserted { tell(.lost(sentence)) }
      case .failed(let sentence):
        if isConnected { tell(.lost(sentence)) }
        isConnected = false
      case .connected:
        if !isConnected {
          tell(.connected)
          inputs.append(.online)
        }
        isConnected = true
      }
    }
    if !inputs.isEmpty { take(inputs) }
  }

  /// Applies inputs, and the results of their effects.
  private func take(_ first: [SyncInput]) {
    var inputs = first
    while !inputs.isEmpty, failure == nil {
      if isTraced { for input in inputs { tell(.step("<- \(input)")) } }
      let effects = engine.apply(inputs, at: Clock.monotonic())
      if isTraced { for effect in effects { tell(.step("  \(effect)")) } }
      do { inputs = try carryOut(effects) } catch { failure = error }
    }
  }

  private func scan() {
    let began = Clock.monotonic()
    take(look())
    burst.end(at: Clock.monotonic(), took: Clock.monotonic() - began)
  }

  /// Looks at the whole folder. A part of it that cannot be read is not empty: nothing is decided without it.
  ///
  /// - Returns: nothing, where it cannot be read; it is tried again.
  private func look() -> [SyncInput] {
    do {
      let items = try folder.scan()
      lookAgain = nil
      nextPoll = folder.isWatched ? nil : Clock.monotonic() + Self.pollPause
      if !folder.isWatched {
        inbox.put(.trouble("not all of the folder can be watched (fs.inotify); it is looked at every 5 seconds"))
      }
      // The next look finds the changes that came during this one.
      if folder.hasNews { inbox.put(.changed) }
      return [.scan(items)]
    } catch is FolderInMotion {
      lookAgain = Clock.monotonic() + Self.movingPause
      return []
    } catch {
      if lookAgain == nil { tell(.lost("the folder cannot be read: \(error)")) }
      lookAgain = Clock.monotonic() + Self.lookPause
      return []
    }
  }

  /// - Returns: the results that are there at once.
  private func carryOut(_ effects: [SyncEffect]) throws -> [SyncInput] {
    var inputs: [SyncInput] = []
    var acts: [(number: Int, act: LocalAct)] = []
    var uploads: [(DeviceTransfers.Upload, size: Int64)] = []
    var downloads: [DeviceTransfers.Download] = []
    var isScanWanted = false
    for effect in effects {
      switch effect {
      case .save: try save()
      case .scan: isScanWanted = true
      case .discard(let id): folder.discard(id)
      case .act(let number, let act): acts.append((number, act))
      case .fetch(let request, let since, let deletionsSince):
        ask(request) { cloud throws(CloudConnection.Failure) in
          do throws(CloudConnection.Failure) {
            return .page(request: request, try cloud.changes(since: since, deletionsSince: deletionsSince))
          } catch {
            guard case .tooOld = error else { throw error }
            return .anchorTooOld(request: request)
          }
        }
      case .send(let request, let changes):
        ask(request) { [inbox] cloud throws(CloudConnection.Failure) in
          let answers = try cloud.apply(changes)
          if answers.contains(.overQuota) {
            inbox.put(.trouble("the cloud has no room for some of the items; it is asked again from time to time"))
          }
          return .answers(request: request, answers)
        }
      case .upload(let request, let id, let stamp):
        uploads.append(
          (.init(request: request, inner: folder.lastPlace(id), stamp: stamp), DeviceFolder.size(stamp)))
      case .stage(let request, let item):
        guard item.kind == .document, let content = item.content else {
          do { inputs.append(.staged(request: request, try folder.staging.stage([(item, nil)])[0])) } catch {
            tell(.lost("“\(item.name)” cannot be made: \(error)"))
            inputs.append(.transferFailed(request: request))
          }
          continue
        }
        downloads.append(.init(request: request, item: item, content: content))
      }
    }
    transfer(uploads, downloads)
    if !acts.isEmpty { inputs += try perform(acts) }
    // After the acts, so that it shows them.
    if isScanWanted { inputs += look() }
    return inputs
  }

  /// Waits where the disk is full: nothing that depends on the state is done before it is kept.
  private func save() throws {
    let delta = engine.takeDelta()
    var isTold = false
    while true {
      do { return try store.save(delta) } catch let error as StateError {
        guard OwnDatabase.isFull(error), goesOn() else { throw error }
        if !isTold { tell(.lost("\(error) The device waits and tries again.")) }
        isTold = true
        usleep(500_000)
      }
    }
  }

  private func transfer(
    _ uploads: [(DeviceTransfers.Upload, size: Int64)], _ downloads: [DeviceTransfers.Download]
  ) {
    for part in DeviceTransfers.parts(of: uploads, size: { $0.size }) {
      transfers.start { [inbox, files] cloud in
        let (results, troubles) = files.upload(part.map { $0.0 }, to: cloud)
        for trouble in troubles { inbox.put(.trouble(trouble)) }
        inbox.put(.inputs(results))
      }
    }
    for part in DeviceTransfers.parts(of: downloads, size: { $0.item.size }) {
      transfers.start { [inbox, files] cloud in inbox.put(.inputs(files.download(part, from: cloud))) }
    }
  }

  private func ask(
    _ request: Int, _ body: @escaping @Sendable (CloudConnection) throws(CloudConnection.Failure) -> SyncInput
  ) {
    requests.start { [inbox] cloud in
      do throws(CloudConnection.Failure) {
        inbox.put(.inputs([try body(cloud)]))
      } catch {
        inbox.put(.inputs([.lost(request: request)]))
        inbox.put(error.message)
      }
    }
  }

  private func perform(_ acts: [(number: Int, act: LocalAct)]) throws -> [SyncInput] {
    zip(acts, try folder.perform(acts.map(\.act))).map { one, result in
      do {
        let item = try result.get()
        tell(one.act, item)
        return .acted(number: one.number, item)
      } catch {
        if !(error is DeviceRefusal) { tell(.lost("\(error)")) }
        return .refused(number: one.number)
      }
    }
  }

  private func tell(_ act: LocalAct, _ item: LocalItem?) {
    switch act {
    case .place, .replace, .move: if let item { tell(.came(item.name)) }
    case .remove: tell(.went(""))
    case .keep: if let item { tell(.conflict(item.name)) }
    }
  }

  // MARK: News

  /// Waits for changes of the cloud.
  private func listen() throws {
    let (connect, inbox) = (connect, inbox)
    try Worker.start {
      let cloud = connect()
      var revision = -1
      while true {
        do throws(CloudConnection.Failure) {
          let now = try cloud.await(revision)
          inbox.put(.connected)
          if now != revision { inbox.put(.inputs([.hint])) }
          revision = now
        } catch {
          inbox.put(error.message)
          inbox.put(.inputs([.offline]))
          // The first answer after it comes at once: the device hears that the cloud is there again.
          revision = -1
          usleep(500_000)
        }
      }
    }
  }

  /// Waits for changes of the folder.
  private func watch() throws {
    guard let changes = folder.changes else { return }
    let inbox = inbox
    try Worker.start {
      while true {
        var entry = [PollEntry(changes, .read)]
        guard let count = try? Poll.wait(&entry, timeout: .seconds(60)) else { return }
        guard count > 0 else { continue }
        inbox.put(.changed)
        // The scan takes the events; until then they are the same news.
        usleep(5_000)
      }
    }
  }
}

extension CloudConnection.Failure {
  fileprivate var message: Inbox.Message {
    if case .another(let sentence) = self { return .ended(sentence) }
    return .failed(sentence)
  }

  /// For people.
  var sentence: String {
    switch self {
    case .another(let sentence): sentence
    case .lost(let reason): reason
    case .notAuthenticated: "the cloud does not accept the token"
    case .noSuchContent: "the cloud does not have a content"
    case .tooOld: "the cloud has forgotten deletions"
    }
  }
}

/// Events for a device, from any thread.
private final class Inbox: Sendable {
  enum Message: Sendable {
    case inputs([SyncInput])
    case changed
    case connected
    /// Something that stands in the way of one item, as a sentence.
    case trouble(String)
    case failed(String)
    case ended(String)
  }

  private let messages = Mutex<[Message]>([])
  private let wakeup: Wakeup?

  init() { wakeup = try? Wakeup() }

  func put(_ message: Message) {
    messages.withLock { messages in
      if case .changed = message, messages.contains(where: { if case .changed = $0 { true } else { false } }) { return }
      messages.append(message)
    }
    wakeup?.signal()
  }

  /// All that has come, or comes within a time in nanoseconds.
  func next(within time: Int64) -> [Message] {
    func all() -> [Message] {
      messages.withLock { messages in
        defer { messages = [] }
        return messages
      }
    }
    let here = all()
    guard here.isEmpty, let wakeup else { return here }
    var entry = [PollEntry(wakeup.descriptor, .read)]
    if let count = try? Poll.wait(&entry, timeout: .nanoseconds(time)), count > 0 { wakeup.clear() }
    return all()
  }
}

/// When to scan while changes of the folder come: when they have stopped, and all the same after a while. Times in nanoseconds.
struct Burst {
  private var began: Int64?
  private var last: Int64 = 0
  /// Of the last scan.
  private var cost: Int64 = 0
  private var ended = Int64.min

  /// Changes stop if none comes for so long, or for as long as a scan takes.
  static let quiet: Int64 = 10_000_000
  /// A burst is scanned after so long, and at intervals in which scans take a quarter of the time.
  static let longest: Int64 = 100_000_000

  /// There are changes that no scan has seen.
  var isOpen: Bool { began != nil }

  var due: Int64? {
    guard let began else { return nil }
    let settled = last + max(Self.quiet, min(cost, Self.longest))
    let latest = max(began + Self.longest, ended == Int64.min ? 0 : ended + 3 * cost)
    return min(settled, latest)
  }

  mutating func add(at now: Int64) {
    began = began ?? now
    last = now
  }

  mutating func end(at now: Int64, took cost: Int64) {
    began = nil
    (ended, self.cost) = (now, cost)
  }
}

/// Threads that carry out work in the order of its arrival, each with its own connection.
private final class Workers: Sendable {
  typealias Work = @Sendable (CloudConnection) -> Void
  private let state = Mutex<(waiting: [Work], idle: Int, threads: Int)>(([], 0, 0))
  private let wakeup: Wakeup?
  private let most: Int
  private let connect: @Sendable () -> CloudConnection

  init(_ most: Int, _ connect: @escaping @Sendable () -> CloudConnection) {
    (self.most, self.connect, wakeup) = (most, connect, try? Wakeup())
  }

  func start(_ work: @escaping Work) {
    let needsThread = state.withLock { state in
      state.waiting.append(work)
      guard state.idle < state.waiting.count, state.threads < most else { return false }
      state.threads += 1
      return true
    }
    if needsThread { try? Worker.start { self.serve() } }
    wakeup?.signal()
  }

  private func serve() {
    let cloud = connect()
    while true {
      let work = state.withLock { state in
        if state.waiting.isEmpty {
          state.idle += 1
          return nil as Work?
        }
        return state.waiting.removeFirst()
      }
      if let work {
        work(cloud)
        continue
      }
      if let wakeup {
        var entry = [PollEntry(wakeup.descriptor, .read)]
        _ = try? Poll.wait(&entry, timeout: .seconds(60))
        wakeup.clear()
      }
      state.withLock { $0.idle -= 1 }
    }
  }
}
