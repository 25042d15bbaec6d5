import Folders
import Foundation
import GRDB
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

/// A grant with every field different from any other's.
private func grant(
  _ number: Int, app: String = "io.ambit.one", rights: AccessRights = .readWrite, inode: UInt64? = nil,
  path: String? = nil
) -> Grant {
  Grant(
    id: "grant\(number)", bundleIdentifier: app, kind: number.isMultiple(of: 3) ? .folder : .file, rights: rights,
    origin: number.isMultiple(of: 2) ? .user : .scripted, created: Int64(number) * 1_000_000_007,
    identity: FileIdentity(
      volume: (0..<16).map { UInt8(truncatingIfNeeded: $0 + number) },
      handle: Kernel.FileHandle(
        type: Int32(number % 300) - 2, bytes: [UInt8](repeating: UInt8(number % 256), count: number % 128)),
      inode: inode ?? UInt64.max - UInt64(number), birth: Int64(number) * 31 - 5),
    path: path ?? "/home/user/Größe \(number)'s “letter”.txt", place: number.isMultiple(of: 5) ? nil : place(number))
}

private func identity(_ number: Int) -> FileIdentity {
  FileIdentity(
    volume: [UInt8](repeating: UInt8(number % 256), count: 16), handle: Kernel.FileHandle(type: 1, bytes: [1, 2]),
    inode: UInt64(number), birth: Int64(-number))
}

private func place(_ number: Int) -> Place { Place(folder: identity(number + 7), name: "größe \(number)") }

@Suite struct `Replacing in the store` {
  private func identity(_ number: Int) -> FileIdentity { grant(number).identity }

