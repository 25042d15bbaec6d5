internal import Folders
internal import Kernel
internal import Paths
internal import PickerUI
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Answers the broker's questions for the user: from the script, if there is one, else with the picker on the user's
/// own terminal.
struct PickFrontEnd {
  struct Choice {
    var how: LauncherInterface.How
    var documents: [PickedDocument] = []
    /// The reason why the user could not be asked; nothing was chosen then.
    var unavailable: String?
    /// The user asks for a new document; in the folder that is among the documents, or in none.
    var creates = false
    /// The user is asked too often, and ends the app.
    var endsApp = false
    /// The app's own action that they were chosen for.
    var action: String?
  }

  private var script: ScriptedPicker?
  private let folders: AmbitFolders
  private let environment: [String: String]
  /// Where the last choice was made.
  private var folder: String
  private let face: PickerFace
  /// How the user wants lists to look, for this launch.
  private var view = PickerView()
  /// How many requests in a row the user has cancelled.
  private var cancelled = 0
  private static let patience = 3
  var isOnPage: Bool { face == .web }

  /// - Parameter face: `nil`: the one that the environment has.
  init(answers: ScriptedPicker?, folders: AmbitFolders, environment: [String: String], face: PickerFace?) {
    script = answers
    self.folders = folders
    self.environment = environment
    folder = ThisProcess.directory
    self.face = face ?? PickerFace(environment: environment)
  }

  /// - Parameter sources: descriptors of which one becomes readable when the question has no meaning any more: the app's pidfd, the
  ///   connection that questions come on.
  mutating func answer(_ request: LauncherInterface.PickRequest, abandonedWith sources: [Descriptor]) -> Choice {
    var question = PickerRequest(
      appName: request.appName, message: request.message, multiple: request.multiple,
      kind: request.kind == .file ? .file : .folder, access: request.access == .readOnly ? .readOnly : .readWrite,
      types: request.types, allowed: request.allowed, packages: Set(request.packages),
      places: request.places.map { .init(name: $0.name, path: $0.path, provider: $0.provider) },
      startFolder: request.startsAt ?? folder)
    question.purpose = Self.purpose(request)
    (question.isBrowser, question.creates, question.recents) = (request.browser, request.creates, request.recents)
    question.actions = request.actions.map {
      .init(identifier: $0.identifier, title: $0.title, documents: $0.documents, types: $0.types, multiple: $0.multiple)
    }
    question.hidesExtensions = request.hidesExtensions
    question.style = request.style.flatMap { .init(rawValue: $0.rawValue) }
    question.tint = request.tint.flatMap { .init($0) }
    question.acts = .safe
    question.isPestering = cancelled >= Self.patience
    question.addProviders()
    let pages = face == .web ? WebPicker() : nil
    while true {
      let asked = script == nil ? ask(question, abandonedWith: sources, pages) : scripted(question)
      guard let provider = asked.provider else { return asked.choice }
      // Dismissed, it leaves the user in the picker.
      if let choice = pick(from: provider, for: &question, abandonedWith: sources, pages) { return choice }
    }
  }

  /// A choice, or the provider whose own picker is to go on.
  private struct Asked {
    var choice: Choice
    var provider: PickerRequest.Place?
  }

  private mutating func ask(
    _ question: PickerRequest, abandonedWith sources: [Descriptor], _ pages: WebPicker?
  ) -> Asked {
    do {
      // The controlling terminal, wherever the standard streams lead. A page needs none.
      let terminal = face == .web ? nil : try DeviceNode.tty.open([.readWrite])
      if let terminal, tcgetpgrp(terminal.rawValue) != getpgrp() {
        let reason = "the app was started in the background; bring it to the foreground (fg)"
        return Asked(choice: Choice(how: .user, unavailable: reason))
      }
      // Held back, these would wait behind a picker that may never be answered.
      let end = try SignalQueue([SIGTERM, SIGHUP])
      let abandoned = try Poll.any(of: sources + [end.descriptor])
      let refuse = question.refusal(under: folders.grantRules)
      let number = terminal?.rawValue ?? -1
      let outcome =
        switch face {
        case .web: try (pages ?? WebPicker()).run(question, abandoned: abandoned.rawValue, refuse: refuse)
        case .plain:
          try PlainPicker(input: number, output: number, environment: environment, actor: .inProcess)
            .run(question, abandoned: abandoned.rawValue, refuse: refuse)
        case .screen:
          try TerminalPicker(
            input: number, output: number, environment: environment, actor: .inProcess, previews: .ofAmbit
          ).run(question, view: &view, abandoned: abandoned.rawValue, refuse: refuse)
        }
      if case .cancelled = outcome { cancelled += 1 } else { cancelled = 0 }
      return asked(outcome, .user, question)
    } catch let error as KernelError where error.call == "open" {
      let reason = "there is no terminal to ask on; use --pick or --answers"
      return Asked(choice: Choice(how: .user, unavailable: reason))
    } catch {
      return Asked(choice: Choice(how: .user, unavailable: "\(error)"))
    }
  }

