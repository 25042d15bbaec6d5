internal import Folders
internal import GRDB
internal import Kernel
internal import Synchronization

/// Moves the entries of a database's write-ahead log into the database, in a thread and over a connection of its own: that waits
/// for the disk, and a writer does not.
///
/// Should it fail, nothing is lost: that log grows until the connection that writes moves it itself.
final class Checkpointer: Sendable {
  /// After so many times that the database was asked for something. A grant is some five pages of 4 KiB.
  static let interval = 256

  private struct State {
    /// The connection is there from the first time on.
    var asked = Checkpointer.interval - 1
    var isMoving = false
    var isClosed = false
  }

  private let path: String
  private let state = Mutex(State())
  /// The thread's.
  private let connection = Mutex<DatabaseQueue?>(nil)

  init(_ path: String) { self.path = path }

  /// Notes that the database was asked for something, or for so many things at once; moves the log when it is time to.
  func note(_ count: Int = 1) {
    let isDue = state.withLock { state in
      state.asked += count
      guard state.asked >= Self.interval, !state.isMoving, !state.isClosed else { return false }
      (state.asked, state.isMoving) = (0, true)
      return true
    }
    guard isDue else { return }
    do throws(KernelError) {
      try Worker.start { [self] in
        Worker.stepBack()
        move()
        state.withLock { $0.isMoving = false }
      }
    } catch { state.withLock { $0.isMoving = false } }
  }

  /// From here on the thread has nothing open there. It completes a move that is under way.
  func close() {
    state.withLock { $0.isClosed = true }
    connection.withLock { $0 = nil }
  }

  private func move() {
    connection.withLock { connection in
      guard !state.withLock({ $0.isClosed }) else { return }
      if let connection {
        _ = try? connection.writeWithoutTransaction { try $0.checkpoint(.passive) }
      } else {
        connection = try? GrantFile.connect(path, writing: true)
      }
    }
  }
}
