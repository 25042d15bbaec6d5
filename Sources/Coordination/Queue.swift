internal import Paths

/// The order of requests: which ones have to end before another one begins.
extension Arbiter {
  /// Lets the requests go on that nothing holds up.
  mutating func settle() {
    while !ready.isEmpty {
      let batch = ready.sorted()
      ready.removeAll(keepingCapacity: true)
      for id in batch { advance(id) }
    }
  }

  private mutating func advance(_ id: Int) {
    guard let entry = entries[id], entry.phase != .granted, entry.blocker == nil else { return }
    if let blocker = firstBlocker(of: id) {
      wait(id, for: blocker)
      return
    }
    if entry.phase == .waiting { ask(id) }
    grantIfPossible(id)
  }

  private mutating func grantIfPossible(_ id: Int) {
    guard let entry = entries[id], entry.phase == .asking, entry.outstanding.isEmpty, entry.blocker == nil else {
      return
    }
    entries[id]?.phase = .granted
    pending.remove(id)
    effects.append(.grant(id, paths: entry.request.intents.map(\.item.path)))
  }

  private mutating func wait(_ id: Int, for blocker: Int) {
    entries[id]?.blocker = blocker
    entries[blocker]?.followers.append(id)
    wake(at: entries[id].flatMap { entry in entry.request.patience.map { entry.since + $0 } })
  }

  /// Looks for its blocker again, after the order or a place has changed.
  mutating func seekBlocker(_ id: Int) {
    guard let old = entries[id]?.blocker else {
      guard let blocker = firstBlocker(of: id) else {
        ready.append(id)
        return
      }
      // Its wait begins here.
      entries[id]?.since = now
      wait(id, for: blocker)
      return
    }
    entries[old]?.followers.removeAll { $0 == id }
    entries[id]?.blocker = nil
    if let blocker = firstBlocker(of: id) { wait(id, for: blocker) } else { ready.append(id) }
  }

  /// The requests that have to end before it begins.
  package func blockers(of id: Int) -> [Int] { blockers(of: id, except: []) }

  func blockers(of id: Int, except known: Set<Int>) -> [Int] {
    var found: [Int] = []
    visitBlockers(of: id, except: known) { blocker in
      found.append(blocker)
      return false
    }
    return Set(found).sorted()
  }

  /// The last one before it in a queue, so that a long queue is a chain.
  private func firstBlocker(of id: Int) -> Int? {
    var found: Int?
    visitBlockers(of: id) { blocker in
      found = blocker
      return true
    }
    return found
  }

  private func visitBlockers(of id: Int, except known: Set<Int> = [], _ isEnough: (Int) -> Bool) {
    guard let entry = entries[id], entry.phase != .granted else { return }
    for other in entry.overtakers.sorted() where !known.contains(other) && conflict(other, id) {
      if isEnough(other) { return }
    }
    visitNeighbours(of: entry) { list, isCertain in
      list[..<list.firstPosition(from: id)].reversed().contains { other in
        !known.contains(other) && goesFirst(other, before: id)
          && (isCertain ? mayConflict(other, id) : conflict(other, id)) && isEnough(other)
      }
    }
  }

  /// Visits the requests with an intent near one of its own: lists in rising order, and whether the two intents conflict for certain.
  private func visitNeighbours(of entry: Entry, _ isEnough: ([Int], Bool) -> Bool) {
    for (intent, number) in zip(entry.request.intents, entry.places) {
      if isEnough(places[number].writers, true) || intent.isWrite && isEnough(places[number].readers, true) { return }
      var around = places[number].parent
      while let folder = around {
        if isEnough(places[folder].takers, false) { return }
        around = places[folder].parent
      }
      for inside in intent.takesPlace ? places.below(number) : [] {
        if isEnough(places[inside].writers, false) || isEnough(places[inside].readers, false) { return }
      }
    }
  }

  /// Requests of one purpose never wait for each other (`COO-11`), and a preparation holds nothing.
  private func mayConflict(_ one: Int, _ other: Int) -> Bool {
    guard let first = entries[one]?.request, let second = entries[other]?.request else { return false }
    return !first.isPreparation && !second.isPreparation && first.party.purpose != second.party.purpose
  }

  func conflict(_ one: Int, _ other: Int) -> Bool {
    guard mayConflict(one, other), let first = entries[one]?.request.intents,
      let second = entries[other]?.request.intents
    else { return false }
    return first.contains { intent in second.contains { intent.conflicts(with: $0) } }
  }

  /// Which one of two requests that conflict has to end first.
  func goesFirst(_ one: Int, before other: Int) -> Bool {
    if entries[one]?.phase == .granted { return true }
    if entries[other]?.phase == .granted { return false }
    return one < other
      ? entries[one]?.overtakers.contains(other) == false : entries[other]?.overtakers.contains(one) == true
  }

  /// Works out anew which request waits for which: items have other paths now. Granted requests stay granted.
  mutating func relink() {
    for id in pending.sorted() {
      guard let entry = entries[id] else { continue }
      visitNeighbours(of: entry) { list, _ in
        for other in list[list.firstPosition(from: id)...] where entries[other]?.phase == .granted {
          entries[id]?.overtakers.insert(other)
        }
        return false
      }
    }
    for id in pending.sorted(by: >) { refuseTrueCycle(id) }
    for id in pending.sorted() { reorder(around: id) }
    for id in pending.sorted() { seekBlocker(id) }
  }
}
