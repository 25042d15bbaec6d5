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
    /// With so many, those of objects that are gone are taken out.
    var mostPurposes = 64
  }

  private final class WeakPresenter: @unchecked Sendable {
    private(set) weak var object: (any NSFilePresenter)?
    init(_ object: any NSFilePresenter) { self.object = object }
  }

  var isEmpty: Bool { state.withLock { $0.registered.isEmpty } }
  var all: [any NSFilePresenter] { state.withLock { $0.registered.map(\.presenter) } }

  func purpose(of presenter: any NSFilePresenter) -> String {
    let key = ObjectIdentifier(presenter)
    let weak = WeakPresenter(presenter)
    return state.withLock { state in
      // Another object may have its address by now.
      if let known = state.purposes[key], known.presenter.object != nil { return known.purpose }
      if state.purposes.count >= state.mostPurposes {
        state.purposes = state.purposes.filter { $0.value.presenter.object != nil }
        state.mostPurposes = max(64, 2 * state.purposes.count)
      }
      let purpose = UUID().uuidString
      state.purposes[key] = (weak, purpose)
      return purpose
    }
  }

  /// Counts when it returns (`COO-21`).
  func add(_ presenter: any NSFilePresenter) { begin(presenter)?.awaitBeginning() }

  /// Counts when ``awaitBeginnings(of:)`` has returned, or when the first access of its purpose is granted.
  ///
  /// - Parameter opens: it reads the item at once.
  @discardableResult
  func begin(_ presenter: any NSFilePresenter, opens: Bool = false) -> PresenterLink? {
    let link = PresenterLink(presenter, purpose: purpose(of: presenter), opens: opens)
    state.withLock { $0.registered.append(link) }
    return link.begin() ? link : nil
  }

  private func link(of presenter: any NSFilePresenter) -> PresenterLink? {
    state.withLock { state in state.registered.last { $0.presenter === presenter } }
  }

  /// Waits until the presenters of a purpose count that have begun.
  func awaitBeginnings(of purpose: String) {
    for link in state.withLock({ $0.registered }) where link.purpose == purpose { link.awaitBeginning() }
  }

  /// Whether the presented item had conflict versions that are not resolved when its presenter began; `nil`: the broker has not said.
  func conflicts(of presenter: any NSFilePresenter) -> Bool? { link(of: presenter)?.conflicts }

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

/// Connections of presenters that have left: the next one presents by it. Opening a document then makes no connection.
private enum PresenterConnections {
  private struct Parked {
    var place = Broker.Place()
    var clients: [WireClient] = []
  }
  private static let parked = Mutex(Parked())
  private static let most = 4

  /// The answers up to the last one of its former presenter have still to be read.
  static func take() throws(WireError) -> WireClient? {
    let place = try Broker.place()
    return parked.withLock { $0.place == place ? $0.clients.popLast() : nil }
  }

  static func keep(_ client: WireClient) {
    guard let place = try? Broker.place() else { return }
    parked.withLock { parked in
      if parked.place != place { parked = Parked(place: place) }
      if parked.clients.count < most { parked.clients.append(client) }
    }
  }
}

/// The thread that reads the messages to all presenters of this process. None has to wake it to be read from then on, or no more.
private final class PresenterReader: Sendable {
  private struct State {
    var process: Int32
    var links: [UInt64: PresenterLink] = [:]
    var last: UInt64 = 0
  }

  private let epoll: Epoll
  private let state = Mutex(State(process: getpid()))
  private static let current = Mutex<PresenterReader?>(nil)

  private init() throws(KernelError) { epoll = try Epoll() }

  /// The one of this process: a process that was forked has none of its parent's threads.
  static func get() throws(WireError) -> PresenterReader {
    try current.withLock { current throws(WireError) in
      if let current, current.state.withLock({ $0.process }) == getpid() { return current }
      do throws(KernelError) {
        let new = try PresenterReader()
        try Worker.start { new.run() }
        current = new
        return new
      } catch { throw .kernel(error) }
    }
  }

