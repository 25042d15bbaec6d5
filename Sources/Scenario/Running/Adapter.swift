import Foundation
internal import Wire

/// The reason why a scenario cannot be played under a system.
package struct NotApplicable: Error, Equatable, Sendable {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

/// Another system than Ambit, behind its adapter: a program that answers one JSON object a line (docs/reference/adapters.md).
package final class Adapter {
  package let name: String
  package private(set) var version = ""
  package private(set) var capabilities: Set<Capability> = []
  private let child: Child
  private let waiting = Waiting { _, _ in }

  /// Starts the adapter and asks what its system has.
  ///
  /// - Throws: ``NotApplicable`` when the system is not here; a ``CheckFailure`` when the adapter does not answer as it has to.
  package init(name: String, program: String, environment: [String: String], folder: String) throws {
    self.name = name
    child = try Child(name: name, executable: program, arguments: [], environment: environment, directory: folder)
    do { try introduce() } catch {
      end()
      throw error
    }
  }

  private func introduce() throws {
    let hello = try exchange(["do": "hello", "protocol": 1])
    if let reason = hello["absent"]?.plainText { throw NotApplicable(reason: reason) }
    guard case .array(let words)? = hello["capabilities"] else {
      throw CheckFailure(expected: "`capabilities` in the answer to hello", seen: hello.text)
    }
    version = hello["version"]?.plainText ?? ""
    for word in words.map(\.plainText) {
      guard let capability = Capability(rawValue: word) else {
        throw CheckFailure(expected: "capabilities of docs/reference/adapters.md", seen: word)
      }
      capabilities.insert(capability)
    }
  }

  /// - Throws: ``NotApplicable``
  func require(_ capability: Capability) throws {
    guard capabilities.contains(capability) else {
      throw NotApplicable(reason: "\(name) has no \(capability.words)")
    }
  }

  func setUp(folder: String, home: String, agent: String) throws {
    _ = try answered(["do": "setUp", "folder": .string(folder), "home": .string(home), "agent": .string(agent)])
  }

  func tearDown() throws { _ = try answered(["do": "tearDown"]) }

  func call(_ act: String, _ fields: JSONObject, of play: Play) throws -> JSONObject {
    var request: JSONObject = ["do": .string(act)]
    for field in fields.fields { request[field.name] = field.value }
    return try answered(request)
  }

  private func answered(_ request: JSONObject) throws -> JSONObject {
    let answer = try exchange(request)
    if let reason = answer["unsupported"]?.plainText { throw NotApplicable(reason: "\(name): \(reason)") }
    if let error = answer["error"]?.plainText {
      throw CheckFailure(
        expected: "\(name) to do \(request["do"]?.plainText ?? "it")", seen: error, isFault: true)
    }
    return answer
  }

  /// Seconds that a system has for one request: some start a daemon.
  private static let patience = 30.0

  private func exchange(_ request: JSONObject) throws -> JSONObject {
    var rest = ArraySlice(Array((request.text + "\n").utf8))
    let line: String? = try waiting.wait(for: name, limit: Self.patience, children: [child]) {
      while !rest.isEmpty {
        guard let count = child.send(rest), count > 0 else { break }
        rest = rest.dropFirst(count)
      }
      if let line = child.takeLine() { return line }
      guard let ending = child.ending else { return nil }
      throw CheckFailure(
        expected: "an answer from the adapter \(name)", seen: "it has ended: \(ending)",
        context: [child.errors.text], isFault: true)
    }
    guard let line, case .object(let answer)? = JSONValue(line: line) else {
      throw CheckFailure(
        expected: "one JSON object a line from the adapter \(name)",
        seen: line ?? "nothing within \(Int(Self.patience)) s", context: [child.errors.text], isFault: true)
    }
    return answer
  }

  /// Its input ends; it leaves, or is ended.
  package func end() {
    child.closeInput()
    for signal in [0, 15, 9] as [Int32] {
      if signal > 0 { child.signal(signal) }
      let ended = try? waiting.wait(for: name, limit: 5, children: [child], isInterruptible: false) { child.ending }
      if ended != nil { return }
    }
  }
}

/// Apps under another system.
extension Play {
  /// Under a system that gives access only at launch the app is launched at its first act, when its documents are known.
  func launchUnder(_ adapter: Adapter, _ launch: Launch, limit: Double) throws -> [String] {
    let app = launch.name
    if launch.app != nil { throw NotApplicable(reason: "\(adapter.name): one instance of an app at a time") }
    waitingLaunches.insert(app)
    // The place is the same each time, so that a scenario can name it before the first act.
    if adapter.capabilities.contains(.later) { try begin(app, limit: limit) }
    return []
  }

  /// Launches an app that was to be launched.
  func begin(_ app: String, limit: Double) throws {
    guard let adapter, waitingLaunches.remove(app) != nil else { return }
    if !adapter.capabilities.contains(.later) {
      for grant in grantsGiven[app] ?? [] { _ = try adapter.call("grant", grant, of: self) }
    }
    let answer = try adapter.call("launch", ["app": .string(app)], of: self)
    variables["\(app).home"] = answer["container"]?.plainText
    variables["\(app).container"] = answer["hostContainer"]?.plainText
    variables["\(app).id"] = app
    running.insert(app)
  }

  func grant(_ grant: JSONObject, by adapter: Adapter, to app: String, limit: Double) throws -> JSONObject {
    if running.contains(app), !adapter.capabilities.contains(.later) { try adapter.require(.later) }
    let answer = try adapter.call("grant", grant, of: self)
    grantsGiven[app, default: []].append(grant)
    return answer
  }

  func endUnder(_ adapter: Adapter, _ app: String, how: String, limit: Double) throws -> [String] {
    try begin(app, limit: limit)
    _ = try adapter.call("end", ["app": .string(app), "how": .string(how)], of: self)
    running.remove(app)
    return []
  }
}
