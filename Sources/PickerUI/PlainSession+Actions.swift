internal import Kernel
internal import Paths

/// An action that is being chosen in the plain picker: first the action, then its line.
struct PlainAction {
  let documents: [PickedDocument]
  let menu: ActionMenu
  var asked: FileAction?
}

/// Numbered actions.
extension PlainSession {
  /// “a 3”: says the actions on line 3.
  mutating func beginAction(_ numbers: [Int]) -> (String, PickerOutcome?) {
    var documents: [PickedDocument] = []
    var targets: [Target] = []
    var isChoosable = true
    for number in numbers {
      guard let known = said.first(where: { $0.number == number }), case .entry(let index) = known.row else {
        return ("There is no file on line \(number).\n" + prompt, nil)
      }
      guard let document = known.details?.document else {
        return ("Line \(number) cannot be opened.\n" + prompt, nil)
      }
      documents.append(document)
      targets.append(.entry(model.entries[index].name))
      isChoosable =
        isChoosable && model.rule.allows(model.entries[index].kind, named: model.entries[index].realName)
    }
    let isLink = numbers.contains { number in
      said.first { $0.number == number }?.details?.linkTarget != nil && !model.isCollection
    }
    let request = model.request
    let user =
      request.acts == .none || documents.isEmpty
      ? []
      : FileAction.offered(
        isUsers: request.acts == .all, isCollection: model.isCollection, isTrash: model.place == .trash
      ).filter { !isLink || !$0.changesName }
    let app = request.actions.filter { action in
      !action.documents || !documents.isEmpty && isChoosable && targets.allSatisfy { action.takes($0) }
    }
    let names = documents.map { DisplayText.quoted($0.name) }.joined(separator: ", ")
    let menu = ActionMenu(
      user: user, app: app, subject: documents.isEmpty ? "Actions" : "Actions for \(names)", count: documents.count,
      target: targets.first)
    guard !menu.items.isEmpty else { return ("There is nothing to do with it here.\n" + prompt, nil) }
    pending = PlainAction(documents: documents, menu: menu)
    let lines = menu.items.enumerated().map { index, item in
      "\(index + 1) \(item.title)\(item.ending)\n"
    }
    return ("\(menu.subject).\n" + lines.joined() + "Number of the action, or nothing to go back: ", nil)
  }

  mutating func take(
    _ line: String, for action: PlainAction, _ refuse: (PickedDocument) -> String?
  ) -> (String, PickerOutcome?) {
    pending = nil
    if line == "\u{1B}" || line.isEmpty && action.asked != .open { return ("Nothing is done.\n" + prompt, nil) }
    if let asked = action.asked { return perform(asked, line, action.documents, refuse) }
    guard let number = Int(line), action.menu.items.indices.contains(number - 1) else {
      return ("There is no action \(DisplayText.quoted(line, limit: 20)).\n" + prompt, nil)
    }
    switch action.menu.items[number - 1].choice {
    case .app(let chosen):
      for document in action.documents where chosen.documents {
        if let refusal = model.rule.refusal(of: document) ?? refuse(document) { return (refusal + "\n" + prompt, nil) }
      }
      return ("Chosen.\n", .acted(chosen.identifier, "", chosen.documents ? action.documents : []))
    case .user(let chosen):
      guard let question = chosen.question else { return perform(chosen, "", action.documents, refuse) }
      pending = PlainAction(documents: action.documents, menu: action.menu, asked: chosen)
      let old = chosen == .rename ? action.documents.first.map { " for \(DisplayText.quoted($0.name))" } ?? "" : ""
      return ("\(question)\(old), or nothing to go back: ", nil)
    }
  }

  private mutating func perform(
    _ action: FileAction, _ line: String, _ documents: [PickedDocument], _ refuse: (PickedDocument) -> String?
  ) -> (String, PickerOutcome?) {
    switch action {
    case .reveal:
      guard let place = documents.first?.path.parentPath else { return (prompt, nil) }
      return go(refuse) { () throws(KernelError) in try OpenFolder(place) }
    case .copyPath: return (documents.map { DisplayText($0.path).plain + "\n" }.joined() + prompt, nil)
    case .open, .share: return ("Chosen.\n", .acted(action.rawValue, line, documents))
    default:
      guard let actor else { return (prompt, nil) }
      var argument = line
      if action == .move {
        if line == "~" { argument = home ?? "/" }
        if let rest = line.path(within: "~"), !rest.isEmpty { argument = (home ?? "/").path(of: rest) }
        if !argument.isAbsolutePath { argument = folder.path.path(of: argument) }
      }
      let reply = actor.perform(action, argument, on: documents)
      let said = DisplayText(reply.sentence).plain + "\n"
      if let place = folder.userPlace { return (said + show(place, refuse) + prompt, nil) }
      guard let entries = try? folder.entries() else { return (said + prompt, nil) }
      model.reload(entries: entries)
      return (said + page(refuse) + prompt, nil)
    }
  }

  /// - Returns: the lines to say.
  mutating func show(_ place: UserPlace, _ refuse: (PickedDocument) -> String?) -> String {
    guard let actor else { return "" }
    let reply = actor.list(place)
    guard reply.isDone else { return DisplayText(reply.sentence).plain + "\n" }
    guard let next = try? OpenFolder(place, reply.paths) else { return "" }
    return (reply.paths.isEmpty ? place.emptiness : place.sentence) + "\n" + show(next, refuse)
  }
}
