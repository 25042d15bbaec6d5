internal import Foundation
internal import Synchronization
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// One line on standard error that says how far long work has come; nothing where that is no terminal.
final class ProgressLine: Sendable {
  /// Seconds between two texts: people do not read faster.
  private static let pause = 0.1

  private let isShown = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  private let last = Mutex<Date>(.distantPast)

  func show(_ text: String) {
    guard isShown else { return }
    let isDue = last.withLock { last in
      let now = Date()
      guard now.timeIntervalSince(last) >= Self.pause else { return false }
      last = now
      return true
    }
    if isDue { try? Output.error.write("\r\u{1b}[2K\(text)") }
  }

  func clear() {
    if isShown { try? Output.error.write("\r\u{1b}[2K") }
  }
}
