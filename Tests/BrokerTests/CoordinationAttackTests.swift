import Foundation
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// Messages about coordination that no honest app sends: each is refused by a named error, and the broker goes on.
@Suite struct `Hostile messages about coordination` {
  /// Two apps, and a document that each of them has: the second one for reading only.
  private struct Scene {
    let world: BrokerWorld
    let app: TestApp
    let other: TestApp
    let path: String
    let readOnly: String
    let home = "/home/user/notes.txt"

    init() async throws {
      world = try await BrokerWorld()
      app = try world.launch()
      other = try world.launch("org.example.other", rules: .init(readOnly: true))
      let file = try world.file("letter.txt", "old")
      let mine = try #require(try app.pick([file]).first)
      let theirs = try #require(try other.pick([file]).first)
      try app.start(mine)
      try other.start(theirs)
      path = "/documents/\(mine.grant)/\(mine.name)"
      readOnly = "/documents/\(theirs.grant)/\(theirs.name)"
    }

    /// The last part of the error's name; empty for success.
    func error(_ member: String, _ parameters: JSONValue, on client: WireClient? = nil) -> String {
      guard case .object(let object) = parameters else { return "no object" }
      do {
        _ = try (client ?? app.app).call("\(CoordinationInterface.name).\(member)", object)
        return ""
      } catch WireError.remote(let name, _) {
        return name.split(separator: ".").last.map(String.init) ?? name
      } catch { return "\(error)" }
    }

    func intent(_ path: String, _ use: String = "read", _ options: [JSONValue] = []) -> JSONValue {
      ["path": .string(path), "use": .string(use), "options": .array(options)]
    }

    func access(_ intents: [JSONValue], _ more: [String: JSONValue] = [:]) -> JSONValue {
      var object: JSONObject = ["intents": .array(intents), "purpose": "p"]
      for (name, value) in more { object[name] = value }
      return .object(object)
    }

    /// A granted access on a connection of its own, which has to be kept.
    func hold(_ intent: JSONValue, by app: TestApp, purpose: String = "held") throws -> (WireClient, Int) {
      let client = try app.connect()
      guard case .object(let object) = access([intent], ["purpose": .string(purpose)]) else {
        throw HarnessError("no object")
      }
      let answer = try client.call(CoordinationInterface.access, object)
      return (client, try answer.parameters.int("access"))
    }

    /// The last part of the error that comes as an answer; empty for success.
    func awaited(on client: WireClient) throws -> String {
      do {
        _ = try #require(try client.receive(wait: true))
        return ""
      } catch WireError.remote(let name, _) { return name.split(separator: ".").last.map(String.init) ?? name }
    }

    func end() async throws {
      // It goes on, and has room again as soon as it has seen connections close.
      try Deadline.wait(for: "room") { error("Access", access([intent(home, "write")])).isEmpty }
      #expect(try app.status().used == 1)
      try await world.end()
    }
  }

