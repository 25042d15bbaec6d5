internal import CloudSync
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
  /// Tells people what the device does.
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
  private var isConnected = true
  private var isStopped = false

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
    folder = try DeviceFolder(path, access)
    lock = try folder.lock()
    connect = { CloudConnection(socket: socket, device: device, token: token) }
    requests = Workers(1, connect)
    transfers = Workers(4, connect)
    store = try folder.store()
    if let saved = try store.engine() {
      engine = saved
      guard engine.device == device else {
        throw StateError("\(path) belongs to the device “\(engine.device)”; move it away, or name the device so")
      }
      try folder.removeTemporaries(but: engine.temporaries)
      take(.restored)
    } else {
      engine = SyncEngine(device: device)
      try folder.removeTemporaries(but: [])
    }
  }

  // MARK: Running

  /// Goes on until it is stopped.
  ///
  /// - Parameter once: it ends as soon as folder and cloud are the same.
  package func run(once: Bool, while goesOn: @escaping () -> Bool) throws {
    try listen()
    try watch()
    scan()
    var wasIdle = false
    while goesOn(), !isStopped {
      let isIdle = engine.isIdle
      if isIdle, !wasIdle {
        // A device that starts again then knows what it has placed, whatever its user does with it meanwhile.
        try store.save(engine.takeDelta())
        tell(.settled)
      }
      wasIdle = isIdle
      if isIdle, once { return }
      let due = engine.nextDue.map { max(0, $0 - Clock.monotonic()) } ?? 1_000_000_000
      switch inbox.next(within: min(due, 500_000_000)) {
      case .changed?:
        // Changes come in bursts.
        usleep(2_000)
        folder.clearChanges()
        scan()
      case .input(let input)?: take(input)
      case .failed(let sentence)?:
        if isConnected { tell(.lost(sentence)) }
        isConnected = false
      case .connected?:
        if !isConnected {
          tell(.connected)
          take(.online)
        }
        isConnected = true
      case nil: if let due = engine.nextDue, due <= Clock.monotonic() { take(.tick) }
      }
    }
    if !isStopped { try store.save(engine.takeDelta()) }
  }

  /// Applies an input, and the results of what it leads to.
  private func take(_ first: SyncInput) {
    var inputs = [first]
    while !inputs.isEmpty {
      let input = inputs.removeFirst()
      let effects = engine.apply(input, at: Clock.monotonic())
      if isTraced { tell(.step("<- \(input)")) }
      for effect in effects {
        if isTraced { tell(.step("  \(effect)")) }
        do { try carryOut(effect, &inputs) } catch {
          tell(.lost("\(error)"))
          isStopped = true
          return
        }
      }
    }
  }

  private func scan() {
    do {
      let items = try folder.scan()
      take(.scan(items))
    } catch { tell(.lost("the folder cannot be read: \(error)")) }
  }

  private func carryOut(_ effect: SyncEffect, _ inputs: inout [SyncInput]) throws {
    switch effect {
    case .save: try store.save(engine.takeDelta())
    case .scan: inputs.append(.scan(try folder.scan()))
    case .discard(let id): folder.discard(id)
    case .act(let number, let act): inputs.append(perform(number, act))
    case .fetch(let request, let since, let deletionsSince):
      ask(request) { cloud throws(CloudConnection.Failure) in
        do throws(CloudConnection.Failure) {
          return .page(request: request, try cloud.changes(since: since, deletionsSince: deletionsSince))
        } catch {
          guard case .tooOld = error else { throw error }
          return .anchorTooOld(request: request)
        }
      }
    case .send(let request, let change, let key):
      ask(request) { cloud throws(CloudConnection.Failure) in
        .answer(request: request, try cloud.apply(change, key: key))
      }
    case .upload(let request, let id, let stamp): upload(request, id, stamp)
    case .stage(let request, let item):
      guard item.kind == .document, let content = item.content else {
        return inputs.append(.staged(request: request, try folder.staging.stage(item, from: nil)))
      }
      let staging = folder.staging
      transfers.start { [inbox] cloud in
        do {
          inbox.put(.input(.staged(request: request, try staging.stage(item, from: cloud.download(content)))))
        } catch { inbox.put(.input(.transferFailed(request: request))) }
      }
    }
  }

  private func ask(
    _ request: Int, _ body: @escaping @Sendable (CloudConnection) throws(CloudConnection.Failure) -> SyncInput
  ) {
    requests.start { [inbox] cloud in
      do throws(CloudConnection.Failure) {
        inbox.put(.input(try body(cloud)))
      } catch {
        inbox.put(.input(.lost(request: request)))
        inbox.put(.failed(error.sentence))
      }
    }
  }

  private func upload(_ request: Int, _ id: String, _ stamp: String) {
    let reader = folder.reader(id)
    transfers.start { [inbox] cloud in
      do {
        let kept = try reader.reading(stamp) { try cloud.upload($0) }
        inbox.put(.input(.uploaded(request: request, content: kept.content, size: kept.size, stamp: stamp)))
      } catch { inbox.put(.input(.transferFailed(request: request))) }
    }
  }

  private func perform(_ number: Int, _ act: LocalAct) -> SyncInput {
    do {
      let item = try folder.perform(act)
      tell(act, item)
      return .acted(number: number, item)
    } catch {
      if !(error is DeviceRefusal) { tell(.lost("\(error)")) }
      return .refused(number: number)
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
          if now != revision { inbox.put(.input(.hint)) }
          revision = now
        } catch {
          inbox.put(.failed(error.sentence))
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
  /// For people.
  var sentence: String {
    switch self {
    case .lost(let reason): reason
    case .notAuthenticated: "the cloud does not accept the token"
    case .noSuchContent: "the cloud does not have a content"
    case .tooOld: "the cloud has forgotten deletions"
    }
  }
}

/// What happened for a device, from any thread.
private final class Inbox: Sendable {
  enum Message: Sendable {
    case input(SyncInput)
    case changed
    case connected
    case failed(String)
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

  /// - Parameter time: nanoseconds.
  func next(within time: Int64) -> Message? {
    func first() -> Message? { messages.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    if let message = first() { return message }
    guard let wakeup else { return nil }
    var entry = [PollEntry(wakeup.descriptor, .read)]
    if let count = try? Poll.wait(&entry, timeout: .nanoseconds(time)), count > 0 { wakeup.clear() }
    return first()
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
