internal import Folders
internal import Kernel
internal import PickerUI
internal import Sandbox
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// One launch of an app from beginning to end: set up, hand over to the broker, stand between the app and the user's
/// terminal, and tell how it ended.
final class AppSession {
  let request: LaunchRequest
  let folders: AmbitFolders
  private let environment: [String: String]
  var front: PickFrontEnd
  /// The broker's answer.
  let prepared: LauncherInterface.PrepareReply
  private let broker: WireClient
  /// The descriptors that came with the answer: the filters, the broker's namespaces if it has its own, and a network's if one was
  /// ready.
  private let descriptors: [Descriptor]
  private var handover: [Descriptor] = []
  var prompts: WireClient?
  var answers: WireClient?
  var outcome: Int32?
  var report: (status: Int32, signal: Int32)?
  private var endTold = false
  /// The app could not be started.
  var hasFailed = false
  /// The init has ended without a word of its app, and not by a limit.
  var isGone = false
  private let layout: SystemLayout
  /// The file that is executed, as it was when the broker looked at it.
  private let executed: FileStatus

  /// Asks the broker for an instance.
  init(_ request: LaunchRequest, folders: AmbitFolders, environment: [String: String]) throws {
    self.request = request
    self.folders = folders
    self.environment = environment
    status = try request.statusDescriptor.map { try StatusStream(number: $0) }
    front = PickFrontEnd(
      answers: request.answers.map { ScriptedPicker(answers: $0) }, folders: folders, environment: environment,
      face: request.face)
    let files = try LaunchedFiles(request)
    let given = try request.given.map { each throws(Failure) in try each.opened() }
    executed = files.executed
    var layout: SystemLayout?
    (broker, prepared, descriptors) = try Self.prepare(request, files, given, folders, environment) {
      // The broker is at work, on another processor if there is one.
      layout = layout ?? .current()
    }
    self.layout = layout ?? .current()
    admission = try Admission(prepared.capabilities, allowing: request.allowDegraded)
    for notice in prepared.notices { Failure.say(notice) }
  }

  /// - Returns: the exit status.
  func run() throws -> Int32 {
    var rest = descriptors
    var network = prepared.network ? rest.popLast() : nil
    // A launcher stays in a network that was made for its app, and the picker's page belongs to the host's.
    if front.isOnPage { network = nil }
    let filters = rest.prefix(prepared.filters)
    guard !filters.isEmpty, filters.count == prepared.filters else {
      throw Failure("the broker sent no filter; stop it and try again")
    }
    try enter(Array(rest.dropFirst(filters.count)))
    let streams = try StandardStreams(network: NetworkReach(rawValue: prepared.capabilities.network) ?? .none)
    // From here on signals are read in the loop; the sandbox's processes start with none held back.
    let signals = try SignalQueue([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH])
    let programs = try filters.map { SeccompProgram(bytes: try MemoryFile.content(of: $0)) }
    defer { group?.remove(after: process) }
    let sandbox = try launch(streams, programs, network)
    try streams.begin(fileSize: plan?.usage.fileSize)
    // Also where the launch comes to nothing.
    defer { _ = streams.finish() }
    // While the sandbox is being built, by another process.
    let records = LauncherRecords(folders)
    try? records.add(prepared.instance, init: sandbox.pid)
    // A launch keeps its record if no broker was told of its end: the next broker writes that end down.
    var isSettled = true
    defer {
      if isSettled {
        records.remove(prepared.instance)
        SuspensionRecords(folders).remove(prepared.instance)
      }
    }
    let prompts = try BrokerConnection.connect(folders)
    let terminal = try waitUntilReady(sandbox, streams)
    do {
      try attach(broker, sandbox, resume: false)
    } catch {
      try? sandbox.process.signalProcess(SIGKILL)
      throw error
    }
    isSettled = false
    // The broker knows the app; if it leaves now, that is as if it left a moment later.
    do { try subscribe(prompts) } catch { reattach(sandbox) }
    let proxy = try terminal.map { try TerminalProxy(master: $0, streams: streams) }
    if !admission.degraded.isEmpty { status?.degraded(admission.degraded) }
    status?.started(instance: prepared.instance, pid: sandbox.pid, mountNamespace: handover.dropFirst().first)
    if try group?.awaitEntry() == true { try sandbox.entered() }
    try sandbox.go()
    if !request.given.isEmpty {
      status?.send("granted", ["how": "user", "documents": .array(request.given.map { .string($0.path) })])
    }
    // The app runs from here on, on another processor if there is one.
    startWatching(sandbox)
    try loop(sandbox, signals, proxy)
    // The supervisor's last reports about the app come before the app's end.
    supervisor?.finish()
    proxy?.drain()
    proxy?.restore()
    tell(streams.finish())
    tellLimit()
    tellEndedSuspended()
    if let last = try? finish() {
      isSettled = true
      tell(last)
    }
    tellGone(sandbox)
    if let report, !hasFailed { status?.ended(status: report.status, signal: report.signal) }
    return outcome ?? 125
  }

