internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// The document picker's half in the broker (`io.ambit.Picker`): it passes the question to the user's side, and turns
/// the documents that come back, as open descriptors, into grants.
extension Broker {
  func pick(_ call: CheckedCall, on connection: WireConnection, for instance: Instance) throws -> Answer? {
    var request = try PickerInterface.PickCall(json: call.parameters)
    for type in request.types ?? [] where type.isEmpty || type.contains(where: { "/.".contains($0) }) {
      throw ErrorReply.invalidParameter("types")
    }
    // More than its policy lets it have, an app is not given; so the user is not asked for more either.
    if instance.app.rules.readOnly { request.access = .readOnly }
    if let refusal = refusal(of: request, for: instance) {
      let asked = [
        AuditEvent.Fact.mode: request.mode.rawValue, AuditEvent.Fact.documentKind: request.kind.rawValue,
      ]
      try decide([event(.pick, .refused, instance, rule: refusal.rule, reason: refusal.reason, detail: asked)])
      throw PickerInterface.Failure.notGrantable(refusal.reason)
    }
    guard instance.prompts != nil || instance.awaitsPrompts else {
      let reason = "the app's launcher takes no questions for its user"
      try decide([event(.pick, .refused, instance, reason: reason)])
      throw PickerInterface.Failure.noUser(reason)
    }
    instance.lastPick += 1
    instance.picks.append(
      .init(
        id: instance.lastPick, connection: connection, call: request, caller: Caller(call, for: request.process)))
    if instance.picks.count == 1 { ask(instance) }
    return nil
  }

  /// Puts the first waiting question to the user.
  func ask(_ instance: Instance) {
    guard let first = instance.picks.first, let prompts = instance.prompts else { return }
    let request = LauncherInterface.PickRequest(
      id: first.id, call: first.call, allowed: instance.app.rules.types,
      packages: instance.app.packages.extensions.sorted(),
      places: places(for: instance),
      appName: instance.app.name)
    prompts.send(Reply(LauncherInterface.PromptsReply(request: request).json, continues: true))
  }

  /// The launcher takes no more questions: those that wait are answered for it.
  func userLeft(_ instance: Instance) {
    instance.prompts = nil
    let waiting = instance.picks
    instance.picks = []
    for pick in waiting { pick.connection.send(Reply(PickerInterface.Failure.noUser("the app's launcher is gone"))) }
  }

  /// An app's connection is gone: nobody waits for its answer, and a choice made for it must grant nothing.
  func abandonPicks(of connection: WireConnection, _ instance: Instance) {
    let asked = instance.picks.first?.id
    instance.picks.removeAll { $0.connection === connection }
    if instance.picks.first?.id != asked { ask(instance) }
  }

  /// The user's answer (`io.ambit.Launcher.Answer`).
  func answer(
    _ answer: LauncherInterface.AnswerCall, documents: [Descriptor], _ instance: Instance
  ) throws -> LauncherInterface.AnswerReply {
    guard let pick = instance.picks.first, pick.id == answer.id else {
      return LauncherInterface.AnswerReply(refused: ["nobody waits for this choice any more"])
    }
    // As long as it is looked at, the question stays the one that was asked.
    let chosen: Result<[Chosen], any Error>
    do {
      let isChosen = answer.unavailable == nil && !answer.cancelled
      let looked = isChosen ? try look(at: documents, "choice \(answer.id) of \(instance.id)") : []
      if instance.app.rules.startsPicked { for each in looked { try awaitSidecars(of: each.document) } }
      chosen = .success(looked)
    } catch {
      if error is WaitingForErrand || error is WaitingForSidecars { throw error }
      chosen = .failure(error)
    }
    defer {
      instance.picks.removeFirst()
      ask(instance)
    }
    func reply(_ error: ErrorReply) { send(Reply(error), on: pick.connection) }

    if let reason = answer.unavailable {
      try decide([event(.pick, .refused, instance, how: answer.how.rawValue, reason: reason)])
      // What a script says of the user's files is not the app's to know.
      reply(PickerInterface.Failure.noUser(answer.how == .user ? reason : "no answer that was given beforehand fits"))
      return LauncherInterface.AnswerReply(refused: [])
    }
    if answer.cancelled || documents.isEmpty {
      try decide([event(.pickCancelled, .refused, instance, how: answer.how.rawValue, rule: "PCK-9")])
      reply(PickerInterface.Failure.cancelled)
      return LauncherInterface.AnswerReply(refused: [])
    }
    do {
      let found = try chosen.get()
      let refused = refusals(found, pick.call, instance)
      guard refused.isEmpty else {
        try decide(
          zip(found.map(\.document), refused).map { document, refusal in
            let kind = kind(of: document, for: instance)
            return event(
              .pick, .refused, instance, document: document, how: answer.how.rawValue, rule: refusal.rule,
              reason: refusal.sentence, detail: [AuditEvent.Fact.documentKind: kind.rawValue])
          })
        // Where it lies is the user's to know, and the log's.
        reply(PickerInterface.Failure.notGrantable(refused.map(\.reason).joined(separator: "; ")))
        return LauncherInterface.AnswerReply(refused: refused.map(\.sentence))
      }
      let messages = try hand(found, to: instance, answer, AccessRights(pick.call.access), for: pick.caller)
      send(Reply(PickerInterface.PickReply(documents: messages).json), on: pick.connection)
      return LauncherInterface.AnswerReply(refused: [])
    } catch let error as ErrorReply {
      // What the app is told is the user's to know as well.
      reply(error)
      return LauncherInterface.AnswerReply(refused: ["the app may keep no more grants by its policy"])
    } catch {
      record(event(.pick, .failed, instance, how: answer.how.rawValue, reason: "\(error)"))
      reply(PickerInterface.Failure.notGrantable("the choice could not be granted"))
      return LauncherInterface.AnswerReply(refused: ["\(error)"])
    }
  }

