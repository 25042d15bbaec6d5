internal import Paths

/// News of moves and changes.
extension Arbiter {
  mutating func move(_ from: PathKey, _ to: PathKey, by mover: Int?) {
    guard from != to else { return }
    tellOfMove(from, to, by: mover)
    for id in places.presenters(near: from, withContents: true) {
      guard let old = presenters[id]?.item, presenters[id]?.item.follow(from: from, to: to) == true else { continue }
      places.remove(presenter: id, old)
      if let new = presenters[id]?.item { places.insert(presenter: id, new) }
    }
    var isRelinked = false
    for id in places.requests(near: from) {
      guard let old = entries[id]?.request.intents else { continue }
      var new = old
      for position in new.indices where !new[position].keepsPath {
        _ = new[position].item.follow(from: from, to: to)
      }
      guard new != old else { continue }
      isRelinked = true
      for place in entries[id]?.places ?? [] { places.remove(id, from: place) }
      entries[id]?.places = new.map { places.insert(id, $0) }
      entries[id]?.request.intents = new
    }
    if isRelinked { relink() }
  }

  private func purpose(of id: Int?) -> String? { id.flatMap { entries[$0]?.request.party.purpose } }

  /// The presenters of other purposes that may have an interest in a path, in the order of their numbers.
  private func audience(of paths: [PathKey], withContents: Bool, without purpose: String?) -> [(Int, Presenter)] {
    guard !presenters.isEmpty else { return [] }
    return Set(paths.flatMap { places.presenters(near: $0, withContents: withContents) }).sorted().compactMap { id in
      presenters[id].flatMap { $0.party.purpose == purpose ? nil : (id, $0) }
    }
  }

  mutating func tell(of change: Change, at path: PathKey, by writer: Int?, isCoordinated: Bool) {
    for (id, presenter) in audience(
      of: [path], withContents: change == .deleted, without: purpose(of: writer))
    {
      if let notice = change.notice(at: path, to: presenter.item, isCoordinated: isCoordinated) {
        effects.append(.notify(presenter: id, notice))
      }
    }
  }

  private mutating func tellOfMove(_ from: PathKey, _ to: PathKey, by mover: Int?) {
    for (id, presenter) in audience(of: [from, to], withContents: true, without: purpose(of: mover)) {
      var item = presenter.item
      if item.follow(from: from, to: to) {
        effects.append(.notify(presenter: id, .moved(to: item.path)))
      } else if from.text.lies(below: presenter.item.path.text) {
        effects.append(.notify(presenter: id, .subitemMoved(from, to: to)))
      } else if to.text.lies(below: presenter.item.path.text) {
        effects.append(.notify(presenter: id, .subitemAppeared(to, isCoordinated: mover != nil)))
      }
    }
  }
}
