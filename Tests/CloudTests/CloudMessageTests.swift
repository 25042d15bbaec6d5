import CloudSync
import Testing
import Wire

@testable import Cloud

/// Messages of `io.ambit.Cloud` and the ledger's values.
struct CloudMessageTests {
  @Test("changes and answers are the same after the way") func ways() {
    let item = CloudItem(
      id: "a-1", parent: "root", name: "Letter.txt", kind: .document, content: String(repeating: "a", count: 64),
      size: 7)
    let changes: [CloudChange] = [
      .create(item), .create(CloudItem(id: "a-2", parent: "root", name: "Work", kind: .folder)),
      .replace(id: "a-1", content: "b", size: 3, base: 4), .move(id: "a-1", parent: "a-2", name: "x", base: 5),
      .delete(id: "a-1", base: 6),
    ]
    for change in changes { #expect(CloudInterface.Change(change).change == change) }
    let answers: [CloudAnswer] = [
      .accepted(item), .conflict(item), .collision(item), .missing("a-2"), .cycle, .overQuota,
    ]
    for answer in answers { #expect(CloudInterface.Answer(answer).answer == answer) }
  }

  @Test(
    "names that are none are no change",
    arguments: ["", ".", "..", "a/b", ".hidden", "a\0b", String(repeating: "n", count: 256)])
  func names(name: String) {
    let change = CloudInterface.Change(.move(id: "a", parent: "root", name: name, base: 1))
    #expect(change.change == nil)
  }

  @Test("sizes that are none are no change", arguments: [-1, Int.min, Int.max, 1 << 44])
  func sizes(size: Int) {
    let change = CloudInterface.Change(.replace(id: "a", content: "c", size: Int64(size), base: 1))
    #expect(change.change == nil)
  }
}