  @Test func `FSF-13: every grant of a file becomes one of another, whatever its number is, and no other grant does`()
    throws
  {
    let folder = try Folder()
    let path = "\(folder.path)/grants.sqlite"
    let one = grant(1)
    let others = (2..<6).map { grant($0) }
    let same = Grant(
      id: "same", bundleIdentifier: "io.ambit.two", kind: .file, rights: .readOnly, origin: .user, created: 1,
      identity: one.identity, path: one.path)
    // Only its birth tells it apart.
    let younger = Grant(
      id: "younger", bundleIdentifier: "io.ambit.two", kind: .file, rights: .readOnly, origin: .user, created: 1,
      identity: FileIdentity(
        volume: one.identity.volume, handle: one.identity.handle, inode: one.identity.inode,
        birth: one.identity.birth + 1),
      path: one.path)
    let new = FileIdentity(volume: one.identity.volume, handle: one.identity.handle, inode: .max, birth: 7)
    func check(_ store: GrantStore) throws {
      for id in [one.id, "same"] { #expect(try store.grant(id)?.identity == new) }
      #expect(try store.grant("same")?.path == one.path)
      for each in [younger] + others { #expect(try store.grant(each.id) == each) }
    }
    do {
      let store = try GrantStore(path: path)
      for app in ["io.ambit.one", "io.ambit.two"] {
        _ = try store.register(bundleIdentifier: app, name: "One", version: nil)
      }
      for each in [one, same, younger] + others { try store.add(each) }
      // Read before, so that what is remembered has to change as well.
      #expect(try store.grant("same") == same)
      try store.replace(one.identity, by: new)
      try check(store)
    }
    try check(GrantStore(path: path))
  }

  @Test func `AUD-10: what is under way is there until it is done or given up`() throws {
    let folder = try Folder()
    let path = "\(folder.path)/grants.sqlite"
    let pending = (0..<3).map { number in
      PendingReplacement(
        old: identity(number), new: identity(number + 10), folder: "/home/user/Größe \(number)", name: "“\(number)”",
        temporary: number == 1 ? nil : ".t\(number)")
    }
    do {
      let store = try GrantStore(path: path)
      for each in pending { try store.begin(each) }
    }
    let store = try GrantStore(path: path)
    #expect(try store.pendingReplacements() == pending)
    try store.replace(pending[0].old, by: pending[0].new)
    try store.abandon(pending[2].old)
    #expect(try store.pendingReplacements() == [pending[1]])
  }
}

@Suite struct `The store of grants` {
  private func store(_ folder: Folder) throws -> GrantStore { try GrantStore(path: "\(folder.path)/grants.sqlite") }

  @Test func `AUD-10: gives back every field of a grant, also when it is opened anew`() throws {
    let folder = try Folder()
    let grants = (0..<40).map { grant($0) }
    do {
      let store = try store(folder)
      _ = try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: nil)
      for grant in grants { try store.add(grant) }
      for grant in grants { #expect(try store.grant(grant.id) == grant) }
    }
    let store = try store(folder)
    for grant in grants { #expect(try store.grant(grant.id) == grant) }
    #expect(try store.grants() == grants, "oldest first")
  }

  @Test func `numbers apps from 1 on and keeps their numbers`() throws {
    let folder = try Folder()
    do {
      let store = try store(folder)
      #expect(try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: "1") == 1)
      #expect(try store.register(bundleIdentifier: "io.ambit.two", name: "Two", version: nil) == 2)
      #expect(try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: "2") == 1)
    }
    let store = try store(folder)
    #expect(try store.register(bundleIdentifier: "io.ambit.three", name: "Three", version: nil) == 3)
    #expect(try store.register(bundleIdentifier: "io.ambit.two", name: "Two", version: "9") == 2)
  }

  @Test func `finds an app's grant of a document by identity, not by place`() throws {
    let folder = try Folder()
    let store = try store(folder)
    for app in ["io.ambit.one", "io.ambit.two"] {
      _ = try store.register(bundleIdentifier: app, name: app, version: nil)
    }
    let mine = grant(1)
    // The same inode number and another generation: another file.
    let reused = grant(2, inode: mine.identity.inode, path: mine.path)
    try store.add(reused)
    #expect(try store.grant(for: mine.identity, of: "io.ambit.one", rights: .readWrite) == nil)
    try store.add(mine)
    #expect(try store.grant(for: mine.identity, of: "io.ambit.one", rights: .readWrite) == mine)
    #expect(try store.grant(for: mine.identity, of: "io.ambit.one", rights: .readOnly) == nil)
    #expect(try store.grant(for: mine.identity, of: "io.ambit.two", rights: .readWrite) == nil)
    #expect(try store.grant(for: reused.identity, of: "io.ambit.one", rights: .readWrite) == reused)
  }

  @Test func `a filter knows every file that was added, and few others`() {
    var generator = Seeded(seed: 5)
    var filter = FileFilter()
    #expect((0..<1000).allSatisfy { !filter.mayHave($0) })
    // Files that were made together have numbers that follow each other, and a volume's numbers may be anything.
    let begin = UInt64.random(in: .min ... .max >> 1, using: &generator)
    let files = (0..<500).map { begin + $0 } + (0..<500).map { _ in .random(in: .min ... .max, using: &generator) }
    for file in files { filter.add(file) }
    #expect(files.allSatisfy(filter.mayHave))
    #expect((500..<100_500).count { filter.mayHave(begin + $0) } < 100)
  }

  @Test func `a file that has become another one's is found by an app that was asked about before`() throws {
    let store = try store(try Folder())
    _ = try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: nil)
    let one = grant(1)
    let new = identity(9)
    #expect(try store.grant(for: one.identity, of: one.bundleIdentifier, rights: one.rights) == nil)
    try store.add(one)
    #expect(try store.grant(for: new, of: one.bundleIdentifier, rights: one.rights) == nil)
    try store.replace(one.identity, by: new)
    #expect(try store.grant(for: new, of: one.bundleIdentifier, rights: one.rights)?.id == one.id)
    #expect(try store.grant(for: one.identity, of: one.bundleIdentifier, rights: one.rights) == nil)
  }

  @Test func `a grant of an app that was never registered, or a second one of the same name, is refused`() throws {
    let folder = try Folder()
    let store = try store(folder)
    #expect(throws: StateError.self) { try store.add(grant(1)) }
    #expect(try store.grant("grant1") == nil)
    _ = try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: nil)
    try store.add(grant(1))
    let other = grant(1, path: "/other")
    let error = #expect(throws: StateError.self) { try store.add(other) }
    #expect(error?.description.contains("grants.sqlite") == true)
    #expect(try store.grant("grant1") == grant(1))
  }

  /// Anything that is in a name on Linux may be in a path.
  @Test(arguments: ["/a'b\"c", "/a\nb", "/%s%00", "/'; DROP TABLE grant_; --", "/\u{1F4C4}\u{301}", "/ "])
  func `keeps any path as it is`(path: String) throws {
    let folder = try Folder()
    do {
      let store = try store(folder)
      _ = try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: nil)
      try store.add(grant(1))
      store.move("grant1", to: path, place: nil)
      #expect(try store.grant("grant1")?.path == path)
    }
    #expect(try store(folder).grant("grant1")?.path == path)
  }

