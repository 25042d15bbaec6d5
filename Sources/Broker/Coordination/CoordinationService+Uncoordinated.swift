internal import BrokerCore
internal import Coordination
internal import Paths
internal import Wire

/// Changes and openings by programs that coordinate nothing.
extension CoordinationService {
  /// A file was changed. Within a coordinated access for writing it is that access's doing, and told at its end.
  func noticed(_ event: PresentedFiles.Event) {
    switch event {
    case .changed(let path, let change):
      if writer(of: path) == nil { apply(.changed(path, change)) }
      leased.changed(path)
    case .moved(let from, let to):
      let writer = writer(of: from) ?? writer(of: to)
      if let writer, accesses[writer]?.moves.contains(event) == true { return }
      noteMove(from, to, in: writer)
      apply(.moved(from, to: to, by: writer))
    }
  }

  /// The access under which a path is written now.
  private func writer(of path: PathKey) -> Int? {
    accesses.first { id, access in
      access.isGranted && access.connection != nil
        && (access.request.intents + (arbiter.entries[id]?.request.intents ?? []))
          .contains { $0.isWrite && path.text.lies(within: $0.item.path.text) }
    }?.key
  }

  /// Another program waits in `open(2)`: its wait is a request like any other (`COO-27`, `COO-28`). Before it writes, the presenter
  /// saves: its changes would be lost otherwise, or the program's.
  func opened(_ path: PathKey, writes: Bool) {
    let presenter = presenters.values.first { $0.item.item.path == path }
    let id = takeID()
    let rules = presenter?.instance?.app.rules
    let patience = rules.map { Self.patience($0) } ?? Self.userPatience
    let party = Party(app: "another program", process: 0, purpose: "\n\(id)")
    let request = Coordination.Request(
      client: id, party: party,
      intents: [Intent(presenter?.item.item ?? Item(path.text), writes ? .write(.forMerging) : .read([]))],
      patience: [patience, leased.longestWait].compactMap(\.self).min(), silence: .proceed)
    table.add(Access(id, request, [NamedItem(item: Item(path.text), mapping: .host)], arrived: clock.monotonic))
    apply(.request(id, request))
  }

  /// No program that has written has it open any more.
  func closed(_ path: PathKey) {
    for (id, access) in accesses where access.connection == nil && access.isGranted {
      // A program keeps a document open that is moved.
      if access.paths.contains(path) { apply(.done(id)) }
    }
  }

  /// Keeps the leases out of an accessor's way, and has an opener go on whose turn has come.
  func leases(_ id: Int, of access: Access, begin: Bool) {
    for (intent, path) in zip(access.request.intents, access.paths) {
      guard access.connection != nil else {
        if begin {
          leased.letGo(path)
          // A reader has what it came for; of a writer it is seen when it has closed the file.
          if !intent.isWrite { apply(.done(id)) }
        }
        continue
      }
      guard begin else {
        leased.end(path)
        continue
      }
      let isAnswer = presenters.values.contains { $0.party.purpose == access.party.purpose }
      leased.begin(path, isAnswer: isAnswer)
    }
  }
}
