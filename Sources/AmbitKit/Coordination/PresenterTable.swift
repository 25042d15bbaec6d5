internal import Foundation
internal import Kernel
internal import Synchronization
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The presenters of this process. Each has a connection, on which the broker asks and tells it.
final class PresenterTable: Sendable {
  static let shared = PresenterTable()
  private let state = Mutex(State())

  private struct State {
    var registered: [PresenterLink] = []
    /// By object, so that a coordinator that was made before its presenter was added has the same purpose.
    var purposes: [ObjectIdentifier: (presenter: WeakPresenter, purpose: String)] = [:]
  }

  private final class WeakPresenter: @unchecked Sendable {
    private(set) weak var object: (any NSFilePresenter)?
    init(_ object: any NSFilePresenter) { self.object = object }
  }

  var all: [any NSFilePresenter] { state.withLock { $0.registered.map(\.presenter) } }

  func purpose(of presenter: any NSFilePresenter) -> String {
    let key = ObjectIdentifier(presenter)
    let weak = WeakPresenter(presenter)
    return state.withLock { state in
      // Another object may have its address by now.
      if let known = state.purposes[key], known.presenter.object != nil { return known.purpose }
      state.purposes = state.purposes.filter { $0.value.presenter.object != nil }
      let purpose = UUID().uuidString
      state.purposes[key] = (weak, purpose)
      return purpose
    }
  }

  func add(_ presenter: any NSFilePresenter) {
    let link = PresenterLink(presenter, purpose: purpose(of: presenter))
    state.withLock { $0.registered.append(link) }
    link.begin()
  }

  func remove(_ presenter: any NSFilePresenter) {
    let link = state.withLock { state in
      state.registered.lastIndex { $0.presenter === presenter }.map { state.registered.remove(at: $0) }
    }
    link?.end()
  }

  func setUnsaved(_ unsaved: Bool, _ presenter: any NSFilePresenter) {
    for link in state.withLock({ $0.registered }) where link.presenter === presenter { link.setUnsaved(unsaved) }
  }
}

/// One registration of a presenter.
final class PresenterLink: @unchecked Sendable {
  let presenter: any NSFilePresenter
  private let purpose: String
  private let state = Mutex(State())

  private struct State {
    var client: WireClient?
    var number: Int?
    var unsaved = false
    var isOver = false
    /// Blocks to be called when an access is over.
    var reacquirers: [Int: [@Sendable () -> Void]] = [:]
    var withdrawn: Set<Int> = []
  }

  init(_ presenter: any NSFilePresenter, purpose: String) { (self.presenter, self.purpose) = (presenter, purpose) }

  /// Counts when it returns (`COO-21`). A presenter of nothing, and one that the broker does not take, is only listed.
  func begin() {
    guard let url = presenter.presentedItemURL else { return }
    _ = SecurityScope.remembering {
      do throws(WireError) {
        let client = try Broker.connect()
        let call = CoordinationInterface.PresentCall(
          path: NSFileCoordinator.path(of: url), purpose: purpose,
          primary: presenter.primaryPresentedItemURL.map { NSFileCoordinator.path(of: $0) },
          unsaved: state.withLock { $0.unsaved } ? true : nil)
        try client.send(CoordinationInterface.present, call.json, more: true)
        guard let first = try Self.next(client), let number = first.presenter else { throw .closed }
        state.withLock { ($0.client, $0.number) = (client, number) }
        do throws(KernelError) { try Worker.start { self.read(client) } } catch { throw .kernel(error) }
      } catch { throw error.coordination(for: url) }
    }
  }

  func end() {
    let client = state.withLock { state in
      state.isOver = true
      return state.client
    }
    if let client { _ = shutdown(client.socket.rawValue, Int32(SHUT_RDWR)) }
  }

  func setUnsaved(_ unsaved: Bool) {
    let number = state.withLock { state in
      state.unsaved = unsaved
      return state.number
    }
    guard let number else { return }
    try? Broker.call(
      CoordinationInterface.unsaved, CoordinationInterface.UnsavedCall(presenter: number, unsaved: unsaved))
  }

