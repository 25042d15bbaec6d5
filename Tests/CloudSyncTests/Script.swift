import CloudSync

/// Users' acts on two or three devices, and the state that follows. `Scripts/README.md` explains the words.
struct Script {
  struct Failure: Error, CustomStringConvertible { let description: String }

  private var world: World
  /// The script's name of each content.
  private var labels: [String: String] = [:]

  /// - Returns: the text with the states written anew.
  static func play(_ text: String) throws -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var script = Script(world: World(devices: text.contains("\nC ") ? 3 : 2, planted: nil, keepsLog: true))
    var result: [String] = []
    for line in lines where !line.hasPrefix("  ") {
      result.append(line)
      if line.isEmpty || line.hasPrefix("#") { continue }
      result += try script.take(line).map { "  " + $0 }
      if let failure = script.world.failure { throw Failure(description: "\(line): \(failure)") }
    }
    _ = script.world.heal(limit: 5_000)
    if let failure = script.world.failure { throw Failure(description: "The end: \(failure)") }
    return result.joined(separator: "\n")
  }

  private mutating func take(_ line: String) throws -> [String] {
    let words = line.split(separator: " ").map(String.init)
    switch words[0] {
    case "settle": _ = world.settle(limit: 5_000)
    case "show": return show()
    case "server":
      if words[1] == "restarts" { world.restartServer() } else { world.forgetTombstones() }
    default:
      guard let d = ["A", "B", "C"].firstIndex(of: words[0]) else { throw Failure(description: "What is \(line)?") }
      try act(words[1], Array(words.dropFirst(2)), on: d, line)
    }
    return []
  }

  private mutating func act(_ verb: String, _ words: [String], on d: Int, _ line: String) throws {
    var isDone = true
    switch verb {
    case "write", "save":
      let content = world.write(words[0], on: d, asNewFile: verb == "save")
      if let content { labels[content] = words[1] }
      isDone = content != nil
    case "mkdir": isDone = world.makeFolder(words[0], on: d)
    case "move": isDone = world.move(words[0], to: words[2], on: d)
    case "delete": isDone = world.delete(words[0], on: d)
    case "offline": world.goOffline(d)
    case "online": world.goOnline(d)
    case "crash": world.crash(d)
    default: isDone = false
    }
    if !isDone { throw Failure(description: "Cannot do: \(line)") }
  }

  private func show() -> [String] {
    let cloud = world.cloudListing.map(named)
    var result = ["cloud: " + cloud.joined(separator: ", ")]
    for d in 0..<world.deviceCount {
      let local = world.listing(of: d).map(named)
      if local != cloud { result.append("\(["A", "B", "C"][d]): " + local.joined(separator: ", ")) }
    }
    let kept = world.conflictVersions.map { labels[$0] ?? $0 }
    if !kept.isEmpty { result.append("kept: " + kept.joined(separator: ", ")) }
    return result
  }

  private func named(_ line: String) -> String {
    guard let space = line.lastIndex(of: " "), let label = labels[String(line[line.index(after: space)...])] else {
      return line
    }
    return line[..<space] + "=" + label
  }
}
