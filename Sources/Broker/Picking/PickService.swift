internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// The document picker's half in the broker (`io.ambit.Picker`): it passes the question to the user's side, and turns the documents that
/// come back, as open descriptors, into grants.
@BrokerLoop
final class PickService {
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let locator: DocumentLocator
  private let places: OfferedPlaces
  private let handover: DocumentHandover
  private let scopes: ScopeService
  private let sidecars: SidecarKeeper
  private let copies: PickedCopies
  private let items: CoordinatedItems
  private let clock: any LoopClock
  private let loop: EventLoop
  private let recents: RecentKeeper

  init(
    _ trail: AuditTrail, _ sessions: SessionTable, _ locator: DocumentLocator,
    _ places: OfferedPlaces, _ handover: DocumentHandover, _ scopes: ScopeService,
    _ sidecars: SidecarKeeper, _ copies: PickedCopies, _ items: CoordinatedItems,
    _ clock: any LoopClock, _ loop: EventLoop, _ recents: RecentKeeper
  ) {
    (self.trail, self.sessions, self.locator) = (trail, sessions, locator)
    (self.places, self.handover, self.scopes) = (places, handover, scopes)
    (self.sidecars, self.copies, self.items, self.clock) = (sidecars, copies, items, clock)
    (self.loop, self.recents) = (loop, recents)
  }

  /// Asks the user, and answers with the chosen documents.
  func pick(_ call: CheckedCall, for instance: Instance) async throws -> Answer {
    var request = try PickerInterface.PickCall(json: call.parameters)
    guard (request.types ?? []).allSatisfy(\.isExtension) else { throw ErrorReply.invalidParameter("types") }
    // A browser shows documents; folders are for the picker (`PCK-11`).
    guard request.browser == nil || (request.mode == .open && request.kind == .file) else {
      throw ErrorReply.invalidParameter("browser")
    }
    try Self.check(request.browser)
    // A source that cannot be handed over is refused before the user is asked. After a wait the sources are opened anew.
    var sources = try copies.sources(request, instance)
    // The user chooses a folder then; it is not handed to the app.
    let isHanding = !sources.isEmpty
    if isHanding { (request.kind, request.types) = (.folder, nil) }
    #if AMBIT_MUTANTS
      if Mutant.typesIgnored.isActive { request.types = nil }
      if Mutant.severalForOne.isActive { request.multiple = true }
    #endif
    // More than its policy lets it have, an app is not given; so the user is not asked for more either.
    if instance.app.rules.readOnly { request.access = .readOnly }
    if let refusal = instance.app.decisions.refusal(
      ofAsking: request.mode.rawValue, folder: request.kind == .folder && !isHanding)
    {
      let asked = [
        AuditEvent.Fact.mode: request.mode.rawValue, AuditEvent.Fact.documentKind: request.kind.rawValue,
      ]
      try trail.decide([
        AuditEvent(.pick, .refused, instance, rule: refusal.rule, reason: refusal.reason, detail: asked)
      ])
      throw PickerInterface.Failure.notGrantable(refusal.reason)
    }
    guard instance.picker.prompts != nil || instance.picker.awaitsPrompts else {
      let reason = "the app's launcher takes no questions for its user"
      try trail.decide([AuditEvent(.pick, .refused, instance, reason: reason)])
      throw PickerInterface.Failure.noUser(reason)
    }
    if instance.picker.asksAgain > clock.monotonic {
      sources = []
      try await slowDown(instance)
      sources = try copies.sources(request, instance)
    }
    // Each holds files of the app's open.
    let waiting = instance.picker.picks
    guard waiting.count < Self.mostWaiting,
      waiting.reduce(sources.count, { $0 + $1.sources.count }) <= PickedCopies.mostSources
    else { throw PickerInterface.Failure.noUser("too many of the app's questions wait already") }
    instance.picker.lastPick += 1
    let pending = PendingPick(
      id: instance.picker.lastPick, call: request, caller: Caller(call, for: request.process), answer: Wait(),
      sources: sources, copying: Cancellation())
    instance.picker.picks.append(pending)
    if instance.picker.picks.count == 1 { ask(instance) }
    do { return Answer(try await pending.answer.get().get()) } catch {
      // The app has gone, or its connection: a choice made for it must grant nothing, and a copy for it goes.
      pending.ticket.withdraw()
      // What was imported by then goes with the launch.
      if request.mode == .import { pending.copying.cancel() }
      withdraw(pending.id, instance)
      throw error
    }
  }