  @Test(arguments: [1, 2, 3])
  func `agrees with a dictionary under random operations, and when it is opened anew`(seed: UInt64) throws {
    var generator = Seeded(seed: seed)
    let folder = try Folder()
    let apps = ["io.ambit.one", "io.ambit.two", "io.ambit.three"]
    var model: [String: Grant] = [:]
    var numbers: [String: Int] = [:]
    func check(_ store: GrantStore) throws {
      #expect(try store.grants() == model.values.sorted { $0.created < $1.created })
      for (id, grant) in model { #expect(try store.grant(id) == grant) }
    }

    var step = 0
    while step < 600 {
      // One store at a time has it.
      let current = try store(folder)
      try check(current)
      var isOpen = true
      while isOpen, step < 600 {
        step += 1
        let some = model.keys.sorted().randomElement(using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0:
          let app = apps.randomElement(using: &generator) ?? apps[0]
          let number = try current.register(bundleIdentifier: app, name: "n\(step)", version: nil)
          #expect(number == numbers[app] ?? numbers.count + 1)
          numbers[app] = number
        case 1...4:
          guard let app = numbers.keys.sorted().randomElement(using: &generator) else { continue }
          let new = grant(step, app: app, rights: Bool.random(using: &generator) ? .readOnly : .readWrite)
          try current.add(new)
          model[new.id] = new
        case 5...7:
          guard let some else { continue }
          let place = Bool.random(using: &generator) ? place(step) : nil
          model[some]?.path = "/moved/\(step)"
          model[some]?.place = place
          if Bool.random(using: &generator) {
            current.move(some, to: "/moved/\(step)", place: place)
          } else {
            try current.replace(try #require(model[some]).identity, by: identity(step))
            current.move(some, to: "/moved/\(step)", place: place)
            model[some]?.identity = identity(step)
          }
        case 8...9:
          guard let some, let expected = model[some] else { continue }
          #expect(try current.grant(some) == expected)
          #expect(
            try current.grant(for: expected.identity, of: expected.bundleIdentifier, rights: expected.rights)
              == expected)
        case 10:
          #expect(try current.grant("grant-\(step)") == nil)
          current.move("grant-\(step)", to: "/nothing", place: nil)
        default:
          isOpen = false
        }
      }
    }
    try check(store(folder))
    #expect(model.count > 50)
  }

  @Test func `what was written comes into the database itself while the store is open, and nobody waits for it`() throws
  {
    let folder = try Folder()
    let store = try store(folder)
    _ = try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: nil)
    func size(_ name: String) throws -> Int {
      try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")[.size] as? Int ?? 0
    }
    let before = try size("grants.sqlite")
    for step in 0..<(3 * Checkpointer.interval) { try store.add(grant(step)) }
    try Deadline.wait(for: "the journal to be moved") { try size("grants.sqlite") > before }
    #expect(try size("grants.sqlite-wal") < 10_000 * 4096)
    #expect(try store.grants().count == 3 * Checkpointer.interval)
  }

  @Test func `ids are ten letters and digits and do not repeat`() {
    let ids = (0..<5_000).map { _ in Grant.makeID() }
    #expect(Set(ids).count == ids.count)
    let letters = Set("abcdefghijkmnpqrstuvwxyz23456789")
    #expect(ids.allSatisfy { $0.count == 10 && Set($0).isSubset(of: letters) })
  }
}

@Suite struct `AUD-8: a store of grants that is not as it should be` {
  /// Opens what stands there and expects a refusal that changes nothing.
  private func expectRefusal(_ folder: Folder, saying words: String) throws {
    let path = "\(folder.path)/grants.sqlite"
    let before = try folder.contents()
    let error = #expect(throws: StateError.self) { _ = try GrantStore(path: path) }
    let sentence = error?.description ?? ""
    #expect(sentence.contains(path), "\(sentence)")
    #expect(sentence.contains(words), "\(sentence)")
    var after = try folder.contents()
    // SQLite's shared memory and an empty log, which hold nothing, may come to stand beside what is looked at.
    after["grants.sqlite-shm"] = before["grants.sqlite-shm"]
    if before["grants.sqlite-wal"] == nil, after["grants.sqlite-wal"]?.isEmpty == true {
      after["grants.sqlite-wal"] = nil
    }
    #expect(before == after, "a refused store stays as it was")
  }

