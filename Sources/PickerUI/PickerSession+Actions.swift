internal import Kernel
internal import Paths
internal import UserFiles

/// The user's acts on files: on the very files that the rows show (`PCK-23`).
extension PickerSession {
  /// - Parameter target: `nil`: the marked documents.
  mutating func act(
    _ action: FileAction, _ line: String, _ target: Target?, _ refuse: (PickedDocument) -> String?
  ) -> PickerOutcome? {
    guard let documents = actedOn(target, changes: action.changesName) else { return nil }
    switch action {
    case .reveal:
      guard let document = documents.first else { return nil }
      change(document.path, selecting: FileName(document.name)) { _ throws(KernelError) in
        try OpenFolder(document.path.parentPath ?? "/")
      }
    case .copyPath:
      let paths = documents.map(\.path).joined(separator: "\n")
      // OSC 52: most terminals put it on the clipboard. It is said as well.
      try? device.write("\u{1B}]52;c;\(Base64.text(paths.kernelBytes))\u{07}")
      model.say(DisplayText(documents.count == 1 ? paths : Measure.count(documents.count, "path") + " copied").plain)
    case .open, .share: return .acted(action.rawValue, line, documents)
    default:
      guard let actor else { return nil }
      let argument = action == .move ? expanded(line) : line
      let reply = actor.perform(action, argument, on: documents)
      if target == nil, reply.isDone { forgetMarks() }
      refresh(selecting: reply.paths.first)
      model.say(DisplayText(reply.sentence).plain)
    }
    return nil
  }

  /// The user chooses documents for an action of the app's: they are handed out, as by Enter.
  mutating func act(
    _ action: PickerRequest.Action, _ target: Target?, _ refuse: (PickedDocument) -> String?
  ) -> PickerOutcome? {
    guard action.documents else { return .acted(action.identifier, "", []) }
    guard let target else {
      return .acted(action.identifier, "", model.marks.compactMap { opened[$0] })
    }
    return open(target, refuse).map { .acted(action.identifier, "", [$0]) }
  }

  /// A place of the user's, read anew.
  mutating func show(_ place: UserPlace) {
    guard let actor else { return }
    let reply = actor.list(place)
    guard reply.isDone else { return model.say(DisplayText(reply.sentence).plain) }
    change(place.title) { _ throws(KernelError) in try OpenFolder(place, reply.paths) }
    model.say(reply.paths.isEmpty ? place.emptiness : place.sentence)
  }

  private mutating func actedOn(_ target: Target?, changes: Bool) -> [PickedDocument]? {
    guard let target else {
      let documents = model.marks.compactMap { opened[$0] }
      return documents.isEmpty ? nil : documents
    }
    guard let shown = model.shown(target), let document = shown.document else {
      model.say("That row has only just come into sight: look, then press that again.")
      return nil
    }
    guard !changes || shown.linkTarget == nil else {
      model.say("This is a link. Go to the file itself to do that.")
      return nil
    }
    do throws(KernelError) {
      guard document.isSame(as: try folder.open(target)) else {
        listAnew(target)
        return nil
      }
      return [document]
    } catch {
      say(error, document.path)
      return nil
    }
  }

  private func expanded(_ path: String) -> String {
    if path == "~" { return home ?? "/" }
    if let rest = path.path(within: "~") { return (home ?? "/").path(of: rest) }
    return path.isAbsolutePath ? path : model.folder.path(of: path)
  }

  private mutating func forgetMarks() {
    for mark in model.marks {
      opened[mark] = nil
      model.remove(mark: mark)
    }
  }

  /// The list as it is after an act.
  private mutating func refresh(selecting path: String?) {
    if let place = folder.userPlace { return show(place) }
    guard let entries = try? folder.entries() else { return }
    let here = path.flatMap { $0.parentPath?.isSamePath(as: folder.path) ?? false ? FileName($0.lastPathName) : nil }
    guard let here, !folder.isCollection else { return model.reload(entries: entries) }
    model.show(folder: folder.path, isTop: folder.isTop, entries: entries, selected: here)
    note(folder)
  }

  /// Tells the model the kind of place.
  mutating func note(_ folder: OpenFolder) {
    model.isCollection = folder.isCollection
    model.place = folder.userPlace
  }
}

extension FileAction {
  /// An act is never about a link itself.
  var changesName: Bool { [.rename, .duplicate, .move, .trash, .restore].contains(self) }
}

extension UserPlace {
  var sentence: String {
    switch self {
    case .favourites: "Your favourites."
    case .tagged: "Files with tags."
    case .trash: "The trash. Ctrl-E puts a file back."
    }
  }

  var emptiness: String {
    switch self {
    case .favourites: "There are no favourites. Ctrl-E makes one."
    case .tagged: "No file below your home folder has a tag."
    case .trash: "The trash is empty."
    }
  }
}

/// RFC 4648, 4.
enum Base64 {
  static func text(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)
    var text = String.UnicodeScalarView()
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let value = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
      for index in 0..<4 {
        text.append(index <= part.count ? letters[Int(value >> UInt32(18 - 6 * index) & 63)] : "=")
      }
    }
    return String(text)
  }
}