  /// Questions of one launch.
  private static let mostWaiting = 16

  /// An app that asks again and again, although its user has cancelled, is heard later and later.
  private func slowDown(_ instance: Instance) async throws {
    let due = instance.picker.asksAgain
    guard due > clock.monotonic else { return }
    let wait = Wait<Bool>()
    loop.end(wait, at: due)
    _ = try await wait.get()
    guard sessions.isRunning(instance) else { throw PickerInterface.Failure.noUser("the app has ended") }
  }

  private func remove(_ id: Int, _ instance: Instance) {
    let asked = instance.picker.picks.first?.id
    instance.picker.picks.removeAll { $0.id == id }
    if instance.picker.picks.first?.id != asked { ask(instance) }
  }

  /// The app has closed its request: its picker goes away, if it is the one that is shown (`PCK-19`).
  private func withdraw(_ id: Int, _ instance: Instance) {
    let isShown = instance.picker.picks.first?.id == id && !instance.picker.isFormShown
    remove(id, instance)
    #if AMBIT_MUTANTS
      if Mutant.closedRequestStays.isActive { return }
    #endif
    guard isShown, sessions.isRunning(instance) else { return }
    let reason = "the app closed its request"
    try? trail.decide([AuditEvent(.pickCancelled, .refused, instance, rule: "PCK-19", reason: reason)])
    if instance.picker.picks.isEmpty, !instance.picker.isFormShown {
      instance.picker.prompts?.send(LauncherInterface.PromptsReply(request: nil))
    }
  }

  /// A launcher takes the questions of its app from now on.
  func takeQuestions(of instance: Instance, on connection: WireConnection) {
    instance.picker.prompts = Subscription(connection, lost: nil)
    instance.picker.awaitsPrompts = false
    instance.picker.isFormShown = false
    ask(instance)
  }

  /// Puts the first waiting question to the user.
  func ask(_ instance: Instance) {
    // One at a time: the next message would say that the former question is over.
    guard sessions.isRunning(instance), !instance.picker.isFormShown, let prompts = instance.picker.prompts else {
      return
    }
    if instance.picker.picks.isEmpty, let form = instance.picker.forms.first {
      instance.picker.isFormShown = true
      return prompts.send(LauncherInterface.PromptsReply(form: form.request))
    }
    guard let first = instance.picker.picks.first else { return }
    let request = LauncherInterface.PickRequest(
      id: first.id, call: first.call, allowed: instance.app.rules.types,
      packages: instance.app.packages.extensions.sorted(),
      places: places.places(for: instance.app.bundleIdentifier),
      startsAt: first.call.directory.flatMap { place(of: $0, instance) },
      names: first.sources.isEmpty ? nil : first.sources.map(\.name),
      appName: instance.app.name, browser: first.call.browser != nil, creates: first.call.browser?.creates ?? false,
      recents: first.call.browser == nil ? [] : recents.paths, actions: first.call.browser?.actions ?? [])
    prompts.send(LauncherInterface.PromptsReply(request: request))
  }

  /// Where a document lies that the app names. Of its container the user's picker shows nothing.
  private func place(of path: String, _ instance: Instance) -> String? {
    guard let item = try? items.item(path, for: instance), item.grant != nil else { return nil }
    return item.mapping.host(path.withoutTrailingSlashes)?.text
  }

