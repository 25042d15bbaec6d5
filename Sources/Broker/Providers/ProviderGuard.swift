internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Root's own programs on the host, which no mode binds: they wait in `open(2)` until the content of a placeholder is here, or get an error
/// (`PRV-22`). A process of its own takes the kernel's questions (`GuardProcess`); the broker would wait for itself.
@BrokerLoop
final class ProviderGuard: LoopMember {
  private let host: BrokerHost
  private let contents: ProvidedContents
  private var keeper: GuardKeeper?
  private var isTried = false

  init(_ host: BrokerHost, _ contents: ProvidedContents) { (self.host, self.contents) = (host, contents) }

  var isGuarding: Bool { keeper?.channel != nil }

  /// Begins, if this is the host's root and the kernel can do it.
  private func begin() -> GuardKeeper? {
    if isTried { return keeper }
    isTried = true
    guard host.privileged, Namespaces.isHostRoot else { return nil }
    do {
      let log = try Descriptor.open(host.folders.brokerLog, flags: [.write, .create, .append], mode: 0o600)
      keeper = try GuardKeeper(log)
    } catch { complain("programs of root are not guarded from placeholders: \(error)") }
    return keeper
  }

  /// From now on, opens of placeholders in a folder, and in all folders in it, wait for their content.
  func watch(_ folder: LocationFolder) {
    guard let group = begin()?.group, let root = try? folder.open() else { return }
    var open = [root]
    while let next = open.popLast() {
      do throws(KernelError) { try group.watch(next) } catch { complain("\(folder.path) is not guarded: \(error)") }
      for entry in (try? DirectoryReader.entries(of: next)) ?? [] where entry.kind == .directory {
        if let inner = try? Descriptor.open(entry.name, below: next, flags: [.read, .directory, .noFollow]) {
          open.append(inner)
        }
      }
    }
  }

  var group: GuardGroup? { keeper?.group }

  /// The broker ends, and its guard with it.
  func end() {
    keeper?.end()
    keeper = nil
  }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    if let channel = keeper?.channel { entries.append(PollEntry(channel.socket, .read)) }
  }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    guard let keeper, let channel = keeper.channel, entries.contains(where: \.hasHappened) else { return }
    do throws(KernelError) {
      for _ in 0..<64 {
        guard let question = try channel.receive() else { return }
        let path = question.descriptor?.currentPath
        answer(question.file, path, on: channel)
      }
    } catch { keeper.lost(channel) }
  }

  private func answer(_ file: GuardedFile, _ path: String?, on channel: GuardChannel) {
    guard let path, contents.isProvided(path) else { return channel.answer(file, .foreign) }
    BrokerLoop.begin(Cancellation()) {
      do {
        try await self.contents.bring(path)
        channel.answer(file, .filled)
      } catch { channel.answer(file, .refused) }
    }
  }
}

/// Starts the guard's process, and another one when it dies: a thread of its own sees to that, for the loop itself may wait in an open that
/// no guard answers.
private final class GuardKeeper: Sendable {
  private let log: Descriptor
  private let state = Mutex(State())

  private struct State {
    /// `nil`: no guard can be had, and without this the kernel lets all openers go on.
    var group: GuardGroup?
    var channel: GuardChannel?
    var process: Descriptor?
    var starts = 0
    var isOver = false
  }

  private static let mostStarts = 5

  init(_ log: Descriptor) throws {
    self.log = log
    let group = try GuardGroup()
    state.withLock { $0.group = group }
    try start(group)
  }

  var group: GuardGroup? { state.withLock { $0.group } }
  var channel: GuardChannel? { state.withLock { $0.channel } }

  /// The socket says that the guard has gone.
  func lost(_ channel: GuardChannel) {
    state.withLock { if $0.channel?.socket === channel.socket { $0.channel = nil } }
  }

  func end() {
    let process = state.withLock { state in
      state.isOver = true
      state.channel = nil
      return state.process
    }
    try? process?.signalProcess(SIGTERM)
  }

  private func start(_ group: GuardGroup) throws {
    guard let program = Programs.tools.path else { throw StateError("Ambit is not installed whole") }
    let (channel, other) = try GuardChannel.pair()
    let follows = state.withLock { state in
      state.starts += 1
      return state.starts > 1
    }
    let pid = try Service.start(
      program, arguments: ["ambit", "broker", "guard", "--broker", "\(getpid())"] + (follows ? ["--follows"] : []),
      environment: ThisProcess.environment, log: log, ready: other)
    let process = try Descriptor.process(pid)
    try channel.send(group)
    state.withLock { ($0.channel, $0.process) = (channel, process) }
    try Worker.start { self.wait(for: pid) }
  }

  private func wait(for pid: Int32) {
    _ = ThisProcess.wait(pid)
    let (isOver, group) = state.withLock { state in
      state.channel = nil
      return (state.isOver, state.starts < Self.mostStarts ? state.group : nil)
    }
    guard !isOver else { return }
    do {
      guard let group else { throw StateError("its guard dies again and again") }
      try start(group)
    } catch {
      complain("programs of root are not guarded from placeholders any more: \(error)")
      state.withLock { $0.group = nil }
    }
  }
}
