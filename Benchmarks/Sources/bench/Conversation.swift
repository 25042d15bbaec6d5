import Foundation

/// A program that stays, and answers a line for a line.
final class Conversation {
  private let child: Child
  private let program: String
  private let errors: String
  private var pending = Data()

  /// - Parameter errors: the file for what it says on standard error.
  init(_ arguments: [String], environment: [String: String], errors: String, opens: [Int32: String] = [:]) throws {
    program = arguments[0]
    self.errors = errors
    try? FileManager.default.removeItem(atPath: errors)
    child = try Child(arguments, environment: environment, talking: true, errors: errors, opens: opens)
  }

  /// The next line that it writes; nil when it has come to its end.
  func line() -> String? {
    while true {
      if let end = pending.firstIndex(of: 10) {
        defer { pending = Data(pending[(end + 1)...]) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      let more = child.output?.availableData ?? Data()
      if more.isEmpty { return nil }
      pending += more
    }
  }

  /// Tells it to go on.
  func tell(_ text: String) throws { try child.input?.write(contentsOf: Data((text + "\n").utf8)) }

  /// Waits until it says that it is ready.
  func awaitReady() throws {
    guard line() == "ready" else { throw failure(close()) }
  }

  /// One turn of it: the number that it answers.
  func turn() throws -> Double {
    try tell("go")
    guard let number = line().flatMap(Double.init) else { throw failure(close()) }
    return number
  }

  /// Lets it come to its end; its exit status.
  @discardableResult
  func close() -> Int32 {
    try? child.input?.close()
    let status = child.wait()
    try? child.output?.close()
    return status
  }

  /// Ends it by a signal.
  func stop() {
    child.stop()
    try? child.input?.close()
    try? child.output?.close()
  }

  func failure(_ status: Int32) -> Unavailable {
    Unavailable(Child.failure(of: program, status: status, errors: errors))
  }
}
