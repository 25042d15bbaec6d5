import CloudSync
import Foundation
import Testing

/// What the engine gives a device to store.
@Suite struct DeltaTests {
  private var engine = SyncEngine(device: "A")
  private var saved = SavedSync(device: "A")

  private mutating func give(_ input: SyncInput) -> [SyncEffect] { engine.apply(input, at: 1) }

  private mutating func save() -> SyncDelta {
    let delta = engine.takeDelta()
    saved.apply(delta)
    return delta
  }

  private func item(_ id: String, revision: Int) -> CloudItem {
    CloudItem(
      id: id, parent: CloudItem.root, name: id, kind: .document, revision: revision, contentRevision: revision,
      placeRevision: revision, content: "one", size: 1, device: "B")
  }

  private mutating func haveThree() {
    _ = give(.scan([]))
    let items = [item("B-1", revision: 1), item("B-2", revision: 2), item("B-3", revision: 3)]
    _ = give(.page(request: 1, CloudPage(items: items, next: 3, more: false, revision: 3)))
  }

  private func bytes(_ engine: SyncEngine) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(engine)
  }

  @Test mutating func aDeltaHasTheEntriesThatChanged() {
    haveThree()
    #expect(save().changed.map(\.id) == ["B-1", "B-2", "B-3"])
    #expect(save().changed.isEmpty)
    _ = give(.staged(request: 3, LocalItem(id: "10", parent: "", name: "", kind: .document, stamp: "s")))
    let delta = save()
    #expect(delta.changed.map(\.id) == ["B-2"])
    #expect(delta.removed.isEmpty)
    #expect(engine.temporaries == ["10"])
  }

  @Test mutating func aDeltaHasTheEntriesThatWent() {
    haveThree()
    _ = save()
    _ = give(.transferFailed(request: 2))
    _ = give(.hint)
    var gone = item("B-1", revision: 4)
    gone.isDeleted = true
    _ = give(.page(request: 5, CloudPage(items: [gone], next: 4, more: false, revision: 4)))
    #expect(save().removed == ["B-1"])
    #expect(saved.rows.keys.sorted() == ["B-2", "B-3"])
  }

  @Test mutating func theDeltasMakeTheSameEngine() throws {
    haveThree()
    _ = save()
    _ = give(.staged(request: 3, LocalItem(id: "10", parent: "", name: "", kind: .document, stamp: "s")))
    _ = give(.scan([LocalItem(id: "1", parent: LocalItem.root, name: "mine", kind: .document, stamp: "s")]))
    _ = save()
    #expect(try bytes(saved.engine) == bytes(engine))
  }

  @Test mutating func theFirstDeltaOfADecodedEngineHasAllEntries() throws {
    haveThree()
    _ = save()
    engine = try JSONDecoder().decode(SyncEngine.self, from: bytes(engine))
    #expect(save().changed.map(\.id) == ["B-1", "B-2", "B-3"])
    #expect(try bytes(saved.engine) == bytes(engine))
  }

  @Test mutating func aDeltaIsCodable() throws {
    haveThree()
    let delta = engine.takeDelta()
    let again = try JSONDecoder().decode(SyncDelta.self, from: JSONEncoder().encode(delta))
    #expect(again.changed == delta.changed)
    #expect(try bytes(SyncEngine(head: again.head, rows: again.changed.reversed())) == bytes(engine))
  }
}
