import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// An app's own actions in its browser, over the socket.
@Suite struct `The browser's own actions` {
  private static let count = BrowserActionMessage(
    identifier: "count", title: "Count", menu: true, navigationBar: false, documents: true, types: ["txt"],
    multiple: false)
  private static let button = BrowserActionMessage(
    identifier: "settings", title: "Settings", menu: false, navigationBar: true, documents: false, multiple: false)

  private static func call(_ actions: [BrowserActionMessage], tint: String? = nil) -> PickerInterface.PickCall {
    PickerInterface.PickCall(browser: .init(creates: false, actions: actions, tint: tint))
  }

  /// - Returns: the app's answer; `nil`: its picker was cancelled. The words for the user's side were refused.
  private func choose(
    _ app: TestApp, _ action: String, _ paths: [String], _ call: PickerInterface.PickCall? = nil
  ) throws -> (PickerInterface.PickReply?, [String]) {
    try app.app.send(PickerInterface.pick, (call ?? Self.call([Self.count, Self.button])).json)
    let question = try #require(try app.question())
    let told = try app.launcher.call(
      LauncherInterface.answer,
      LauncherInterface.AnswerCall(
        instance: app.instance, id: question.id, how: .user, paths: paths, action: action
      ).json, descriptors: try paths.map { try .open($0, flags: .path) })
    let refused = try LauncherInterface.AnswerReply(json: told.parameters).refused
    do {
      let answer = try #require(try app.app.receive(wait: true))
      return (try PickerInterface.PickReply(json: answer.parameters), refused)
    } catch WireError.remote { return (nil, refused) }
  }

