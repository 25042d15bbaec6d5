internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Why a provider failed: its own error, or that it did not answer.
struct ProviderFault: Error, Sendable, CustomStringConvertible {
  /// A word of `io.ambit.Provider.Answer`.
  var word = "cannotSynchronize"
  /// A sentence without its full stop.
  let description: String
  /// The provider that answered with this word.
  var provider: String?

  /// The user can mend it, or it passes: a change that meets it stays here and is sent again (`PRV-14`).
  var isPassing: Bool { Self.passing.contains(word) }
  static let passing: Set<String> = ["notAuthenticated", "insufficientQuota", "serverUnreachable"]
}

/// The extensions of file providers: each is launched when it is needed, in a sandbox of its own, asked, and ended when it is idle.
@BrokerLoop
final class ProviderExtensions: LoopMember {
  /// An extension that serves.
  private final class Running {
    let instance: Instance
    let requests: Subscription<ProviderInterface.ServeReply>
    var lastUsed: Int64

    init(_ instance: Instance, _ requests: Subscription<ProviderInterface.ServeReply>, _ now: Int64) {
      (self.instance, self.requests, lastUsed) = (instance, requests, now)
    }
  }

  private struct Launch {
    let token: String
    let due: Int64
    var waiting: [Wait<Result<Void, ProviderFault>>] = []
  }

  private struct Asked {
    let provider: String
    let wait: Wait<Result<ProviderInterface.AnswerCall, ProviderFault>>
    let progress: (Int, Int) -> Void
    var answer: ComingAnswer

    @BrokerLoop func refuse(_ refusal: ComingAnswer.Refusal) {
      wait.finish(.failure(ProviderFault(description: "\(provider) \(refusal.reason)")))
    }
  }

  /// A provider's own picker, by its number. At its beginning also the mode and the files that can be chosen.
  struct OwnPicker {
    let id: Int
    var mode: String?
    var types: [String]?
    var several: Bool?
  }

  private let host: BrokerHost
  private let clock: any LoopClock
  private var running: [String: Running] = [:]
  private var launches: [String: Launch] = [:]
  /// By pidfds: a number may be another process's by now.
  private var launchers: [String: Descriptor] = [:]
  private var asked: [Int: Asked] = [:]
  private var nextID = 1

  /// Nanoseconds without an answer and without progress.
  nonisolated static let patience: Int64 = 20_000_000_000
  private static let startPatience: Int64 = 20_000_000_000
  /// Nanoseconds without a request.
  private let idle =
    Int64(
      ThisProcess.environment["AMBIT_PROVIDER_IDLE"].flatMap { UInt16($0) } ?? 15) * 1_000_000_000

  init(_ host: BrokerHost, _ clock: any LoopClock) { (self.host, self.clock) = (host, clock) }

  /// The container of a provider's extension; no app's identifier is like it, for no bundle can be launched under it.
  nonisolated static func container(of provider: String) -> String { "\(containers)\(provider)" }
  nonisolated static func isContainer(_ identifier: String) -> Bool { identifier.hasPrefix(containers) }
  private nonisolated static let containers = "provider."

  /// A provider says that it has changes.
  var onSignal: (_ provider: String) -> Void = { _ in }
  /// A provider wants a content away.
  var onEvict: (_ provider: String, _ item: String) async throws -> Void = { _, _ in }

  /// A provider is in use, though it is asked nothing.
  var isInUse: (_ provider: String, _ now: Int64) -> Bool = { _, _ in false }

  func isRunning(_ provider: String) -> Bool { running[provider] != nil }
  /// The launch of the running extension.
  func launch(of provider: String) -> String? { running[provider]?.instance.id }
  var now: Int64 { clock.monotonic }

  /// The identity on the host of the running extension's files; `nil`: the user's own.
  func hostID(of provider: String) -> UInt32? { running[provider]?.instance.hostID }

  // MARK: Asking

