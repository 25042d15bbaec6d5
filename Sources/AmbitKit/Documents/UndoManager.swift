public import Foundation

/// Keeps the steps back, and forward again. As Foundation's on Apple's systems; Foundation on Linux has none.
///
/// Steps that are registered in one turn of the main queue are undone together, unless ``groupsByEvent`` is false. The target of a step
/// is not kept alive: a step whose target is gone does nothing.
@MainActor open class UndoManager: NSObject {
  /// One registered step.
  private struct Step {
    weak var target: AnyObject?
    let identity: ObjectIdentifier
    let run: @MainActor (AnyObject) -> Void
  }

  /// Steps that belong together, and groups in them.
  private final class Group {
    enum Entry {
      case step(Step)
      case group(Group)
    }
    var entries: [Entry] = []
    var name = ""
    var isDiscardable = false
    /// It was opened by a registration, for the turn of the main queue.
    let isEvent: Bool
    init(isEvent: Bool = false) { self.isEvent = isEvent }

    func remove(_ identity: ObjectIdentifier) {
      entries = entries.filter { entry in
        switch entry {
        case .step(let step): return step.identity != identity
        case .group(let group):
          group.remove(identity)
          return !group.entries.isEmpty
        }
      }
    }
  }

  private var open: [Group] = []
  private var undoStack: [Group] = []
  private var redoStack: [Group] = []
  private var disabled = 0

  /// Hears of each change of the document that this manager belongs to: a new step, an undone one, a redone one.
  var onChange: ((Document.ChangeKind) -> Void)?

  /// A manager without steps.
  public nonisolated override init() { super.init() }

  // MARK: Registering