  /// - Returns: a number for ``remove(_:_:)``.
  func add(_ link: PresenterLink, _ client: WireClient) throws(WireError) -> UInt64 {
    let tag = state.withLock { state in
      state.last += 1
      state.links[state.last] = link
      return state.last
    }
    do throws(KernelError) { try epoll.add(client.socket, tag: tag) } catch {
      state.withLock { $0.links[tag] = nil }
      throw .kernel(error)
    }
    return tag
  }

  func remove(_ tag: UInt64, _ client: WireClient) {
    epoll.remove(client.socket)
    state.withLock { $0.links[tag] = nil }
  }

  private func run() {
    while let tag = try? epoll.next() { state.withLock { $0.links[tag] }?.catchUp() }
  }
}

/// One registration of a presenter.
final class PresenterLink: @unchecked Sendable {
  let presenter: any NSFilePresenter
  let purpose: String
  private let opens: Bool
  private let state = Mutex(State())
  /// Held by the one that reads: messages are taken in their order, and none of a later presenter's.
  private let reading = Mutex(Reading())

  private struct State {
    var number: Int?
    var unsaved = false
    var isOver = false
    var conflicts: Bool?
    /// Blocks to be called when an access is over.
    var reacquirers: [Int: [@Sendable () -> Void]] = [:]
    var withdrawn: Set<Int> = []
  }

  private struct Reading {
    var client: WireClient?
    /// Its first message has not come yet.
    var isBeginning = false
    /// It was another presenter's, whose last message has not been read.
    var isUsed = false
    var toldUnsaved = false
    var reader: (PresenterReader, tag: UInt64)?
  }

  init(_ presenter: any NSFilePresenter, purpose: String, opens: Bool = false) {
    (self.presenter, self.purpose, self.opens) = (presenter, purpose, opens)
  }

  /// Whether the item has conflict versions that are not resolved, as it was when it began; `nil`: the broker has not said.
  var conflicts: Bool? { state.withLock { $0.conflicts } }

  /// A presenter of nothing, and one that the broker does not take, is only listed.
  func begin() -> Bool {
    guard let url = presenter.presentedItemURL else { return false }
    let begun: Void? = SecurityScope.remembering {
      do throws(WireError) {
        try reading.withLock { reading throws(WireError) in try send(url, &reading) }
      } catch { throw error.coordination(for: url) }
    }
    return begun != nil
  }

  private func send(_ url: URL, _ reading: inout Reading, reuses: Bool = true) throws(WireError) {
    let unsaved = state.withLock { $0.unsaved }
    let call = CoordinationInterface.PresentCall(
      path: NSFileCoordinator.path(of: url), purpose: purpose,
      primary: presenter.primaryPresentedItemURL.map { NSFileCoordinator.path(of: $0) },
      unsaved: unsaved ? true : nil, opens: opens ? true : nil
    ).json
    if reuses, let used = try PresenterConnections.take(),
      (try? used.send(CoordinationInterface.present, call, more: true)) != nil
    {
      reading = Reading(client: used, isBeginning: true, isUsed: true, toldUnsaved: unsaved)
      return
    }
    let client = try Broker.connect()
    try client.send(CoordinationInterface.present, call, more: true)
    reading = Reading(client: client, isBeginning: true, toldUnsaved: unsaved)
  }

  /// Waits until it counts: from then on it misses nothing.
  func awaitBeginning() {
    guard let url = presenter.presentedItemURL else { return }
    reading.withLock { reading in
      guard reading.isBeginning else { return }
      _ = SecurityScope.remembering {
        do throws(WireError) {
          do throws(WireError) { try takeFirst(&reading) } catch {
            if case .remote = error { throw error }
            guard reading.isUsed else { throw error }
            // The broker of that connection has gone since.
            try send(url, &reading, reuses: false)
            try takeFirst(&reading)
          }
        } catch {
          reading = Reading()
          throw error.coordination(for: url)
        }
      }
    }
  }