  private static func prepare(
    _ request: LaunchRequest, _ files: LaunchedFiles, _ given: [Descriptor], _ folders: AmbitFolders,
    _ environment: [String: String],
    meanwhile: () -> Void
  ) throws -> (WireClient, LauncherInterface.PrepareReply, [Descriptor]) {
    var call = request.prepareCall(environment, files)
    call.canAsk = TerminalQuestion.isPossible
    var asked: Set<LauncherInterface.Question.Kind> = []
    while true {
      do {
        return try BrokerConnection.beginLaunch(folders) { broker in
          // Later the terminal is the app's.
          defer { broker.setPatience(nil) }
          try broker.send(LauncherInterface.prepare, call.json, descriptors: files.descriptors + given)
          meanwhile()
          guard let answer = try broker.receive(wait: true) else { throw WireError.closed }
          return (broker, try .init(json: answer.parameters), answer.descriptors)
        }
      } catch WireError.remote(LauncherInterface.Failure.needsAnswerName, let parameters) {
        let question = try LauncherInterface.Question(json: try parameters.object("question"))
        // The broker takes an answer, or it is of another mind than this launcher.
        guard asked.insert(question.kind).inserted else { throw Failure("the broker asks the same question again") }
        call.answers.append(.init(question.kind, try TerminalQuestion.ask(question)))
      } catch WireError.remote(LauncherInterface.Failure.notGivenName, let parameters) {
        let index = (try? parameters.int("index")) ?? 0
        let document = request.given.indices.contains(index) ? request.given[index] : nil
        let reason = (try? parameters.string("reason")) ?? "it may not have it"
        throw Failure(
          document?.refusal(reason, app: request.appPath) ?? "a document cannot be given to it: \(reason)")
      } catch let error as WireError { throw Failure(error) }
    }
  }

  private func call(
    _ client: WireClient, _ method: String, _ parameters: JSONObject, _ descriptors: [Descriptor] = []
  ) throws -> WireClient.Answer {
    do { return try client.call(method, parameters, descriptors: descriptors) } catch { throw Failure(error) }
  }

  // MARK: Setting up

  /// Moves into the broker's namespaces, if it has its own: apps are then their children, and the broker can mount the files that
  /// this process opens.
  private func enter(_ namespaces: [Descriptor]) throws {
    guard namespaces.count == 2 else { return }
    let here = ThisProcess.directory
    do throws(KernelError) {
      // Already there: the broker found that it could mount where it was started.
      if try namespaces[0].status().inode == Namespaces.own("user").status().inode { return }
      try Namespaces.join(namespaces[0], .user)
      try Namespaces.join(namespaces[1], .mount)
      try Namespaces.ownProcEntries()
    } catch {
      throw Failure(
        "the running broker's namespaces cannot be entered: \(error). Stop it with “ambit broker stop” and try again.")
    }
    // Joining a mount namespace leads to its root. From here on, relative paths mean the same as for the user.
    _ = unsafe chdir(here.kernel)
  }

