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

  @Test func `A parent or a content that is too long is no change`() {
    let long = String(repeating: "x", count: 301)
    let changes: [CloudChange] = [
      .create(CloudItem(id: "a", parent: long, name: "n", kind: .folder)),
      .create(CloudItem(id: "a", parent: "root", name: "n", kind: .document, content: String(long.prefix(65)))),
      .replace(id: "a", content: String(long.prefix(65)), size: 1, base: 1),
      .move(id: "a", parent: long, name: "n", base: 1), .delete(id: long, base: 1),
    ]
    for change in changes { #expect(CloudInterface.Change(change).change == nil) }
    let longest = CloudChange.move(id: "a", parent: String(long.prefix(300)), name: "n", base: 1)
    #expect(CloudInterface.Change(longest).change == longest)
  }

  @Test func `A page or an answer with an item out of bounds is none`() {
    let good = CloudInterface.Item(
      CloudItem(id: "a", parent: "root", name: "n", kind: .document, content: "c", size: 1 << 43))
    func page(_ item: CloudInterface.Item) -> CloudPage? {
      CloudPage(CloudInterface.ChangesReply(items: [good, item], next: 1, more: false, revision: 1))
    }
    #expect(page(good)?.items.count == 2)
    let long = String(repeating: "x", count: 301)
    var items = Array(repeating: good, count: 8)
    items[0].size = -1
    items[1].size = Int.max
    items[2].id = long
    items[3].id = ""
    items[4].parent = long
    items[5].name = long
    items[6].content = long
    items[7].device = long
    for item in items {
      #expect(item.item == nil)
      #expect(page(item) == nil)
      #expect(CloudInterface.Answer(outcome: .conflict, item: item).answer == nil)
    }
  }

  @Test func `A content that the cloud names has bounds`() {
    #expect(CloudInterface.Content(content: "c", size: 1 << 43).isInBounds)
    #expect(!CloudInterface.Content(content: "c", size: -1).isInBounds)
    #expect(!CloudInterface.Content(content: "c", size: Int.max).isInBounds)
    #expect(!CloudInterface.Content(content: String(repeating: "c", count: 65), size: 1).isInBounds)
  }
}