  @Test func `paths that an app cannot name`() async throws {
    let scene = try await Scene()
    let grant = scene.path.split(separator: "/")[1]
    for path in [
      "", "/", ".", "..", "notes.txt", "~", "/home", "/home/user/..", "/home/user/../x", "/home/user/./x",
      "/etc/passwd",
      "/documents", "/documents/\(grant)", "/documents/\(grant)/other.txt", "/documents//letter.txt",
      scene.readOnly, "\(scene.path)/../letter.txt", "/documents/\(grant)/../../etc", "/home/userx",
      "/home/user/" + String(repeating: "a", count: 5000), "/home/user/" + String(repeating: "../", count: 1000),
    ] {
      #expect(scene.error("Access", scene.access([scene.intent(path)])) == "NotKnown", "\(path.prefix(60))")
      #expect(scene.error("Access", scene.access([scene.intent(path, "write")])) == "NotKnown", "\(path.prefix(60))")
    }
    // One bad item is the end of all.
    #expect(scene.error("Access", scene.access([scene.intent(scene.home), scene.intent("/etc")])) == "NotKnown")
    #expect(
      scene.error("Access", scene.access([scene.intent(scene.readOnly, "write")]), on: scene.other.app) == "ReadOnly")
    try await scene.end()
    #expect(try scene.world.events(.coordinated).contains { $0.result == .refused && $0.rule == "SBX-2" })
  }

  @Test func `wrong types, missing fields and unknown words`() async throws {
    let scene = try await Scene()
    let good = scene.intent(scene.home)
    let wrong: [(String, JSONValue)] = [
      ("Access", [:]), ("Access", ["intents": "x", "purpose": "p"]), ("Access", ["intents": [good]]),
      ("Access", ["intents": [1], "purpose": "p"]), ("Access", ["intents": [[:]], "purpose": "p"]),
      ("Access", ["intents": .null, "purpose": "p"]), ("Access", scene.access([good], ["purpose": 1])),
      ("Access", scene.access([scene.intent(scene.home, "delete")])),
      ("Access", scene.access([scene.intent(scene.home, "read", ["forDeleting"])])),
      ("Access", scene.access([scene.intent(scene.home, "write", ["withoutChanges"])])),
      ("Access", scene.access([scene.intent(scene.home, "read", [1])])),
      ("Access", scene.access([good], ["patience": "long"])),
      ("Access", scene.access([good], ["patience": .double(0.5)])),
      ("Access", scene.access([good], ["patience": .double(1e300)])),
      ("Access", scene.access([good], ["patience": .unsigned(.max)])),
      ("Access", scene.access([good], ["within": ["x"]])), ("Access", scene.access([good], ["answering": 1])),
      ("Access", scene.access([good], ["prepares": 1])), ("Access", scene.access([good], ["surprise": 1])),
      ("Done", [:]), ("Done", ["access": "1"]), ("Done", ["access": .double(1.5)]),
      ("Moved", ["access": 1, "from": "/a"]),
      ("Answer", ["question": .null]), ("Answer", ["question": 1, "error": 5]), ("Unsaved", ["presenter": 1]),
      ("Unsaved", ["presenter": 1, "unsaved": "yes"]), ("Leave", [:]), ("Leave", ["presenter": "1"]),
    ]
    for (member, parameters) in wrong {
      #expect(scene.error(member, parameters) == "InvalidParameter", "\(member) \(parameters)")
    }
    #expect(scene.error("Steal", [:]) == "MethodNotFound")
    try await scene.end()
  }

  @Test func `numbers that are not one's own, or none at all`() async throws {
    let scene = try await Scene()
    let (client, access) = try scene.hold(scene.intent(scene.home), by: scene.app)
    let presenter = try scene.other.connect()
    try presenter.send(
      CoordinationInterface.present, CoordinationInterface.PresentCall(path: scene.readOnly, purpose: "window").json,
      more: true)
    let first = try #require(try presenter.receive(wait: true))
    let number = try #require(try CoordinationInterface.PresentReply(json: first.parameters).message.presenter)
    // The other app's presenter is asked.
    let asking = try scene.app.connect()
    try asking.send(
      CoordinationInterface.access,
      CoordinationInterface.AccessCall(
        intents: [.init(path: scene.path, use: .write, options: [])], purpose: "writer"
      ).json)
    let asked = try #require(try presenter.receive(wait: true))
    let question = try #require(try CoordinationInterface.PresentReply(json: asked.parameters).message.question)

    for id in [Int.min, -1, 0, access, access + 1, 1 << 32, Int.max] {
      let value = JSONValue(id)
      // From another connection, though of the same app.
      #expect(scene.error("Done", ["access": value]) == "NotYours", "\(id)")
      #expect(
        scene.error("Moved", ["access": value, "from": "/home/user/a", "to": "/home/user/b"]) == "NotYours", "\(id)")
    }
    for id in [Int.min, -1, 0, question, Int.max] {
      #expect(scene.error("Answer", ["question": JSONValue(id)]) == "NotYours", "\(id)")
    }
    for id in [Int.min, -1, 0, number, Int.max] {
      #expect(scene.error("Unsaved", ["presenter": JSONValue(id), "unsaved": true]) == "NotYours", "\(id)")
      #expect(scene.error("Leave", ["presenter": JSONValue(id)]) == "NotYours", "\(id)")
    }
    // Numbers of others' accesses and questions do not let it go first.
    let intruder = try scene.app.connect()
    try intruder.send(
      CoordinationInterface.access,
      CoordinationInterface.AccessCall(
        intents: [.init(path: scene.path, use: .write, options: [])], purpose: "intruder", within: [.min, -1, 0, .max],
        answering: [question, .min, .max]
      ).json)
    try scene.app.settle()
    #expect(try intruder.receive(wait: false) == nil && asking.receive(wait: false) == nil)
    // Its owner answers, and the first one has it.
    #expect(scene.error("Answer", ["question": JSONValue(question)], on: scene.other.app) == "")
    #expect(try scene.awaited(on: asking) == "")
    try scene.app.settle()
    #expect(try intruder.receive(wait: false) == nil)
    #expect(scene.error("Done", ["access": JSONValue(access)], on: client) == "")
    #expect(scene.error("Done", ["access": JSONValue(access)], on: client) == "NotYours")
    withExtendedLifetime((presenter, asking, intruder)) {}
    try await scene.end()
  }

  @Test func `a presenter that leaves is asked no more, and its connection is free for another`() async throws {
    let scene = try await Scene()
    let client = try scene.app.connect()
    func next() throws -> CoordinationInterface.Message? {
      try client.receive(wait: true).map { try CoordinationInterface.PresentReply(json: $0.parameters).message }
    }
    let present = CoordinationInterface.PresentCall(path: scene.path, purpose: "window").json
    try client.send(CoordinationInterface.present, present, more: true)
    let first = try #require(try next()?.presenter)
    #expect(scene.error("Leave", ["presenter": JSONValue(first)]) == "")
    #expect(try next()?.kind == .left)
    #expect(scene.error("Leave", ["presenter": JSONValue(first)]) == "NotYours")
    // A writer of another purpose has the item at once.
    #expect(scene.error("Access", scene.access([scene.intent(scene.path, "write")])) == "")
    try client.send(CoordinationInterface.present, present, more: true)
    let second = try #require(try next()?.presenter)
    #expect(second != first)
    #expect(scene.error("Unsaved", ["presenter": JSONValue(first), "unsaved": true]) == "NotYours")
    #expect(scene.error("Unsaved", ["presenter": JSONValue(second), "unsaved": true]) == "")
    withExtendedLifetime(client) {}
    try await scene.end()
  }

  @Test func `an end that wants no answer, and the next access behind it in one write`() async throws {
    let scene = try await Scene()
    let (client, access) = try scene.hold(scene.intent(scene.home, "write"), by: scene.app)
    guard case .object(let call) = scene.access([scene.intent(scene.home, "write")], ["purpose": "next"]) else {
      return
    }
    for number in [access, access, .max] {
      try client.send(CoordinationInterface.done, ["access": JSONValue(number)], oneway: true)
    }
    // The answer is that of the access, also behind ends that are refused.
    let answer = try client.call(CoordinationInterface.access, call)
    let next = try answer.parameters.int("access")
    #expect(next > access)
    #expect(scene.error("Done", ["access": JSONValue(next)], on: client) == "")
    try await scene.end()
    #expect(try scene.world.events(.coordinationEnded).contains { $0.detail["coordination"] == "\(access)" })
  }

  @Test func `an item that moves out of sight while an access waits has its own path, and no folder's`() async throws {
    let scene = try await Scene()
    let (client, access) = try scene.hold(scene.intent(scene.home, "write", ["forMoving"]), by: scene.app)
    let waiting = try scene.app.connect()
    guard
      case .object(let call) = scene.access(
        [scene.intent(scene.home, "write", ["forDeleting"])], ["purpose": "another"])
    else { throw HarnessError("no object") }
    try waiting.send(CoordinationInterface.access, call)
    // The broker has read that one when it has answered this.
    _ = try scene.app.status()
    let moved: JSONValue = ["access": JSONValue(access), "from": .string(scene.home), "to": .string(scene.path)]
    #expect(scene.error("Moved", moved, on: client) == "")
    #expect(scene.error("Done", ["access": JSONValue(access)], on: client) == "")
    let answer = try #require(try waiting.receive(wait: true))
    let reply = try CoordinationInterface.AccessReply(json: answer.parameters)
    // Never the container, which an accessor would remove then.
    #expect(reply.paths == [scene.home])
    #expect(scene.error("Done", ["access": JSONValue(reply.access)], on: waiting) == "")
    try await scene.end()
  }

  @Test func `moves of items that are not written in the access`() async throws {
    let scene = try await Scene()
    let (client, access) = try scene.hold(scene.intent(scene.home, "write"), by: scene.app)
    let (reader, reading) = try scene.hold(scene.intent(scene.readOnly), by: scene.other)
    func moved(_ from: String, _ to: String, _ id: Int, _ client: WireClient) -> String {
      scene.error("Moved", ["access": JSONValue(id), "from": .string(from), "to": .string(to)], on: client)
    }
    // Otherwise its presenters in the other app would follow it into this one's container.
    #expect(moved(scene.path, "/home/user/mine.txt", access, client) == "NotKnown")
    #expect(moved(scene.readOnly, "/home/user/mine.txt", reading, reader) == "NotKnown")
    #expect(moved(scene.home, "/etc/passwd", access, client) == "NotKnown")
    #expect(moved("/home/user/..", scene.home, access, client) == "NotKnown")
    #expect(moved(scene.home, scene.path, access, client) == "")
    #expect(moved(scene.path, scene.home, access, client) == "")
    var last = ""
    for number in 0..<3000 where last.isEmpty {
      last = moved(
        number.isMultiple(of: 2) ? scene.home : "/home/user/\(number - 1)",
        number.isMultiple(of: 2) ? "/home/user/\(number)" : scene.home, access, client)
    }
    #expect(last == "Crowded")
    #expect(scene.error("Done", ["access": JSONValue(access)], on: client) == "")
    #expect(scene.error("Done", ["access": JSONValue(reading)], on: reader) == "")
    try await scene.end()
  }

  @Test func `more than there is room for`() async throws {
    let scene = try await Scene()
    for count in [0, 65, 1000] {
      let many = Array(repeating: scene.intent("/home/user/x"), count: count)
      #expect(scene.error("Access", scene.access(many)) == "Crowded", "\(count)")
    }
    // Long paths of many folders.
    let deep = (0..<30).map { scene.intent("/home/user/\($0)" + String(repeating: "/a", count: 900)) }
    #expect(scene.error("Access", scene.access(deep)) == "Crowded")
    // Of one connection.
    let client = try scene.app.connect()
    var granted = 0
    while scene.error("Access", scene.access([scene.intent(scene.home)]), on: client).isEmpty, granted < 200 {
      granted += 1
    }
    #expect(granted == 64)
    // Of one app, over all its connections.
    var clients: [WireClient] = []
    var last = ""
    let some = scene.access((0..<60).map { scene.intent("/home/user/\($0)") })
    while last.isEmpty, clients.count < 40 {
      let next = try scene.app.connect()
      clients.append(next)
      last = scene.error("Access", some, on: next)
    }
    #expect(last == "Crowded" && clients.count == 17)
    // The other one has as much as before.
    #expect(scene.error("Access", scene.access([scene.intent(scene.home)]), on: scene.other.app) == "")
    withExtendedLifetime(client) {}
    clients = []
    try await scene.end()
  }

  @Test func `patience without measure`() async throws {
    let scene = try await Scene()
    let (holder, access) = try scene.hold(scene.intent(scene.path, "write"), by: scene.app)
    let waiting = try [Int.max, Int.max - 1, 1 << 62, 0, -1, Int.min].map { patience in
      let client = try scene.other.connect()
      try client.send(
        CoordinationInterface.access,
        CoordinationInterface.AccessCall(
          intents: [.init(path: scene.readOnly, use: .read, options: [])], purpose: "\(patience)", patience: patience
        ).json)
      return client
    }
    try scene.other.settle()
    scene.world.wait(seconds: 1)
    // Without any patience it is over at once.
    for client in waiting.suffix(3) {
      #expect(try scene.awaited(on: client) == "Held")
    }
    scene.world.wait(seconds: 3600)
    try scene.other.settle()
    for client in waiting.prefix(3) { #expect(try client.receive(wait: false) == nil) }
    #expect(scene.error("Done", ["access": JSONValue(access)], on: holder) == "")
    for client in waiting.prefix(3) { #expect(try scene.awaited(on: client) == "") }
    try await scene.end()
  }

  @Test func `presenters of others' items, too many, and such that do not read`() async throws {
    let scene = try await Scene()
    for path in ["/etc/passwd", scene.readOnly, "", "/home/user/.."] {
      let client = try scene.app.connect()
      try client.send(
        CoordinationInterface.present, CoordinationInterface.PresentCall(path: path, purpose: "p").json, more: true)
      #expect(try scene.awaited(on: client) == "NotKnown", "\(path)")
    }
    // A related item without any declaration.
    let client = try scene.app.connect()
    let sibling = (scene.path as NSString).deletingPathExtension + ".srt"
    try client.send(
      CoordinationInterface.present,
      CoordinationInterface.PresentCall(path: sibling, purpose: "p", primary: scene.path).json, more: true)
    #expect(try scene.awaited(on: client) == "NotKnown")
    // One that never reads is told of thousands of changes in its folder.
    let deaf = try scene.app.connect()
    try deaf.send(
      CoordinationInterface.present, CoordinationInterface.PresentCall(path: "/home/user", purpose: "deaf").json,
      more: true)
    try scene.app.settle()
    let writer = try scene.app.connect()
    for _ in 0..<Rounds.few(600, of: 2000) {
      let answer = try writer.call(
        CoordinationInterface.access,
        CoordinationInterface.AccessCall(
          intents: [.init(path: scene.home, use: .write, options: [])], purpose: "writer"
        ).json)
      let id = try answer.parameters.int("access")
      #expect(scene.error("Done", ["access": JSONValue(id)], on: writer) == "")
    }
    withExtendedLifetime(deaf) {}
    try await scene.end()
  }
}