  /// Why something that was chosen may not be granted.
  private struct RefusedChoice {
    var path: String?
    var rule = "SBX-15"
    /// The end of a sentence; it says nothing of what the user has.
    let reason: String

    var sentence: String { path.map { "\($0): \(reason)" } ?? reason }
  }

  /// Why these documents may not be granted for this question. The user's side has looked as well, to show it in the picker; what
  /// counts is what is found here, on the descriptors.
  private func refusals(
    _ chosen: [Chosen], _ call: PickerInterface.PickCall, _ instance: Instance
  ) -> [RefusedChoice] {
    if chosen.count > 1, !call.multiple {
      return [.init(reason: "the app asked for one document, and \(chosen.count) came")]
    }
    return chosen.compactMap { chosen in
      let document = chosen.document
      let path = document.path ?? "the document"
      let kind = kind(of: document, for: instance)
      // One document is a file or a package.
      if (kind == .folder) != (call.kind == .folder) {
        return .init(path: path, reason: "it is a \(kind), and the app asked for a \(call.kind)")
      }
      if let types = call.types, kind != .folder {
        let suffix = (path as NSString).pathExtension.lowercased()
        guard types.contains(where: { $0.lowercased() == suffix }) else {
          return .init(
            path: path, reason: "it is of another type than the app asked for (\(types.joined(separator: ", ")))")
        }
      }
      let reason = refusal(of: kind, at: document.path, for: instance) ?? chosen.unreadable
      if let reason { return .init(path: path, reason: reason) }
      if call.access == .readWrite, let reason = refusal(ofWriting: document, for: instance) {
        return .init(path: path, reason: reason)
      }
      return refusal(of: kind, named: path.lastPathName, for: instance)
        .map { .init(path: path, rule: $0.rule, reason: $0.reason) }
    }
  }

  /// What a document is to an app: by what the kernel has there, and by the name that it has now.
  private func kind(of document: FoundDocument, for instance: Instance) -> Folders.DocumentKind {
    Self.kind(of: document, instance.app.packages)
  }

  static func kind(of document: FoundDocument, _ packages: PackageTypes) -> Folders.DocumentKind {
    guard document.kind == .folder, let path = document.path else { return document.kind }
    return packages.isPackage(path.lastPathName) ? .package : .folder
  }

