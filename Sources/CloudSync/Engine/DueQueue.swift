/// Positions that are due at a time or a revision, least first: a binary heap. An element whose entry is due at another one by now is
/// out of date, and the reader drops it.
struct DueQueue: Sendable {
  struct Element: Sendable {
    let due: Int
    let position: Int
  }

  private var heap: [Element] = []

  var first: Element? { heap.first }

  mutating func add(_ due: Int, _ position: Int) {
    heap.append(Element(due: due, position: position))
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].due < heap[least].due {
        least = child
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
