import CloudSync
import Foundation
import Testing

/// The engine alone: inputs lead to effects.
@Suite struct EngineTests {
  private var engine = SyncEngine(device: "A")
  private var now: Int64 = 0

  private mutating func give(_ input: SyncInput, after delay: Int64 = 1) -> [SyncEffect] {
    now += delay
    return engine.apply(input, at: now)
  }

  private func page(_ items: [CloudItem], revision: Int) -> CloudPage {
    CloudPage(items: items, next: revision, more: false, revision: revision)
  }

  private func local(_ id: String, _ name: String, stamp: String = "s1") -> LocalItem {
    LocalItem(id: id, parent: LocalItem.root, name: name, kind: .document, stamp: stamp)
  }

  private func item(_ id: String, _ name: String, _ content: String, revision: Int, created: Int = 1) -> CloudItem {
    CloudItem(
      id: id, parent: CloudItem.root, name: name, kind: .document, revision: revision, contentRevision: revision,
      placeRevision: created, content: content, size: 1, device: "B")
  }

  /// A document that cloud and device both have.
  private mutating func haveCommonDocument() {
    _ = give(.scan([]))
    _ = give(.page(request: 1, page([item("B-1", "a.txt", "one", revision: 1)], revision: 1)))
    _ = give(.staged(request: 2, local("10", "")))
    _ = give(.acted(number: 3, local("10", "a.txt", stamp: "s2")))
  }

  @Test mutating func nothingIsPlannedBeforeScanAndPage() {
    #expect(give(.scan([local("1", "a.txt")])) == [.fetch(request: 1, since: 0, tombstonesSince: nil)])
    #expect(give(.page(request: 1, page([], revision: 0))) == [.upload(request: 2, id: "1", stamp: "s1")])
  }

  @Test mutating func theStateIsSavedBeforeAChangeIsSent() {
    _ = give(.scan([local("1", "a.txt")]))
    _ = give(.page(request: 1, page([], revision: 0)))
    let effects = give(.uploaded(request: 2, content: "one", size: 3, stamp: "s1"))
    var created = CloudItem(id: "A-1", parent: "root", name: "a.txt", kind: .document, content: "one", size: 3)
    created.device = "A"
    #expect(effects == [.save, .send(request: 3, [KeyedChange(key: "A-2", change: .create(created))])])
  }