  /// Asks a provider, and waits for its answer for a bounded time.
  func ask(
    _ provider: EnabledProvider, _ kind: ProviderInterface.Request.Kind, _ identifier: String, path: String? = nil,
    page: String? = nil, named filename: String? = nil, parent: String? = nil,
    size: Int? = nil, bytes: Int = 0, reply: ProviderFormReply? = nil, picker: OwnPicker? = nil,
    patience: Int64 = patience,
    progress: @escaping (_ completed: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> ProviderInterface.AnswerCall {
    try await start(provider)
    guard let server = running[provider.identifier] else {
      throw ProviderFault(word: "serverUnreachable", description: "\(provider.name) has ended")
    }
    let id = nextID
    nextID += 1
    let wait = Wait<Result<ProviderInterface.AnswerCall, ProviderFault>>()
    let now = clock.monotonic
    asked[id] = Asked(
      provider: provider.identifier, wait: wait, progress: progress,
      answer: ComingAnswer(kind, patience: patience, size: bytes, now: now))
    defer { asked[id] = nil }
    server.lastUsed = now
    server.requests.send(
      .init(
        request: .init(
          id: id, kind: kind, identifier: identifier, path: path, page: page, filename: filename, parent: parent,
          size: size, reply: reply, picker: picker?.id, mode: picker?.mode, types: picker?.types,
          several: picker?.several)))
    let answer = try await wait.get().get()
    if let word = answer.error {
      let reason = answer.reason.map { ": \($0.cut(toBytes: 300))" } ?? ""
      let word = word.cut(toBytes: 60)
      throw ProviderFault(
        word: word, description: "\(provider.name) says \(word)\(reason)", provider: provider.identifier)
    }
    return answer
  }

  // MARK: Launching

  private func start(_ provider: EnabledProvider) async throws {
    guard running[provider.identifier] == nil else { return }
    let wait = Wait<Result<Void, ProviderFault>>()
    if launches[provider.identifier] == nil { launches[provider.identifier] = try launch(provider) }
    launches[provider.identifier]?.waiting.append(wait)
    try await wait.get().get()
  }

  private func launch(_ provider: EnabledProvider) throws -> Launch {
    guard let ambit = Programs.ambit.path else {
      throw ProviderFault(word: "serverUnreachable", description: "Ambit is not installed whole")
    }
    let token = (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }.joined()
    let null = try DeviceNode.null.open([.readWrite])
    let output = try Descriptor.pipe()
    // An unprivileged broker lives in namespaces of its own, and so will its launcher.
    try Namespaces.passCapabilitiesOn()
    let launcher = try Service.start(
      ambit,
      arguments: [
        "ambit", "run", "--policy", "provider", "--container", Self.container(of: provider.identifier), "--",
        provider.program, "--file-provider", token, provider.identifier,
      ], environment: ThisProcess.environment, log: output.writing, ready: null)
    try? launchers.removeValue(forKey: provider.identifier)?.signalProcess(SIGTERM)
    // Before it can be reaped.
    launchers[provider.identifier] = try? Descriptor.process(launcher)
    try? Worker.start { [reading = output.reading, name = provider.name] in
      ExtensionOutput.keep(reading) { complain("\(name): \($0)") }
      _ = ThisProcess.wait(launcher)
    }
    return Launch(token: token, due: clock.monotonic + Self.startPatience)
  }

  // MARK: The extension's side

  /// - Returns: `nil`: further answers are requests.
  func serve(
    _ call: CheckedCall, on connection: WireConnection, for instance: Instance
  ) async throws -> Answer? {
    switch call.member {
    case "Serve":
      let token = try ProviderInterface.ServeCall(json: call.parameters).token
      guard
        let (provider, launch) = launches.first(where: {
          $0.value.token == token && Self.container(of: $0.key) == instance.app.bundleIdentifier
        })
      else { throw ProviderInterface.Failure.notAProvider("the broker has not launched it for a provider") }
      launches[provider] = nil
      running[provider] = Running(instance, Subscription(connection, lost: nil), clock.monotonic)
      for wait in launch.waiting { wait.finish(.success(())) }
      return nil
    case "Progress":
      let request = try ProviderInterface.ProgressCall(json: call.parameters)
      guard isAsked(request.id, instance), let each = asked[request.id] else { break }
      asked[request.id]?.answer.progress(request.completed, now: clock.monotonic)
      let total = max(0, request.total)
      each.progress(min(max(0, request.completed), total), total)
    case "Signal":
      _ = try ProviderInterface.SignalCall(json: call.parameters)
      onSignal(try provider(of: instance))
    case "Evict":
      let item = try ProviderInterface.EvictCall(json: call.parameters).identifier
      do { try await onEvict(try provider(of: instance), item) } catch let error as ErrorReply {
        // The extension may know why its own document stays, but not where it lies.
        throw ProviderInterface.Failure.notDone((try? error.parameters.string("reason")) ?? "it stays")
      }
    case "Part":
      let part = try ProviderInterface.PartCall(json: call.parameters)
      // Taken out: a second reference would have all parts until now copied for each new one.
      guard isAsked(part.id, instance), var each = asked.removeValue(forKey: part.id) else { break }
      do throws(ComingAnswer.Refusal) {
        try each.answer.take(part, now: clock.monotonic)
        asked[part.id] = each
      } catch { each.refuse(error) }
    default:
      let answer = try ProviderInterface.AnswerCall(json: call.parameters)
      guard isAsked(answer.id, instance), var each = asked.removeValue(forKey: answer.id) else { break }
      do throws(ComingAnswer.Refusal) { each.wait.finish(.success(try each.answer.whole(answer))) } catch {
        each.refuse(error)
      }
    }
    return Answer([:])
  }

  /// The provider that an instance serves.
  private func provider(of instance: Instance) throws -> String {
    guard let provider = running.first(where: { $0.value.instance === instance })?.key else {
      throw ProviderInterface.Failure.notAProvider("it serves no provider")
    }
    return provider
  }

  private func isAsked(_ id: Int, _ instance: Instance) -> Bool {
    guard let provider = asked[id]?.provider else { return false }
    return running[provider]?.instance === instance
  }

  /// A connection is closed.
  func left(_ connection: WireConnection) {
    for (provider, server) in running where server.requests.connection === connection { ended(provider) }
  }

  /// A launch is over.
  func ended(_ instance: Instance) {
    for (provider, server) in running where server.instance === instance { ended(provider) }
  }

  private func ended(_ provider: String) {
    running[provider] = nil
    // Its process may go on without its connection, and is of no use then.
    try? launchers.removeValue(forKey: provider)?.signalProcess(SIGTERM)
    let fault = ProviderFault(word: "serverUnreachable", description: "the provider \(provider) has ended")
    for each in asked.values where each.provider == provider { each.wait.finish(.failure(fault)) }
  }

  /// Ends a provider's extension.
  func stop(_ provider: String) {
    ended(provider)
    let fault = ProviderFault(word: "serverUnreachable", description: "the provider \(provider) was ended")
    for wait in launches.removeValue(forKey: provider)?.waiting ?? [] { wait.finish(.failure(fault)) }
    try? launchers.removeValue(forKey: provider)?.signalProcess(SIGTERM)
  }

  /// The broker ends: no extension outlives it.
  func stopAll() {
    for provider in Set(launchers.keys).union(launches.keys) { stop(provider) }
  }

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? {
    if asked.isEmpty, launches.isEmpty, running.isEmpty { return nil }
    let dues = asked.values.map(\.answer.due) + launches.values.map(\.due)
    return (dues + running.values.map { $0.lastUsed + idle }).min()
  }

  func finishTurn(now: Int64) {
    for (provider, server) in running {
      guard !server.requests.isOver else {
        ended(provider)
        continue
      }
      server.requests.flush()
      if asked.values.contains(where: { $0.provider == provider }) {
        server.lastUsed = now
      } else if server.lastUsed + idle <= now {
        if isInUse(provider, now) { server.lastUsed = now } else { stop(provider) }
      }
    }
    for each in asked.values where each.answer.due <= now {
      let reason = "the provider \(each.provider) \(each.answer.lateness)"
      each.wait.finish(.failure(.init(word: "serverUnreachable", description: reason)))
    }
    for (provider, launch) in launches where launch.due <= now {
      let fault = ProviderFault(
        word: "serverUnreachable",
        description: "the provider \(provider) could not be launched; the broker's log says why")
      for wait in launch.waiting { wait.finish(.failure(fault)) }
      stop(provider)
    }
  }
}
