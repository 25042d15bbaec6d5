import Testing

@testable import CloudSync

@Suite struct LedgerTests {
  private var ledger = CloudLedger()
  private var keys = 0

  private mutating func ask(_ change: CloudChange, device: String = "A", key: String? = nil) -> CloudAnswer {
    keys += 1
    return ledger.apply(change, device: device, key: key ?? "\(device)-\(keys)").0
  }

  @discardableResult
  private mutating func document(_ id: String, _ name: String, in parent: String = "root", size: Int64 = 1)
    -> CloudAnswer
  {
    ask(.create(CloudItem(id: id, parent: parent, name: name, kind: .document, content: "c-" + id, size: size)))
  }

  @discardableResult
  private mutating func folder(_ id: String, _ name: String, in parent: String = "root") -> CloudAnswer {
    ask(.create(CloudItem(id: id, parent: parent, name: name, kind: .folder)))
  }

  @Test mutating func aNewItemGetsTheNextRevision() {
    document("1", "a.txt")
    folder("2", "b")
    #expect(ledger.revision == 2)
    #expect(ledger.item("2")?.placeRevision == 2)
    #expect(ledger.item("1")?.device == "A")
  }

  @Test mutating func anIdIsGivenOnce() {
    document("1", "a.txt")
    guard case .conflict(let item) = document("1", "b.txt") else { return #expect(Bool(false)) }
    #expect(item.name == "a.txt")
  }

  @Test(arguments: [
    ("Letter.txt", "Letter 2.txt"), ("Letter 2.txt", "Letter 3.txt"), ("Letter 9999.txt", "Letter 10000.txt"),
    ("A 9223372036854775806.txt", "A 9223372036854775806 2.txt"), ("A 20261127.txt", "A 20261127 2.txt"),
    (" 7", " 7 2"),
  ])
  func aSpareNameCountsOnFromAShortNumber(name: String, spare: String) {
    #expect(Names.spare(for: name) { $0 == name } == spare)
  }

  @Test func aSpareNameIsNoLongerThanANameMayBe() {
    for name in [String(repeating: "本", count: 84) + ".md", "a." + String(repeating: "b", count: 253)] {
      var taken: Set<String> = [name]
      for _ in 0..<12 {
        let spare = Names.spare(for: name) { taken.contains($0) }
        #expect(spare.utf8.count <= 255 && taken.insert(spare).inserted)
      }
    }
  }

  @Test mutating func theSameKeyChangesNothing() {
    document("1", "a.txt")
    let first = ask(.replace(id: "1", content: "new", size: 1, base: 1), key: "k")
    let (second, rows) = ledger.apply(.replace(id: "1", content: "other", size: 1, base: 2), device: "A", key: "k")
    #expect(first == second)
    #expect(rows.isEmpty)
    #expect(ledger.revision == 2)
  }

  @Test mutating func aRefusalIsRememberedToo() {
    document("1", "a.txt")
    let create = CloudChange.create(CloudItem(id: "2", parent: "root", name: "A.TXT", kind: .document))
    let refusal = ask(create, key: "k")
    #expect(ask(.delete(id: "1", base: 1)) == .accepted(ledger.item("1")!))
    #expect(ask(create, key: "k") == refusal)
  }

  @Test mutating func aReplaceWithAnOldBaseIsAConflict() {
    document("1", "a.txt")
    _ = ask(.replace(id: "1", content: "b", size: 1, base: 1))
    #expect(ask(.replace(id: "1", content: "c", size: 1, base: 1)) == .conflict(ledger.item("1")!))
  }

  @Test mutating func theSameContentIsAcceptedWithAnyBase() {
    document("1", "a.txt")
    _ = ask(.replace(id: "1", content: "b", size: 1, base: 1))
    #expect(ask(.replace(id: "1", content: "b", size: 1, base: 1)) == .accepted(ledger.item("1")!))
    #expect(ledger.revision == 2)
  }

  @Test mutating func aMoveDoesNotStopAReplace() {
    document("1", "a.txt")
    _ = ask(.move(id: "1", parent: "root", name: "b.txt", base: 1))
    guard case .accepted(let item) = ask(.replace(id: "1", content: "b", size: 1, base: 1)) else {
      return #expect(Bool(false))
    }
    #expect((item.contentRevision, item.placeRevision, item.revision) == (3, 2, 3))
  }

  @Test mutating func aMoveWithAnOldBaseIsAConflict() {
    document("1", "a.txt")
    _ = ask(.move(id: "1", parent: "root", name: "b.txt", base: 1))
    #expect(ask(.move(id: "1", parent: "root", name: "c.txt", base: 1)) == .conflict(ledger.item("1")!))
  }

  @Test mutating func aDeletionNamesTheLastRevision() {
    document("1", "a.txt")
    _ = ask(.replace(id: "1", content: "b", size: 1, base: 1))
    #expect(ask(.delete(id: "1", base: 1)) == .conflict(ledger.item("1")!))
    #expect(ask(.delete(id: "1", base: 2)) == .accepted(ledger.item("1")!))
    #expect(ledger.item("1")?.isDeleted == true)
  }

  @Test mutating func aFolderWithItemsIsNotDeleted() {
    folder("1", "Work")
    document("2", "a.txt", in: "1")
    #expect(ask(.delete(id: "1", base: 1)) == .conflict(ledger.item("1")!))
    _ = ask(.delete(id: "2", base: 2))
    #expect(ask(.delete(id: "1", base: 1)) == .accepted(ledger.item("1")!))
  }

  @Test mutating func namesCollideWithoutCaseInOneFolder() {
    folder("1", "Work")
    document("2", "a.txt")
    #expect(document("3", "A.TXT") == .collision(ledger.item("2")!))
    guard case .accepted = document("4", "A.TXT", in: "1") else { return #expect(Bool(false)) }
    #expect(ask(.move(id: "4", parent: "root", name: "a.txt", base: 3)) == .collision(ledger.item("2")!))
  }

  @Test mutating func theNameOfADeletedItemIsFree() {
    document("1", "a.txt")
    _ = ask(.delete(id: "1", base: 1))
    guard case .accepted = document("2", "a.txt") else { return #expect(Bool(false)) }
  }

  @Test mutating func aParentIsALiveFolder() {
    document("1", "a.txt")
    folder("2", "Work")
    _ = ask(.delete(id: "2", base: 2))
    #expect(document("3", "b", in: "1") == .missing("1"))
    #expect(document("4", "b", in: "2") == .missing("2"))
    #expect(document("5", "b", in: "9") == .missing("9"))
  }

  @Test mutating func aFolderDoesNotContainItself() {
    folder("1", "One")
    folder("2", "Two", in: "1")
    #expect(ask(.move(id: "1", parent: "2", name: "One", base: 1)) == .cycle)
    #expect(ask(.move(id: "1", parent: "1", name: "One", base: 1)) == .cycle)
  }

  @Test mutating func theQuotaCountsLiveDocuments() {
    ledger.quota = 10
    document("1", "a", size: 6)
    #expect(document("2", "b", size: 5) == .overQuota)
    #expect(ask(.replace(id: "1", content: "c", size: 11, base: 1)) == .overQuota)
    _ = ask(.delete(id: "1", base: 1))
    #expect(ledger.used == 0)
  }

  @Test mutating func `More bytes than can be counted are over the quota, also where there is none`() {
    document("1", "a", size: Int64.max)
    #expect(document("2", "b", size: 1) == .overQuota)
    #expect(ledger.used == Int64.max)
  }

  @Test mutating func changesComeOnceInOrder() {
    document("1", "a")
    document("2", "b")
    document("3", "c")
    _ = ask(.replace(id: "1", content: "n", size: 1, base: 1))
    _ = ask(.delete(id: "2", base: 2))
    let first = ledger.changes(since: 0, limit: 2)
    #expect(first.items.map(\.id) == ["3", "1"])
    #expect((first.next, first.more) == (4, true))
    let second = ledger.changes(since: first.next, limit: 2)
    #expect(second.items.map(\.isDeleted) == [true])
    #expect((second.next, second.more) == (5, false))
  }

  @Test mutating func aRestoredLedgerIsTheSame() {
    folder("1", "Work")
    document("2", "a", in: "1")
    _ = ask(.replace(id: "2", content: "n", size: 4, base: 2), key: "k")
    let rows = ledger.changes(since: 0, limit: 10).items
    let receipts = [ledger.receipt(for: "k")].compactMap { $0 }
    let restored = CloudLedger(restoring: rows.reversed(), receipts: receipts)
    #expect(restored.items == ledger.items)
    #expect(restored.revision == ledger.revision)
    #expect(restored.used == ledger.used)
    #expect(restored.receipt(for: "k") == ledger.receipt(for: "k"))
    #expect(restored.changes(since: 1, limit: 10) == ledger.changes(since: 1, limit: 10))
  }

  @Test mutating func anAnchorBeforeForgottenTombstonesIsTooOld() {
    document("1", "a")
    document("2", "b")
    _ = ask(.delete(id: "1", base: 1))
    #expect(ledger.forgetTombstones(upTo: 3) == ["1"])
    #expect(ledger.isTooOld(2))
    #expect(!ledger.isTooOld(3))
    #expect(!ledger.isTooOld(nil))
    #expect(ledger.item("1") == nil)
  }
}
