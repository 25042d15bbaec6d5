/// The states of a document's content, as changes, undoing and redoing lead through them. The saved state is one of them, or none any
/// more.
struct ChangeHistory {
  /// A state of the content. No two states are the same, also if the contents happen to be.
  struct Token: Equatable { fileprivate let number: Int }

  private var states = [Token(number: 0)]
  private var position = 0
  private var next = 1
  private var saved = Token(number: 0)

  /// The state that the content is in.
  var current: Token { states[position] }
  var isChanged: Bool { current != saved }

  private mutating func make() -> Token {
    defer { next += 1 }
    return Token(number: next)
  }

  mutating func apply(_ change: Document.ChangeKind) {
    switch change {
    case .done:
      states.removeSubrange((position + 1)...)
      states.append(make())
      position += 1
    case .undone:
      // Undone was something from before this history began.
      if position == 0 { states.insert(make(), at: 0) } else { position -= 1 }
    case .redone:
      position += 1
      if position == states.count { states.append(make()) }
    case .cleared: saved = current
    }
  }

  /// A state is on the disk now; changes since remain to be saved.
  mutating func save(_ token: Token) { saved = token }

  /// All steps are forgotten: what is left is the present state, saved or not.
  mutating func forget() { (states, position) = ([current], 0) }
}
