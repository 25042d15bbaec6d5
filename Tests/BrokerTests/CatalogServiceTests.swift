import BrokerCore
import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

@Suite struct `A query` {
  @Test func `finds the app's own documents, and not its references or hidden files (MDQ-1)`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    try put("one", "\(documents)/One.txt")
    try makeFolder("\(documents)/Work/Deep.rtfd")
    try put("two", "\(documents)/Work/Two.txt")
    try put("inside", "\(documents)/Work/Deep.rtfd/TXT.rtf")
    try put("hidden", "\(documents)/.hidden")
    try FileManager.default.createSymbolicLink(atPath: "\(documents)/link", withDestinationPath: "/etc/passwd")
    _ = try world.grant(try world.file("Given.txt"), to: app.identifier)
    let query = try TestQuery(app, "TRUEPREDICATE", [.local])
    try query.gather()
    #expect(query.names.filter { !$0.hasSuffix(".ambitref") } == ["One.txt", "Work", "Work/Deep.rtfd", "Work/Two.txt"])
    #expect(query.items.values.first { $0.kind == .package }?.size == 6)
    #expect(query.items.values.allSatisfy { $0.container == "App" && !$0.external && $0.access == .readWrite })
    #expect(query.updates.map(\.phase).first == .running && query.updates.last?.phase == .gathered)
    try await world.end()
  }

  @Test func `lists each granted document once, with what is known of it (MDQ-2)`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let path = try world.file("Letter.txt", "Dear Ada")
    let reading = try world.grant(path, to: app.identifier, .readOnly)
    let query = try TestQuery(app, "TRUEPREDICATE", [.external])
    try query.gather()
    #expect(query.items.values.map(\.path) == ["/documents/\(reading)/Letter.txt"])
    #expect(query.items.values.first?.access == .readOnly && query.items.values.first?.size == 8)
    // The same document for writing stands for both.
    let writing = try world.grant(path, to: app.identifier)
    try query.barrier()
    #expect(query.items.values.map(\.path) == ["/documents/\(writing)/Letter.txt"])
    try world.revoke(grant: writing)
    try query.barrier()
    #expect(query.items.values.map(\.path) == ["/documents/\(reading)/Letter.txt"])
    try await world.end()
  }

  @Test func `follows grants, revocations, renames, moves, the trash and deletion`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let query = try TestQuery(app, "kMDItemFSName ENDSWITH '.txt'", [.external])
    try query.gather()
    let path = try world.file("a.txt", "1")
    let grant = try world.grant(path, to: app.identifier)
    // Without asking: the grant's event is enough.
    #expect(try query.next().present.map(\.path) == ["/documents/\(grant)/a.txt"])
    func after(_ act: () throws -> Void) throws -> [String] {
      try act()
      try query.barrier()
      return query.names
    }
    let (b, elsewhere) = ("\(world.temporary.path)/b.txt", try world.temporary.folder("elsewhere"))
    let trash = "\(world.temporary.path)/.local/share/Trash/files"
    try makeFolder(trash)
    #expect(try after { try move(path, b) } == ["b.txt"])
    #expect(try after { try put("longer", b) } == ["b.txt"])
    #expect(query.items.values.first?.size == 6)
    #expect(try after { try move(b, "\(elsewhere)/c.txt") } == ["c.txt"])
    #expect(try after { try move("\(elsewhere)/c.txt", "\(elsewhere)/c.md") } == [])
    #expect(try after { try move("\(elsewhere)/c.md", b) } == ["b.txt"])
    #expect(try after { try move(b, "\(trash)/b.txt") } == [])
    #expect(try after { try move("\(trash)/b.txt", b) } == ["b.txt"])
    #expect(try after { try world.revoke(grant: grant) } == [])
    let again = try world.grant(b, to: app.identifier)
    try query.barrier()
    #expect(query.items.values.map(\.path) == ["/documents/\(again)/b.txt"])
    #expect(try after { try remove(b) } == [])
    try await world.end()
  }

  @Test func `follows its own documents: new ones, changes, renames, folders and their moves`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    let query = try TestQuery(app, "TRUEPREDICATE", [.local])
    try query.gather()
    func after(_ act: () throws -> Void) throws -> [String] {
      try act()
      try query.barrier()
      return query.names
    }
    #expect(try after { try put("1", "\(documents)/a") } == ["a"])
    let number = try #require(query.items.keys.first)
    #expect(try after { try move("\(documents)/a", "\(documents)/b") } == ["b"])
    #expect(query.items[number]?.path == "/home/user/Documents/b")
    #expect(try after { try put("22", "\(documents)/b") } == ["b"])
    #expect(query.items[number]?.size == 2)
    #expect(
      try after {
        try makeFolder("\(documents)/F/G")
        try put("x", "\(documents)/F/G/x")
      } == ["F", "F/G", "F/G/x", "b"])
    #expect(try after { try move("\(documents)/F", "\(documents)/H") } == ["H", "H/G", "H/G/x", "b"])
    #expect(try after { try put("y", "\(documents)/H/G/y") } == ["H", "H/G", "H/G/x", "H/G/y", "b"])
    // A save as editors do it is a change of the same item.
    let saved = try after {
      try put("333", "\(documents)/.b.new")
      _ = unsafe rename("\(documents)/.b.new", "\(documents)/b")
    }
    #expect(saved == ["H", "H/G", "H/G/x", "H/G/y", "b"] && query.items[number]?.size == 3)
    #expect(try after { try move("\(documents)/H/G", "\(world.temporary.path)/G") } == ["H", "b"])
    #expect(try after { try remove("\(documents)/H") } == ["b"])
    try await world.end()
  }

  @Test func `follows the whole folder where the app renames it, makes it anew or has none at first`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    let old = documents + ".old"
    try remove(documents)
    let query = try TestQuery(app, "TRUEPREDICATE", [.local])
    try query.gather()
    func after(_ act: () throws -> Void) throws -> [String] {
      try act()
      try query.barrier()
      return query.names
    }
    #expect(
      try after {
        try makeFolder("\(documents)/F")
        try put("1", "\(documents)/F/a")
      } == ["F", "F/a"])
    #expect(try after { try move(documents, old) } == [])
    #expect(
      try after {
        try makeFolder(documents)
        try put("2", "\(documents)/b")
      } == ["b"])
    #expect(try after { try put("3", "\(documents)/c") } == ["b", "c"])
    // Nothing is told of the former folder.
    #expect(try after { try put("4", "\(old)/F/d") } == ["b", "c"])
    #expect(
      try after {
        try remove(documents)
        try move(old, documents)
      } == ["F", "F/a", "F/d"])
    try await world.end()
  }

  @Test func `is told of a coordinated write before the access has ended (MDQ-7)`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let other = try world.launch("org.example.other")
    let documents = try app.documents(world)
    let path = try world.file("Shared.txt", "1")
    _ = try world.grant(path, to: app.identifier)
    let theirs = try #require(try other.pick([path]).first)
    let query = try TestQuery(app)
    try query.gather()
    /// Writes under coordination; the updates that are there when the access has ended.
    func written(_ app: TestApp, _ path: String, _ act: () throws -> Void) throws -> [QueryInterface.Update] {
      let access = try app.connect()
      let call = CoordinationInterface.AccessCall(
        intents: [.init(path: path, use: .write, options: [])], purpose: "test")
      let reply = try CoordinationInterface.AccessReply(
        json: access.call(CoordinationInterface.access, call.json).parameters)
      try act()
      _ = try access.call(CoordinationInterface.done, CoordinationInterface.DoneCall(access: reply.access).json)
      return try query.take()
    }
    let made = try written(app, "/home/user/Documents/New.txt") { try put("new", "\(documents)/New.txt") }
    #expect(made.count == 1 && made.first?.coordinated == true && made.first?.present.map(\.size) == [3])
    let folder = try written(app, "/home/user/Documents/Trip") {
      try makeFolder("\(documents)/Trip")
      try put("sun", "\(documents)/Trip/Day.txt")
    }
    #expect(folder.flatMap(\.present).map(\.path).contains("/home/user/Documents/Trip/Day.txt"))
    let removed = try written(app, "/home/user/Documents/New.txt") { try remove("\(documents)/New.txt") }
    #expect(removed.first?.removed.count == 1 && removed.first?.coordinated == true)
    // Another app writes a document that both have.
    try other.start(theirs)
    let shared = try written(other, theirs.path) { try put("12345", path) }
    #expect(shared.first?.present.map(\.size) == [5] && shared.first?.coordinated == true)
    try await world.end()
  }

  @Test func `says nothing of files that the app may not know (MDQ-13)`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    for number in 0..<5 { try put("\(number)", "\(documents)/own \(number).txt") }
    let granted = try world.grant(try world.file("given.txt", "given"), to: app.identifier)
    func answers() throws -> [String] {
      // Another launch of it, with a query that begins anew.
      let launch = try world.launch()
      let query = try TestQuery(launch, "kMDItemFSName CONTAINS[cd] 'n' OR kMDItemFSSize >= 0")
      try query.gather()
      try query.barrier()
      return query.texts
    }
    // The first query reads the folders, which may come in parts.
    _ = try answers()
    let before = try answers()
    #expect(before.joined().contains(granted))
    // Another app's container, its grants, its queries, and files beside those that were granted.
    let other = try world.launch("org.example.other")
    let theirs = try other.documents(world)
    for number in 0..<20 { try put("x", "\(theirs)/own \(number).txt") }
    for number in 0..<20 {
      _ = try world.grant(try world.file("secret n\(number).txt"), to: other.identifier)
      _ = try world.file("own beside \(number).txt")
    }
    let foreign = try TestQuery(other)
    try foreign.gather()
    #expect(foreign.items.count >= 40)
    #expect(try answers() == before)
    try await world.end()
  }

  @Test func `hands an external item over with its scope, and writes that down (MDQ-3)`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let grant = try world.grant(try world.file("Letter.txt"), to: app.identifier)
    let query = try TestQuery(app)
    try query.gather()
    let item = try #require(query.items.values.first { $0.external })
    let call = QueryInterface.ResolveCall(query: query.number, item: item.item)
    let reply = try QueryInterface.ResolveReply(json: app.app.call(QueryInterface.resolve, call.json).parameters)
    #expect(reply.document.path == item.path && reply.document.grant == grant)
    #expect(try app.start(reply.document).count == 1)
    #expect(
      try app.refusal(QueryInterface.resolve, QueryInterface.ResolveCall(query: query.number, item: 99).json)
        == "NotFound")
    let other = try world.launch("org.example.other")
    #expect(try other.refusal(QueryInterface.resolve, call.json) == "NotFound")
    try world.revoke(grant: grant)
    #expect(try app.refusal(QueryInterface.resolve, call.json) == "NotFound")
    try await world.end()
    let events = try world.events(.referenceResolved)
    #expect(events.map(\.how) == ["query"] && events.first?.sentence.contains("query's item") == true)
  }

  @Test func `of one launch knows no grant of another launch's`() async throws {
    let world = try await BrokerWorld()
    let one = try world.launch(rules: .init(endsWithLaunch: true))
    let path = try world.file("Letter.txt")
    _ = try one.pick([path])
    let two = try world.launch()
    let (first, second) = (try TestQuery(one), try TestQuery(two))
    try first.gather()
    try second.gather()
    #expect(first.names == ["Letter.txt"] && second.names.isEmpty)
    try await world.end()
  }

  @Test func `knows the types that its app declares, and the next query does not`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    for name in ["Fire.sparks", "Letter.txt"] { try put("x", "\(documents)/\(name)") }
    let sparks = QueryInterface.DeclaredType(
      identifier: "org.example.sparks", conformsTo: ["public.text"], extensions: ["sparks"], exported: true)
    func names(_ predicate: String, _ types: [QueryInterface.DeclaredType]? = [sparks]) throws -> [String] {
      let query = try TestQuery(app, predicate, types: types)
      try query.gather()
      return query.names
    }
    #expect(try names("kMDItemContentType == 'org.example.sparks'") == ["Fire.sparks"])
    #expect(try names("kMDItemContentTypeTree == 'public.text'") == ["Fire.sparks", "Letter.txt"])
    #expect(try names("kMDItemContentType == 'org.example.sparks'", nil) == [])
    // No app says what the system's types are.
    let text = QueryInterface.DeclaredType(
      identifier: "public.png", conformsTo: [], extensions: ["txt"], exported: true)
    #expect(try names("kMDItemContentType == 'public.plain-text'", [text]) == ["Letter.txt"])
    try await world.end()
  }

  @Test func `is refused when it is too large, unreadable, or one of too many`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    func refusal(
      _ predicate: String, places: [String]? = nil, app named: String? = nil,
      types: [QueryInterface.DeclaredType]? = nil
    ) throws -> String? {
      let call = QueryInterface.RunCall(
        predicate: predicate, scopes: [.local], places: places, app: named, types: types)
      return try app.refusal(QueryInterface.run, call.json, more: true)
    }
    #expect(try refusal("kMDItemFSName ==") == "BadPredicate")
    #expect(try refusal("SUBQUERY(a, $x, TRUEPREDICATE).@count > 0") == "BadPredicate")
    #expect(try refusal("a == '\(String(repeating: "x", count: 40_000))'") == "TooLarge")
    #expect(try refusal(String(repeating: "(", count: 2000) + "a == 1") == "TooLarge")
    #expect(try refusal("TRUEPREDICATE", places: Array(repeating: "/a", count: 65)) == "TooLarge")
    #expect(try refusal("TRUEPREDICATE", places: ["/a/../b"]) == "InvalidParameter")
    let type = QueryInterface.DeclaredType(identifier: "a.b", conformsTo: [], extensions: [], exported: true)
    #expect(try refusal("TRUEPREDICATE", types: Array(repeating: type, count: 257)) == "TooLarge")
    #expect(try refusal("TRUEPREDICATE", app: "org.example.other") == "InvalidParameter")
    #expect(
      try app.refusal(QueryInterface.run, QueryInterface.RunCall(predicate: "a == 1", scopes: []).json)
        == "ExpectedMore")
    // A message of a megabyte is none, and its connection ends; the app's others go on.
    let huge = QueryInterface.RunCall(predicate: String(repeating: "x", count: 1 << 20), scopes: [.local])
    let client = try app.connect()
    #expect(throws: WireError.self) {
      try client.send(QueryInterface.run, huge.json, more: true)
      _ = try client.receive(wait: true)
    }
    var queries: [TestQuery] = []
    for _ in 0..<16 { queries.append(try TestQuery(app)) }
    for _ in 0..<10_000 / 200 { #expect(try refusal("TRUEPREDICATE") == "TooMany") }
    queries.removeFirst()
    try app.settle()
    #expect(try TestQuery(app).number == 17)
    let patterns = Array(repeating: "a MATCHES '(a+)+b'", count: 16).joined(separator: " OR ")
    queries = []
    try app.settle()
    queries = [try TestQuery(app, patterns), try TestQuery(app, patterns)]
    #expect(try refusal(patterns) == "TooMany")
    queries = []
    try app.settle()
    let long = "a LIKE '\(String(repeating: "x", count: 200))'"
    queries = [try TestQuery(app, Array(repeating: long, count: 4).joined(separator: " OR "))]
    #expect(try refusal(Array(repeating: long, count: 2).joined(separator: " OR ")) == "TooMany")
    try await world.end()
  }

  /// Some thirty items of such names have one turn of the loop.
  @Test func `with patterns that take long tells all, a few in each turn`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    let long = "\(documents)/\(String(repeating: "a", count: 200))"
    try makeFolder(long)
    for number in 0..<40 { try put("text", "\(long)/\(number)-\(String(repeating: "b", count: 150)).txt") }
    let pattern = "kMDItemFSName MATCHES '(.*b){60}.*[.]txt'"
    let queries = [try TestQuery(app, pattern, [.local]), try TestQuery(app, pattern, [.local])]
    for query in queries {
      try query.gather()
      #expect(query.items.count == 40)
    }
    for number in 0..<40 { try remove("\(long)/\(number)-\(String(repeating: "b", count: 150)).txt") }
    for query in queries {
      try query.barrier()
      #expect(query.items.isEmpty)
    }
    try await world.end()
  }

  @Test func `knows all after folders have come and gone faster than they are followed`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    let query = try TestQuery(app, "TRUEPREDICATE", [.local])
    try query.gather()
    for number in 0..<100 {
      try makeFolder("\(documents)/\(number)/in")
      try put("text", "\(documents)/\(number)/in/a.txt")
    }
    try query.barrier()
    #expect(query.items.count == 300)
    for number in 0..<100 { try move("\(documents)/\(number)", "\(documents)/other-\(number)") }
    for number in 0..<50 { try remove("\(documents)/other-\(number)") }
    try query.barrier()
    #expect(query.items.count == 150 && query.names.contains("other-99/in/a.txt"))
    // And goes on to follow single changes.
    try move("\(documents)/other-99/in", "\(documents)/moved")
    try put("more", "\(documents)/moved/b.txt")
    try query.barrier()
    #expect(query.items.count == 151 && query.names.contains("moved/b.txt"))
    try await world.end()
  }

  @Test func `has its turn whatever the others have to look at`() async throws {
    try await onLoop {
      var budget = QueryBudget(items: 3, steps: 100)
      budget.spend(10)
      #expect(!budget.isSpent)
      budget.spend(90)
      #expect(budget.isSpent)
      budget = QueryBudget(items: 1, steps: 100)
      budget.spend(1)
      #expect(budget.isSpent)
    }
  }

  @Test func `of the user's shows what the app would see, also when it does not run`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    try put("x", "\(documents)/Own.txt")
    _ = try world.grant(try world.file("Given.txt"), to: app.identifier)
    func items(_ app: String) throws -> Set<String> {
      var found: Set<String> = []
      let call = QueryInterface.RunCall(predicate: "kMDItemFSSize > 0", scopes: [.local, .external], app: app)
      let client = try WireClient(address: "unix:\(world.folders.runtime)/\(AmbitFolders.socketName)")
      client.setPatience(BrokerWorld.patience)
      try client.callMore(QueryInterface.run, call.json) { answer throws(WireError) in
        guard let update = try? QueryInterface.RunReply(json: answer.parameters).update else { return false }
        for item in update.present { found.insert(String(item.path.split(separator: "/").last ?? "")) }
        return update.phase != .gathered
      }
      return found
    }
    #expect(try items(app.identifier) == ["Own.txt", "Given.txt"])
    #expect(throws: WireError.self) { try items("org.example.unknown") }
    try await world.end()
  }

  @Test func `goes on over another broker's catalog, and over none`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let documents = try app.documents(world)
    for number in 0..<300 { try put("\(number)", "\(documents)/\(number)") }
    let query = try TestQuery(app)
    try query.gather()
    #expect(query.items.count == 300)
    let whole = try TestQuery(app, "kMDItemFSName IN {'7', '299', '300'}", [], places: ["/home/user/Documents"])
    try whole.gather()
    #expect(whole.names == ["299", "7"])
    try await world.end()
    #expect(FileManager.default.fileExists(atPath: world.folders.catalog))
  }
}
