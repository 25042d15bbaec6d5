internal import Foundation
internal import Kernel

/// Handles that an app still has of a document after the end of its scope. The log has to name them; and if the policy ends an app
/// for them, it has to be ended in every launch.
extension Battery {
  /// The log's entry about one document with a leaked handle.
  private struct Outlived {
    let holders: String
    /// The app was ended for it.
    let isEnded: Bool
  }

  func runScopes() throws {
    for entry in ["I4", "I10"] { try runProbe(entry) }
    try runWatch()
    try runPass()
    try runPlace()
  }

  private func document(_ entry: String) throws -> String {
    let path = "\(stage.home)/\(entry)"
    try stage.write("\(stage.token)\n", path)
    return path
  }

  private func runProbe(_ entry: String) throws {
    let path = try document(entry)
    let program = try launch(
      ["probe"] + settings(isInside: true).filter { !$0.hasPrefix("broker=") } + ["only=\(entry)", "step=scopes"],
      picks: [[path]])
    _ = try program.finish()
    let (attempts, isWhole) = Attempt.read(program.outputText)
    inside += attempts
    if isWhole { return }
    guard try outlived(path)?.isEnded == true else {
      throw BatteryError("the battery did not come to its end in the sandbox. \(program.said)")
    }
    inside.append(Attempt(entry, entry == "I4" ? "link" : "rename", .refused, "the app was ended for it"))
  }

  // MARK: I7

  private func runWatch() throws {
    let path = try document("I7")
    let program = try launch(["watch"], picks: [[path]])
    let first = try program.readLine()
    if let first, first.hasPrefix("refused") {
      inside.append(Attempt("I7", "watch", .refused, error: String(first.dropFirst(8)), "documents cannot be watched"))
      return
    }
    if first == "told" {
      inside.append(Attempt("I7", "watch", .control, "while the scope is active the app is told"))
    }
    // Nothing more is said by an app that was ended for it.
    let isStopped = try program.readLine() == "stopped"
    try stage.write("\(stage.token) changed\n", path)
    program.closeInput()
    _ = try program.finish()
    let isTold = program.outputText.contains("told again")
    guard first == "told" else { throw BatteryError("a document cannot be watched. \(program.said)") }
    let attempt: Attempt
    switch try outlived(path) {
    case let found? where found.isEnded && !isTold:
      attempt = Attempt("I7", "watch", .refused, "the app was ended for it: \(found.holders)")
    case let found? where found.holders.contains("watches it"):
      attempt = Attempt("I7", "watch", .refused, "named: \(found.holders)")
    case _ where isTold:
      attempt = Attempt("I7", "watch", .reached, "the app is told what the host does, and the log does not say so")
    case _ where isStopped: attempt = Attempt("I7", "watch", .refused, "nothing is told any more")
    default: attempt = Attempt("I7", "watch", .unable, "the app ended before the stop. \(program.said)")
    }
    inside.append(attempt)
  }

  // MARK: I8, I10

  /// Two launches of one app, which share a container: the first sends its handles to the second, and its scope ends.
  private struct Pair {
    /// The first launch's output; `nil`: it said nothing.
    let first: String?
    /// Of the two of them together.
    let output: String
    let keeper: Program.Ending
    let said: String

    var isRead: Bool { output.contains("reads it") }
  }

  private func runPair(_ path: String, _ more: [String] = []) throws -> Pair {
    let settings = settings(isInside: true).filter { $0.hasPrefix("container=") || $0.hasPrefix("token=") } + more
    let keeper = try launch(["keep"] + settings)
    guard try keeper.readLine() == "listening" else {
      throw BatteryError("the battery cannot listen in its container. \(keeper.said)")
    }
    let sender = try launch(["pass"] + settings, picks: [[path]])
    let first = try sender.readLine()
    _ = try sender.readLine()
    sender.closeInput()
    _ = try sender.finish()
    keeper.closeInput()
    let ending = try keeper.finish()
    return Pair(first: first, output: sender.outputText + keeper.outputText, keeper: ending, said: sender.said)
  }

  private func runPass() throws {
    let path = try document("I8")
    let pair = try runPair(path)
    guard pair.first == "passed" else {
      inside.append(Attempt("I8", "pass", .unable, "it cannot be passed: \(pair.first ?? pair.said)"))
      return
    }
    inside.append(Attempt("I8", "pass", .control, "the other launch has it while the scope is active"))
    let attempt: Attempt
    switch try outlived(path) {
    case let found? where found.isEnded && !pair.isRead && pair.keeper != .exit(0):
      attempt = Attempt("I8", "pass", .refused, "both launches were ended: \(found.holders)")
    case let found? where !found.isEnded && found.holders.contains(" of launch "):
      attempt = Attempt("I8", "pass", .refused, "named: \(found.holders)")
    case let found where pair.isRead:
      let said = found.map { "the log has only: \($0.holders)" } ?? "the log has nothing of it"
      attempt = Attempt("I8", "pass", .reached, "another launch goes on reading it, and \(said)")
    default: attempt = Attempt("I8", "pass", .refused, "nothing can be read any more")
    }
    inside.append(attempt)
  }

  /// The kernel keeps an app from renaming mount points in its own mount namespace. Another launch has another one.
  private func runPlace() throws {
    let path = try document("I10")
    let pair = try runPair(path, ["step=place"])
    guard pair.first == "passed" else {
      inside.append(Attempt("I10", "elsewhere", .refused, "the place cannot be renamed: \(pair.first ?? pair.said)"))
      return
    }
    inside.append(Attempt("I10", "elsewhere", .control, "renamed by another launch while the scope is active"))
    let attempt: Attempt
    switch try outlived(path) {
    case let found? where found.isEnded && !pair.isRead:
      attempt = Attempt("I10", "elsewhere", .refused, "the app was ended for it: \(found.holders)")
    case let found? where found.holders.contains("read and write"):
      attempt = Attempt("I10", "elsewhere", .refused, "named: \(found.holders)")
    case _ where pair.isRead:
      attempt = Attempt("I10", "elsewhere", .reached, "the app keeps the document open, and the log does not say so")
    default: attempt = Attempt("I10", "elsewhere", .refused, "nothing can be read any more")
    }
    inside.append(attempt)
  }

  // MARK: The log

  private func outlived(_ path: String) throws -> Outlived? {
    let program = try Program(
      [options.ambit, "audit", "log", "--kind", "outlived", "--document", path, "--format", "json"],
      environment: environment)
    guard try program.finish() == .exit(0) else { throw BatteryError("the log cannot be read. \(program.said)") }
    struct Entry: Decodable {
      let result: String
      let detail: [String: String]
    }
    let entries = try program.outputText.split(separator: "\n").map {
      try JSONDecoder().decode(Entry.self, from: Data($0.utf8))
    }
    if entries.isEmpty { return nil }
    return Outlived(
      holders: entries.compactMap { $0.detail["holders"] }.joined(separator: "; "),
      isEnded: entries.contains { $0.result == "refused" })
  }
}
