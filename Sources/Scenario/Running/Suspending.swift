internal import Kernel
internal import Wire

/// Suspending apps and resuming them, as the user does.
extension Play {
  func suspend(_ name: String, resumes: Bool, limit: Double) throws -> [String] {
    let launcher =
      if let terminals, terminals.names.contains(name) { try process(in: terminals, of: name) } else {
        try instance(name).pid
      }
    // A launch takes its time until the broker knows it.
    guard let found = try wait(for: "\(name) to run", limit: limit, { try runningInstance(of: launcher, limit) }) else {
      throw CheckFailure(expected: "\(name) to run", seen: "`ambit ps` does not list it")
    }
    let command = Command(
      arguments: [resumes ? "resume" : "suspend", found].map { Template(text: $0) },
      outcome: Outcome(ending: .exit(0), expect: .anything, errors: .anything, save: nil))
    return try perform(command, limit: limit)
  }

  /// The instance that a process has launched, itself or by a program that it started.
  private func runningInstance(of launcher: Int32, _ limit: Double) throws -> String? {
    let child = try start(["ps", "--format", "json"])
    defer { child.signal(9) }
    guard try wait(for: "ambit ps", limit: limit, { child.ending }) == .exit(0) else {
      throw CheckFailure(expected: "`ambit ps` to answer", seen: child.takeErrors())
    }
    guard let answer = JSONValue(line: child.takeOutput()), case .array(let instances)? = answer[path: "instances"]
    else { return nil }
    let found = instances.first { instance in
      guard var pid = (instance[path: "pid"]?.plainText).flatMap({ Int32($0) }) else { return false }
      // Its init is the launcher's child; a shell in a terminal may stand before that.
      for _ in 0..<4 {
        if pid == launcher { return true }
        guard let parent = ProcessMark.parent(of: pid) else { return false }
        pid = parent
      }
      return false
    }
    return found?[path: "instance"]?.plainText
  }
}
