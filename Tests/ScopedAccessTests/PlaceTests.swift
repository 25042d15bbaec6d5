import Folders
import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

/// A document and all that was recorded of it when it was granted.
private struct Granted {
  let folder: Folder
  let path: String
  let identity: FileIdentity
  let place: Place

  init(_ name: String = "home/Papers/letter.txt") throws {
    folder = try Folder()
    try folder.folder((name as NSString).deletingLastPathComponent)
    path = try folder.write(name, "the letter")
    let document = try FoundDocument(Descriptor.open(path, flags: .path))
    identity = document.identity
    place = try #require(Place(of: document))
  }

  /// What the rule says of what is seen now.
  func verdict(_ looking: Looking) -> ReplacementRule.Verdict {
    let found = looking.finder.find(identity, lastSeenAt: path, place: place, pinned: nil)
    let standing = looking.finder.standing(at: place, lastSeenAt: path)
    return ReplacementRule(.follow).verdict(
      isFound: found != nil, granted: .file, candidate: found == nil ? standing?.candidate : nil)
  }

  /// Saves as most programs do.
  func replace(in parent: String? = nil, _ name: String = "letter.txt") throws {
    let parent = parent ?? "\(folder.path)/home/Papers"
    try Data("the letter, second version".utf8).write(to: URL(fileURLWithPath: "\(parent)/.new"))
    try rename("\(parent)/.new", to: "\(parent)/\(name)")
  }
}

@Suite struct `BMK-12: the file that stands in a document's place` {
  @Test(arguments: Looking.possible) func `is followed after it was written anew and renamed over it`(looking: Looking)
    throws
  {
    let document = try Granted()
    #expect(document.verdict(looking) == .identity)
    try document.replace()
    #expect(document.verdict(looking) == .follow)
    let standing = try #require(looking.finder.standing(at: document.place, lastSeenAt: document.path))
    #expect(standing.document?.path == document.path)
    #expect(standing.document?.identity != document.identity)
  }

  @Test(arguments: Looking.possible) func `is followed in a folder that was moved meanwhile`(looking: Looking) throws {
    let document = try Granted()
    let moved = "\(try document.folder.folder("home/Archive"))/Old"
    try rename("\(document.folder.path)/home/Papers", to: moved)
    try document.replace(in: moved)
    #expect(document.verdict(looking) == .follow)
    #expect(
      looking.finder.standing(at: document.place, lastSeenAt: document.path)?.document?.path == "\(moved)/letter.txt")
  }

  @Test(arguments: Looking.possible) func `is not, while the document is to be found somewhere`(looking: Looking) throws
  {
    let document = try Granted()
    let elsewhere = "\(try document.folder.folder("home/Archive"))/letter.txt"
    try rename(document.path, to: elsewhere)
    try document.folder.write("home/Papers/letter.txt", "another letter")
    #expect(document.verdict(looking) == .identity)
    try FileManager.default.removeItem(atPath: elsewhere)
    #expect(document.verdict(looking) == .follow)
  }

  @Test(arguments: Looking.possible) func `is not, in another folder of the same path`(looking: Looking) throws {
    let document = try Granted()
    try FileManager.default.removeItem(atPath: "\(document.folder.path)/home/Papers")
    try document.folder.folder("home/Papers")
    try document.folder.write("home/Papers/letter.txt", "an impostor")
    #expect(document.verdict(looking) == .refuse(.folder))
  }

  @Test(arguments: Looking.possible) func `is not, when it is a link, a folder, a pipe, or known by another name`(
    looking: Looking
  ) throws {
    let document = try Granted()
    let other = try document.folder.write("home/other.txt", "secret")
    try FileManager.default.removeItem(atPath: document.path)
    #expect(document.verdict(looking) == .refuse(.nothing))
    try FileManager.default.createSymbolicLink(atPath: document.path, withDestinationPath: other)
    #expect(document.verdict(looking) == .refuse(.link))
    try FileManager.default.removeItem(atPath: document.path)
    try FileManager.default.createDirectory(atPath: document.path, withIntermediateDirectories: false)
    #expect(document.verdict(looking) == .refuse(.kind))
    try FileManager.default.removeItem(atPath: document.path)
    try KernelError.check("mkfifo", document.path) { unsafe mkfifo(document.path, 0o600) }
    #expect(document.verdict(looking) == .refuse(.kind))
    try FileManager.default.removeItem(atPath: document.path)
    try FileManager.default.linkItem(atPath: other, toPath: document.path)
    #expect(document.verdict(looking) == .refuse(.otherNames))
  }

  /// Another name of the file is the file: the inode is what the user chose, and each of its names leads to it.
  @Test(arguments: Looking.possible) func `another name of the very file is the file`(looking: Looking) throws {
    let document = try Granted()
    let second = "\(try document.folder.folder("home/Archive"))/second.txt"
    try FileManager.default.linkItem(atPath: document.path, toPath: second)
    try document.replace()
    #expect(document.verdict(looking) == .identity)
  }

  @Test(arguments: Looking.possible) func `a number that is used again is another file`(looking: Looking) throws {
    let document = try Granted()
    var reused = false
    for _ in 0..<200 where !reused {
      try FileManager.default.removeItem(atPath: document.path)
      try document.folder.write("home/Papers/letter.txt", "an impostor")
      reused = try Descriptor.open(document.path, flags: .path).status().inode == document.identity.inode
    }
    // Found by identity it would be the wrong file; in its place it is what the rule says.
    #expect(looking.finder.find(document.identity, lastSeenAt: document.path, pinned: nil) == nil)
    #expect(document.verdict(looking) == .follow)
  }

  @Test func `a descriptor that was kept tells at once that the file is gone`() throws {
    let document = try Granted()
    let pinned = try Descriptor.open(document.path, flags: .path)
    try document.replace()
    // With no budget a search would find nothing either way; it must not be needed.
    let finder = DocumentFinder(searchBudget: 0, privileged: false)
    #expect(finder.find(document.identity, lastSeenAt: document.path, place: document.place, pinned: pinned) == nil)
    #expect(finder.standing(at: document.place, lastSeenAt: document.path)?.candidate.isInSameFolder == true)
  }
}

@Suite struct `A place` {
  @Test func `comes back from its bytes, and from no others`() throws {
    let place = try Granted().place
    #expect(Place(bytes: place.bytes) == place)
    for length in 0..<place.bytes.count { #expect(Place(bytes: Array(place.bytes[..<length])) == nil) }
    #expect(Place(bytes: place.bytes + [0]) == nil)
  }

  @Test func `is told by the folder, whatever that is called`() throws {
    let document = try Granted()
    try rename("\(document.folder.path)/home/Papers", to: "\(document.folder.path)/home/Old")
    let moved = try FoundDocument(Descriptor.open("\(document.folder.path)/home/Old/letter.txt", flags: .path))
    #expect(Place(of: moved) == document.place)
  }

  @Test func `of what was deleted there is none`() throws {
    let document = try Granted()
    let opened = try Descriptor.open(document.path, flags: .path)
    try FileManager.default.removeItem(atPath: document.path)
    #expect(Place(of: try FoundDocument(opened)) == nil)
  }
}
