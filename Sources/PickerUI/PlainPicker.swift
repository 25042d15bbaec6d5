internal import Kernel
internal import Paths
internal import Terminal
internal import UserFiles

#if canImport(Glibc)
  internal import Glibc
#endif

/// The picker as numbered lines: for screen readers, and for terminals that cannot repaint. Nothing is drawn over, and every line is said
/// once. The same rules hold as for ``TerminalPicker``.
package struct PlainPicker: Sendable {
  private let input: Int32
  private let output: Int32
  private let home: String?
  private let actor: FileActor?

  /// - Parameters:
  ///   - input, output: the user's terminal; both stay the caller's.
  ///   - actor: carries the user's acts on files out, where the request has some.
  package init(
    input: Int32, output: Int32, environment: [String: String] = ThisProcess.environment, actor: FileActor? = nil
  ) {
    self.actor = actor
    (self.input, self.output) = (input, output)
    home = environment["HOME"].flatMap { $0.isAbsolutePath && $0 != "/" ? $0 : nil }
  }

  /// As ``TerminalPicker/run(_:abandoned:refuse:)``.
  package func run(
    _ request: PickerRequest, abandoned: Int32? = nil, refuse: (PickedDocument) -> String? = { _ in nil }
  ) throws -> PickerOutcome {
    guard isatty(input) == 1, isatty(output) == 1 else {
      throw PickerError("There is no terminal to show the document picker on.")
    }
    let folder = try OpenFolder.nearest(to: request.startFolder)
    let terminal = try LineTerminal(input, output)
    defer { terminal.restore() }
    var session = PlainSession(
      request, folder, home: home, actor: request.acts == .none ? nil : actor)
    try terminal.write(session.opening(refuse))
    while true {
      switch try terminal.readLine(abandoned: abandoned) {
      case nil: return .cancelled
      case let line?:
        let (said, outcome) = session.take(line, refuse)
        try terminal.write(said)
        if let outcome { return outcome }
      }
    }
  }
}

/// The conversation: lines of the user in, lines to say out. Folders are read; the terminal is not touched.
struct PlainSession {
  var model: PickerModel
  var folder: OpenFolder
  let home: String?
  /// The rows that were said last, by their numbers: what is chosen is the file that was named.
  var said: [(number: Int, row: PickerModel.Row, details: EntryDetails?)] = []
  /// The first row of the page.
  var first = 0

  static let pageRows = 20

  /// Carries the user's acts on files out.
  let actor: FileActor?
  /// An action that is being chosen.
  var pending: PlainAction?

  init(_ request: PickerRequest, _ folder: OpenFolder, home: String?, actor: FileActor? = nil) {
    self.actor = actor
    model = PickerModel(request)
    (self.folder, self.home) = (folder, home)
    model.resize(listRows: Self.pageRows)
  }

  /// What the user hears first.
  mutating func opening(_ refuse: (PickedDocument) -> String?) -> String {
    var text = "\(model.request.title(nameLimit: 40)).\n"
    if let quotation = model.request.quotation { text += "\(quotation)\n" }
    if let notice = model.request.notice { text += "\(DisplayText(notice).plain)\n" }
    return text + show(folder, refuse) + prompt
  }

  var prompt: String {
    let several = model.request.multiple ? "Numbers" : "Number"
    let end = model.request.isPestering ? ", x to end the app" : ""
    let new = model.request.creates ? ", + for a new one" : ""
    let acts = model.request.acts != .none || !model.request.actions.isEmpty ? ", a 1 for actions on line 1" : ""
    return "\(several), part of a name, .. for above, q to cancel\(new)\(acts)\(end), ? for help: "
  }

