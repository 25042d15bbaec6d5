/// Requests that wait for each other.
///
/// Some waits are *hard*: for a granted access, for a presenter's answer, for the nested requests of an access, for the requests that
/// a presenter makes to answer. The order of two pending requests is *soft*. Without a cycle of hard waits there is always an
/// order without any cycle, and the queue takes it. A cycle of hard waits ends with a refusal.
extension Arbiter {
  /// A new request closes a cycle only if it is nested, or if its client has been asked.
  func mayCloseCycle(_ id: Int) -> Bool {
    guard let request = entries[id]?.request else { return false }
    return !request.parents.isEmpty || index.isAsked(request.client)
  }

  /// - Returns: whether the request is still there.
  mutating func untangle(_ id: Int) -> Bool {
    if refuseTrueCycle(id) { return false }
    reorder(around: id)
    return true
  }

  @discardableResult mutating func refuseTrueCycle(_ id: Int) -> Bool {
    guard let cycle = trueCycle(through: id) else { return false }
    refuse(id, .cycle(cycle))
    return true
  }

  /// The shortest way of hard waits from a request back to itself; the last one waits for the first.
  private func trueCycle(through id: Int) -> [Refusal.Link]? {
    let start = Refusal.Link.request(id)
    var previous: [Refusal.Link: Refusal.Link] = [:]
    var way = [start]
    var position = 0
    while position < way.count {
      let link = way[position]
      position += 1
      for next in hardWaits(of: link) where previous[next] == nil {
        previous[next] = link
        way.append(next)
        guard next == start else { continue }
        var cycle = [link]
        while let before = cycle.last, before != start, let link = previous[before] { cycle.append(link) }
        return cycle.reversed()
      }
    }
    return nil
  }

  private func hardWaits(of link: Refusal.Link) -> [Refusal.Link] {
    switch link {
    case .request(let id):
      guard let entry = entries[id] else { return [] }
      if entry.phase == .granted { return index.children(of: .access(id)).map { .request($0) } }
      return blockers(of: id).filter { !pending.contains($0) }.map { .request($0) }
        + entry.outstanding.sorted().map { .question($0) }
    case .question(let number): return index.children(of: .question(number)).map { .request($0) }
    }
  }

  /// The other requests of a presenter that is asked: it may need them for its answer. A guess changes the order, and refuses nothing.
  private func guessedWaits(of link: Refusal.Link) -> [Refusal.Link] {
    guard case .question(let number) = link, let asked = questions[number], let presenter = presenters[asked.presenter]
    else { return [] }
    return index.requests(of: presenter.client)
      .filter { entries[$0]?.request.party.purpose == presenter.party.purpose }.map { .request($0) }
  }

  /// Hard and soft waits.
  private func waits(of link: Refusal.Link, isGuessing: Bool, except known: Set<Int> = []) -> [Refusal.Link] {
    if case .request(let id) = link, let entry = entries[id], entry.phase != .granted {
      return blockers(of: id, except: known).map { .request($0) } + entry.outstanding.sorted().map { .question($0) }
    }
    return hardWaits(of: link) + (isGuessing ? guessedWaits(of: link) : [])
  }

  // MARK: Another order

  /// Changes the order of the pending requests that wait for this one while it waits for them.
  mutating func reorder(around id: Int) {
    for isGuessing in [true, false] {
      guard isInCycle(id, isGuessing: isGuessing) else { return }
      let knot = knot(around: id, isGuessing: isGuessing)
      guard let order = order(of: knot, isGuessing: isGuessing) else { continue }
      var changed: Set<Int> = []
      for (position, first) in order.enumerated() {
        for second in order[(position + 1)...] where isBefore(second, first) {
          overtake(first, before: second)
          changed.formUnion([first, second])
        }
      }
      for each in changed.sorted() { seekBlocker(each) }
      return
    }
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    goesFirst(one, before: other) && conflict(one, other)
  }

  private mutating func overtake(_ first: Int, before second: Int) {
    if first < second { entries[first]?.overtakers.remove(second) } else { entries[second]?.overtakers.insert(first) }
    effects.append(.reordered(first, before: second))
  }

  /// Whether a way of waits leads from a request back to itself. It looks at each request once.
  private func isInCycle(_ id: Int, isGuessing: Bool) -> Bool {
    var requests: Set<Int> = []
    var questions: Set<Int> = []
    var left = [Refusal.Link.request(id)]
    while let link = left.popLast() {
      for next in waits(of: link, isGuessing: isGuessing, except: requests) {
        switch next {
        case .request(id): return true
        case .request(let other): if requests.insert(other).inserted { left.append(next) }
        case .question(let number): if questions.insert(number).inserted { left.append(next) }
        }
      }
    }
    return false
  }

  /// The links on the ways from a request back to itself.
  private func knot(around id: Int, isGuessing: Bool) -> Set<Refusal.Link> {
    let start = Refusal.Link.request(id)
    var isReached: Set<Refusal.Link> = [start]
    var back: [Refusal.Link: [Refusal.Link]] = [:]
    var left = [start]
    while let link = left.popLast() {
      for next in waits(of: link, isGuessing: isGuessing) {
        back[next, default: []].append(link)
        if isReached.insert(next).inserted { left.append(next) }
      }
    }
    var knot: Set<Refusal.Link> = [start]
    left = [start]
    while let link = left.popLast() {
      for previous in back[link] ?? [] where knot.insert(previous).inserted { left.append(previous) }
    }
    return knot
  }

  /// An order of the pending requests of a knot in which each comes after the requests that it needs; `nil`: there is none.
  ///
  /// It is filled from its end, with the request that came last: a request that others need goes ahead, and the others keep their order.
  private func order(of knot: Set<Refusal.Link>, isGuessing: Bool) -> [Int]? {
    let waits = Dictionary(
      uniqueKeysWithValues: knot.map { link in
        (link, (hardWaits(of: link) + (isGuessing ? guessedWaits(of: link) : [])).filter { knot.contains($0) })
      })
    var dependents: [Refusal.Link: Int] = [:]
    for next in waits.values.joined() { dependents[next, default: 0] += 1 }
    var free = knot.filter { dependents[$0] == nil }
    var order: [Int] = []
    var placed = 0
    while let link = free.max(by: { rank($0) < rank($1) }) {
      free.remove(link)
      placed += 1
      if case .request(let id) = link, pending.contains(id) { order.append(id) }
      for next in waits[link] ?? [] {
        dependents[next]? -= 1
        if dependents[next] == 0 { free.insert(next) }
      }
    }
    return placed == knot.count ? order.reversed() : nil
  }

  /// Questions and granted accesses are placed at once; only pending requests have an order.
  private func rank(_ link: Refusal.Link) -> Int {
    if case .request(let id) = link, pending.contains(id) { id } else { .max }
  }
}
