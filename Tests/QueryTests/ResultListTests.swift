import Query
import TestSupport
import Testing

@Suite struct `A list of results` {
  private func record(_ name: String, size: Int64? = 1) -> MetadataRecord {
    MetadataRecord(path: "/home/user/Documents/\(name)", size: size)
  }

  @Test func `is in order, and says what has become of it`() {
    var list = ResultList([ResultOrder(.size, ascending: false), ResultOrder(.name)])
    let first = list.apply(
      [(1, record("b", size: 5)), (2, record("a", size: 5)), (3, record("c", size: 9)), (4, record("d", size: nil))],
      removed: [])
    #expect(first.added == [1, 2, 3, 4] && first.changed.isEmpty && first.removed.isEmpty)
    #expect(list.numbers == [3, 2, 1, 4])
    let second = list.apply(
      [(2, record("a", size: 20)), (3, record("c", size: 9)), (5, record("e", size: 5))], removed: [1, 7])
    #expect(second.added == [5] && second.changed == [2] && second.removed == [1])
    #expect(list.numbers == [2, 3, 5, 4])
    #expect(list.index(of: 5) == 2 && list.index(of: 1) == nil)
  }

  @Test func `without an order is in the order of paths, however it was told`() {
    var list = ResultList()
    _ = list.apply([(2, record("b")), (1, record("c"))], removed: [])
    _ = list.apply([(3, record("a"))], removed: [])
    #expect(list.numbers == [3, 2, 1])
    _ = list.apply([(3, record("d"))], removed: [])
    #expect(list.numbers == [2, 1, 3])
  }

  @Test func `lists values, and groups by them`() {
    var list = ResultList([ResultOrder(.name)])
    _ = list.apply(
      [(1, record("a.txt")), (2, record("b.png", size: 3)), (3, record("c.txt", size: 3))], removed: [])
    #expect(list.values(of: .type).map(\.count) == [2, 1])
    let groups = list.groups(by: [.type, .size])
    #expect(groups.map(\.numbers) == [[1, 3], [2]])
    #expect(groups[0].subgroups.map(\.numbers) == [[1], [3]])
  }

  @Test func `is the sorted list of what was told, whatever was told`() {
    let seed = UInt64.random(in: .min ... .max)
    var random = Seeded(seed: seed)
    var list = ResultList([ResultOrder(.size), ResultOrder(.name, ascending: false)])
    var model: [Int: MetadataRecord] = [:]
    for _ in 0..<500 {
      var present: [(number: Int, record: MetadataRecord)] = []
      for number in Set((0..<4).map { _ in Int.random(in: 0..<60, using: &random) }) {
        present.append(
          (number, record("n\(Int.random(in: 0..<9, using: &random))", size: Int64.random(in: 0..<5, using: &random))))
      }
      let removed = [Int.random(in: 0..<60, using: &random)].filter { number in
        !present.contains { $0.number == number }
      }
      let before = model
      for number in removed { model[number] = nil }
      for (number, record) in present { model[number] = record }
      let difference = list.apply(present, removed: removed)
      #expect(Set(difference.added) == Set(model.keys).subtracting(before.keys), "seed \(seed)")
      #expect(Set(difference.removed) == Set(before.keys).subtracting(model.keys), "seed \(seed)")
      let expected = model.sorted { one, other in
        let (left, right) = (one.value, other.value)
        if left.size != right.size { return (left.size ?? 0) < (right.size ?? 0) }
        if left.name != right.name { return left.name > right.name }
        if left.path != right.path { return left.path < right.path }
        return one.key < other.key
      }.map(\.key)
      #expect(list.numbers == expected, "seed \(seed)")
    }
  }
}