  /// - Returns: the next lines to say, and the end of the conversation, if it is that.
  mutating func take(_ line: String, _ refuse: (PickedDocument) -> String?) -> (String, PickerOutcome?) {
    if let pending { return take(line, for: pending, refuse) }
    let words = line.split(whereSeparator: { $0 == " " || $0 == "," })
    let lines = words.dropFirst().compactMap { Int($0) }
    if words.first == "a", lines.count == words.count - 1,
      !model.request.actions.isEmpty || model.request.acts != .none && !lines.isEmpty
    {
      return beginAction(lines)
    }
    switch line {
    case "q", "\u{1B}": return ("Cancelled.\n", .cancelled)
    case "x" where model.request.isPestering: return ("The app is ended.\n", .endApp)
    case "?": return (Self.help + prompt, nil)
    case "":
      guard first + Self.pageRows < model.rowCount else { return ("These are all.\n" + prompt, nil) }
      first += Self.pageRows
      return (page(refuse) + prompt, nil)
    case "..":
      let shown = folder
      return go(refuse) { () throws(KernelError) in try shown.parent() }
    case ".h":
      model.toggleHidden()
      first = 0
      return (page(refuse) + prompt, nil)
    case "+" where model.request.isBrowser:
      guard model.request.creates else { return ("This app makes no new documents.\n" + prompt, nil) }
      guard !folder.isCollection else { return ("A new document.\n", .create(nil)) }
      do throws(KernelError) { return ("A new document here.\n", .create(try folder.open(.here))) } catch {
        return (DocumentOpening.sentence(error, folder.path) + "\n" + prompt, nil)
      }
    case ".o":
      let effect = model.goToPlace()
      if case .recents? = effect {
        let paths = model.request.recents
        return go(refuse) { () throws(KernelError) in try OpenFolder(recents: paths) }
      }
      if case .userPlace(let place)? = effect { return (show(place, refuse) + prompt, nil) }
      guard case .place(let place)? = effect else { return ("\(model.message ?? "")\n" + prompt, nil) }
      return go(refuse) { () throws(KernelError) in try OpenFolder(place.path) }
    default: break
    }
    let numbers = words.compactMap { Int($0) }
    if numbers.count == words.count, !numbers.isEmpty { return choose(numbers, refuse) }
    if line.isAbsolutePath || line == "~" || line.hasPrefix("~/") {
      let path = line.hasPrefix("~") ? (home ?? "/") + line.dropFirst() : line
      return go(refuse) { () throws(KernelError) in try OpenFolder(path) }
    }
    model.setFilter(line)
    if model.wantsTags { model.learnTags(folder.tags(of: model.entries)) }
    first = 0
    if model.rowCount == 0 {
      model.setFilter("")
      return ("Nothing here matches \(DisplayText.quoted(line, limit: 40)).\n" + prompt, nil)
    }
    return (page(refuse) + prompt, nil)
  }

  private static let help = """
    A number chooses that line, or opens that folder. Text shows the names that match it. An empty line goes on to more.
    A path beginning with / or ~ goes there. .h shows hidden files, .o recents, favourites, the trash and the documents of other apps. Ctrl-C cancels.
    #red shows files with that tag.

    """

  private mutating func choose(
    _ numbers: [Int], _ refuse: (PickedDocument) -> String?
  ) -> (String, PickerOutcome?) {
    if numbers.count > 1, !model.request.multiple {
      return ("The app asks for one only.\n" + prompt, nil)
    }
    guard numbers.count <= PickerRequest.mostChosen else {
      return ("No more than \(PickerRequest.mostChosen) can be chosen at once.\n" + prompt, nil)
    }
    var documents: [PickedDocument] = []
    for number in numbers {
      guard let known = said.first(where: { $0.number == number }) else {
        return ("There is no line \(number).\n" + prompt, nil)
      }
      if case .entry(let index) = known.row, model.entries[index].kind == .folder {
        guard numbers.count == 1 else { return ("Line \(number) is a folder; open it alone.\n" + prompt, nil) }
        let (name, shown) = (model.entries[index].name, folder)
        return go(refuse) { () throws(KernelError) in try shown.entering(name) }
      }
      switch open(known.row, known.details, refuse) {
      case .success(let document): documents.append(document)
      case .failure(let error): return ("\(error)\n" + page(refuse) + prompt, nil)
      }
    }
    let names = documents.map { DisplayText.quoted($0.name) }.joined(separator: ", ")
    return ("Chosen: \(names).\n", .picked(documents))
  }

  /// Only the very file that was named is chosen.
  func open(
    _ row: PickerModel.Row, _ details: EntryDetails?, _ refuse: (PickedDocument) -> String?
  ) -> Result<PickedDocument, PickerError> {
    let target: Target =
      switch row {
      case .here: .here
      case .entry(let index): .entry(model.entries[index].name)
      }
    do throws(KernelError) {
      let document = try folder.open(target)
      guard details?.document?.isSame(as: document) == true else {
        return .failure(PickerError("That is not what was listed any more. This is a new list."))
      }
      if let refusal = model.rule.refusal(of: document) ?? self.refusal(of: document, refuse) {
        return .failure(PickerError(refusal))
      }
      return .success(document)
    } catch {
      let name = if case .entry(let name) = target { name.text } else { folder.path }
      return .failure(PickerError(DocumentOpening.sentence(error, name)))
    }
  }

