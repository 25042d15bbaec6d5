import Cryptography
import Folders
import Foundation
import GRDB
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `What is added and not in the database yet` {
  private static let app = "io.ambit.one"

  private func grant(_ number: Int, path: String? = nil, until: Int64? = nil) -> Grant {
    let identity = FileIdentity(
      volume: [UInt8](repeating: UInt8(number % 256), count: 16),
      handle: Kernel.FileHandle(type: 1, bytes: [UInt8](repeating: 7, count: number % 100)),
      inode: UInt64.max - UInt64(number),
      birth: Int64(-number))
    return Grant(
      id: "grant\(number)", bundleIdentifier: Self.app, kind: [.file, .folder, .package][number % 3],
      rights: number.isMultiple(of: 2) ? .readOnly : .readWrite, origin: number.isMultiple(of: 5) ? .passed : .user,
      created: Int64(number), identity: identity, path: path ?? "/home/Größe \(number)",
      place: number.isMultiple(of: 4) ? nil : Place(folder: identity, name: "a\nb"),
      term: .init(decided: Int64(number) + 1, until: until, launch: number.isMultiple(of: 7) ? "a launch" : nil))
  }

  private func store(_ folder: Folder) throws -> GrantStore {
    let store = try GrantStore(path: "\(folder.path)/grants.sqlite")
    _ = try store.register(bundleIdentifier: Self.app, name: "One", version: nil)
    return store
  }

  private func journal(_ folder: Folder) -> String { "\(folder.path)/grants.journal" }

  /// What a process that dies now leaves. The write-ahead log first: all that is in it stays there as long as nobody writes.
  private func killed(_ folder: Folder) throws -> Folder {
    let copy = try Folder()
    for ending in ["journal", "sqlite-wal", "sqlite"] {
      let name = "/grants.\(ending)"
      if FileManager.default.fileExists(atPath: folder.path + name) {
        try FileManager.default.copyItem(atPath: folder.path + name, toPath: copy.path + name)
      }
    }
    return copy
  }

  /// The grants that the next process has.
  private func found(_ folder: Folder) throws -> [Grant] { try store(folder).grants() }

  @Test func `an addition waits in the journal, is found, and is in the database when anything else is asked of it`()
    throws
  {
    let folder = try Folder()
    let store = try store(folder)
    #expect(store.pendingSince == nil)
    func database() throws -> Data? { try folder.contents()["grants.sqlite-wal"] }
    let one = grant(1)
    // What each app has is read once.
    for app in [Self.app, "io.ambit.two"] {
      #expect(try store.grant(for: one.identity, of: app, rights: one.rights) == nil)
    }
    let before = try database()
    try store.add([one], owed: [one.id])
    #expect(try database() == before && store.pendingSince != nil)
    #expect(try store.grant(one.id) == one)
    #expect(try store.grant(for: one.identity, of: Self.app, rights: one.rights) == one)
    #expect(try store.grant(for: one.identity, of: "io.ambit.two", rights: one.rights) == nil)
    #expect(try store.grant(for: one.identity, of: Self.app, rights: .readOnly) == nil)
    #expect(try store.grant(for: one.identity, of: Self.app, rights: one.rights, passed: true) == nil)
    #expect(try store.grant(for: grant(2).identity, of: Self.app, rights: one.rights) == nil)
    #expect(try database() == before && store.pendingSince != nil)
    #expect(try store.grants() == [one])
    #expect(try database() != before && store.pendingSince == nil)
    #expect(try store.grant(for: one.identity, of: Self.app, rights: one.rights) == one)
    // So does a reference to it.
    let after = try database()
    try store.noteReference(one.id, inode: 7)
    try store.noteReference(one.id, inode: .max)
    #expect(try database() == after && store.pendingSince != nil)
    #expect(try store.references(of: Self.app) == [one.id: [7, .max]] && store.pendingSince == nil)
    #expect(try store.references(of: "io.ambit.two").isEmpty)
    #expect(try store.heldByReferences(of: Self.app) == [one.id: [7, .max]])
    // What has an end is known of at once.
    #expect(try store.nextEnd() == nil)
    try store.add(grant(2, until: 77))
    #expect(try store.nextEnd() == 77)
  }

  @Test func `what the database could refuse, or is too much, does not wait`() throws {
    let folder = try Folder()
    let store = try store(folder)
    try store.add(grant(1))
    for (grants, owed) in [([grant(1)], []), ([grant(2), grant(2)], []), ([grant(3)], ["other"])] {
      #expect(throws: StateError.self) { try store.add(grants, owed: owed) }
    }
    #expect(try store.grants() == [grant(1)] && store.pendingSince == nil)
    // Nobody has a grant of that name.
    #expect(throws: StateError.self) { try store.noteReference("other", inode: 1) }
    let long = (4..<40).map { grant($0, path: "/" + String(repeating: "x", count: 4000)) }
    try store.add(long)
    #expect(store.pendingSince == nil)
    for number in 40..<400 { try store.add(grant(number)) }
    let size = try #require(try folder.contents()["grants.journal"]?.count)
    #expect((1000...GrantJournal.mostBytes.all + 100).contains(size))
    #expect(try found(killed(folder)).count == 397)
  }

  @Test(arguments: 0..<UInt64(Rounds.few(2, of: 6)))
  func `AUD-10: whenever the process dies, all that was added is there after, and nothing else`(seed: UInt64) throws {
    try endAtRandom(seed, steps: 100)
  }

  fileprivate func endAtRandom(_ seed: UInt64, steps: Int) throws {
    var generator = Seeded(seed: 300 + seed)
    var folder = try Folder()
    var current = try store(folder)
    var (model, owed, references): ([Int: Grant], Set<String>, [String: Set<UInt64>]) = ([:], [], [:])
    var deaths = 0
    for step in 0..<steps {
      switch Int.random(in: 0..<14, using: &generator) {
      case 0..<6:
        let new = (0..<Int.random(in: 1...3, using: &generator)).map { grant(10 * step + $0) }
        let due = Bool.random(using: &generator) ? new.map(\.id) : []
        try current.add(new, owed: due)
        owed.formUnion(due)
        for (index, grant) in new.enumerated() { model[10 * step + index] = grant }
      case 6:
        try current.settle()
      case 7:
        guard let number = model.keys.sorted().randomElement(using: &generator), let some = model[number] else {
          continue
        }
        current.move(some.id, to: "/moved/\(step)", place: nil)
        current.settleMoves()
        model[number]?.path = "/moved/\(step)"
        model[number]?.place = nil
      case 8:
        guard let number = model.keys.sorted().randomElement(using: &generator), let some = model[number] else {
          continue
        }
        if Bool.random(using: &generator) {
          try current.revoke([some.id], at: 5)
        } else {
          current.takeBack([some.id])
        }
        model[number] = nil
        owed.remove(some.id)
        references[some.id] = nil
      case 9, 10:
        guard let some = model.keys.sorted().randomElement(using: &generator).flatMap({ model[$0] }) else { continue }
        let inode = UInt64.random(in: 0...3, using: &generator) &- 1
        try current.noteReference(some.id, inode: inode)
        references[some.id, default: []].insert(inode)
      case 11:
        guard let some = model.keys.sorted().randomElement(using: &generator).flatMap({ model[$0] }) else { continue }
        #expect(
          try current.grant(
            for: some.identity, of: Self.app, rights: some.rights, passed: some.origin == .passed) == some)
      default:
        folder = try killed(folder)
        current = try store(folder)
        deaths += 1
        #expect(try current.grants() == model.keys.sorted().compactMap { model[$0] }, "after step \(step)")
        #expect(try Set(current.owedReferences(of: Self.app).map(\.grant.id)) == owed)
        #expect(try current.references(of: Self.app) == references)
      }
    }
    #expect(deaths > steps / 15 && model.count > steps / 3)
  }

  /// A journal with three records, and what each of them adds.
  private func made() throws -> (folder: Folder, ends: [Int], grants: [Grant]) {
    let folder = try Folder()
    let store = try store(folder)
    // Behind its mark.
    var ends = [16]
    for number in 1...3 { try store.add(grant(number)) }
    let bytes = try #require(try folder.contents()["grants.journal"])
    for number in 0..<3 {
      // Each begins with the length of what comes after its head.
      let length = bytes[ends[number]..<ends[number] + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
      ends.append(ends[number] + 24 + length)
    }
    return (try killed(folder), ends, (1...3).map { grant($0) })
  }

  @Test func `a journal whose records have no references yet is taken over`() throws {
    let (folder, ends, grants) = try made()
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: journal(folder))).prefix(ends[0]))
    #expect(bytes == Array("Ambit's grants 2".utf8))
    bytes[ends[0] - 1] = UInt8(ascii: "1")
    let whole = try Array(Data(contentsOf: URL(fileURLWithPath: journal(folder))))
    for (start, end) in zip(ends, ends.dropFirst()) {
      // Length, turn, checksum; and the number of references at the end.
      let turn = whole[start + 8..<start + 16]
      let content = whole[start + 24..<end - 8]
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) } + turn
      bytes += SHA256.digest(Array(turn + content)).prefix(8).reversed()
      bytes += content
    }
    try Data(bytes).write(to: URL(fileURLWithPath: journal(folder)))
    #expect(try found(folder) == grants)
    #expect(try folder.contents()["grants.journal"]?.prefix(16) == Data("Ambit's grants 2".utf8))
    #expect(try found(folder) == grants)
  }

  @Test func `a record that is cut off is none, and those before it are`() throws { try cut(every: 31) }

  fileprivate func cut(every distance: Int) throws {
    let (folder, ends, grants) = try made()
    let whole = try Data(contentsOf: URL(fileURLWithPath: journal(folder)))
    // Zeros at its end are there again: the file is filled up with them.
    let cuts = ends.map { (whole.prefix($0).lastIndex { $0 != 0 } ?? -1) + 1 }
    for length in stride(from: ends[0], through: ends[3], by: distance) {
      let copy = try killed(folder)
      #expect(unsafe truncate(journal(copy), length) == 0)
      #expect(try found(copy) == Array(grants.prefix(cuts.count { $0 <= length } - 1)), "\(length)")
    }
  }

  @Test func `whatever byte is changed, what stands before it is there, nothing else is, and it is said`() throws {
    try change(every: 11)
  }

  fileprivate func change(every distance: Int) throws {
    let (folder, ends, grants) = try made()
    let whole = try Data(contentsOf: URL(fileURLWithPath: journal(folder)))
    for place in stride(from: 0, to: ends[3], by: distance) {
      let copy = try killed(folder)
      var damaged = whole
      damaged[place] ^= 0x20
      try damaged.write(to: URL(fileURLWithPath: journal(copy)))
      guard place >= ends[0] else {
        let error = #expect(throws: StateError.self) { try self.store(copy) }
        #expect(error?.description.hasPrefix("\(journal(copy)): ") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: journal(copy))) == damaged)
        continue
      }
      let store = try self.store(copy)
      let before = ends.count { $0 <= place } - 1
      #expect(try store.grants() == Array(grants.prefix(before)), "\(place)")
      #expect(store.recovery.grants == Array(grants.prefix(before)))
      // Nothing says so where a record's own turn was changed: then it is another one's.
      let isTurn = (8..<16).contains(place - ends[before])
      let aside = try FileManager.default.contentsOfDirectory(atPath: copy.path).filter { $0.contains("damaged") }
      #expect((store.recovery.problem == nil) == isTurn && aside.count == (isTurn ? 0 : 1), "\(place)")
      guard let name = aside.first else { continue }
      #expect(store.recovery.problem?.contains("behind \(before) records of \(journal(copy))") == true)
      #expect(store.recovery.problem?.hasSuffix("kept as \(copy.path)/\(name)") == true)
      #expect(try folder.contents()["grants.journal"]?.count == whole.count)
      #expect(try Data(contentsOf: URL(fileURLWithPath: "\(copy.path)/\(name)")) == damaged)
    }
  }

  @Test func `something else in its place is refused and left`() throws {
    let (folder, _, _) = try made()
    func refusal(_ put: (String) throws -> Void) throws -> String {
      let copy = try killed(folder)
      try FileManager.default.removeItem(atPath: journal(copy))
      try put(journal(copy))
      let before = try? Data(contentsOf: URL(fileURLWithPath: journal(copy)))
      let error = #expect(throws: StateError.self) { try store(copy) }
      let after = try? Data(contentsOf: URL(fileURLWithPath: journal(copy)))
      #expect(after == before)
      #expect(
        error?.description.contains(journal(copy)) == true && error?.description.contains("left as it is") == true)
      return error?.description ?? ""
    }
    #expect(try refusal { try Data("a letter to somebody".utf8).write(to: URL(fileURLWithPath: $0)) }.contains("else"))
    #expect(try refusal { try Data("x".utf8).write(to: URL(fileURLWithPath: $0)) }.contains("something else"))
    #expect(try refusal { unsafe symlink("/etc/passwd", $0) }.contains("cannot be opened"))
    #expect(try refusal { unsafe mkfifo($0, 0o600) }.contains("cannot be read"))
    #expect(try refusal { unsafe mkdir($0, 0o700) }.contains("cannot be opened"))
    // Nothing or zeros is what a process or the power leaves that goes while it is made.
    for content in [Data(), Data(count: 4096)] {
      let copy = try killed(folder)
      try content.write(to: URL(fileURLWithPath: journal(copy)))
      #expect(try found(copy).isEmpty)
    }
  }

  /// Puts a copy of the database in another one's place, as who puts a backup back.
  private func put(_ backup: Folder, into folder: Folder) throws -> Folder {
    let mixed = try killed(folder)
    for ending in ["sqlite", "sqlite-wal"] {
      try? FileManager.default.removeItem(atPath: "\(mixed.path)/grants.\(ending)")
      let original = "\(backup.path)/grants.\(ending)"
      guard FileManager.default.fileExists(atPath: original) else { continue }
      try FileManager.default.copyItem(atPath: original, toPath: "\(mixed.path)/grants.\(ending)")
    }
    return mixed
  }

  @Test(arguments: 0..<UInt64(Rounds.few(2, of: 4)))
  func `beside a database that was put back nothing comes into force that is not in it, and it opens`(seed: UInt64)
    throws
  {
    var generator = Seeded(seed: 7000 + seed)
    let folder = try Folder()
    var backups: [(folder: Folder, grants: [Grant])] = []
    var number = 0
    for _ in 0..<6 {
      let store = try store(folder)
      for _ in 0..<12 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<4:
          // Of different length, so that one does not end where another has ended.
          number += 1
          let new = grant(number, path: "/" + String(repeating: "x", count: Int.random(in: 0...300, using: &generator)))
          try store.add(new)
          if Bool.random(using: &generator) { try store.noteReference(new.id, inode: UInt64(number)) }
        case 4:
          try store.settle()
        case 5:
          // An app that the database of then does not know.
          let app = "io.ambit.new\(number)"
          _ = try store.register(bundleIdentifier: app, name: "New", version: nil)
          number += 1
          var new = grant(number)
          new = Grant(
            id: new.id, bundleIdentifier: app, kind: new.kind, rights: new.rights, origin: new.origin,
            created: new.created, identity: new.identity, path: new.path)
          try store.add(new)
        case 6:
          if let some = try store.grants().randomElement(using: &generator) { try store.revoke([some.id], at: 9) }
        default:
          let grants = try store.grants()
          backups.append((try killed(folder), grants))
        }
      }
    }
    let last = try killed(folder)
    backups.append((last, try found(killed(last))))
    for (backup, grants) in backups {
      let mixed = try put(backup, into: last)
      #expect(try found(mixed) == grants)
      #expect(try found(mixed) == grants)
    }
    #expect(backups.count > 4 && number > 20)
  }

  @Test func `the power goes: whichever of the two has reached the disk, the store opens`() throws {
    let folder = try Folder()
    let empty: Folder
    do {
      // The app is not in it yet.
      _ = try GrantStore(path: "\(folder.path)/grants.sqlite")
      empty = try killed(folder)
    }
    let store = try store(folder)
    try store.add(grant(1))
    let pending = try killed(folder)
    #expect(try found(killed(pending)) == [grant(1)])
    let mixed = try put(empty, into: pending)
    let opened = try GrantStore(path: "\(mixed.path)/grants.sqlite")
    #expect(try opened.grants().isEmpty)
    // The turn that the database had before it knew the app is that of the record.
    let isSame = opened.recovery.grants == [grant(1)]
    #expect(isSame == (opened.recovery.problem?.contains("do not belong to \(mixed.path)/grants.sqlite") == true))
    // And the other way round: the journal has not reached it.
    let copy = try killed(pending)
    try FileManager.default.removeItem(atPath: journal(copy))
    #expect(try found(copy).isEmpty)
  }

  @Test func `only one store has it`() throws {
    let folder = try Folder()
    let store = try store(folder)
    try store.add(grant(1))
    let before = try folder.contents()
    let error = #expect(throws: StateError.self) { try GrantStore(path: "\(folder.path)/grants.sqlite") }
    #expect(error?.description.contains("another process has it open") == true)
    #expect(try folder.contents() == before)
    #expect(try store.grants() == [grant(1)])
  }

  /// The database as another program has it that is about to write, until it says `COMMIT`.
  private func locked(_ folder: Folder) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: "\(folder.path)/grants.sqlite", configuration: configuration)
    try other.unsafeReentrantWrite { try $0.execute(sql: "BEGIN EXCLUSIVE") }
    return other
  }

  @Test
  func `while another program has the database locked, what is known goes on, and nobody asks it again and again`()
    throws
  {
    let folder = try Folder()
    let store = try store(folder)
    try store.add(grant(1))
    let other = try locked(folder)
    // Said once.
    #expect(store.settleIfPossible()?.description.contains("grants.sqlite") == true)
    #expect(store.settleIfPossible() == nil && store.pendingSince == nil)
    #expect(try store.grant("grant1") == grant(1))
    try store.add(grant(2))
    store.move("grant1", to: "/moved", place: nil)
    store.settleMoves()
    #expect(try store.grant("grant1")?.path == "/moved" && store.grant("grant2") == grant(2))
    // Better none than one that leaves things out.
    #expect(throws: StateError.self) { try store.grants() }
    #expect(throws: StateError.self) { try store.revoke(["grant1"], at: 5) }
    #expect(try store.grant("grant1")?.revoked == nil)
    try other.unsafeReentrantWrite { try $0.execute(sql: "COMMIT") }
    try store.settle()
    #expect(try store.grants().map(\.path) == ["/moved", grant(2).path])
    #expect(try store.unwritten { $0.id == "grant1" }.map(\.id) == ["grant2"])
    #expect(try store.unwritten { $0.id == "grant2" } == [])
    #expect(try store.unwritten { _ in false }.map(\.id) == ["grant2", "grant1"])
  }

  @Test func `AUD-12: a grant that ends while the database cannot be written is ended for every process from then on`()
    throws
  {
    let folder = try Folder()
    let store = try store(folder)
    for number in 1...3 { try store.add(grant(number)) }
    #expect(try store.grants().count == 3)
    let other = try locked(folder)
    #expect(store.withdraw(["grant1", "grant2"], at: 5) == .files)
    #expect(store.withdraw(["grant1"], at: 6) == .files)
    #expect(!store.awaitsRoom)
    let left = try killed(folder)
    #expect(try self.store(left).recovery.ended == ["grant1", "grant2", "grant1"])
    #expect(try found(killed(folder)) == [grant(3)])
    try other.unsafeReentrantWrite { try $0.execute(sql: "COMMIT") }
    try store.settle()
    #expect(try store.grants() == [grant(3)])
    #expect(try store.grant("grant1")?.revoked == 5)
    #expect(try found(killed(folder)) == [grant(3)])
  }

  @Test
  func
    `AUD-12: where the journal has no room either, what has ended is kept, and nothing is granted before it is written`()
    throws
  {
    let folder = try Folder()
    let store = try store(folder)
    for number in 1...2 { try store.add(grant(number)) }
    #expect(try store.grants().count == 2)
    let other = try locked(folder)
    // Many of no grant: they only take room.
    let others = (0..<500).map { "none\($0)" + String(repeating: "x", count: 100) }
    #expect(store.withdraw(["grant1"] + others, at: 5) == .files)
    var kept = 1
    while store.withdraw(others, at: 6) == .files { kept += 1 }
    #expect(kept == 4 && store.awaitsRoom)
    #expect(store.withdraw(["grant2"] + others, at: 7) == .memory)
    let error = #expect(throws: StateError.self) { try store.add(grant(3)) }
    #expect(error?.description.contains("grants.sqlite") == true)
    try other.unsafeReentrantWrite { try $0.execute(sql: "COMMIT") }
    try store.add(grant(3))
    #expect(try store.grants() == [grant(3)] && !store.awaitsRoom)
    #expect(try store.grant("grant1")?.revoked == 5 && store.grant("grant2")?.revoked == 7)
  }

  @Test
  func `AUD-12: the journal has room for what ends where it has none for what is added, and all of it on the disk`()
    throws
  {
    let folder = try Folder()
    let journal = try #require(try GrantJournal(journal(folder), makes: true))
    #expect(journal.clear())
    func size() throws -> Int { try folder.contents()["grants.journal"]?.count ?? 0 }
    let before = try size()
    #expect(before == GrantJournal.mostBytes.all + 16)
    var place = 0
    while let size = journal.append(.init(grants: [grant(4)]), at: place, turn: 9) { place += size }
    let added = place
    while let size = journal.append(.init(ended: [.init(id: "grant4", time: 3)]), at: place, turn: 9) { place += size }
    #expect(place - added > GrantJournal.reserved - 1_000 && place <= GrantJournal.mostBytes.all)
    #expect(try size() == before)
    let found = try journal.records(turn: 9)
    #expect(found.bytes == place && !found.isCut && found.records.last?.ended == [.init(id: "grant4", time: 3)])
  }

  @Test func `what is taken back comes into force neither now nor later`() throws {
    let folder = try Folder()
    let store = try store(folder)
    #expect(try store.grant(for: grant(7).identity, of: Self.app, rights: .readOnly) == nil)
    try store.add([grant(1)], owed: ["grant1"])
    try store.noteReference("grant1", inode: 5)
    let other = try locked(folder)
    store.takeBack(["grant1"])
    try store.add(grant(2))
    #expect(try store.grant(for: grant(1).identity, of: Self.app, rights: grant(1).rights) == nil)
    try other.unsafeReentrantWrite { try $0.execute(sql: "COMMIT") }
    #expect(try store.grant("grant1") == nil)
    #expect(try store.grants() == [grant(2)])
    #expect(try store.references(of: Self.app).isEmpty && store.owedReferences(of: Self.app).isEmpty)
    // Who dies now leaves it to be looked at.
    #expect(try self.store(killed(folder)).unwritten { _ in false }.map(\.id).contains("grant1"))
    try store.settle()
    #expect(try found(killed(folder)) == [grant(2)])
  }

  @Test func `one that died before it could take something back leaves it to be looked at`() throws {
    let folder = try Folder()
    let store = try store(folder)
    for number in 1...3 { try store.add(grant(number)) }
    let opened = try self.store(killed(folder))
    #expect(opened.recovery.grants == (1...3).map { grant($0) })
    #expect(try Set(opened.unwritten { _ in false }.map(\.id)) == ["grant1", "grant2", "grant3"])
    #expect(try Set(opened.unwritten { $0.id == "grant3" }.map(\.id)) == ["grant1", "grant2"])
    #expect(try Set(opened.identifiers()) == ["grant1", "grant2", "grant3"])
  }
}

/// The same for more places and deaths.
@Suite struct GrantJournalRaceTests {
  @Test(arguments: 0..<6)
  func `AUD-10: whenever the process dies, all that was added to the grants is there after`(seed: UInt64) throws {
    try `What is added and not in the database yet`().endAtRandom(seed, steps: 300)
  }

  @Test func `wherever a record is cut off, it is none, and those before it are`() throws {
    try `What is added and not in the database yet`().cut(every: 7)
  }

  @Test func `whatever byte of the journal is changed, what stands before it is there, and it is said`() throws {
    try `What is added and not in the database yet`().change(every: 3)
  }
}
