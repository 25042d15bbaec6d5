import Folders
import Foundation
import Kernel
import Testing

@testable import ScopedAccess

/// How a broker looks for a document: as root by its handle, as an ordinary user by searching. Root can do both.
enum Looking: String, CaseIterable, CustomStringConvertible {
  case byHandle, bySearch

  static let possible: [Looking] = geteuid() == 0 ? [.byHandle, .bySearch] : [.bySearch]

  /// A search for what is not there ends soon: the folders above the tests' own are none of their business.
  var finder: DocumentFinder { DocumentFinder(searchBudget: 20_000, privileged: self == .byHandle) }
  var description: String { rawValue }

  /// What this way answers when the last place is of no use.
  func method(_ search: FindMethod) -> FindMethod { self == .byHandle ? .handle : search }
}

@Suite struct `BMK-1: a document is found again` {
  /// A document at a place, as it was when it was granted.
  private struct Document {
    let folder: Folder
    let path: String
    let identity: FileIdentity

    init(_ name: String = "home/Papers/letter.txt") throws {
      folder = try Folder()
      try folder.folder((name as NSString).deletingLastPathComponent)
      path = try folder.write(name, "the letter")
      identity = try FileIdentity(of: Descriptor.open(path, flags: .path))
    }

    func find(_ looking: Looking, pinned: Descriptor? = nil) -> (document: FoundDocument, by: FindMethod)? {
      looking.finder.find(identity, lastSeenAt: path, pinned: pinned)
    }

    /// Expects it to be found, in that way, and at that place if it is known.
    func expect(_ looking: Looking, by method: FindMethod, at place: String) throws {
      let found = try #require(find(looking))
      #expect(found.by == method)
      #expect(found.document.identity == identity)
      #expect(found.document.path == place)
    }
  }

  @Test(arguments: Looking.possible) func `where it was`(looking: Looking) throws {
    let document = try Document()
    try document.expect(looking, by: .lastPlace, at: document.path)
  }

  @Test(arguments: Looking.possible) func `under another name`(looking: Looking) throws {
    let document = try Document()
    let new = "\(document.folder.path)/home/Papers/reply.txt"
    try rename(document.path, to: new)
    try document.expect(looking, by: looking.method(.siblings), at: new)
  }

  @Test(arguments: Looking.possible) func `in a folder beside, above, below and further off`(looking: Looking) throws {
    for place in ["home/Letters", "home", "home/Papers/2024/May", "home/a/b/c/d/e", "other/x"] {
      let document = try Document()
      let new = "\(try document.folder.folder(place))/reply.txt"
      try rename(document.path, to: new)
      try document.expect(looking, by: looking.method(.search), at: new)
    }
  }

  @Test(arguments: Looking.possible) func `when a folder above it was renamed`(looking: Looking) throws {
    for (folder, new) in [("home/Papers", "home/Old"), ("home", "house")] {
      let document = try Document()
      try rename("\(document.folder.path)/\(folder)", to: "\(document.folder.path)/\(new)")
      let place = document.path.replacing("/\(folder)/", with: "/\(new)/")
      try document.expect(looking, by: looking.method(.search), at: place)
    }
  }

  @Test(arguments: Looking.possible) func `when another file took its name`(looking: Looking) throws {
    let document = try Document()
    let new = "\(try document.folder.folder("home/Archive"))/letter.txt"
    try rename(document.path, to: new)
    try document.folder.write("home/Papers/letter.txt", "another letter")
    try document.expect(looking, by: looking.method(.search), at: new)
  }

  @Test(arguments: Looking.possible) func `by another of its names when the one that was used is gone`(
    looking: Looking
  ) throws {
    let document = try Document()
    let second = "\(document.folder.path)/home/Papers/copy.txt"
    try FileManager.default.linkItem(atPath: document.path, toPath: second)
    try document.expect(looking, by: .lastPlace, at: document.path)
    try FileManager.default.removeItem(atPath: document.path)
    let found = try #require(document.find(looking))
    #expect(found.document.identity == document.identity)
    #expect(found.by == looking.method(.siblings))
  }

  @Test(arguments: Looking.possible) func `in a tree of 5,000 files`(looking: Looking) throws {
    let document = try Document()
    for number in 0..<50 {
      let branch = try document.folder.folder("home/tree/\(number % 7)/\(number)")
      for leaf in 0..<100 {
        let file = unsafe open("\(branch)/leaf\(leaf)", O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        close(file)
      }
    }
    let new = "\(document.folder.path)/home/tree/3/24/reply.txt"
    try rename(document.path, to: new)
    try document.expect(looking, by: looking.method(.search), at: new)
  }

  @Test(arguments: Looking.possible) func `that is a folder`(looking: Looking) throws {
    let folder = try Folder()
    let path = try folder.folder("home/Papers/Letters")
    let identity = try FileIdentity(of: Descriptor.open(path, flags: .path))
    let new = "\(try folder.folder("home/Archive"))/Old letters"
    try rename(path, to: new)
    let found = try #require(looking.finder.find(identity, lastSeenAt: path, pinned: nil))
    #expect(found.document.kind == .folder)
    #expect(found.document.path == new)
  }

  @Test(arguments: ["letter (deleted)", "a\nb", " ", "Größe.txt", "-rf", "'\"$(x)"])
  func `whatever it is called`(name: String) throws {
    for looking in Looking.possible {
      let document = try Document("home/Papers/\(name)")
      try document.expect(looking, by: .lastPlace, at: document.path)
      let new = "\(document.folder.path)/home/\(name)"
      try rename(document.path, to: new)
      try document.expect(looking, by: looking.method(.search), at: new)
    }
  }

  @Test func `by the descriptor that was kept, wherever it was moved`() throws {
    let document = try Document()
    let pinned = try Descriptor.open(document.path, flags: .path)
    let new = "\(try document.folder.folder("far/away"))/reply.txt"
    try rename(document.path, to: new)
    let found = try #require(document.find(.bySearch, pinned: pinned))
    #expect(found.by == .pinned)
    #expect(found.document.path == new)
  }

  /// In a process of its own, because the limit is the whole process's.
  @Test func `by searching more folders than descriptors can be open`() async {
    await #expect(processExitsWith: .success) {
      let document = try Document()
      let tree = try document.folder.folder("home/tree")
      for number in 0..<1_000 { try #require(unsafe mkdir("\(tree)/\(number)", 0o700) == 0) }
      var few = rlimit(rlim_cur: 128, rlim_max: 128)
      // RLIMIT_NOFILE
      try #require(unsafe setrlimit(7, &few) == 0)
      for number in [0, 500, 999] {
        let new = "\(tree)/\(number)/reply.txt"
        try rename(document.path, to: new)
        try document.expect(.bySearch, by: .search, at: new)
        try rename(new, to: document.path)
      }
    }
  }
}

@Suite struct `BMK-3: a document is not mistaken for another` {
  private func document() throws -> (folder: Folder, path: String, identity: FileIdentity) {
    let folder = try Folder()
    try folder.folder("home/Papers")
    let path = try folder.write("home/Papers/letter.txt", "the letter")
    return (folder, path, try FileIdentity(of: Descriptor.open(path, flags: .path)))
  }