  private mutating func asked(
    _ outcome: PickerOutcome, _ how: LauncherInterface.How, _ question: PickerRequest
  ) -> Asked {
    if case .acted(let identifier, _, _) = outcome,
      let provider = question.actions.first(where: { $0.identifier == identifier })?.provider
    {
      return Asked(choice: Choice(how: how), provider: question.places.first { $0.provider == provider })
    }
    return Asked(choice: choice(outcome, how))
  }

  /// The user goes on in a provider's own picker.
  ///
  /// - Returns: `nil`: it was dismissed, and the user is back in this one.
  private mutating func pick(
    from place: PickerRequest.Place, for question: inout PickerRequest, abandonedWith sources: [Descriptor],
    _ pages: WebPicker?
  ) -> Choice? {
    let how: LauncherInterface.How = script == nil ? .user : .scripted
    question.notice = nil
    do {
      let picker = try ProviderPicker(place, question, folders)
      let front = ProviderFormFront(face: face, environment: environment, pages: pages)
      let documents = try picker.run { form in
        guard script == nil else { return try script?.next(for: form).get() }
        return try front.ask(form, abandonedWith: sources).map { .init(button: $0.button, values: $0.values) }
      }
      guard !documents.isEmpty else { return script == nil ? nil : Choice(how: how) }
      return Choice(how: how, documents: documents)
    } catch {
      // The provider has failed: the user is told, also on a screen or page that hides this line, and can choose by hand.
      Failure.say("\(error)")
      question.notice = "\(error)"
      return script == nil ? nil : Choice(how: how, unavailable: "\(error)")
    }
  }

  /// Answers a provider's form.
  ///
  /// - Returns: `nil`: it was cancelled, or the user could not be asked.
  mutating func answer(
    _ request: LauncherInterface.FormRequest, abandonedWith sources: [Descriptor]
  ) -> ProviderFormReply? {
    do {
      let form = try ProviderForm(
        request.form, of: request.provider, appName: request.appName, refused: request.refused)
      guard script == nil else {
        let reply = try script?.next(for: form).get() ?? nil
        return reply.map { .init(button: $0.button, values: $0.values) }
      }
      return try ProviderFormFront(face: face, environment: environment).ask(form, abandonedWith: sources)
    } catch {
      Failure.say("\(error)")
      return nil
    }
  }

  private static func purpose(_ request: LauncherInterface.PickRequest) -> PickerRequest.Purpose {
    switch request.mode {
    case .open: .open
    case .import: .copy
    case .export: .export(request.names ?? [])
    case .move: .move(request.names ?? [])
    }
  }

  private mutating func scripted(_ question: PickerRequest) -> Asked {
    switch script?.next(for: question) {
    case .success(let outcome): return asked(outcome, .scripted, question)
    case .failure(let error):
      Failure.say("\(error)")
      return Asked(choice: Choice(how: .scripted, unavailable: "\(error)"))
    case nil: return Asked(choice: Choice(how: .scripted))
    }
  }

  private mutating func choice(_ outcome: PickerOutcome, _ how: LauncherInterface.How) -> Choice {
    if case .create(let folder) = outcome {
      return Choice(how: how, documents: folder.map { [$0] } ?? [], creates: true)
    }
    if case .endApp = outcome { return Choice(how: how, endsApp: true) }
    if case .acted(let action, _, let documents) = outcome {
      return Choice(how: how, documents: documents, action: action)
    }
    guard case .picked(let documents) = outcome else { return Choice(how: how) }
    #if AMBIT_MUTANTS
      if Mutant.lastFolderForgotten.isActive { return Choice(how: how, documents: documents) }
    #endif
    if let first = documents.first { folder = first.path.parentPath ?? "/" }
    return Choice(how: how, documents: documents)
  }
}