  private func launch(
    _ streams: StandardStreams, _ filters: [SeccompProgram], _ network: Descriptor?
  ) throws -> LaunchedInit {
    let plan = SandboxPlan(request.sandboxRequest(prepared, environment: environment), on: layout)
    self.plan = plan
    group = LaunchGroup.make(for: plan, instance: prepared.instance, folders)
    let isAsked = admission.isAsked
    if isAsked { try admit(plan) }
    let sandbox: LaunchedInit
    do throws(KernelError) {
      sandbox = try SandboxLauncher.start(
        plan, filter: filters[0], profiles: Array(filters.dropFirst()), network: network, group: group?.group,
        executable: executed, standardStreams: streams.forApp)
      process = sandbox.process
      try group?.add(sandbox.pid)
    } catch {
      throw Failure("the sandbox cannot be set up: \(error)")
    }
    // Facts that only have to be noted are looked up while the init is at work.
    if !isAsked { try admit(plan) }
    return sandbox
  }

  /// Before anything is made: a launch in which a layer that the policy requires does not hold in full is none, unless the
  /// user lets it.
  private func admit(_ plan: SandboxPlan) throws { try admit(LayerReport(plan, on: features(plan))) }

  /// With the control groups that exist, not those that should exist.
  private func features(_ plan: SandboxPlan) -> SystemFeatures {
    .current(for: plan, groups: plan.usage.wantsGroup ? group?.group.controllers ?? [] : nil)
  }

  /// Only setting the sandbox up shows whether there was still room for a key ring in the user's quota (`keyrings(7)`).
  private func admit(sharingKeyring errno: Errno) throws {
    guard let plan, !admission.isDegraded(.keyring) else { return }
    let reason =
      errno == Self.quotaExceeded ? "the user's quota of keys is used up" : "keyctl(2) answers \(errno.symbol)"
    try admit(LayerReport(plan, on: features(plan), found: LayerReport.sharedKeyring(reason)))
  }
  private static let quotaExceeded = Errno(rawValue: EDQUOT)

  private func admit(_ report: LayerReport) throws {
    guard let refusal = admission.refusal(report) else { return }
    tellRefused(refusal)
    throw Failure(refusal)
  }

  /// For the log. The launch is over whether or not the broker can be told.
  private func tellRefused(_ refusal: String) {
    let message = LauncherInterface.DeniedCall(
      instance: prepared.instance, operation: "launch", path: nil, call: nil, error: "", rule: "layers",
      reason: refusal, remedy: "", suppressed: 0)
    _ = try? broker.call(LauncherInterface.denied, message.json)
  }

  private var admission: Admission
  var plan: SandboxPlan?
  /// The descriptor on which the app's filter asks, until the supervisor answers.
  private var listener: Descriptor?
  private var supervisor: Supervisor?
  /// The sandbox's own `/proc`, until it is watched.
  var processes: Descriptor?
  /// The same, as long as the app runs.
  var table: Descriptor?
  /// Tells of the sockets in the sandbox's network.
  var sockets: Descriptor?
  var watch: UsageWatch?
  var group: LaunchGroup?
  /// The init's pidfd, once there is one.
  private var process: Descriptor?
  /// The limit that ended the app.
  var excess: LimitExcess?
  /// The signal for which the app was ended while it was suspended.
  var endedSuspended: Int32?
  let status: StatusStream?

  private func waitUntilReady(_ sandbox: LaunchedInit, _ streams: StandardStreams) throws -> Descriptor? {
    switch try sandbox.receive() {
    case .ready(
      let mountNamespace, let documents, let listener, let processes, let sockets, let terminal, let keyring):
      if let keyring, keyring != .noFunction { try admit(sharingKeyring: keyring) }
      (self.processes, table) = (processes, processes)
      self.sockets = sockets
      handover = [sandbox.process, mountNamespace, documents, listener, processes]
      return terminal
    case .failed(let stage, let errno, let step): throw Failure(stage, errno, step: step, of: plan)
    default: throw Failure("the sandbox ended before it was set up")
    }
  }

