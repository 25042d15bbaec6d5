internal import Kernel
internal import Wire

/// Suspending apps and resuming them, as the user does.
extension Play {
  func suspend(_ name: String, by command: String, limit: Double) throws -> [String] {
    let launcher =
      if let terminals, terminals.names.contains(name) { try process(in: terminals, of: name) } else {
        try instance(name).pid
      }
    // A launch takes its time until the broker knows it.
    guard let found = try wait(for: "\(name) to run", limit: limit, { try runningInstance(of: launcher, limit) }) else {
      throw CheckFailure(expected: "\(name) to run", seen: "`ambit ps` does not list it")
    }
    let call = Command(
      arguments: (command.split(separator: " ").map(String.init) + [found]).map { Template(text: $0) },
      outcome: Outcome(ending: .exit(0), expect: .anything, errors: .anything, save: nil))
    let said = try perform(call, limit: limit)
    if command.hasPrefix("kill"), terminals?.names.contains(name) != true {
      let child = try instance(name)
      guard try wait(for: "\(name) to end", limit: limit, { child.ending }) != nil else {
        throw CheckFailure(expected: "\(name) to end", seen: "process \(child.pid) still runs")
      }
    }
    return said
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
