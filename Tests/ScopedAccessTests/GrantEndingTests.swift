import Folders
import GRDB
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `The end of grants` {
  private func grant(_ id: String, app: String = "io.ambit.one", origin: Grant.Origin = .user, inode: UInt64 = 7)
    -> Grant
  {
    Grant(
      id: id, bundleIdentifier: app, kind: .file, rights: .readWrite, origin: origin, created: Int64(id.count),
      identity: FileIdentity(
        volume: [UInt8](repeating: 1, count: 16), handle: Kernel.FileHandle(type: 1, bytes: [1]), inode: inode, birth: 1
      ),
      path: "/home/user/\(id)")
  }

  private func store(_ folder: Folder) throws -> GrantStore {
    let store = try GrantStore(path: "\(folder.path)/grants.sqlite")
    for app in ["io.ambit.one", "io.ambit.two"] {
      _ = try store.register(bundleIdentifier: app, name: app, version: nil)
    }
    return store
  }

  @Test func `a grant ends for everybody who asks, also when the store is opened anew`() throws {
    let folder = try Folder()
    do {
      let store = try store(folder)
      for id in ["a", "bb", "ccc"] { try store.add(grant(id)) }
      #expect(try store.grant("bb")?.revoked == nil)
      try store.revoke(["bb", "ccc"], at: 99)
      #expect(try store.grant("bb")?.revoked == 99)
      #expect(try store.records().map(\.grant.id) == ["a"])
      try store.revoke(["bb"], at: 100)
      #expect(try store.lastRevoked(grant("x").identity, of: "io.ambit.one") == 99)
      #expect(try store.lastRevoked(grant("x").identity, of: "io.ambit.two") == nil)
    }
    #expect(try store(folder).records().map(\.grant.id) == ["a"])
  }

  @Test
  func `AUD-1: a document that the user has taken from an app stays known, by its file and by the grant it came from`()
    throws
  {
    let folder = try Folder()
    do {
      let store = try store(folder)
      let one = grant("a").bundleIdentifier
      let (document, other) = (grant("a").identity, grant("b", inode: 77).identity)
      #expect(try store.lastWithdrawn(document, from: one, parent: "maker") == nil)
      try store.noteWithdrawals([(grant("a"), "maker")], at: 50)
      try store.noteWithdrawals([(grant("a"), nil)], at: 40)
      #expect(try store.lastWithdrawn(document, from: one, parent: "another") == 50)
      #expect(try store.lastWithdrawn(other, from: one, parent: "maker") == 50)
      #expect(try store.lastWithdrawn(other, from: one, parent: "another") == nil)
      #expect(try store.lastWithdrawn(document, from: "io.ambit.two", parent: "maker") == nil)
    }
    #expect(try store(folder).lastWithdrawn(grant("a").identity, from: grant("a").bundleIdentifier, parent: "") == 50)
  }

  @Test func `AUD-1: when grants end by themselves is kept, and asked for in their order`() throws {
    let folder = try Folder()
    do {
      let store = try store(folder)
      #expect(try store.nextEnd() == nil)
      for (id, until, launch) in [("a", 300, nil), ("b", 200, "one"), ("c", nil, "one"), ("d", nil, nil)]
        as [(String, Int64?, String?)]
      {
        var grant = grant(id, inode: UInt64(id.utf8.first ?? 0))
        grant.term = Grant.Term(decided: 100, until: until, launch: launch)
        try store.add(grant)
      }
      #expect(try store.nextEnd() == 200)
      #expect(try store.due(at: 199).isEmpty)
      #expect(try store.due(at: 300).map(\.id) == ["b", "a"])
      #expect(try store.launches() == ["one"])
      #expect(try store.grants(ofLaunch: "one").map(\.id) == ["b", "c"])
      try store.revoke(["b"], at: 250)
      #expect(try store.nextEnd() == 300 && store.due(at: 300).map(\.id) == ["a"])
      try store.renew("a", Grant.Term(decided: 250, until: 900))
      try store.renew("c", Grant.Term(decided: 250))
      #expect(try store.nextEnd() == 900 && store.launches().isEmpty)
    }
    let store = try store(folder)
    #expect(try store.nextEnd() == 900)
    #expect(try store.grant("a")?.term == Grant.Term(decided: 250, until: 900))
    #expect(try store.grant("b")?.term == Grant.Term(decided: 100, until: 200, launch: "one"))
  }

  @Test func `TOK-18: what was made of a grant is found, through any number of hands, unless it stands by itself`()
    throws
  {
    let store = try store(try Folder())
    try store.add(grant("a"))
    try store.add(grant("b", app: "io.ambit.two", origin: .passed), from: "a")
    try store.add(grant("c", origin: .passed), from: "b")
    try store.add(grant("d"), from: "a")
    #expect(Set(try store.descendants(of: ["a"]).map(\.id)) == ["b", "c", "d"])
    #expect(try store.descendants(of: ["a", "b", "c", "d"]).isEmpty)
    #expect(try store.records().first { $0.grant.id == "c" }?.parent == "b")
    // What the user picks themselves is not what somebody passed on.
    #expect(try store.grant(for: grant("a").identity, of: "io.ambit.two", rights: .readWrite) == nil)
    #expect(try store.grant(for: grant("a").identity, of: "io.ambit.two", rights: .readWrite, passed: true)?.id == "b")
    try store.makeIndependent("d")
    try store.revoke(["c"], at: 1)
    #expect(try store.descendants(of: ["a"]).map(\.id) == ["b"])
    #expect(try store.persisted(of: "io.ambit.one") == ["a", "d"])
  }

  @Test(arguments: 0..<6) func `LIM-11: of what something needs no more is asked than decides who leaves the list`(
    seed: Int
  ) throws {
    var random = Seeded(seed: UInt64(seed))
    let store = try store(try Folder())
    let ids = (0..<40).map { "g\($0)" }
    for id in ids { try store.add(grant(id)) }
    for step in 0..<60 {
      guard let id = ids.randomElement(using: &random) else { continue }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try store.noteBookmark(id)
      case 1: try store.noteReference(id, inode: UInt64(step))
      case 2 where step % 9 == 0: try store.revoke([id], at: 1)
      default: store.noteUse(id, at: Int64.random(in: 1_000...1_020, using: &random))
      }
      let all = try store.recency(of: "io.ambit.one")
      #expect(try store.persisted(of: "io.ambit.one") == all.map(\.grant))
      #expect(try store.persisted(of: "io.ambit.one", onlyNeeded: true) == all.filter(\.isNeeded).map(\.grant))
      let limit = Int.random(in: 0...12, using: &random)
      let asked = try store.recency(of: "io.ambit.one", forListOf: limit)
      #expect(asked.count { $0.isNeeded } <= limit)
      #expect(RecentGrants(limit: limit).evicted(from: asked) == RecentGrants(limit: limit).evicted(from: all))
    }
  }

  @Test func `REF-7: references hold a grant that no bookmark and no other grant was made of`() throws {
    let store = try store(try Folder())
    for id in ["a", "b", "c", "d"] {
      try store.add(grant(id))
      if id != "d" { try store.noteReference(id, inode: UInt64.max - UInt64(id.utf8.first ?? 0)) }
    }
    try store.noteReference("a", inode: 5)
    try store.noteBookmark("b")
    try store.noteBookmark("b")
    try store.add(grant("e", app: "io.ambit.two", origin: .passed), from: "c")
    let a = UInt64.max - UInt64(UInt8(ascii: "a"))
    #expect(try store.heldByReferences(of: "io.ambit.one") == ["a": [a, 5]])
    #expect(try store.records().first { $0.grant.id == "b" }?.bookmarks == 2)
    try store.revoke(["e"], at: 1)
    #expect(try Set(store.heldByReferences(of: "io.ambit.one").keys) == ["a", "c"])
    try store.revoke(["a"], at: 1)
    #expect(try Set(store.heldByReferences(of: "io.ambit.one").keys) == ["c"])
  }

  @Test func `when a grant was last used is known at once, and kept`() throws {
    let folder = try Folder()
    do {
      let store = try store(folder)
      try store.add(grant("a"))
      store.noteUse("a", at: 5)
      store.noteUse("a", at: 9)
      store.noteUse("gone", at: 9)
      #expect(try store.records().map(\.used) == [9])
      store.noteUse("a", at: 12)
      try store.flushUses()
    }
    #expect(try store(folder).records().map(\.used) == [12])
  }

  @Test
  func `what a user said of an app's entitlements is kept for that app, until it is forgotten or the app is removed`()
    throws
  {
    let folder = try Folder()
    do {
      let store = try store(folder)
      try store.note(entitlements: ["network": true, "pass-grants": false], of: "io.ambit.one", program: "")
      try store.note(entitlements: ["network": false], of: "io.ambit.one", program: "ab")
      try store.note(entitlements: ["pass-grants": true], of: "io.ambit.one", program: "")
    }
    let store = try store(folder)
    #expect(
      try store.entitlementAnswers(of: "io.ambit.one", program: "") == ["network": true, "pass-grants": true])
    #expect(try store.entitlementAnswers(of: "io.ambit.one", program: "ab") == ["network": false])
    #expect(try store.entitlementAnswers(of: "io.ambit.two", program: "").isEmpty)
    try store.note(entitlements: ["network": true], of: "io.ambit.two", program: "")
    try store.forgetEntitlements(of: "io.ambit.one")
    #expect(try store.entitlementAnswers(of: "io.ambit.one", program: "ab").isEmpty)
    #expect(try store.entitlementAnswers(of: "io.ambit.two", program: "") == ["network": true])
    store.noteRemoval(of: "io.ambit.two", at: 1)
    #expect(try store.entitlementAnswers(of: "io.ambit.two", program: "").isEmpty)
  }

  @Test func `a removed app keeps its number, and is there again when it is launched again`() throws {
    let store = try store(try Folder())
    store.noteRemoval(of: "io.ambit.two", at: 1)
    #expect(try store.knownApps().map(\.bundleIdentifier) == ["io.ambit.one"])
    #expect(try store.register(bundleIdentifier: "io.ambit.three", name: "3", version: nil) == 3)
    #expect(try store.register(bundleIdentifier: "io.ambit.two", name: "2", version: nil) == 2)
    #expect(try store.knownApps().count == 3)
  }

}