  @Test(arguments: Looking.possible) func `when it was deleted`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    try FileManager.default.removeItem(atPath: path)
    #expect(looking.finder.find(identity, lastSeenAt: path, pinned: nil) == nil)
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: Looking.possible) func `when it was deleted and something keeps it open`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    let pinned = try Descriptor.open(path, flags: .read)
    try FileManager.default.removeItem(atPath: path)
    #expect(looking.finder.find(identity, lastSeenAt: path, pinned: pinned) == nil)
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: Looking.possible) func `when it was deleted and made again, however often`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    for _ in 0..<20 {
      try FileManager.default.removeItem(atPath: path)
      try folder.write("home/Papers/letter.txt", "the letter")
      #expect(looking.finder.find(identity, lastSeenAt: path, pinned: nil) == nil)
    }
  }

  @Test(arguments: Looking.possible) func `when another was renamed over it`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    let other = try folder.write("home/Papers/other.txt", "the letter")
    try rename(other, to: path)
    #expect(looking.finder.find(identity, lastSeenAt: path, pinned: nil) == nil)
  }

  @Test(arguments: Looking.possible) func `when a link stands in its place`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    let new = "\(try folder.folder("home/Archive"))/letter.txt"
    try rename(path, to: new)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: new)
    // It is found where it really is, and not through the link.
    let found = try #require(looking.finder.find(identity, lastSeenAt: path, pinned: nil))
    #expect(found.by == looking.method(.search))
    #expect(found.document.path == new)
  }

  @Test(arguments: Looking.possible) func `when a folder on the way to it became a link`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    let moved = "\(folder.path)/home/Elsewhere"
    try rename("\(folder.path)/home/Papers", to: moved)
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/home/Papers", withDestinationPath: moved)
    let found = try #require(looking.finder.find(identity, lastSeenAt: path, pinned: nil))
    #expect(found.by == looking.method(.search))
    #expect(found.document.path == "\(moved)/letter.txt")
  }

  @Test(arguments: Looking.possible) func `when a link beside it points to another`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.write("home/Papers/other.txt"))
    #expect(looking.finder.find(identity, lastSeenAt: path, pinned: nil) == nil)
  }

  @Test(arguments: Looking.possible) func `when what was kept open is another`(looking: Looking) throws {
    let (folder, path, identity) = try document()
    let other = try Descriptor.open(folder.write("home/Papers/other.txt"), flags: .path)
    try FileManager.default.removeItem(atPath: path)
    #expect(looking.finder.find(identity, lastSeenAt: path, pinned: other) == nil)
  }

  @Test(arguments: Looking.possible) func `when its volume is another`(looking: Looking) throws {
    let (_, path, identity) = try document()
    let elsewhere = FileIdentity(
      volume: identity.volume.map { $0 ^ 0x55 }, handle: identity.handle, inode: identity.inode, birth: identity.birth)
    #expect(looking.finder.find(elsewhere, lastSeenAt: path, pinned: nil) == nil)
  }

  @Test(arguments: Looking.possible) func `when its last place is no path at all`(looking: Looking) throws {
    let (folder, _, identity) = try document()
    for path in ["", "/", "relative", "/\(UUID().uuidString)/x", "/dev/null/x", String(repeating: "/x", count: 3000)] {
      let found = looking.finder.find(identity, lastSeenAt: path, pinned: nil)
      // By its handle it may be found; what is found must be it.
      #expect(found == nil || found?.document.identity == identity)
    }
    withExtendedLifetime(folder) {}
  }

  @Test func `a search gives up when its budget is spent`() throws {
    let (folder, path, identity) = try document()
    for number in 0..<500 { try folder.folder("home/tree/\(number)") }
    let new = "\(try folder.folder("home/zz/zz"))/letter.txt"
    try rename(path, to: new)
    let poor = DocumentFinder(searchBudget: 1, privileged: false)
    #expect(poor.find(identity, lastSeenAt: path, pinned: nil) == nil)
    #expect(
      DocumentFinder(searchBudget: 20_000, privileged: false).find(identity, lastSeenAt: path, pinned: nil) != nil)
  }
}