  /// Makes the grants, their places inside and their references, writes everything down, and describes them for the app. Of
  /// several documents all are handed over, or none.
  private func hand(
    _ chosen: [Chosen], to instance: Instance, _ answer: LauncherInterface.AnswerCall, _ asked: AccessRights,
    for caller: Caller
  ) throws -> [DocumentMessage] {
    let origin: Grant.Origin = answer.how == .user ? .user : .scripted
    let now = Clock.realtime()
    var handed: [(grant: Grant, chosen: Chosen, isNew: Bool)] = []
    for each in chosen {
      let (document, rights) = (each.document, each.rights(of: asked))
      guard let path = document.path else { throw StateError("the document has no place in the file system") }
      // The same document may have been chosen by two of its names.
      if let same = handed.first(where: { $0.chosen.document.identity == document.identity }) {
        handed.append((same.grant, each, false))
      } else if let known = try grants.grant(for: document.identity, of: instance.app.bundleIdentifier, rights: rights)
      {
        handed.append((known, each, false))
      } else {
        let new = Grant(
          id: Grant.makeID(), bundleIdentifier: instance.app.bundleIdentifier, kind: kind(of: document, for: instance),
          rights: rights,
          origin: origin, created: now, identity: document.identity, path: path,
          place: each.place, term: term(for: instance, at: now))
        handed.append((new, each, true))
      }
    }
    let kept = Set(handed.lazy.filter { !$0.isNew }.map(\.grant.id))
    try makeRoom(for: instance, new: handed.count { $0.isNew }, besides: kept)
    let messages = try handed.map { try expose($0.grant, as: $0.chosen.document, to: instance, how: origin.rawValue) }
    let events = handed.flatMap { grant, chosen, isNew in
      var pick = event(
        .pick, .allowed, instance, grant: grant, document: chosen.document, how: origin.rawValue,
        reason: chosen.lessening(of: asked),
        detail: [AuditEvent.Fact.documentKind: grant.kind.rawValue])
      guard isNew else {
        // It holds from now on.
        pick.detail[AuditEvent.Fact.until] = Self.until(term(for: instance, at: now))
        return [pick]
      }
      return [
        pick,
        event(
          .grant, .allowed, instance, grant: grant, document: chosen.document, how: origin.rawValue,
          detail: ["access": grant.rights.rawValue, "kind": grant.kind.rawValue, "until": Self.until(grant)]),
      ]
    }
    try establish(handed.filter(\.isNew).map(\.grant), events)
    for (grant, chosen, isNew) in handed {
      if !isNew {
        if let path = chosen.document.path, !grant.path.isSamePath(as: path) {
          grants.move(grant.id, to: path, place: chosen.place)
        }
        // The user has now decided on it themselves.
        try grants.makeIndependent(grant.id)
        try grants.renew(grant.id, term(for: instance, at: now))
      }
      pin(chosen.document, for: grant.id)
    }
    if instance.app.references {
      try log.append(handed.map { reference(to: $0.grant, isNew: $0.isNew, $0.chosen.document, instance) })
    }
    try trimRecent(of: instance)
    // With every slot taken it is handed over all the same, and can be started when one is free (`LIM-3`).
    if instance.app.rules.startsPicked {
      for (grant, chosen, _) in handed { remember(chosen, of: grant) }
      for message in messages {
        _ = try? start(.init(scope: message.scope, caller: "the picker"), by: caller, for: instance)
      }
    }
    return messages
  }

  /// Makes grants come to be together with the events that say so, or not at all. A process that dies in between leaves them
  /// to the next one (``takeBackUnwritten(_:_:)``).
  ///
  /// - Parameter owed: grants of which the app is still to get a reference.
  func establish(_ new: [Grant], from parent: String? = nil, owed: [String] = [], _ events: [AuditEvent]) throws {
    try grants.add(new, from: parent, owed: owed)
    FaultPoint.grantsAdded.pass()
    do { try decide(events) } catch {
      grants.takeBack(new.map(\.id))
      throw error
    }
  }

  /// Gives a grant its place inside an instance, and makes the message that hands it over.
  func expose(
    _ grant: Grant, as document: FoundDocument, to instance: Instance, how: String
  ) throws -> DocumentMessage {
    let present = document.path.map { Grant.name(inside: $0) } ?? grant.name
    // While it is shown, a document stays where it is: somebody is using that path.
    let name = instance.owners.isActive(grant.id) ? instance.exposed[grant.id]?.name ?? present : present
    // A place that was made stays.
    let known = instance.exposed[grant.id]
    if !(known?.name).isSamePath(as: name) {
      try instance.mounts.prepare(grant: grant.id, name: name, kind: grant.kind)
      FaultPoint.placeMade.pass()
    }
    instance.exposed[grant.id] = known?.renamed(name, how: how) ?? .init(name: name, how: how)
    let token = instance.exposedTokens[grant.id] ?? key.token(instance: instance.id, grant: grant.id)
    instance.exposedTokens[grant.id] = token
    return DocumentMessage(
      scope: token, grant: grant.id, name: name, kind: grant.kind.message,
      access: rights(of: grant, for: instance).message)
  }
}