  /// The launcher takes no more questions: those that wait are answered for it.
  func userLeft(_ instance: Instance) {
    instance.picker.prompts = nil
    let (waiting, forms) = (instance.picker.picks, instance.picker.forms)
    (instance.picker.picks, instance.picker.forms, instance.picker.isFormShown) = ([], [], false)
    for form in forms { form.answer.finish(nil) }
    for pick in waiting { pick.answer.finish(.failure(PickerInterface.Failure.noUser("the app's launcher is gone"))) }
  }

  /// The user's answer (`io.ambit.Launcher.Answer`).
  func answer(
    _ answer: LauncherInterface.AnswerCall, documents: [Descriptor], _ instance: Instance
  ) async throws -> LauncherInterface.AnswerReply {
    guard instance.picker.picks.first?.id == answer.id else { return Self.tooLate }
    if answer.creates { return try await beginCreation(documents, answer, instance) }
    let chosen: Result<[Chosen], any Error>
    do {
      let isChosen = answer.unavailable == nil && !answer.cancelled
      chosen = .success(isChosen ? try await examine(documents, answer, instance) : [])
    } catch {
      if error is CancellationError { throw error }
      chosen = .failure(error)
    }
    // While they were looked at, the app may have gone, or another answer may have come.
    guard sessions.isRunning(instance), let pick = instance.picker.picks.first, pick.id == answer.id else {
      return Self.tooLate
    }
    defer { remove(pick.id, instance) }
    if answer.how == .user {
      instance.picker.cancelled = answer.cancelled ? instance.picker.cancelled + 1 : 0
      instance.picker.lastCancelled = clock.monotonic
    }
    if let action = answer.action, let refused = try refusal(of: action, chosen, pick, instance) {
      pick.answer.finish(.failure(PickerInterface.Failure.cancelled))
      return .init(refused: [refused])
    }
    do {
      let (reply, told) = try decide(answer, chosen, pick, instance)
      if let reply { pick.answer.finish(reply) }
      return told
    } catch {
      // It cannot be written down, so nothing is granted.
      pick.answer.finish(.failure(PickerInterface.Failure.notGrantable("the choice could not be granted")))
      throw error
    }
  }

  /// The user asks for a new document.
  private func beginCreation(
    _ documents: [Descriptor], _ answer: LauncherInterface.AnswerCall, _ instance: Instance
  ) async throws -> LauncherInterface.AnswerReply {
    let folder = try await locator.examine(Array(documents.prefix(1)), "a new document of \(instance.id)")
    guard sessions.isRunning(instance), let pick = instance.picker.picks.first, pick.id == answer.id else {
      return Self.tooLate
    }
    defer { remove(pick.id, instance) }
    guard pick.call.browser?.creates == true else {
      pick.answer.finish(.failure(PickerInterface.Failure.cancelled))
      return .init(refused: ["the app makes no new documents"])
    }
    let refused = folder.isEmpty ? [] : refusals(ofPuttingInto: folder)
    guard refused.isEmpty else {
      try trail.decide([
        AuditEvent(
          .pick, .refused, instance, document: folder[0].document, how: answer.how.rawValue, rule: refused[0].rule,
          reason: refused[0].sentence)
      ])
      pick.answer.finish(.failure(PickerInterface.Failure.notGrantable(refused[0].reason)))
      return .init(refused: refused.map(\.sentence))
    }
    instance.picker.creation = DocumentCreation(folder: folder.first?.document.descriptor)
    pick.answer.finish(.success(.init(documents: [], creation: true)))
    return .init(refused: [])
  }

  func decideRefusal(_ reason: String, _ instance: Instance) throws {
    try trail.decide([AuditEvent(.pick, .refused, instance, rule: "PCK-33", reason: reason)])
  }

  private static let tooLate = LauncherInterface.AnswerReply(refused: ["nobody waits for this choice any more"])