  private func refusal(of document: PickedDocument, _ refuse: (PickedDocument) -> String?) -> String? {
    if document.userAccess == .none {
      return "\(DisplayText.quoted(document.name)) is not open to you: permission denied."
    }
    return refuse(document)
  }

  mutating func go(
    _ refuse: (PickedDocument) -> String?, to next: () throws(KernelError) -> OpenFolder
  ) -> (String, PickerOutcome?) {
    do throws(KernelError) { return (show(try next(), refuse) + prompt, nil) } catch {
      return (DocumentOpening.sentence(error, folder.path) + "\n" + prompt, nil)
    }
  }

  mutating func show(_ next: OpenFolder, _ refuse: (PickedDocument) -> String?) -> String {
    let entries: [Entry]
    do throws(KernelError) { entries = try next.entries() } catch {
      return DocumentOpening.sentence(error, next.path) + "\n"
    }
    folder = next
    model.show(folder: next.path, isTop: next.isTop, entries: entries)
    (model.isCollection, model.place) = (next.isCollection, next.userPlace)
    first = 0
    let place = DisplayText(Measure.place(next.path, home: home)).plain
    return "Folder \(place), \(Measure.count(model.showableCount, "item")).\n" + page(refuse)
  }

  /// The lines of the page.
  mutating func page(_ refuse: (PickedDocument) -> String?) -> String {
    said = []
    var text = ""
    let end = min(model.rowCount, first + Self.pageRows)
    for index in first..<max(first, end) {
      guard let row = model.row(at: index) else { break }
      var details: EntryDetails
      var line = "\(index + 1) "
      switch row {
      case .here:
        details = folder.ownDetails()
        line += "this folder"
      case .entry(let entry):
        let entry = model.entries[entry]
        details = folder.details(of: entry)
        line += DisplayText(entry.name.text).plain
        if let target = details.linkTarget {
          line += ", leads to \(DisplayText(Measure.place(target, home: home)).plain)"
        }
        if entry.kind == .folder {
          line += ", folder"
        } else if let refusal = model.rule.refusal(of: entry.kind, named: entry.realName)
          ?? details.document.flatMap({ self.refusal(of: $0, refuse) })
        {
          // The name was said.
          line += ", cannot be chosen: \(refusal.split(separator: "; ").last ?? "")"
        } else if let size = details.size {
          line += ", \(Measure.size(size))"
        }
        if !details.tags.isEmpty {
          line +=
            ", tagged \(details.tags.prefix(TagDots.most).map { DisplayText($0.name).plain }.joined(separator: " and "))"
        }
      }
      said.append((index + 1, row, details))
      text += line + "\n"
    }
    if end < model.rowCount { text += "\(model.rowCount - end) more: press Enter.\n" }
    if model.rowCount == 0 { text += "Nothing is here.\n" }
    return text
  }
}

/// The user's terminal as a device of lines. Ctrl-C and Escape end a line at once, since no other program shall hear them.
private struct LineTerminal {
  private let input: Int32
  private let output: Int32
  private let lines: RawTerminal

  /// Earlier input was meant for another program, and is thrown away.
  init(_ input: Int32, _ output: Int32) throws(KernelError) {
    (self.input, self.output) = (input, output)
    lines = try RawTerminal(input, lines: true, discardingInput: true)
  }

  func restore() { lines.restore() }

  func write(_ text: String) throws(KernelError) { try Output(output).write(text) }

  /// - Returns: `nil`: Ctrl-C, the end of the input, or no program waits for the answer any more.
  func readLine(abandoned: Int32?) throws(KernelError) -> String? {
    var line: [UInt8] = []
    while true {
      var waiting = [pollfd(fd: input, events: Int16(POLLIN), revents: 0)]
      if let abandoned { waiting.append(pollfd(fd: abandoned, events: Int16(POLLIN), revents: 0)) }
      if unsafe poll(&waiting, nfds_t(waiting.count), -1) < 0 {
        if errno == EINTR { continue }
        throw KernelError.last("poll", "the terminal")
      }
      if waiting.count > 1, waiting[1].revents != 0 { return nil }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(input, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      line += buffer.prefix(count)
      switch line.last {
      case 0x03: return nil
      case 0x1B: return "\u{1B}"
      case 0x0A:
        line.removeLast()
        return String(decoding: line, as: UTF8.self)
      default: continue
      }
    }
  }
}
