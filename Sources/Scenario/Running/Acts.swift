import Foundation
internal import Wire

/// The acts of apps, and the documents that they are given.
extension Play {
  func perform(_ act: Act, limit: Double) throws -> [String] {
    let answer = try carryOut(act, limit: limit)
    return [display.line(try judge(act, answer), width: 160)]
  }

  private func carryOut(_ act: Act, limit: Double) throws -> JSONObject {
    if let adapter, ["start", "stop"].contains(act.word.word), case .text(let name) = act.subject {
      try begin(act.app, limit: limit)
      return try adapter.call(
        act.word.word, ["app": .string(act.app), "as": .string(try variables.expand(name))], of: self)
    }
    var request = JSONObject(dictionaryLiteral: ("do", .string(act.word.act)))
    switch (act.word.subject, act.subject) {
    case (.document, .text(let name)): request["of"] = .string(try variables.expand(name))
    case (.path, .text(let path)): request["path"] = .string(try variables.expand(path))
    case (.text(let key), let value), (.number(let key), let value): request[key] = try json(value)
    default: break
    }
    for parameter in act.parameters { request[parameter.key] = try json(parameter.value) }
    if let name = act.name { request["as"] = .string(name) }
    if let process = act.process {
      request = ["do": "tell", "who": .string(process), "request": .object(request)]
    }
    return try send(request, to: act.app, limit: limit)
  }

  private func json(_ value: Act.Value) throws -> JSONValue? {
    switch value {
    case .none: nil
    case .text(let text): .string(try variables.expand(text))
    case .texts(let texts): .array(try texts.map { .string(try variables.expand($0)) })
    case .flag(let flag): .bool(flag)
    case .number(let number): JSONValue(number)
    }
  }

  /// One request to the agent, and its answer.
  private func send(_ request: JSONObject, to app: String, limit: Double) throws -> JSONObject {
    if let adapter {
      try begin(app, limit: limit)
      return try adapter.call("act", ["app": .string(app), "request": .object(request)], of: self)
    }
    let line = try ask(app, request.text, limit: limit)
    guard case .object(let answer)? = JSONValue(line: line) else {
      throw CheckFailure(expected: "one JSON object a line from \(app)", seen: line)
    }
    return answer
  }

  /// - Returns: the evidence.
  private func judge(_ act: Act, _ answer: JSONObject) throws -> String {
    if let reason = answer["unsupported"]?.plainText { throw NotApplicable(reason: reason) }
    if let usage = answer["usage"]?.plainText {
      throw CheckFailure(expected: "a request that the agent understands", seen: usage)
    }
    let text = Self.text(of: answer)
    let isDone = answer["done"] != .bool(false)
    if let errors = act.answer.errors, !(isDone && act.answer.mayBeDone) {
      let error = answer["errno"]?.plainText ?? "?"
      let wanted = errors.isEmpty ? "a refusal" : errors.joined(separator: " or ")
      guard !isDone else {
        throw CheckFailure(expected: wanted, seen: text.isEmpty ? "it was done" : "it was done: \(text)")
      }
      guard errors.isEmpty || errors.contains(error) else {
        throw CheckFailure(expected: wanted, seen: [error, text].filter { !$0.isEmpty }.joined(separator: ": "))
      }
      try judge(act, answer, text)
      return error
    }
    guard isDone else {
      let error = answer["errno"]?.plainText ?? ""
      throw CheckFailure(
        expected: "it is done", seen: [error, text].filter { !$0.isEmpty }.joined(separator: ": "))
    }
    let kept = try judge(act, answer, text)
    lastText = text
    if let save = act.save { variables[save] = kept }
    if let name = act.name { keepPaths(of: answer, name) }
    if act.word.word == "restore", case .array(let paths)? = answer["paths"] {
      for (index, path) in paths.enumerated() { variables["r\(index)"] = path.plainText }
    }
    return text
  }

  @discardableResult
  private func judge(_ act: Act, _ answer: JSONObject, _ text: String) throws -> String {
    let kept = try act.answer.expect.judge(text, variables)
    for field in act.answer.fields {
      let wanted = try variables.expand(field.value)
      let seen = JSONValue.object(answer)[path: field.path]?.plainText
      guard seen == wanted else {
        throw CheckFailure(
          expected: "\(field.path) = \(wanted)",
          seen: seen.map { "\(field.path) = \($0)" } ?? "no such field in \(answer.text)")
      }
    }
    return kept
  }

  /// The text of an answer: its one telling field.
  private static func text(of answer: JSONObject) -> String {
    if case .array(let names)? = answer["names"] ?? answer["paths"] {
      return names.map(\.plainText).joined(separator: "\n")
    }
    let telling = ["text", "bookmark", "transfer", "reply", "sentence", "path", "name", "pid", "status", "used"]
    return telling.lazy.compactMap { answer[$0] }.first?.plainText ?? ""
  }

  private func keepPaths(of answer: JSONObject, _ name: String) {
    if let path = answer["path"]?.plainText { variables[name] = path }
    guard case .array(let urls)? = answer["urls"] else { return }
    for (index, url) in urls.enumerated() {
      guard let path = URL(string: url.plainText)?.path else { continue }
      variables[index == 0 ? name : "\(name)\(index)"] = path
    }
  }

  // MARK: - Giving and taking back

  func perform(_ give: Give, limit: Double) throws -> [String] {
    let path = try variables.expand(give.path)
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CheckFailure(expected: "a document at \(path)", seen: "there is none")
    }
    hostPaths[give.name] = path
    if let adapter {
      let grant: JSONObject = [
        "app": .string(give.app), "path": .string(path), "kind": isFolder.boolValue ? "folder" : "file",
        "access": give.isReadOnly ? "read" : "write", "as": .string(give.name),
      ]
      if isFolder.boolValue { try adapter.require(.folders) }
      let answer = try self.grant(grant, by: adapter, to: give.app, limit: limit)
      variables[give.name] = answer["path"]?.plainText
      if adapter.capabilities.contains(.scopes), give.isStarted {
        _ = try adapter.call("start", ["app": .string(give.app), "as": .string(give.name)], of: self)
      }
      return [variables[give.name] ?? ""]
    }
    var request: JSONObject = ["do": "pick", "as": .string(give.name), "readOnly": .bool(give.isReadOnly)]
    if isFolder.boolValue { request["kind"] = "folder" }
    let answer = try send(request, to: give.app, limit: limit)
    guard answer["done"] == .bool(true), let seen = answer["path"]?.plainText else {
      throw CheckFailure(expected: "\(give.app) to be given \(path)", seen: Self.text(of: answer))
    }
    variables[give.name] = seen
    if give.isStarted {
      let started = try send(["do": "start", "of": .string(give.name)], to: give.app, limit: limit)
      guard started["done"] == .bool(true) else {
        throw CheckFailure(expected: "\(give.app) to start it", seen: Self.text(of: started))
      }
    }
    return [seen]
  }

  func revoke(_ document: String, from app: String, limit: Double) throws -> [String] {
    if let adapter {
      try begin(app, limit: limit)
      _ = try adapter.call("revoke", ["app": .string(app), "as": .string(document)], of: self)
      return []
    }
    // The document's host path is only known of those that the user gave; others are found by their name in the app.
    guard let path = hostPaths[document] else {
      throw CheckFailure(expected: "a document that `give` or `pick` gave to \(app)", seen: "\(document) is not one")
    }
    let command = Command(
      arguments: ["revoke", "--document", path].map { Template(text: $0) },
      outcome: Outcome(ending: .exit(0), expect: .anything, errors: .anything, save: nil))
    return try perform(command, limit: limit)
  }
}
