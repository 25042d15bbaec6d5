internal import Kernel

/// One run of the terminal picker: carries the model's effects out and draws it.
struct PickerSession {
  let device: TerminalDevice
  let home: String?
  private let colours: Bool
  /// For so long after a list has appeared, nothing is chosen from it.
  private let settling: Duration
  private var choosesFrom: ContinuousClock.Instant
  private var settlingSentence = "The picker has only just opened: look, then press that again."

  var model: PickerModel
  var folder: OpenFolder
  private var decoder: KeyDecoder
  /// The marked documents, open since they were marked.
  var opened: [Mark: PickedDocument] = [:]
  private var drawn: [String] = []
  private var preview: PreviewKeeper
  private var size = ScreenSize(columns: 0, rows: 0)

  /// Within this time the rest of an escape sequence is here; Escape alone is answered after it.
  private static let escapeMilliseconds: Int32 = 50
  /// How often the window's size is looked at.
  private static let sizeMilliseconds: Int32 = 200

  /// Carries the user's acts on files out.
  let actor: FileActor?

  init(
    device: TerminalDevice, request: PickerRequest, view: PickerView, folder: OpenFolder, home: String?, colours: Bool,
    settling: Duration, preview: PreviewKeeper, actor: FileActor? = nil
  ) {
    self.preview = preview
    self.device = device
    self.home = home
    self.colours = colours
    self.settling = settling
    choosesFrom = .now + settling
    self.folder = folder
    self.actor = actor
    model = PickerModel(request, view: view)
    model.hasColours = colours
    decoder = KeyDecoder(erase: device.eraseByte)
  }

  mutating func run(abandoned: Int32?, refuse: (PickedDocument) -> String?) throws -> PickerOutcome {
    start()
    defer { preview.stop() }
    while true {
      try draw(refuse)
      var wait =
        model.isSorting || model.wantsNames
        ? 0 : decoder.isWaiting ? Self.escapeMilliseconds : Self.sizeMilliseconds
      if let soon = preview.wait { wait = min(wait, soon) }
      let keys: [Key]
      switch try device.read(milliseconds: wait, abandoned: abandoned, also: preview.running?.output.rawValue) {
      case .bytes(let bytes): keys = decoder.feed(bytes)
      case .nothing where !model.isSorting && model.wantsNames:
        model.prepareNames()
        continue
      case .nothing where model.isSorting:
        keys = []
        learnFacts()
      case .nothing: keys = decoder.isWaiting ? decoder.timeout() : []
      case .end, .abandoned: return .cancelled
      }
      for key in keys where isHeard(key) {
        if let effect = model.press(key), let outcome = perform(effect, refuse) { return outcome }
      }
    }
  }

  /// Keys that choose are not heard before the user can have seen the choice.
  private mutating func isHeard(_ key: Key) -> Bool {
    if key == .escape || key == .control("c") { return true }
    // The size that was drawn, not the present size: the rows in sight at the key press count.
    if Layout(model.request, size).isTooSmall { return false }
    let chooses = [.enter, .tab, .text(" ")].contains(key)
    if chooses && ContinuousClock.now < choosesFrom {
      model.say(settlingSentence)
      return false
    }
    return true
  }

  /// A folder that one slice is enough for is never seen in another order.
  private mutating func sortSmall() {
    let wanted = model.wantedFacts
    if wanted == model.entries.indices { _ = model.learn(facts: folder.facts(of: model.entries[wanted])) }
  }

  /// The next slice of facts that the order of the list needs. Keys come first.
  private mutating func learnFacts() {
    guard model.learn(facts: folder.facts(of: model.entries[model.wantedFacts])) else { return }
    choosesFrom = .now + settling
    settlingSentence = "The list has only just been sorted: look, then press that again."
  }

  // MARK: - Drawing

  private mutating func draw(_ refuse: (PickedDocument) -> String?) throws(KernelError) {
    let now = device.size()
    let layout = Layout(model.request, now, model.view)
    model.resize(layout)
    if !layout.isTooSmall {
      look(refuse)
      preview.follow(&model, layout.preview)
    }
    let lines = Screen.lines(model, layout, now: Clock.realtime() / 1_000_000_000, home: home)
      .map { $0.encoded(colours: colours) }
    var output = ""
    if now != size {
      output = "\u{1B}[2J"
      drawn = []
      size = now
    }
    for (index, line) in lines.enumerated() where index >= drawn.count || drawn[index] != line {
      output += "\u{1B}[\(index + 1);1H\u{1B}[K" + line
    }
    drawn = lines
    try device.write(output)
  }

  /// Looks at the rows that have come into sight. Each keeps the file that it shows, and no other is chosen by it.
  private mutating func look(_ refuse: (PickedDocument) -> String?) {
    if model.wantsTags { model.learnTags(folder.tags(of: model.entries)) }
    model.forgetUnseen()
    for index in model.wantedDetails {
      let entry = model.entries[index]
      var details = folder.details(of: entry)
      // Folders are gone into, and asked about there.
      if entry.kind != .folder { details.refusal = details.document.flatMap { refusal(of: $0, refuse) } }
      model.learn(details, at: index)
    }
    if model.wantsOwnDetails {
      var details = folder.ownDetails()
      details.refusal = details.document.flatMap { refusal(of: $0, refuse) }
      model.learnOwn(details)
    }
    for mark in model.marks where mark.folder == model.folder {
      guard let shown = model.shown(mark.target), let document = opened[mark] else { continue }
      if shown.document?.isSame(as: document) == true { continue }
      opened[mark] = nil
      model.remove(mark: mark)
      model.say("\(quoted(mark.target)) is another file than the one that was marked; the mark is gone.")
    }
  }

