import Foundation
import Testing

@testable import AmbitKit

@MainActor @Suite struct `An undo manager` {
  @MainActor final class Number {
    var value = 0
    let manager = UndoManager()

    func set(_ new: Int) {
      let former = value
      value = new
      manager.registerUndo(withTarget: self) { $0.set(former) }
    }

    /// As at the end of a turn of the main queue.
    func step(_ new: Int) {
      set(new)
      manager.endEventGroup()
    }
  }

  @Test func `takes steps back, and forward again`() {
    let number = Number()
    number.step(1)
    number.step(2)
    #expect(number.manager.canUndo && !number.manager.canRedo)
    number.manager.undo()
    #expect(number.value == 1)
    number.manager.undo()
    #expect(number.value == 0 && !number.manager.canUndo && number.manager.canRedo)
    number.manager.redo()
    #expect(number.value == 1)
    number.manager.redo()
    #expect(number.value == 2 && !number.manager.canRedo)
    number.manager.undo()
    #expect(number.value == 1)
  }

  @Test func `undoes a group as one step, and nested groups with it`() {
    let number = Number()
    number.manager.beginUndoGrouping()
    number.set(1)
    number.manager.beginUndoGrouping()
    number.set(2)
    number.manager.endUndoGrouping()
    number.set(3)
    number.manager.endUndoGrouping()
    number.manager.undo()
    #expect(number.value == 0 && !number.manager.canUndo)
    number.manager.redo()
    #expect(number.value == 3)
  }

  @Test func `groups the steps of one turn of the main queue`() async {
    let number = Number()
    number.set(1)
    number.set(2)
    await Task.yield()
    for _ in 0..<100 where number.manager.groupingLevel > 0 { try? await Task.sleep(for: .milliseconds(5)) }
    number.set(3)
    number.manager.undo()
    #expect(number.value == 2)
    number.manager.undo()
    #expect(number.value == 0)
  }

  @Test func `forgets what was undone when something new is done`() {
    let number = Number()
    number.step(1)
    number.manager.undo()
    number.step(5)
    #expect(!number.manager.canRedo)
    number.manager.redo()
    #expect(number.value == 5)
  }

  @Test func `registers nothing while that is disabled, and keeps so many levels`() {
    let number = Number()
    number.manager.disableUndoRegistration()
    number.step(1)
    number.manager.enableUndoRegistration()
    #expect(!number.manager.canUndo)
    number.manager.levelsOfUndo = 2
    for value in 2...5 { number.step(value) }
    for _ in 0..<4 { number.manager.undo() }
    #expect(number.value == 3)
  }

  @Test func `forgets a target, and keeps none alive`() {
    let number = Number()
    var other: Number? = Number()
    weak let gone = other
    number.manager.registerUndo(withTarget: other ?? number) { $0.value = 7 }
    number.manager.endEventGroup()
    other = nil
    #expect(gone == nil)
    number.manager.undo()
    number.step(1)
    number.manager.removeAllActions(withTarget: number)
    #expect(!number.manager.canUndo && number.value == 1)
  }

  @Test func `names its steps, and tells what kind of change each is`() {
    let number = Number()
    var changes: [Document.ChangeKind] = []
    number.manager.onChange = { changes.append($0) }
    number.set(1)
    number.manager.setActionName("Typing")
    number.manager.endEventGroup()
    #expect(number.manager.undoMenuItemTitle == "Undo Typing" && number.manager.redoMenuItemTitle == "Redo")
    number.manager.undo()
    #expect(number.manager.redoMenuItemTitle == "Redo Typing" && number.manager.undoMenuItemTitle == "Undo")
    number.manager.redo()
    #expect(changes == [.done, .undone, .redone])
  }

  /// Against a list of values, in random order.
  @Test(arguments: 0..<20) func `agrees with a list of values`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let number = Number()
    var (past, future, present) = ([Int](), [Int](), 0)
    for round in 1...200 {
      switch random.next() % 3 {
      case 0:
        number.step(round)
        past.append(present)
        (present, future) = (round, [])
      case 1:
        number.manager.undo()
        if let former = past.popLast() {
          future.append(present)
          present = former
        }
      default:
        number.manager.redo()
        if let later = future.popLast() {
          past.append(present)
          present = later
        }
      }
      #expect(
        number.value == present && number.manager.canUndo == !past.isEmpty && number.manager.canRedo == !future.isEmpty)
    }
  }
}

struct SplitMix {
  var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