  /// Looks at the chosen documents, and waits until the files that belong to databases are beside them.
  private func examine(
    _ documents: [Descriptor], _ answer: LauncherInterface.AnswerCall, _ instance: Instance
  ) async throws -> [Chosen] {
    for _ in 0..<8 {
      let looked = try await locator.examine(documents, "choice \(answer.id) of \(instance.id)")
      guard instance.app.rules.startsPicked else { return looked }
      let step = BrokerLoop.step
      for each in looked { try await sidecars.settled(each.document) }
      if step == BrokerLoop.step { return looked }
    }
    throw StateError("a document is being saved all the time")
  }

  /// - Returns: the answer for the app, and the one for its user. `nil`: the app's follows when the copy has been made.
  private func decide(
    _ answer: LauncherInterface.AnswerCall, _ chosen: Result<[Chosen], any Error>, _ pick: PendingPick,
    _ instance: Instance
  ) throws -> (Result<PickerInterface.PickReply, ErrorReply>?, LauncherInterface.AnswerReply) {
    if let reason = answer.unavailable {
      try trail.decide([AuditEvent(.pick, .refused, instance, how: answer.how.rawValue, reason: reason)])
      // A script's words about the user's files are not the app's to know.
      let told = answer.how == .user ? reason : "no answer that was given beforehand fits"
      return (.failure(PickerInterface.Failure.noUser(told)), .init(refused: []))
    }
    do {
      let found = try chosen.get()
      if let action = answer.action, found.isEmpty {
        // A button of the app's: nothing is handed out, and the log says so.
        try trail.decide([
          AuditEvent(
            .pick, .allowed, instance, how: answer.how.rawValue, rule: "PCK-33",
            detail: [AuditEvent.Fact.action: action])
        ])
        return (.success(PickerInterface.PickReply(documents: [], action: action)), .init(refused: []))
      }
      #if AMBIT_MUTANTS
        if Mutant.cancelIsChoice.isActive, answer.cancelled {
          return (.success(PickerInterface.PickReply(documents: [])), .init(refused: []))
        }
      #endif
      if answer.cancelled || found.isEmpty {
        try trail.decide([AuditEvent(.pickCancelled, .refused, instance, how: answer.how.rawValue, rule: "PCK-9")])
        return (.failure(PickerInterface.Failure.cancelled), .init(refused: []))
      }
      let refused =
        pick.sources.isEmpty
        ? refusals(found, pick.call, instance, isForSeveral: answer.action != nil) : refusals(ofPuttingInto: found)
      guard refused.isEmpty else {
        try trail.decide(
          zip(found.map(\.document), refused).map { document, refusal in
            AuditEvent(
              .pick, .refused, instance, document: document, how: answer.how.rawValue, rule: refusal.rule,
              reason: refusal.sentence,
              detail: [AuditEvent.Fact.documentKind: instance.kind(of: document).rawValue])
          })
        // Where it lies is the user's to know, and the log's.
        let reasons = refused.map(\.reason).joined(separator: "; ")
        return (
          .failure(PickerInterface.Failure.notGrantable(reasons)), .init(refused: refused.map(\.sentence))
        )
      }
      if pick.call.mode != .open {
        try beginCopy(found, answer, pick, instance)
        return (nil, .init(refused: []))
      }
      let messages = try hand(found, to: instance, answer, AccessRights(pick.call.access), for: pick.caller)
      #if AMBIT_MUTANTS
        if Mutant.pickNamesFolder.isActive {
          let named = zip(messages, found).map { message, chosen in
            var message = message
            message.name = chosen.document.path ?? message.name
            return message
          }
          return (.success(PickerInterface.PickReply(documents: named)), .init(refused: []))
        }
      #endif
      return (.success(PickerInterface.PickReply(documents: messages, action: answer.action)), .init(refused: []))
    } catch let error as ErrorReply {
      // The app's answer is the user's to know as well.
      return (.failure(error), .init(refused: ["the app may keep no more grants by its policy"]))
    } catch {
      trail.record(AuditEvent(.pick, .failed, instance, how: answer.how.rawValue, reason: "\(error)"))
      return (
        .failure(PickerInterface.Failure.notGrantable("the choice could not be granted")), .init(refused: ["\(error)"])
      )
    }
  }