  private func attach(_ broker: WireClient, _ sandbox: LaunchedInit, resume: Bool) throws {
    let request = LauncherInterface.AttachCall(
      instance: prepared.instance, bundleIdentifier: prepared.bundleIdentifier, name: prepared.name,
      policy: prepared.capabilities.policy, scopeLimit: prepared.capabilities.scopeLimit,
      references: prepared.capabilities.references, replaced: prepared.capabilities.replaced, pid: Int(sandbox.pid),
      resume: resume, degraded: admission.degraded, grants: prepared.capabilities.grants,
      path: prepared.path, digest: prepared.digest)
    _ = try call(broker, LauncherInterface.attach, request.json, handover)
  }

  private func subscribe(_ client: WireClient) throws {
    try client.send(
      LauncherInterface.prompts, LauncherInterface.PromptsCall(instance: prepared.instance).json, more: true)
    prompts = client
  }

  // MARK: Running

  private func loop(_ sandbox: LaunchedInit, _ signals: SignalQueue, _ proxy: TerminalProxy?) throws {
    var ended = false
    while !ended {
      var entries = [PollEntry(sandbox.control, .read), PollEntry(signals.descriptor, .read)]
      let listenerIndex = listener.map { listener in
        entries.append(PollEntry(listener, .read))
        return entries.count - 1
      }
      let promptsIndex = prompts.map { client in
        entries.append(PollEntry(client.socket, .read))
        return entries.count - 1
      }
      let proxyRange = proxy?.appendEntries(to: &entries) { isSuspended }
      try Poll.wait(&entries, timeout: watch?.timeout)
      watch?.look()

      if let listenerIndex { try supervise(entries[listenerIndex].returned) }
      while let signal = try signals.next() { try pass(signal, to: sandbox, proxy) }
      if let proxyRange, let proxy {
        let signals = proxy.process(entries[proxyRange]) { isSuspended }
        for signal in signals { try pass(signal, to: sandbox, proxy) }
      }
      if !entries[0].returned.isEmpty { ended = try hear(sandbox, proxy) }
      if !ended, let promptsIndex, !entries[promptsIndex].returned.isEmpty {
        try askUser(sandbox, proxy)
      }
    }
  }

  /// One message of the init. `true` when there will be no more.
  private func hear(_ sandbox: LaunchedInit, _ proxy: TerminalProxy?) throws -> Bool {
    switch try sandbox.receive() {
    case .failed(let stage, let errno, let step):
      let failure = Failure(stage, errno, step: step, of: plan)
      outcome = failure.status
      hasFailed = true
      proxy?.restore()
      failure.report()
      status?.send("failed", ["reason": .string(failure.description), "status": JSONValue(Int(failure.status))])
    case .exited(let status, let signal, let leftSomebody, let cpuTime):
      report = (status, signal)
      excess = watch?.excess ?? processorTime(signal, cpuTime)
      outcome = outcome ?? (excess?.limit == .wallTime ? 124 : signal == 0 ? status : 128 + signal)
      // The broker notes it while the kernel takes the sandbox down; a supervisor may have something to say before.
      if supervisor == nil { tellEnd() }
      // Nothing runs any more when this process returns to its shell.
      if leftSomebody { try waitForEnd(of: sandbox) }
      return true
    case .stopped(let signal): if isJobStop(signal) { try stop(with: signal, sandbox, proxy) }
    case .ended:
      endByLimit()
      return true
    case .started(let listener): self.listener = listener
    case .ready: break
    }
    return false
  }

  /// The kernel ends a namespace's processes before their init counts as ended.
  func waitForEnd(of sandbox: LaunchedInit) throws {
    var entries = [PollEntry(sandbox.process, .read)]
    try Poll.wait(&entries)
  }

  /// At the first call that the app's filter asks about. Most programs make none, and need no threads here.
  private func supervise(_ events: PollEvents) throws {
    guard let plan, let listener, !events.isEmpty else { return }
    // Hung up: the last process of the sandbox is gone.
    self.listener = nil
    guard events.contains(.read) else { return }
    let reporter = RefusalReporter(
      instance: prepared.instance, folders: folders, trace: request.trace, status: status)
    supervisor = try Supervisor(
      listener, plan: plan, instance: prepared.instance, folders: folders, reporter: reporter)
  }

