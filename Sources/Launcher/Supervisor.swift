internal import Folders
internal import Kernel
internal import Sandbox
internal import Synchronization
internal import SystemPackage

/// Answers the calls that an app's filter asks about: makes its connections, saves and copies its documents, and explains its
/// refusals.
///
/// On threads of its own: the app waits at each of these calls, and must not wait as long as its user looks at a picker. A
/// connection may take as long as the other side likes. So while one thread makes it, another takes up the next call; there is one
/// thread more than there are waiting calls.
final class Supervisor: Sendable {
  private let listener: SeccompListener
  private let observer: Observer?
  private let connector: Connector
  private let renamer: Renamer
  private let copier: FileCopier
  private let reporter: RefusalReporter
  /// The thread that holds it takes up the next call. True: there will be none.
  private let turn = Mutex(false)
  private let counts: Mutex<Counts>
  /// Hangs up when everything has been decided and there will be no more.
  private let decided: Descriptor

  private struct Counts {
    /// Threads, and those that have nothing to do.
    var all = 0
    var idle = 0
    /// Calls that have been taken up and have no outcome yet.
    var open = 0
    var hasEnded = false
    var deciding: Descriptor?

    var isOver: Bool { hasEnded && open == 0 }
  }

  /// Beyond these connections fail with `EAGAIN`.
  private static let mostThreads = 256

  init(
    _ listener: Descriptor, plan: SandboxPlan, instance: String, folders: AmbitFolders, reporter: RefusalReporter
  ) throws(KernelError) {
    let listener = SeccompListener(listener)
    self.listener = listener
    self.reporter = reporter
    observer = plan.observe ? Observer(listener: listener, rules: AccessRules(plan)) : nil
    connector = Connector(listener, plan: plan, observer: observer)
    renamer = Renamer(listener, plan: plan, instance: instance, folders: folders)
    copier = FileCopier(listener: listener, hostID: plan.hostID)
    let (reading, writing) = try UnixSocket.pair()
    decided = reading
    counts = Mutex(Counts(deciding: writing))
    SeccompListener.prepareConnects()
    try start()
  }

  private func start() throws(KernelError) {
    counts.withLock { $0.all += 1 }
    do throws(KernelError) {
      try Worker.start { self.run() }
    } catch {
      counts.withLock { $0.all -= 1 }
      throw error
    }
  }

  /// Waits until the last refusal has been reported, or for two seconds: a path may lead to a file system that does not answer.
  func finish() {
    var entries = [PollEntry(decided, .read)]
    _ = try? Poll.wait(&entries, timeout: .seconds(2))
  }

  // MARK: One thread

  private func run() {
    FailingCalls.holdBackSignals()
    ThreadIdentity.dropGroups()
    while let call = next() {
      serve(call)
      let isTooMany = counts.withLock { counts in
        guard counts.idle > 0 else { return false }
        counts.all -= 1
        return true
      }
      if isTooMany { return }
    }
  }

  /// The next call; `nil` when the last process of the sandbox is gone.
  private func next() -> SeccompListener.Notification? {
    counts.withLock { $0.idle += 1 }
    defer { counts.withLock { $0.idle -= 1 } }
    return turn.withLock { hasEnded in
      while !hasEnded {
        var entries = [PollEntry(listener.descriptor, .read)]
        guard (try? Poll.wait(&entries)) != nil, entries[0].returned.isEmpty || entries[0].returned.contains(.read)
        else {
          hasEnded = true
          conclude { $0.hasEnded = true }
          return nil
        }
        if entries[0].returned.isEmpty { continue }
        if let call = try? listener.next() {
          counts.withLock { $0.open += 1 }
          return call
        }
      }
      return nil
    }
  }

  private func serve(_ call: SeccompListener.Notification) {
    switch call.kind {
    case .connect: return connect(call)
    case .rename, .renameAt, .renameAt2: return rename(call)
    case .watch: return watch(call)
    case .sendFile: return send(call)
    default: break
    }
    // Without an observer, no other calls are asked about.
    guard let observer else {
      settle()
      return listener.finish(call, .notPermitted)
    }
    if let refusal = observer.refusal(of: call) { return refuse(call, refusal) }
    settle()
    listener.answer(call, nil)
  }

  private func refuse(_ call: SeccompListener.Notification, _ refusal: Refusal) {
    // The data that was read must be the caller's: a number may have passed to another process meanwhile.
    if listener.isWaiting(call) { reporter.report(refusal, call) }
    settle()
    listener.finish(call, refusal.errno)
  }

  private func connect(_ call: SeccompListener.Notification) {
    guard hasFollower() else {
      settle()
      return listener.finish(call, .resourceTemporarilyUnavailable)
    }
    switch connector.decide(call) {
    case .connect(let socket, let address, let through):
      settle()
      connector.connect(socket, to: address, through: through, for: call)
    case .fail(let errno):
      settle()
      listener.finish(call, errno)
    case .refuse(let refusal): refuse(call, refusal)
    case .none: settle()
    }
  }

  private func rename(_ call: SeccompListener.Notification) {
    settle()
    let outcome: Errno??
    switch renamer.decide(call) {
    case .goOn: return listener.answer(call, nil)
    case .fail(let errno): return listener.finish(call, errno)
    // From here on it takes its time.
    case _ where !hasFollower(): return listener.finish(call, .resourceTemporarilyUnavailable)
    case .replace(let grant, let folder, let document, let temporary):
      outcome = renamer.replace(grant, in: folder, document, by: temporary)
    case .bring(let source, let grant, let folder, let document):
      outcome = renamer.bring(source, to: grant, in: folder, document, for: call)
    case .exchange(let grant, let folder, let document, let other):
      outcome = renamer.replace(grant, in: folder, document, by: other, exchanging: true)
    case .setAside(let folder, let document, let name, let over):
      outcome = renamer.setAside(document, in: folder, as: name, over: over, for: call)
    }
    if let outcome { listener.finish(call, outcome) } else { listener.answer(call, nil) }
  }

  /// The broker knows of an app that can watch documents before it can. Told once.
  private func watch(_ call: SeccompListener.Notification) {
    settle()
    if renamer.isKnownToWatch { return listener.answer(call, nil) }
    guard hasFollower() else { return listener.finish(call, .resourceTemporarilyUnavailable) }
    // inotify_init(2) has this error for a limit of its own, so programs do without.
    if renamer.tellOfWatches() { listener.answer(call, nil) } else { listener.finish(call, .tooManyOpenFiles) }
  }

  /// From here on it takes its time, as the files' systems do.
  private func send(_ call: SeccompListener.Notification) {
    settle()
    guard hasFollower() else { return listener.finish(call, .resourceTemporarilyUnavailable) }
    do { listener.finish(call, value: try copier.copy(call)) } catch { listener.finish(call, error.errno) }
  }

  private func settle() { conclude { $0.open -= 1 } }

  /// The last one says how much was only counted: at once, while the broker knows the instance.
  private func conclude(_ change: (inout Counts) -> Void) {
    let isOver = counts.withLock { counts in
      change(&counts)
      return counts.isOver
    }
    guard isOver else { return }
    reporter.finish()
    counts.withLock { $0.deciding = nil }
  }

  /// Whether another thread takes up the next call while this one waits.
  private func hasFollower() -> Bool {
    let (isThere, mayStart) = counts.withLock { ($0.idle > 0, $0.all < Self.mostThreads) }
    return isThere || (mayStart && (try? start()) != nil)
  }
}
