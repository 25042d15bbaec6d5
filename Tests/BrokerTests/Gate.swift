import Synchronization

/// Lets some in at a time. A broker has twenty descriptors and a few threads: with all tests at once there would be a thousand of each.
final class Gate: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state: Mutex<State>

  init(_ places: Int) { state = Mutex(State(free: places)) }

  /// A place, as long as this value lives.
  final class Place: Sendable {
    private let gate: Gate
    init(_ gate: Gate) { self.gate = gate }
    deinit { gate.leave() }
  }

  func enter() async -> Place {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    return Place(self)
  }

  private func leave() {
    let next = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() as CheckedContinuation<Void, Never>? }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