  private func takeFirst(_ reading: inout Reading) throws(WireError) {
    guard let client = reading.client else { return }
    var isFormer = reading.isUsed
    var first: CoordinationInterface.Message?
    while first == nil {
      guard let answer = try client.awaitAnswer() else { throw .closed }
      if isFormer { isFormer = answer.continues } else { first = try Self.message(answer) }
    }
    guard let first, let number = first.presenter else { throw .closed }
    let unsaved = state.withLock { state in
      (state.number, state.conflicts) = (number, first.conflicts)
      return state.unsaved
    }
    reading.isBeginning = false
    if unsaved != reading.toldUnsaved { setUnsaved(unsaved) }
    let reader = try PresenterReader.get()
    reading.reader = (reader, try reader.add(self, client))
    // They may have come with the first.
    takeAll(&reading)
  }

  private static func message(_ answer: WireClient.Answer) throws(WireError) -> CoordinationInterface.Message {
    do { return try CoordinationInterface.PresentReply(json: answer.parameters).message } catch {
      throw .unexpectedReply(error)
    }
  }

  func end() {
    awaitBeginning()
    reading.withLock { reading in
      let number = state.withLock { state in
        state.isOver = true
        defer { state.number = nil }
        return state.number
      }
      guard let client = reading.client else { return }
      if let (reader, tag) = reading.reader { reader.remove(tag, client) }
      reading = Reading()
      guard let number,
        (try? Broker.tell(CoordinationInterface.leave, CoordinationInterface.LeaveCall(presenter: number))) != nil
      else { return }
      PresenterConnections.keep(client)
    }
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

  /// Takes the messages that have come.
  fileprivate func catchUp() { reading.withLock { takeAll(&$0) } }

  private func takeAll(_ reading: inout Reading) {
    guard let client = reading.client, !reading.isBeginning else { return }
    do throws(WireError) {
      while let answer = try client.receive(wait: false) {
        let message = try Self.message(answer)
        presenter.presentedItemOperationQueue.addOperation { self.take(message) }
      }
    } catch {
      if let (reader, tag) = reading.reader { reader.remove(tag, client) }
      reading = Reading()
      let blocks = state.withLock { state in
        state.number = nil
        state.withdrawn = []
        defer { state.reacquirers = [:] }
        return state.reacquirers.values.flatMap(\.self)
      }
      // No broker will say that those accesses are over.
      presenter.presentedItemOperationQueue.addOperation { for block in blocks { block() } }
      try? Worker.start { self.beginAnew() }
    }
  }

  /// The broker has gone, and another one may be there: it does not know this presenter.
  private func beginAnew() {
    var pause: UInt32 = 50_000
    // For about a minute; it may be one that does not take this presenter.
    for _ in 0..<64 {
      usleep(pause)
      pause = min(1_000_000, pause * 2)
      if state.withLock({ $0.isOver }) { return }
      guard begin() else { continue }
      awaitBeginning()
      guard state.withLock({ $0.number != nil }) else { continue }
      // It has missed what has happened meanwhile.
      presenter.presentedItemOperationQueue.addOperation {
        if !self.state.withLock({ $0.isOver }) { self.presenter.presentedItemDidChange() }
      }
      return
    }
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
    case .transferred:
      (presenter as? Document)?.transferred()
      presenter.presentedItemDidChangeUbiquityAttributes([.ubiquitousItemDownloadingStatusKey])
    case .lost: presenter.presentedItemDidChange()
    case .presenting, .left: break
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
        guard let item else {
          answer(number, nil)
          return
        }
        presenter.accommodatePresentedSubitemDeletion(at: item) { self.answer(number, $0) }
      }
    }
  }

  private func answer(_ number: Int, _ access: Int, reacquirer: (@Sendable () -> Void)?) {
    if let reacquirer { state.withLock { $0.reacquirers[access, default: []].append(reacquirer) } }
    if answer(number, nil) { return }
    // The question was withdrawn, or the access went on without this answer. No message will tell of its end.
    let blocks = state.withLock { $0.reacquirers.removeValue(forKey: access) } ?? []
    for block in blocks { block() }
  }

  /// - Returns: whether the broker has taken the answer.
  @discardableResult
  private func answer(_ number: Int, _ error: (any Error)?) -> Bool {
    let call = CoordinationInterface.AnswerCall(question: number, error: error.map { "\($0.localizedDescription)" })
    do throws(WireError) { try Broker.call(CoordinationInterface.answer, call) } catch { return false }
    return true
  }
}