  private static func next(_ client: WireClient) throws(WireError) -> CoordinationInterface.Message? {
    guard let answer = try client.receive(wait: true) else { return nil }
    do { return try CoordinationInterface.PresentReply(json: answer.parameters).message } catch {
      throw .unexpectedReply(error)
    }
  }

  private func read(_ client: WireClient) {
    while let message = try? Self.next(client) {
      if state.withLock({ $0.isOver }) { return }
      presenter.presentedItemOperationQueue.addOperation { self.take(message) }
    }
    // The broker has gone, and another one may be there: it does not know this presenter.
    guard !state.withLock({ $0.isOver }) else { return }
    usleep(50_000)
    begin()
  }

  private func take(_ message: CoordinationInterface.Message) {
    if state.withLock({ $0.isOver }) { return }
    let url = presenter.presentedItemURL
    func place(_ path: String?) -> URL? {
      path.map { path in url.map { NSFileCoordinator.url($0, at: path) } ?? URL(fileURLWithPath: path) }
    }
    if message.coordinated == false { presenter.presentedItemDidChangeWithoutCoordination() }
    switch message.kind {
    case .question: ask(message, place(message.path))
    case .withdrawn: _ = state.withLock { $0.withdrawn.insert(message.question ?? 0) }
    case .reacquire:
      let blocks = state.withLock { $0.reacquirers.removeValue(forKey: message.access ?? 0) } ?? []
      for block in blocks { block() }
    case .changed, .deleted, .attributesChanged: presenter.presentedItemDidChange()
    case .moved: if let to = place(message.to) { presenter.presentedItemDidMove(to: to) }
    case .subitemChanged, .subitemDeleted:
      if let item = place(message.path) { presenter.presentedSubitemDidChange(at: item) }
    case .subitemAppeared: if let item = place(message.path) { presenter.presentedSubitemDidAppear(at: item) }
    case .subitemMoved:
      if let from = place(message.path), let to = place(message.to) {
        presenter.presentedSubitem(at: from, didMoveTo: to)
      }
    case .versionGained, .versionLost, .conflictResolved:
      if let url, let version = NSFileVersion(message, of: url) {
        switch message.kind {
        case .versionGained: presenter.presentedItemDidGain(version)
        case .versionLost: presenter.presentedItemDidLose(version)
        default: presenter.presentedItemDidResolveConflict(version)
        }
      }
    case .transferring: (presenter as? Document)?.transferring(message.completed ?? 0, of: message.total ?? 0)
    case .transferred: (presenter as? Document)?.transferred()
    case .lost: presenter.presentedItemDidChange()
    case .presenting: break
    }
  }

  private func ask(_ message: CoordinationInterface.Message, _ item: URL?) {
    guard let number = message.question, let asks = message.asks, let access = message.access else { return }
    if state.withLock({ $0.withdrawn.remove(number) }) != nil { return }
    if let party = message.party { presenter.presentedItemWillBeAsked(by: .init(party)) }
    FileAccess.answering(number) {
      switch asks {
      case .relinquishToReader:
        presenter.relinquishPresentedItem(toReader: { self.answer(number, access, reacquirer: $0) })
      case .relinquishToWriter:
        presenter.relinquishPresentedItem(toWriter: { self.answer(number, access, reacquirer: $0) })
      case .saveChanges: presenter.savePresentedItemChanges { self.answer(number, $0) }
      case .accommodateDeletion: presenter.accommodatePresentedItemDeletion { self.answer(number, $0) }
      case .accommodateSubitemDeletion:
        guard let item else { return self.answer(number, nil) }
        presenter.accommodatePresentedSubitemDeletion(at: item) { self.answer(number, $0) }
      }
    }
  }

  private func answer(_ number: Int, _ access: Int, reacquirer: (@Sendable () -> Void)?) {
    if let reacquirer { state.withLock { $0.reacquirers[access, default: []].append(reacquirer) } }
    answer(number, nil)
  }

  private func answer(_ number: Int, _ error: (any Error)?) {
    try? Broker.call(
      CoordinationInterface.answer,
      CoordinationInterface.AnswerCall(question: number, error: error.map { "\($0.localizedDescription)" }))
  }
}