  /// The app was stopped from its terminal, so this process stops as well, and the user's shell is back.
  func stop(with signal: Int32, _ sandbox: LaunchedInit, _ proxy: TerminalProxy?) throws {
    guard hasShell else {
      // Without a process to continue it, the kernel would not have stopped an unconfined program either.
      if signal != SIGSTOP { try sandbox.signal(SIGCONT, group: true) }
      return
    }
    proxy?.restore()
    // The whole job, as the terminal does it: the programs at the other ends of its pipes stop with it.
    kill(0, SIGSTOP)
    // Here again after SIGCONT, which the loop reads next.
  }

  var hasShell: Bool {
    let parent = getppid()
    return getsid(parent) == getsid(0) && getpgid(parent) != getpgrp()
  }

  private func pass(_ signal: Int32, to sandbox: LaunchedInit, _ proxy: TerminalProxy?) throws {
    if isSuspended, try passToSuspended(signal, sandbox, proxy) { return }
    switch signal {
    case SIGWINCH: proxy?.resize()
    case SIGCONT:
      try? proxy?.takeTerminal()
      proxy?.resize()
      try? sandbox.signal(SIGCONT, group: true)
    // A key's signal goes to the whole job.
    case SIGINT, SIGQUIT, SIGTSTP: try? sandbox.signal(signal, group: true)
    default: try? sandbox.signal(signal, group: false)
    }
  }

  /// The broker died. Another one takes the app over; the app's scopes are over (`AUD-10`).
  func reattach(_ sandbox: LaunchedInit) {
    prompts = nil
    answers = nil
    // The app is over, and the descriptors that another broker would need are closed; ``finish()`` tells that broker.
    guard !endTold else { return }
    // A process that is dying closes its descriptors one by one: for a moment its socket still takes connections. How long that
    // is, and how soon another one can begin, is up to disk and machine.
    let due = Clock.monotonic() + Self.reattaching
    while true {
      do {
        try attach(try BrokerConnection.connect(folders), sandbox, resume: true)
        try subscribe(try BrokerConnection.connect(folders))
        return
      } catch {
        guard Clock.monotonic() >= due else {
          usleep(50_000)
          continue
        }
        Failure("the broker is gone and cannot be replaced, so the app gets no more documents: \(error)").report()
        // No other broker could resume it.
        resume()
        return
      }
    }
  }

  /// Nanoseconds.
  private static let reattaching: Int64 = 10_000_000_000

  private var ending: LauncherInterface.EndedCall? {
    (report ?? (isGone ? (128 + SIGKILL, SIGKILL) : nil)).map { report in
      .init(
        instance: prepared.instance, status: Int(outcome ?? report.status), signal: Int(report.signal),
        limit: excess.flatMap { excess in
          LauncherInterface.LimitHit.Limit(rawValue: excess.limit.rawValue).map {
            .init(limit: $0, value: excess.value, ceiling: excess.ceiling)
          }
        })
    }
  }

  /// Says how the app ended; the answer is taken in ``finish()``.
  private func tellEnd() {
    guard !endTold, let ending else { return }
    // The process that closes the last descriptor of the sandbox's mounts waits for the kernel to take them down. The broker does
    // so after its answer; the user's shell need not wait.
    (handover, table) = ([], nil)
    endTold = (try? broker.send(LauncherInterface.ended, ending.json)) != nil
  }

  private func finish() throws -> LauncherInterface.EndedReply? {
    guard let ending else { return nil }
    tellEnd()
    if endTold, let answer = try? broker.receive(wait: true) { return try .init(json: answer.parameters) }
    // Another broker has taken the app over since.
    return try BrokerConnection.askRunning(folders) {
      try .init(json: $0.call(LauncherInterface.ended, ending.json).parameters)
    }
  }
}