  @Test mutating func aLostChangeIsSentAgainWithItsKey() {
    _ = give(.scan([local("1", "a.txt")]))
    _ = give(.page(request: 1, page([], revision: 0)))
    _ = give(.uploaded(request: 2, content: "one", size: 3, stamp: "s1"))
    #expect(give(.lost(request: 3)) == [])
    #expect(engine.nextDue == now + 500_000_000)
    let again = give(.tick, after: 500_000_000)
    guard case .send(4, let changes) = again.last else { return #expect(Bool(false), "\(again)") }
    #expect(changes.map(\.key) == ["A-2"])
  }

  @Test mutating func retriesBackOffToAMinute() {
    _ = give(.scan([]))
    var request = 1
    for expected in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [Int64] {
      _ = give(.lost(request: request))
      #expect(engine.nextDue == now + expected * 1_000_000)
      _ = give(.tick, after: expected * 1_000_000)
      request += 1
    }
  }

  @Test mutating func anAnswerToAnotherRequestIsIgnored() {
    _ = give(.scan([local("1", "a.txt")]))
    _ = give(.page(request: 1, page([], revision: 0)))
    _ = give(.uploaded(request: 2, content: "one", size: 3, stamp: "s1"))
    #expect(give(.answers(request: 2, [.cycle])) == [])
    #expect(give(.page(request: 1, page([], revision: 9))) == [])
    #expect(engine.anchor == 0)
  }

  @Test mutating func aDocumentAppearsWhole() {
    _ = give(.scan([]))
    let one = item("B-1", "a.txt", "one", revision: 1)
    #expect(give(.page(request: 1, page([one], revision: 1))) == [.stage(request: 2, one)])
    let place = LocalAct.place(staged: "10", parent: LocalItem.root, name: "a.txt")
    #expect(give(.staged(request: 2, local("10", ""))) == [.save, .act(number: 3, place)])
    #expect(give(.acted(number: 3, local("10", "a.txt", stamp: "s2"))) == [])
    #expect(engine.isIdle)
    #expect(engine.state(of: "10") == .current)
  }

  @Test mutating func theLosingContentIsKeptBeforeItIsReplaced() {
    haveCommonDocument()
    #expect(give(.scan([local("10", "a.txt", stamp: "s3")])) == [.upload(request: 4, id: "10", stamp: "s3")])
    _ = give(.hint)
    _ = give(.page(request: 5, page([item("B-1", "a.txt", "two", revision: 2)], revision: 2)))
    let stage = give(.uploaded(request: 4, content: "mine", size: 4, stamp: "s3"))
    guard case .stage(6, _) = stage.last else { return #expect(Bool(false), "\(stage)") }
    let keep = LocalAct.keep(item: "B-1", id: "10", content: "mine", device: "A")
    #expect(give(.staged(request: 6, local("11", ""))) == [.save, .act(number: 7, keep)])
    let replace = LocalAct.replace(id: "10", stamp: "s3", staged: "11")
    #expect(give(.acted(number: 7, local("10", "a.txt", stamp: "s3"))) == [.save, .act(number: 8, replace)])
    #expect(give(.acted(number: 8, local("11", "a.txt", stamp: "s4"))) == [])
    #expect(engine.isIdle)
  }

  @Test mutating func anOldDownloadIsDiscarded() {
    haveCommonDocument()
    _ = give(.hint)
    let old = give(.page(request: 4, page([item("B-1", "a.txt", "two", revision: 2)], revision: 2)))
    guard case .stage(5, _) = old.last else { return #expect(Bool(false), "\(old)") }
    _ = give(.hint)
    let three = item("B-1", "a.txt", "three", revision: 3)
    _ = give(.page(request: 6, page([three], revision: 3)))
    #expect(give(.staged(request: 5, local("11", ""))) == [.discard(id: "11"), .stage(request: 7, three)])
  }

  @Test mutating func anotherStampWithTheSameContentIsNoEdit() {
    haveCommonDocument()
    _ = give(.scan([local("10", "a.txt", stamp: "s3")]))
    #expect(give(.uploaded(request: 4, content: "one", size: 1, stamp: "s3")) == [])
    #expect(engine.isIdle)
  }

  @Test mutating func aDocumentThatChangedDuringTheUploadIsUploadedAgain() {
    haveCommonDocument()
    _ = give(.scan([local("10", "a.txt", stamp: "s3")]))
    _ = give(.scan([local("10", "a.txt", stamp: "s4")]))
    #expect(
      give(.uploaded(request: 4, content: "two", size: 1, stamp: "s3")) == [.upload(request: 5, id: "10", stamp: "s4")])
  }

  @Test mutating func aRefusedActLeadsToAScan() {
    haveCommonDocument()
    _ = give(.hint)
    var gone = item("B-1", "a.txt", "one", revision: 2)
    gone.isDeleted = true
    let remove = LocalAct.remove(id: "10", stamp: "s2")
    #expect(give(.page(request: 4, page([gone], revision: 2))) == [.save, .act(number: 5, remove)])
    #expect(give(.refused(number: 5)) == [.scan])
  }

  @Test mutating func aPlacementThatWasNotAnsweredIsRecognized() throws {
    _ = give(.scan([]))
    _ = give(.page(request: 1, page([item("B-1", "a.txt", "one", revision: 1)], revision: 1)))
    _ = give(.staged(request: 2, local("10", "")))
    let saved = try JSONEncoder().encode(engine)
    engine = try JSONDecoder().decode(SyncEngine.self, from: saved)
    #expect(give(.restored) == [.scan, .fetch(request: 4, since: 1, tombstonesSince: 1)])
    _ = give(.scan([local("10", "a.txt", stamp: "s1")]))
    _ = give(.page(request: 4, page([], revision: 1)))
    #expect(engine.isIdle)
    #expect(engine.cloudID(of: "10") == "B-1")
  }

  @Test mutating func aPlacementThatWasNotDoneIsDoneAgain() {
    _ = give(.scan([]))
    let one = item("B-1", "a.txt", "one", revision: 1)
    _ = give(.page(request: 1, page([one], revision: 1)))
    _ = give(.staged(request: 2, local("10", "")))
    _ = give(.restored)
    #expect(give(.scan([])) == [.discard(id: "10")])
    #expect(give(.page(request: 4, page([], revision: 1))) == [.stage(request: 5, one)])
  }

  @Test mutating func nothingIsSentOffline() {
    haveCommonDocument()
    _ = give(.offline)
    #expect(give(.scan([])) == [])
    #expect(engine.nextDue == nil)
    let effects = give(.online)
    #expect(
      effects.contains(.send(request: 5, [KeyedChange(key: "A-1", change: .delete(id: "B-1", base: 1))])), "\(effects)")
  }

  @Test mutating func aTooOldAnchorLeadsToAListing() {
    haveCommonDocument()
    _ = give(.hint)
    #expect(give(.anchorTooOld(request: 4)) == [.fetch(request: 5, since: 0, tombstonesSince: nil)])
    let two = item("B-2", "b.txt", "two", revision: 5)
    let first = CloudPage(items: [two], next: 5, more: true, revision: 7)
    #expect(give(.page(request: 5, first)) == [.fetch(request: 6, since: 5, tombstonesSince: 7)])
    let effects = give(.page(request: 6, page([], revision: 8)))
    #expect(effects.contains(.act(number: 7, .remove(id: "10", stamp: "s2"))), "\(effects)")
  }

  private mutating func uploadTwo() -> [SyncEffect] {
    _ = give(.scan([local("1", "a.txt"), local("2", "b.txt")]))
    _ = give(.page(request: 1, page([], revision: 0)))
    now += 1
    let uploads = [2, 3].map { SyncInput.uploaded(request: $0, content: "c\($0)", size: 1, stamp: "s1") }
    return engine.apply(uploads, at: now)
  }

  @Test mutating func changesOfSeveralItemsGoInOneMessage() {
    let effects = uploadTwo()
    guard case .send(4, let changes) = effects.last else { return #expect(Bool(false), "\(effects)") }
    #expect(effects.count == 2 && effects.first == .save)
    #expect(changes.map(\.change.id) == ["A-1", "A-2"])
    #expect(Set(changes.map(\.key)).count == 2)
  }

  @Test mutating func aRefusedChangeDoesNotConcernTheOthersOfItsMessage() {
    _ = uploadTwo()
    let mine = item("A-2", "b.txt", "c3", revision: 1)
    #expect(give(.answers(request: 4, [.overQuota, .accepted(mine)])) == [])
    #expect(engine.state(of: "1") == .waiting)
    #expect(engine.state(of: "2") == .current)
  }

  @Test mutating func tooFewAnswersAreALostMessage() {
    guard case .send(4, let changes) = uploadTwo().last else { return #expect(Bool(false)) }
    #expect(give(.answers(request: 4, [.overQuota])) == [])
    let again = give(.tick, after: 500_000_000)
    #expect(again.contains(.send(request: 5, changes)), "\(again)")
  }

  @Test mutating func aContentThatTheCloudLacksIsUploadedAgain() {
    _ = uploadTwo()
    _ = give(.answers(request: 4, [.missing("c2"), .cycle]))
    _ = give(.page(request: 5, page([], revision: 0)))
    let again = give(.tick, after: 500_000_000)
    #expect(again.contains { if case .upload(_, "1", "s1") = $0 { true } else { false } }, "\(again)")
  }

  @Test mutating func severalDocumentsArePlacedAtOnceAndRecognizedAfterACrash() throws {
    _ = give(.scan([]))
    let items = [item("B-1", "a.txt", "one", revision: 1), item("B-2", "b.txt", "two", revision: 2, created: 2)]
    #expect(give(.page(request: 1, page(items, revision: 2))).count == 2)
    now += 1
    let effects = engine.apply([.staged(request: 2, local("10", "")), .staged(request: 3, local("11", ""))], at: now)
    #expect(effects.count == 3 && effects.first == .save)
    engine = try JSONDecoder().decode(SyncEngine.self, from: JSONEncoder().encode(engine))
    _ = give(.restored)
    // The first one was placed before the device ended.
    #expect(give(.scan([local("10", "a.txt")])).contains(.discard(id: "11")))
    #expect(engine.cloudID(of: "10") == "B-1")
  }

  @Test mutating func itemsThatWantOnePlaceGoOneAfterTheOther() {
    _ = give(.scan([local("1", "a.txt"), local("2", "A.txt")]))
    _ = give(.page(request: 1, page([], revision: 0)))
    now += 1
    let uploads = [2, 3].map { SyncInput.uploaded(request: $0, content: "c\($0)", size: 1, stamp: "s1") }
    guard case .send(_, let changes) = engine.apply(uploads, at: now).last else { return #expect(Bool(false)) }
    #expect(changes.map(\.change.id) == ["A-1"])
  }

  @Test mutating func aNewFileIsOneDocumentEvenIfTwoHadItsName() {
    _ = give(.scan([]))
    _ = give(.page(request: 1, page([item("B-1", "a.txt", "one", revision: 1)], revision: 1)))
    _ = give(.staged(request: 2, local("10", "")))
    // The user makes a document of that name and deletes it; then the other one comes, and a program saves it as a new file.
    _ = give(.scan([local("11", "a.txt")]))
    _ = give(.acted(number: 3, local("10", "a.txt", stamp: "s2")))
    _ = give(.scan([local("12", "a.txt", stamp: "s3")]))
    #expect(engine.cloudID(of: "12") == "B-1")
  }

  @Test mutating func aFullCloudDoesNotStopOtherItems() {
    _ = give(.scan([local("1", "a.txt"), local("2", "b.txt")]))
    _ = give(.page(request: 1, page([], revision: 0)))
    _ = give(.uploaded(request: 2, content: "one", size: 9, stamp: "s1"))
    _ = give(.uploaded(request: 3, content: "two", size: 1, stamp: "s1"))
    let effects = give(.answers(request: 4, [.overQuota]))
    guard case .send(5, let changes) = effects.last, case .create(let next)? = changes.first?.change else {
      return #expect(Bool(false), "\(effects)")
    }
    #expect(next.name == "b.txt")
    #expect(engine.state(of: "1") == .waiting)
  }
}