  /// The reason why a document cannot be handed out, under any name.
  private func refusal(of document: PickedDocument, _ refuse: (PickedDocument) -> String?) -> String? {
    if document.userAccess == .none {
      return "\(DisplayText.quoted(document.name)) is not open to you: permission denied."
    }
    return refuse(document)
  }

  // MARK: - Effects

  private mutating func perform(_ effect: PickerEffect, _ refuse: (PickedDocument) -> String?) -> PickerOutcome? {
    switch effect {
    case .cancel: return .cancelled
    case .endApp: return .endApp
    case .act(let action, let line, let target): return act(action, line, target, refuse)
    case .appAction(let action, let target): return act(action, target, refuse)
    case .userPlace(let place): show(place)
    case .recents:
      let paths = model.request.recents
      change("Recents") { _ throws(KernelError) in try OpenFolder(recents: paths) }
    case .create:
      guard !folder.isCollection else { return .create(nil) }
      do throws(KernelError) { return .create(try folder.open(.here)) } catch { say(error, folder.path) }
    case .enter(let name): change(name.text) { shown throws(KernelError) in try shown.entering(name) }
    case .parent:
      change(folder.parentPath, selecting: folder.name) { shown throws(KernelError) in try shown.parent() }
    case .top: change("/") { _ throws(KernelError) in try OpenFolder("/") }
    case .home:
      let home = home ?? "/"
      change(home) { _ throws(KernelError) in try OpenFolder(home) }
    case .place(let place): change(place.name) { _ throws(KernelError) in try OpenFolder(place.path) }
    case .reload:
      do throws(KernelError) {
        model.reload(entries: try folder.entries())
        sortSmall()
      } catch { say(error, folder.path) }
    case .pick(let target):
      if let document = open(target, refuse) { return .picked([document]) }
    case .mark(let target):
      if let document = open(target, refuse) {
        opened[Mark(folder: model.folder, target: target)] = document
        model.marked(target)
      }
    case .unmark(let mark): opened[mark] = nil
    case .finishMarked: return .picked(model.marks.compactMap { opened[$0] })
    }
    return nil
  }

  /// Shows the first folder, or the nearest above it that can be listed.
  private mutating func start() {
    while true {
      do throws(KernelError) {
        try show(folder)
        if let notice = model.request.notice { model.say(DisplayText(notice).plain) }
        return
      } catch {
        guard !folder.isTop, let above = try? folder.parent() else { return say(error, folder.path) }
        folder = above
      }
    }
  }

  mutating func change(
    _ name: String, selecting: FileName? = nil, to next: (OpenFolder) throws(KernelError) -> OpenFolder
  ) {
    do throws(KernelError) {
      try show(try next(folder), selecting: selecting)
    } catch {
      say(error, name)
    }
  }

  private mutating func show(_ next: OpenFolder, selecting: FileName? = nil) throws(KernelError) {
    let entries = try next.entries()
    folder = next
    model.show(folder: next.path, isTop: next.isTop, entries: entries, selected: selecting)
    note(next)
    sortSmall()
    if let selecting { model.select(selecting) }
  }

  mutating func open(_ target: Target, _ refuse: (PickedDocument) -> String?) -> PickedDocument? {
    guard let shown = model.shown(target) else {
      model.say("That row has only just come into sight: look, then press that again.")
      return nil
    }
    do throws(KernelError) {
      let document = try folder.open(target)
      #if AMBIT_MUTANTS
        if Mutant.swappedRowChosen.isActive { return document }
      #endif
      // An app that can write here may give the name to another file at any time, and knows when the list is read (inotify).
      guard shown.document?.isSame(as: document) == true else {
        listAnew(target)
        return nil
      }
      // The row said so already; the open file counts.
      if let refusal = model.rule.refusal(of: document) ?? refusal(of: document, refuse) {
        model.say(refusal)
        return nil
      }
      return document
    } catch {
      if case .entry(let name) = target { say(error, name.text) } else { say(error, folder.path) }
      return nil
    }
  }

  /// The screen no longer matched the folder: shows the present state, for long enough to be looked at.
  mutating func listAnew(_ target: Target) {
    switch target {
    case .here: change(folder.path) { shown throws(KernelError) in try shown.entering(FileName(".")) }
    case .entry:
      if let entries = try? folder.entries() {
        model.reload(entries: entries)
        sortSmall()
      }
    }
    choosesFrom = .now + settling
    settlingSentence = "The list has only just been read anew: look, then press that again."
    model.say("\(quoted(target)) is not what was shown any more. This is a new list: look, then choose.")
  }

  private func quoted(_ target: Target) -> String {
    switch target {
    case .here: "This folder"
    case .entry(let name): DisplayText.quoted(name.text)
    }
  }

  mutating func say(_ error: KernelError, _ name: String) {
    model.say(DocumentOpening.sentence(error, name))
  }
}
