/// Two devices without faults: new documents of the one go to the other. The engines and the ledger are the real ones; all else answers at
/// once, in batches as large as they allow.
package struct Exchange {
  private var ledger = CloudLedger()
  private var engines = [SyncEngine(device: "A"), SyncEngine(device: "B")]
  private var now: Int64 = 0
  private var placed = 0
  /// Messages with changes that the ledger got.
  package private(set) var messages = 0

  package init() {}

  /// - Parameter collide: the other device begins with so many documents of the same names.
  /// - Returns: the number of documents that were placed on a device; 0 if the devices are not the same in the end.
  package mutating func run(documents: Int, collide: Bool = false) -> Int {
    exchange(with: 0, [.scan(items(documents, "mine"))])
    exchange(with: 1, [.scan(collide ? items(documents, "theirs") : [])])
    exchange(with: 0, [.hint])
    let count = collide ? 2 * documents : documents
    return engines.allSatisfy(\.isIdle) && ledger.items.count == count ? placed : 0
  }

  private func items(_ count: Int, _ owner: String) -> [LocalItem] {
    (0..<count).map { number in
      LocalItem(
        id: "\(owner) \(number)", parent: LocalItem.root, name: "\(number).txt", kind: .document, stamp: "1 1 1")
    }
  }

  private mutating func exchange(with d: Int, _ first: [SyncInput]) {
    var inputs = first
    while !inputs.isEmpty {
      now += 1
      let effects = engines[d].apply(inputs, at: now)
      inputs = []
      for effect in effects { if let input = answer(effect, d) { inputs.append(input) } }
    }
  }

  private mutating func answer(_ effect: SyncEffect, _ d: Int) -> SyncInput? {
    switch effect {
    case .save:
      _ = engines[d].takeDelta()
      return nil
    case .scan, .discard: return nil
    case .fetch(let request, let since, _):
      return .page(request: request, ledger.changes(since: since, limit: 1000))
    case .send(let request, let changes):
      messages += 1
      let device = engines[d].device
      return .answers(
        request: request, changes.map { ledger.apply($0.change, device: device, key: $0.key).0 })
    case .upload(let request, let id, let stamp):
      return .uploaded(request: request, content: "content \(id)", size: 1, stamp: stamp)
    case .stage(let request, let item):
      return .staged(
        request: request, LocalItem(id: "new \(item.id)", parent: "", name: "", kind: item.kind, stamp: "1 1 1"))
    case .act(let number, .place(let staged, let parent, let name)):
      placed += 1
      return .acted(
        number: number, LocalItem(id: staged, parent: parent, name: name, kind: .document, stamp: "1 1 1"))
    case .act(let number, .move(let id, _, let to)):
      return .acted(
        number: number, LocalItem(id: id, parent: to.parent, name: to.name, kind: .document, stamp: "1 1 1"))
    case .act(let number, _): return .refused(number: number)
    }
  }
}