  // MARK: Copies

  /// The user has decided: that is written down, and the copy begins. The app's answer follows it.
  private func beginCopy(
    _ found: [Chosen], _ answer: LauncherInterface.AnswerCall, _ pick: PendingPick, _ instance: Instance
  ) throws {
    try trail.decide(
      found.map { chosen in
        AuditEvent(
          .pick, .allowed, instance, document: chosen.document, how: answer.how.rawValue,
          detail: [
            AuditEvent.Fact.mode: pick.call.mode.rawValue,
            AuditEvent.Fact.documentKind: instance.kind(of: chosen.document).rawValue,
          ])
      })
    BrokerLoop.begin(pick.copying) {
      let result: Result<PickerInterface.PickReply, ErrorReply>
      do {
        result =
          pick.call.mode == .import
          ? try await self.importing(found, pick, instance) : try await self.put(found[0], answer, pick, instance)
      } catch let error as ErrorReply {
        result = .failure(error)
      } catch {
        self.trail.record(AuditEvent(.pick, .failed, instance, how: answer.how.rawValue, reason: "\(error)"))
        result = .failure(PickerInterface.Failure.notCopied("\(error)"))
      }
      pick.answer.finish(result)
    }
  }

  private func importing(
    _ found: [Chosen], _ pick: PendingPick, _ instance: Instance
  ) async throws -> Result<PickerInterface.PickReply, ErrorReply> {
    for each in found where pick.ticket.isWanted { try await copies.bring(each.document.path ?? "") }
    let documents = found.map { ($0.document.descriptor, Grant.name(inside: $0.document.path ?? "document")) }
    let made = try Self.made(try await copies.importing(documents, pick.ticket, instance))
    return .success(PickerInterface.PickReply(documents: [], copies: made))
  }

  /// Export and move. What is moved is granted at its new place before it goes from the old one.
  private func put(
    _ folder: Chosen, _ answer: LauncherInterface.AnswerCall, _ pick: PendingPick, _ instance: Instance
  ) async throws -> Result<PickerInterface.PickReply, ErrorReply> {
    let place = folder.document.descriptor
    let isMove = pick.call.mode == .move
    let put = try Self.made(
      try await copies.put(pick.sources, into: place, pick.ticket, instance, mustStayAsItIs: isMove))
    let made = put.copies
    let names = made.map { PickerInterface.Copy(name: $0.name) }
    guard isMove else { return .success(PickerInterface.PickReply(documents: [], copies: names)) }
    do {
      let chosen = try await locator.examine(made.map(\.item), "move \(pick.id) of \(instance.id)")
      guard sessions.isRunning(instance), pick.ticket.isWanted else { throw StateError("the app is gone") }
      let messages = try hand(chosen, to: instance, answer, .readWrite, for: pick.caller, isAppMade: true)
      // When the app is answered they are at one place.
      await copies.remove(put, instance)
      return .success(PickerInterface.PickReply(documents: messages, copies: names))
    } catch {
      await copies.discard(made, in: place, instance)
      throw error
    }
  }

  private static func made<Value>(_ result: Result<Value, KernelError>?) throws -> Value {
    guard let result else { throw PickerInterface.Failure.notCopied("it made no progress") }
    do { return try result.get() } catch {
      guard error.errno == .canceled else { throw PickerInterface.Failure.notCopied("\(error.errno.symbol): \(error)") }
      throw PickerInterface.Failure.cancelled
    }
  }