  private func madeStore(grants: Int = 200) throws -> Folder {
    let folder = try Folder()
    let store = try GrantStore(path: "\(folder.path)/grants.sqlite")
    _ = try store.register(bundleIdentifier: "io.ambit.one", name: "One", version: nil)
    for number in 0..<grants { try store.add(grant(number)) }
    return folder
  }

  private func sql(_ text: String, on path: String) throws {
    let database = try DatabaseQueue(path: path)
    try database.writeWithoutTransaction { try $0.execute(sql: text) }
    try database.close()
  }

  @Test(arguments: [1, 15, 16, 99, 100, 512, 5000])
  func `is refused when it is bytes of no database`(count: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: UInt64(count))
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/grants.sqlite"))
    try expectRefusal(folder, saying: "left as it is")
  }

  @Test func `is refused when it is another program's database`() throws {
    let folder = try Folder()
    try sql("CREATE TABLE letters (x); INSERT INTO letters VALUES (1)", on: "\(folder.path)/grants.sqlite")
    try expectRefusal(folder, saying: "another program")
  }

  @Test func `is refused when it is marked as another program's, although empty`() throws {
    let folder = try Folder()
    try sql("PRAGMA application_id = 7; PRAGMA user_version = 1", on: "\(folder.path)/grants.sqlite")
    try expectRefusal(folder, saying: "another program")
  }

  @Test func `is refused when it was cut short`() throws {
    let made = try madeStore()
    let whole = try #require(FileManager.default.contents(atPath: "\(made.path)/grants.sqlite"))
    try #require(whole.count > 16_384)
    for length in [4096, 8192, whole.count / 2 / 4096 * 4096, whole.count - 4096] {
      let folder = try Folder()
      try whole.prefix(length).write(to: URL(fileURLWithPath: "\(folder.path)/grants.sqlite"))
      try expectRefusal(folder, saying: "left as it is")
    }
  }

  @Test func `is refused when a page of it was overwritten`() throws {
    let made = try madeStore()
    let whole = try #require(FileManager.default.contents(atPath: "\(made.path)/grants.sqlite"))
    for page in 1..<(whole.count / 4096) {
      var damaged = whole
      damaged.replaceSubrange(page * 4096..<page * 4096 + 4096, with: Data(repeating: 0x5a, count: 4096))
      let folder = try Folder()
      try damaged.write(to: URL(fileURLWithPath: "\(folder.path)/grants.sqlite"))
      try expectRefusal(folder, saying: "left as it is")
    }
  }

  /// A changed byte in the middle of a text is beyond what a database can notice; but it must never bring the broker
  /// down, and what is refused must stay as it was.
  @Test func `never does harm, whichever bytes were changed`() throws {
    let made = try madeStore(grants: 60)
    let whole = try #require(FileManager.default.contents(atPath: "\(made.path)/grants.sqlite"))
    var generator = Seeded(seed: 8)
    var refused = 0
    for _ in 0..<150 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        damaged[Int.random(in: 0..<whole.count, using: &generator)] = .random(in: .min ... .max, using: &generator)
      }
      let folder = try Folder()
      let path = "\(folder.path)/grants.sqlite"
      try damaged.write(to: URL(fileURLWithPath: path))
      do throws(StateError) {
        let store = try GrantStore(path: path)
        _ = try? store.grants()
        for number in 0..<60 { _ = try? store.grant("grant\(number)") }
      } catch {
        refused += 1
        #expect(error.description.contains(path))
        #expect(FileManager.default.contents(atPath: path) == damaged)
      }
    }
    #expect(refused > 0)
  }

  @Test func `is refused when it is a folder`() throws {
    let folder = try Folder()
    try folder.folder("grants.sqlite")
    let error = #expect(throws: StateError.self) { _ = try GrantStore(path: "\(folder.path)/grants.sqlite") }
    #expect(error?.description.contains("\(folder.path)/grants.sqlite") == true)
  }

  @Test func `is refused when its folder is not there`() throws {
    let folder = try Folder()
    let error = #expect(throws: StateError.self) { _ = try GrantStore(path: "\(folder.path)/missing/grants.sqlite") }
    #expect(error?.description.contains("\(folder.path)/missing/grants.sqlite") == true)
    #expect(error?.description.contains("AMBIT_HOME") == true)
  }

  @Test func `is refused when a newer version wrote it`() throws {
    let folder = try madeStore(grants: 1)
    try sql("INSERT INTO grdb_migrations VALUES ('99: something later')", on: "\(folder.path)/grants.sqlite")
    try expectRefusal(folder, saying: "newer version")
  }
}
