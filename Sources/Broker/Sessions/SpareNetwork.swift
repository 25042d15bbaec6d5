internal import Kernel

/// A network namespace that is ready before the app is there that will get it: to make one takes as long as to make all the
/// other namespaces of a sandbox. Each is handed out once.
struct SpareNetwork {
  private var spare: Descriptor?
  /// Whether one has been asked for since the last was made. A broker without requests makes none.
  private var isWanted = false

  /// `nil`: the launcher makes its own.
  mutating func take() -> Descriptor? {
    defer { spare = nil }
    isWanted = true
    return spare
  }

  /// Makes the next one. When all clients have been answered.
  mutating func makeIfWanted() {
    guard isWanted, spare == nil else { return }
    isWanted = false
    spare = try? Namespaces.makeNetwork()
  }
}