  /// Why nothing may be put into a folder. The folder itself is not granted, so it may be the home folder.
  private func refusals(ofPuttingInto chosen: [Chosen]) -> [RefusedChoice] {
    guard chosen.count == 1, let path = chosen[0].document.path else {
      return [.init(reason: "one folder is chosen, and \(chosen.count) came")]
    }
    guard (try? chosen[0].document.descriptor.status().kind) == .directory else {
      return [.init(path: path, reason: "it is no folder")]
    }
    return places.refusal(of: .file, at: path.path(of: "x"), for: nil).map { [.init(path: path, reason: $0)] } ?? []
  }

  /// Why something that was chosen may not be granted.
  private struct RefusedChoice {
    var path: String?
    var rule = "SBX-15"
    /// The end of a sentence; it says nothing of the user's files.
    let reason: String

    var sentence: String { path.map { "\($0): \(reason)" } ?? reason }
  }

  /// Why these documents may not be granted for this question. The user's side has looked as well, to show it in the picker; only
  /// the findings here, on the descriptors, count.
  private func refusals(
    _ chosen: [Chosen], _ call: PickerInterface.PickCall, _ instance: Instance, isForSeveral: Bool = false
  ) -> [RefusedChoice] {
    if chosen.count > 1, !call.multiple, !isForSeveral {
      return [.init(reason: "the app asked for one document, and \(chosen.count) came")]
    }
    return chosen.compactMap { chosen in
      let document = chosen.document
      let path = document.path ?? "the document"
      let kind = instance.kind(of: document)
      // One document is a file or a package.
      if (kind == .folder) != (call.kind == .folder) {
        return .init(path: path, reason: "it is a \(kind), and the app asked for a \(call.kind)")
      }
      if let types = call.types, kind != .folder {
        guard path.lastPathName.hasExtension(in: types.map { $0.lowercased() }) else {
          return .init(
            path: path, reason: "it is of another type than the app asked for (\(types.joined(separator: ", ")))")
        }
      }
      let reason = places.refusal(of: kind, at: document.path, for: instance.app.bundleIdentifier) ?? chosen.unreadable
      if let reason { return .init(path: path, reason: reason) }
      if call.access == .readWrite, let reason = instance.refusal(ofWriting: document) {
        return .init(path: path, reason: reason)
      }
      return instance.refusal(of: kind, named: path.lastPathName)
        .map { .init(path: path, rule: $0.rule, reason: $0.reason) }
    }
  }

  /// Hands the chosen documents over, and starts them where the policy says so.
  private func hand(
    _ chosen: [Chosen], to instance: Instance, _ answer: LauncherInterface.AnswerCall, _ asked: AccessRights,
    for caller: Caller, isAppMade: Bool = false
  ) throws -> [DocumentMessage] {
    #if AMBIT_MUTANTS
      let origin: Grant.Origin = Mutant.scriptIsUser.isActive || answer.how == .user ? .user : .scripted
    #else
      let origin: Grant.Origin = answer.how == .user ? .user : .scripted
    #endif
    let handed = try handover.hand(
      chosen, to: instance,
      .init(
        origin: origin, asked: asked, term: instance.term(at: clock.realtime), isPick: true, action: answer.action,
        isAppMade: isAppMade))
    // With every slot taken it is handed over all the same, and can be started when one is free (`LIM-3`).
    #if AMBIT_MUTANTS
      let startsPicked =
        Mutant.startedByPick.isActive || instance.app.rules.startsPicked && !Mutant.pickNeverStarts.isActive
    #else
      let startsPicked = instance.app.rules.startsPicked
    #endif
    if startsPicked {
      for each in handed {
        let known = Location(each.chosen, of: each.grant)
        _ = try? scopes.startNow(
          .init(scope: each.message.scope, caller: "the picker"), by: caller, for: instance, known)
      }
    }
    return handed.map(\.message)
  }
}