  /// Registers a step back. While something is undone this is the step forward again.
  ///
  /// - Parameters:
  ///   - target: not kept alive.
  ///   - handler: does the step; it gets the target.
  open func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType, handler: @escaping @MainActor (TargetType) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if open.isEmpty {
      precondition(groupsByEvent, "registerUndo: no undo group is open, and groupsByEvent is false")
      beginGroup(Group(isEvent: true))
      Task { @MainActor [weak self] in self?.endEventGroup() }
    }
    let step = Step(target: target, identity: ObjectIdentifier(target)) { object in
      if let object = object as? TargetType { handler(object) }
    }
    let isFirst = open[0].entries.isEmpty && !isUndoing && !isRedoing
    open[open.count - 1].entries.append(.step(step))
    guard !isUndoing else { return }
    if !isRedoing { redoStack.removeAll() }
    if isFirst { onChange?(.done) }
  }

  /// Steps are not registered until ``enableUndoRegistration()`` has balanced this.
  open func disableUndoRegistration() { disabled += 1 }

  /// Balances one ``disableUndoRegistration()``.
  open func enableUndoRegistration() {
    precondition(disabled > 0, "enableUndoRegistration: it is not disabled")
    disabled -= 1
  }

  /// Steps are registered.
  open var isUndoRegistrationEnabled: Bool { disabled == 0 }

  // MARK: Groups

  /// A step without an open group opens one, which ends with the turn of the main queue. True unless set.
  open var groupsByEvent = true

  /// How many groups are kept at most; 0: all.
  open var levelsOfUndo = 0 {
    didSet { trim() }
  }

  /// Groups that are open now.
  open var groupingLevel: Int { open.count }

  /// Opens a group: its steps are undone together.
  open func beginUndoGrouping() { beginGroup(Group()) }

  private func beginGroup(_ group: Group) {
    post(.NSUndoManagerCheckpoint)
    open.append(group)
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  /// Closes the group that was opened last. One without steps is dropped.
  open func endUndoGrouping() {
    precondition(!open.isEmpty, "endUndoGrouping: no group is open")
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillCloseUndoGroup)
    let group = open.removeLast()
    if !group.entries.isEmpty {
      if let outer = open.last {
        outer.entries.append(.group(group))
        if outer.name.isEmpty { outer.name = group.name }
      } else if isUndoing {
        redoStack.append(group)
      } else {
        undoStack.append(group)
        trim()
      }
    }
    post(.NSUndoManagerDidCloseUndoGroup)
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
    redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
  }

  /// Ends the group of this turn of the main queue, if only that one is open. Ambit's addition, for programs that serve no main queue.
  public func endUndoGroupOfEvent() { endEventGroup() }

  func endEventGroup() {
    if open.count == 1, open[0].isEvent { endUndoGrouping() }
  }

  // MARK: Undoing

  /// A step is being undone now.
  open private(set) var isUndoing = false
  /// A step is being redone now.
  open private(set) var isRedoing = false
  /// There is something to undo.
  open var canUndo: Bool { !undoStack.isEmpty || open.first?.entries.isEmpty == false }
  /// There is something to redo.
  open var canRedo: Bool { !redoStack.isEmpty }

  /// Undoes the last group. A group of this turn of the main queue is closed first; another open one is a mistake of the caller.
  open func undo() {
    endEventGroup()
    precondition(open.isEmpty, "undo: a group is still open")
    undoNestedGroup()
  }

  /// Undoes the last closed group.
  open func undoNestedGroup() {
    precondition(!isUndoing && !isRedoing, "undo: something is undone or redone already")
    guard let group = undoStack.popLast() else { return }
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    replay(group)
    isUndoing = false
    post(.NSUndoManagerDidUndoChange)
    onChange?(.undone)
  }

  /// Redoes the group that was undone last.
  open func redo() {
    endEventGroup()
    precondition(!isUndoing && !isRedoing, "redo: something is undone or redone already")
    guard let group = redoStack.popLast() else { return }
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    replay(group)
    isRedoing = false
    post(.NSUndoManagerDidRedoChange)
    onChange?(.redone)
  }

  /// Runs a group backwards; the steps registered meanwhile lead the other way.
  private func replay(_ group: Group) {
    let outer = open
    open = []
    beginGroup(Group())
    open[0].name = group.name
    run(group)
    endUndoGrouping()
    open = outer
  }

  private func run(_ group: Group) {
    for entry in group.entries.reversed() {
      switch entry {
      case .step(let step): if let target = step.target { step.run(target) }
      case .group(let inner): run(inner)
      }
    }
  }

  /// Forgets all steps.
  open func removeAllActions() {
    open.removeAll()
    undoStack.removeAll()
    redoStack.removeAll()
  }

  /// Forgets the steps of a target.
  open func removeAllActions(withTarget target: Any) {
    let identity = ObjectIdentifier(target as AnyObject)
    for group in open + undoStack + redoStack { group.remove(identity) }
    undoStack.removeAll { $0.entries.isEmpty }
    redoStack.removeAll { $0.entries.isEmpty }
  }

  // MARK: Names

  /// Names the open group, or the last one: for a menu.
  open func setActionName(_ actionName: String) { (open.last ?? undoStack.last)?.name = actionName }

  /// The open group, or the last one, changes nothing that would have to be saved.
  open func setActionIsDiscardable(_ discardable: Bool) {
    (open.last ?? undoStack.last)?.isDiscardable = discardable
  }

  /// The name of the group that would be undone; empty if it has none.
  open var undoActionName: String { (open.first ?? undoStack.last)?.name ?? "" }
  /// The name of the group that would be redone; empty if it has none.
  open var redoActionName: String { redoStack.last?.name ?? "" }
  /// Undoing it changes nothing that would have to be saved.
  open var undoActionIsDiscardable: Bool { undoStack.last?.isDiscardable ?? false }
  /// Redoing it changes nothing that would have to be saved.
  open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }
  /// For example “Undo Typing”.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// For example “Redo Typing”.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
  /// The title for a name.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }
  /// The title for a name.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

extension Notification.Name {
  /// A group is opened or closed, or something is undone or redone.
  public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
  /// A group was opened.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
  /// A group is about to be closed.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
  /// A group was closed.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
  /// Something is about to be undone.
  public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
  /// Something was undone.
  public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Something is about to be redone.
  public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
  /// Something was redone.
  public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}
