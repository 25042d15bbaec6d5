import Foundation
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// What an action has changed: the user's files, the app's containers, the log.
extension Play {
  struct Seen {
    /// Path below the scratch folder, with size and time of change.
    var files: [String: String] = [:]
    var events = 0
  }

  /// Tells the reporter what has changed since the last time, and waits for Enter.
  func showChanges() throws {
    var lines: [String] = []
    let files = snapshot()
    for (path, state) in files.sorted(by: { $0.key < $1.key }) where lastSeen.files[path] != state {
      lines.append("\(lastSeen.files[path] == nil ? "new      " : "changed  ")\(display.line(path))")
    }
    for path in lastSeen.files.keys.sorted() where files[path] == nil { lines.append("gone     \(display.line(path))") }
    if adapter == nil, let log = try? readLog(limit: 10) {
      for event in log.dropFirst(lastSeen.events) { lines.append("event    \(display.line(Self.summary(of: event)))") }
      lastSeen.events = log.count
    }
    lastSeen.files = files
    reporter.changed(lines)
    reporter.asks("Press Enter for the next action.")
    let _: Bool? = try wait(for: "you", limit: nil) {
      var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&input, 1, 0) > 0 ? true : nil
    }
    _ = readLine()
  }

  private func snapshot() -> [String: String] {
    var files: [String: String] = [:]
    for root in [stage.home, stage.containers] {
      guard let found = FileManager.default.enumerator(atPath: root) else { continue }
      while let name = found.nextObject() as? String {
        guard files.count < 10_000, let attributes = found.fileAttributes else { break }
        let size = attributes[.size] as? Int ?? 0
        let time = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        files["\(root)/\(name)"] = "\(size) \(time) \(attributes[.systemFileNumber] as? Int ?? 0)"
      }
    }
    return files
  }
}
