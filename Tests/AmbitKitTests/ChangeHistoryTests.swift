import Testing

@testable import AmbitKit

@Suite struct `A history of changes` {
  @Test func `knows the saved state again after undoing and redoing`() {
    var history = ChangeHistory()
    #expect(!history.isChanged)
    history.apply(.done)
    history.apply(.done)
    #expect(history.isChanged)
    history.apply(.cleared)
    history.apply(.undone)
    #expect(history.isChanged)
    history.apply(.redone)
    #expect(!history.isChanged)
  }

  @Test func `has no way back to a saved state that was undone and changed otherwise`() {
    var history = ChangeHistory()
    history.apply(.done)
    history.apply(.cleared)
    history.apply(.undone)
    history.apply(.done)
    #expect(history.isChanged)
    history.apply(.undone)
    #expect(history.isChanged)
    history.apply(.redone)
    #expect(history.isChanged)
  }

  @Test func `keeps what was changed while a save was under way`() {
    var history = ChangeHistory()
    history.apply(.done)
    let first = history.current
    history.apply(.done)
    let second = history.current
    history.save(first)
    #expect(history.isChanged)
    history.apply(.undone)
    #expect(!history.isChanged)
    history.apply(.redone)
    // Two saves of one state, one ending after the other.
    history.save(second)
    history.save(second)
    #expect(!history.isChanged)
  }

  @Test func `goes back beyond its beginning`() {
    var history = ChangeHistory()
    history.apply(.undone)
    #expect(history.isChanged)
    history.apply(.redone)
    #expect(!history.isChanged)
  }
}
