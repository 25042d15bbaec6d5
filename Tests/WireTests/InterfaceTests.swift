import Testing

@testable import Wire

@Suite struct `Interface descriptions` {
  static let embedded: [Interface] = [
    .service, .picker, .access, .bookmarks, .transfer, .coordination, .launcher, .grants, .inspector,
  ]

  @Test func `those that are compiled in are well formed and have their names`() throws {
    #expect(
      Self.embedded.map(\.name) == [
        "org.varlink.service", "io.ambit.Picker", "io.ambit.Access", "io.ambit.Bookmarks", "io.ambit.Transfer",
        "io.ambit.Coordination", "io.ambit.Launcher", "io.ambit.Grants", "io.ambit.Inspector",
      ])
    #expect(
      Interface.access.methods.keys.sorted() == [
        "Events", "HostPath", "Kept", "Open", "Path", "Release", "Start", "Status", "Stop",
      ])
    #expect(
      Interface.access.errors.keys.sorted() == [
        "Crowded", "InvalidScope", "LimitReached", "NotActive", "NotAllowed", "NotOpened", "NotTold", "ReadOnly",
        "Revoked", "Unavailable",
      ])
    #expect(Interface.picker.description.contains("# Asks the user to choose."))
    for interface in Interface.all {
      #expect(try Interface(parsing: interface.description).methods == interface.methods)
      #expect(!interface.methods.isEmpty)
    }
  }

  @Test func `no sandbox is offered the user's side`() {
    #expect(!Interface.app.contains { $0.name == Interface.launcher.name || $0.name == Interface.grants.name })
  }

  @Test func `every kind of type is read`() throws {
    let interface = try Interface(
      parsing: """
        # about it
        interface a.b-c.D1
        type Word (one, two_2) # behind
        type All (a: bool, b: int, c: float, d: string, e: object, f: Word, g: []int, h: [string]?[]Word,
          i: ?(x: (y, z)), j: ())
        method Do(all: All)->()
        error Bad (why: ?string)
        """)
    #expect(interface.name == "a.b-c.D1")
    #expect(interface.types["Word"] == .enumeration(["one", "two_2"]))
    #expect(
      interface.types["All"]
        == .structure(
          VarlinkStructure(fields: [
            .init(name: "a", type: .bool), .init(name: "b", type: .int), .init(name: "c", type: .float),
            .init(name: "d", type: .string), .init(name: "e", type: .object), .init(name: "f", type: .named("Word")),
            .init(name: "g", type: .array(.int)), .init(name: "h", type: .map(.optional(.array(.named("Word"))))),
            .init(
              name: "i",
              type: .optional(.structure(VarlinkStructure(fields: [.init(name: "x", type: .enumeration(["y", "z"]))])))),
            .init(name: "j", type: .structure(VarlinkStructure(fields: []))),
          ])))
    #expect(interface.methods["Do"]?.reply.fields.isEmpty == true)
    #expect(interface.errors["Bad"]?.fields == [.init(name: "why", type: .optional(.string))])
  }

  static let broken: [(String, Int, String)] = [
    ("", 1, "a name was expected"),
    ("type A ()", 1, "a description begins with “interface”"),
    ("interface a", 1, "“a” is not the name of an interface"),
    ("interface a.", 1, "“a.” is not the name of an interface"),
    ("interface a.b\n\nmethod do() -> ()", 3, "“do” does not begin with a capital"),
    ("interface a.b\nmethod Do() ()", 2, "“->” was expected"),
    ("interface a.b\nmethod Do(a) -> ()", 2, "fields have types here"),
    ("interface a.b\nmethod Do(a: int, b) -> ()", 2, "“b” has no type"),
    ("interface a.b\nmethod Do(a: int, a: int) -> ()", 2, "“a” occurs twice"),
    ("interface a.b\nmethod Do(a: int -> ()", 2, "a comma or a closing parenthesis was expected"),
    ("interface a.b\nmethod Do(a: Thing) -> ()", 2, "there is no type “Thing”"),
    ("interface a.b\nmethod Do(a: ??int) -> ()", 2, "a type is optional twice"),
    ("interface a.b\nmethod Do(a: [int]int) -> ()", 2, "“[string]” was expected"),
    ("interface a.b\ntype A ()\nerror A ()", 3, "“A” is described twice"),
    ("interface a.b\nfoo A ()", 2, "“type”, “method” or “error” was expected, not “foo”"),
    ("interface a.b\ntype A (a: " + String(repeating: "[]", count: 40) + "int)", 2, "types are nested too deeply"),
    ("interface a.b\n!", 2, "a name was expected"),
  ]

  @Test(arguments: broken) func `a broken one is refused with its line`(text: String, line: Int, reason: String) {
    let error = #expect(throws: InterfaceError.self) { try Interface(parsing: text) }
    #expect(error?.description == "line \(line): \(reason)")
  }

  static let service = WireService(info: ServiceInfo(version: "1", url: "u"), interfaces: Interface.app)

  static let checks: [(method: String, parameters: JSONObject, error: ErrorReply?)] = [
    ("io.ambit.Access.Start", ["scope": "x"], nil),
    ("io.ambit.Access.Start", ["scope": "x", "caller": "y"], nil),
    ("io.ambit.Access.Start", ["scope": "x", "caller": .null], nil),
    ("io.ambit.Access.Start", [:], .invalidParameter("scope")),
    ("io.ambit.Access.Start", ["scope": .null], .invalidParameter("scope")),
    ("io.ambit.Access.Start", ["scope": 1], .invalidParameter("scope")),
    ("io.ambit.Access.Start", ["scope": "x", "caller": 1], .invalidParameter("caller")),
    ("io.ambit.Access.Start", ["scope": "x", "Caller": "y"], .invalidParameter("Caller")),
    ("io.ambit.Access.Status", [:], nil),
    ("io.ambit.Access.Status", ["x": 1], .invalidParameter("x")),
    ("io.ambit.Picker.Pick", ["mode": "open"], nil),
    ("io.ambit.Picker.Pick", ["mode": "open", "kind": "pipe"], .invalidParameter("kind")),
    ("io.ambit.Picker.Pick", ["mode": "open", "types": ["txt", "md"]], nil),
    ("io.ambit.Picker.Pick", ["mode": "open", "types": ["txt", 1]], .invalidParameter("types")),
    ("io.ambit.Picker.Pick", ["mode": "open", "types": "txt"], .invalidParameter("types")),
    ("io.ambit.Picker.Pick", ["mode": "open", "multiple": "yes"], .invalidParameter("multiple")),
    ("io.ambit.Access.Begin", [:], .methodNotFound("io.ambit.Access.Begin")),
    ("io.ambit.Access.", [:], .methodNotFound("io.ambit.Access.")),
    ("io.ambit.Access.LimitReached", [:], .methodNotFound("io.ambit.Access.LimitReached")),
    ("io.ambit.Launcher.Instances", [:], .interfaceNotFound("io.ambit.Launcher")),
    ("Start", [:], .interfaceNotFound("Start")),
    ("", [:], .interfaceNotFound("")),
    (".Start", [:], .interfaceNotFound("")),
  ]

  @Test(arguments: checks)
  func `a call is checked before anybody sees it`(method: String, parameters: JSONObject, error: ErrorReply?) {
    switch Self.service.check(IncomingCall(method: method, parameters: parameters)) {
    case .call(let checked):
      #expect(error == nil)
      #expect("\(checked.interface).\(checked.member)" == method)
    case .answer(let reply): #expect(reply == error.map { Reply($0) })
    }
  }

  @Test func `a word that the description leaves open is checked when the call is read`() throws {
    let call = IncomingCall(method: PickerInterface.pick, parameters: ["mode": "borrow"])
    guard case .call(let checked) = Self.service.check(call) else { throw ErrorReply.invalidParameter("") }
    #expect(throws: ErrorReply.invalidParameter("mode")) { try checked.read(PickerInterface.PickCall.self) }
  }

  @Test func `a fault deep inside is named by its path`() throws {
    let interface = try Interface(
      parsing: "interface a.b\ntype Item (name: string)\nmethod Do(items: []Item, more: ?[string](n: int)) -> ()")
    let method = try #require(interface.methods["Do"])
    func fault(_ object: JSONObject) -> String? { interface.fault(in: object, against: method.parameters) }
    #expect(fault(["items": [["name": "a"]], "more": ["x": ["n": 1]]]) == nil)
    #expect(fault(["items": [["name": "a"], ["name": 2]]]) == "items.name")
    #expect(fault(["items": [["name": "a", "size": 2]]]) == "items.size")
    #expect(fault(["items": [1]]) == "items")
    #expect(fault(["items": [], "more": ["x": ["n": .double(1)]]]) == "more.n")
  }

  @Test func `a service tells what it is and describes its interfaces, and only those`() throws {
    func answer(_ method: String, _ parameters: JSONObject = [:]) -> Reply? {
      guard case .answer(let reply) = Self.service.check(IncomingCall(method: method, parameters: parameters)) else {
        return nil
      }
      return reply
    }
    let info = try #require(answer("org.varlink.service.GetInfo")).parameters
    #expect(
      try info.strings("interfaces") == [
        "org.varlink.service", "io.ambit.Picker", "io.ambit.Access", "io.ambit.Bookmarks", "io.ambit.Transfer",
        "io.ambit.Coordination", "io.ambit.Versions", "io.ambit.Query", "io.ambit.Opening", "io.ambit.Index",
        "io.ambit.Thumbnails",
        "io.ambit.Provider",
      ])
    for interface in [Interface.service] + Interface.app {
      let reply = answer("org.varlink.service.GetInterfaceDescription", ["interface": .string(interface.name)])
      #expect(reply?.parameters == ["description": .string(interface.description)])
    }
    #expect(
      answer("org.varlink.service.GetInterfaceDescription", ["interface": "io.ambit.Launcher"])
        == Reply(.interfaceNotFound("io.ambit.Launcher")))
    #expect(
      answer("org.varlink.service.GetInterfaceDescription")
        == Reply(.invalidParameter("interface")))
  }

  @Test func `a text with a NUL in it is no path, and a call that waits has an answer`() {
    let service = WireService(info: ServiceInfo(version: "1", url: "u"), interfaces: Interface.app)
    func refusal(_ call: IncomingCall) -> Reply? {
      if case .answer(let reply) = service.check(call) { reply } else { nil }
    }
    for path in ["/home/user/..\0", "\0", "a\0b"] {
      let parameters: JSONObject = ["path": .string(path), "purpose": "x"]
      #expect(
        refusal(IncomingCall(method: CoordinationInterface.present, parameters: parameters, more: true))
          == Reply(.invalidParameter("path")))
    }
    #expect(refusal(IncomingCall(method: OpeningInterface.next, oneway: true)) == Reply(.invalidParameter("oneway")))
    let done: JSONObject = ["access": 1]
    #expect(refusal(IncomingCall(method: CoordinationInterface.done, parameters: done, oneway: true)) == nil)
  }

  @Test func `a method that answers more than once has to be called so`() {
    let service = WireService(info: ServiceInfo(version: "1", url: "u"), interfaces: Interface.user)
    let parameters: JSONObject = ["instance": "i"]
    for more in [false, true] {
      let outcome = service.check(
        IncomingCall(method: LauncherInterface.prompts, parameters: parameters, more: more))
      switch outcome {
      case .call: #expect(more)
      case .answer(let reply): #expect(!more && reply == Reply(.expectedMore))
      }
    }
  }
}