  @Test func `PCK-33: the documents are granted as by a pick, and the log names the action`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let (reply, refused) = try choose(app, "count", [try world.file("a.txt")])
    #expect(reply?.action == "count" && reply?.documents.map(\.name) == ["a.txt"] && refused.isEmpty)
    #expect(try world.events(.pick).map { $0.detail["action"] } == ["count"])
    #expect(try world.events(.grant).count == 1)
    let (pressed, _) = try choose(app, "settings", [])
    #expect(pressed?.action == "settings" && pressed?.documents.isEmpty == true)
    #expect(try world.events(.pick).map { $0.detail["action"] } == ["count", "settings"])
    #expect(try world.events(.grant).count == 1)
    try await world.end()
  }

  @Test func `PCK-14: without the user's wish, an app makes no documents, whatever it calls its folders`() async throws
  {
    let world = try await BrokerWorld()
    let app = try world.launch()
    for source in ["/home/user/Documents/Inbox/ls", "/home/user/ls"] {
      let call = PickerInterface.CreateCall(source: source, move: false)
      let error = #expect(throws: WireError.self) { try app.app.call(PickerInterface.create, call.json) }
      guard case .remote(PickerInterface.Failure.notGrantableName, _)? = error else {
        Issue.record("\(source): \(String(describing: error))")
        continue
      }
    }
    #expect(try world.events(.pick).map(\.result) == [.refused, .refused])
    try await world.end()
  }

  /// The user opens a document with an app, which gets a copy in its Inbox.
  private func open(_ path: String, with app: TestApp, _ world: BrokerWorld) throws -> String {
    try makeFolder("\(try app.documents(world))/Inbox")
    let call = LauncherInterface.OpenCall(app: app.instance, access: .readWrite)
    let answer = try world.user.call(
      LauncherInterface.open, call.json, descriptors: [try .open(path, flags: .place)])
    return try #require(try LauncherInterface.OpenReply(json: answer.parameters).paths.first)
  }

  private func made(_ name: String, _ world: BrokerWorld) -> Bool {
    FileManager.default.fileExists(atPath: "\(world.temporary.path)/Documents/\(name)")
  }

  @Test(arguments: ["open", "import"])
  func `OIP-4: what came into the Inbox becomes a document only under a policy that lets the app open documents`(
    mode: String
  ) async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: [mode], inbox: true))
    let inside = try open(try world.file("a.txt"), with: app, world)
    let call = PickerInterface.CreateCall(source: inside, move: false)
    #expect(try app.refusal(PickerInterface.create, call.json) == (mode == "open" ? nil : "NotGrantable"))
    #expect(made("a.txt", world) == (mode == "open"))
    // Its user has opened it once, so it becomes one document.
    if mode == "open" { #expect(try app.refusal(PickerInterface.create, call.json) == "NotGrantable") }
    let rule = mode == "open" ? "PCK-14" : "PCK-1"
    #expect(try world.events(.pick).filter { $0.result == .refused }.map(\.rule) == [rule])
    try await world.end()
  }

  @Test func `OIP-4: what the app put into an Inbox, or has changed there, is no document that its user opened`()
    async throws
  {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: ["open"], inbox: true))
    let inside = try open(try world.file("a.txt"), with: app, world)
    let inbox = "\(try app.documents(world))/Inbox"
    func refusal(_ name: String) throws -> String? {
      let call = PickerInterface.CreateCall(source: "/home/user/Documents/Inbox/\(name)", move: false)
      return try app.refusal(PickerInterface.create, call.json)
    }
    try put("own", "\(inbox)/own.txt")
    #expect(try refusal("own.txt") == "NotGrantable" && !made("own.txt", world))
    // Another name for it, and another place of the folder, are changes as well.
    try FileManager.default.linkItem(atPath: "\(inbox)/a.txt", toPath: "\(inbox)/b.txt")
    #expect(try refusal("b.txt") == "NotGrantable" && refusal(inside.components(separatedBy: "/").last ?? "") != nil)
    let second = try open(try world.file("c.txt"), with: app, world)
    let name = second.components(separatedBy: "/").last ?? ""
    try put("changed", "\(inbox)/\(name)")
    #expect(try refusal(name) == "NotGrantable" && !made(name, world))
    try await world.end()
  }

  @Test func `PCK-23: a name that is taken is passed over, and the log has one entry`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    for name in ["b.txt", "b 2.txt", "b 3.txt"] { _ = try world.file(name) }
    let before = try world.events(.grant).count
    let call = PickerInterface.RenameCall(scope: document.scope, name: "b.txt")
    let renamed = try PickerInterface.RenameReply(json: try app.app.call(PickerInterface.rename, call.json).parameters)
    #expect(renamed.document.name == "b 4.txt")
    #expect(try world.events(.grant).count == before + 1)
    // The name that it has, or that it would get again, is no other one.
    for name in ["b 4.txt", "b 4", "b.txt"] {
      let call = PickerInterface.RenameCall(scope: document.scope, name: name)
      let same = try PickerInterface.RenameReply(json: try app.app.call(PickerInterface.rename, call.json).parameters)
      #expect(same.document.name == "b 4.txt")
    }
    let hidden = PickerInterface.RenameCall(scope: document.scope, name: ".\u{301}x.txt")
    #expect(try app.refusal(PickerInterface.rename, hidden.json) == "InvalidParameter")
    try await world.end()
  }

  @Test func `PCK-33: an action that does not fit grants nothing`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let (text, other) = (try world.file("a.txt"), try world.file("b.png"))
    for (action, paths) in [
      ("none", [text]), ("count", []), ("count", [other]), ("count", [text, text]), ("settings", [text]),
    ] as [(String, [String])] {
      let (reply, refused) = try choose(app, action, paths)
      #expect(reply == nil && refused.count == 1, "\(action) \(paths)")
    }
    // A plain picker has no actions.
    let (reply, _) = try choose(app, "count", [text], PickerInterface.PickCall())
    #expect(reply == nil)
    #expect(try world.events(.grant).isEmpty && world.events(.pick).allSatisfy { $0.result == .refused })
    try await world.end()
  }

  @Test func `PCK-20: impossible actions are refused before the user is asked`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    func action(_ identifier: String, _ title: String, _ types: [String]? = nil) -> BrowserActionMessage {
      .init(
        identifier: identifier, title: title, menu: true, navigationBar: false, documents: true, types: types,
        multiple: true)
    }
    let calls = [
      Self.call([Self.count, Self.count]), Self.call((0..<17).map { action("\($0)", "x") }),
      Self.call([action("", "x")]), Self.call([action("x", "")]),
      Self.call([action("x", String(repeating: "x", count: 81))]),
      Self.call([action(String(repeating: "x", count: 129), "x")]), Self.call([action("x", "x", ["a/b"])]),
      Self.call([action("x", "x", [""])]), Self.call([], tint: "red"),
    ]
    for call in calls {
      let error = #expect(throws: WireError.self) { try app.app.call(PickerInterface.pick, call.json) }
      guard case .remote(let name, _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(name.hasSuffix("InvalidParameter"))
    }
    try await world.end()
  }
}
