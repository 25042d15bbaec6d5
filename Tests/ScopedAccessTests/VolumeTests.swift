import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

/// A file system in a file, and the folder that it is mounted in.
private struct Volume {
  let folder: Folder
  let image: DiskImage

  init(_ kind: VolumeKind) throws {
    folder = try Folder()
    image = try DiskImage(kind, in: "\(folder.path)/ambit-volumes")
  }

  func mount(_ name: String, options: String = "defaults") throws -> String { try image.mount(name, options: options) }
  func unmount() { image.unmount() }

  @discardableResult
  func write(_ path: String, _ content: String) throws -> String { try folder.write("ambit-volumes/\(path)", content) }

  @discardableResult
  func folder(_ path: String) throws -> String { try folder.folder("ambit-volumes/\(path)") }
}

private func recorded(_ path: String) throws -> (identity: FileIdentity, place: Place) {
  let document = try FoundDocument(Descriptor.open(path, flags: .path))
  return (document.identity, try #require(Place(of: document)))
}

@Suite(.enabled(if: try Feature.loopDevices.isHere(DiskImage.isPossible), "needs loop-devices"), .serialized)
struct `BMK-1, BMK-3: a volume that comes back elsewhere` {
  @Test(arguments: Looking.possible, VolumeKind.here)
  func `has the same documents, under another device number and with cold caches`(
    looking: Looking, kind: VolumeKind
  ) throws {
    let volume = try Volume(kind)
    let first = try volume.mount("first")
    try volume.folder("first/Papers/Deep")
    let path = try volume.write("first/Papers/letter.txt", "the letter")
    let top = try volume.write("first/top.txt", "at the top")
    let moved = try volume.write("first/Papers/moved.txt", "moved")
    let (identity, place) = try recorded(path)
    let (topIdentity, topPlace) = try recorded(top)
    let (movedIdentity, movedPlace) = try recorded(moved)
    let device = try Descriptor.open(path, flags: .path).status().device
    try rename(moved, to: "\(first)/Papers/Deep/elsewhere.txt")
    try rename("\(first)/Papers", to: "\(first)/Letters")
    volume.unmount()
    #expect(looking.finder.find(identity, lastSeenAt: path, place: place, pinned: nil) == nil)
    let second = try volume.mount("second")
    // The numbers of btrfs are no device's; the lowest that is free is given out again.
    #expect(try kind == .btrfs || Descriptor.open("\(second)/top.txt", flags: .path).status().device != device)

    let found = try #require(looking.finder.find(identity, lastSeenAt: path, place: place, pinned: nil))
    #expect(found.document.path == "\(second)/Letters/letter.txt")
    #expect(found.by == looking.method(.search))
    #expect(
      looking.finder.find(topIdentity, lastSeenAt: top, place: topPlace, pinned: nil)?.document.path
        == "\(second)/top.txt")
    #expect(
      looking.finder.find(movedIdentity, lastSeenAt: moved, place: movedPlace, pinned: nil)?.document.path
        == "\(second)/Letters/Deep/elsewhere.txt")
  }

  @Test(arguments: Looking.possible, VolumeKind.here) func `BMK-15: what was copied to another volume is another file`(
    looking: Looking, kind: VolumeKind
  )
    throws
  {
    let volume = try Volume(kind)
    _ = try volume.mount("here")
    let path = try volume.write("here/letter.txt", "the letter")
    let (identity, place) = try recorded(path)
    try FileManager.default.copyItem(atPath: path, toPath: "\(volume.folder.path)/letter.txt")
    try FileManager.default.removeItem(atPath: path)
    #expect(looking.finder.find(identity, lastSeenAt: path, place: place, pinned: nil) == nil)
    #expect(looking.finder.standing(at: place, lastSeenAt: path) == nil)
  }

  @Test(arguments: Looking.possible, VolumeKind.here) func `another volume in its place has none of its documents`(
    looking: Looking, kind: VolumeKind
  )
    throws
  {
    let volume = try Volume(kind)
    _ = try volume.mount("disk")
    let path = try volume.write("disk/letter.txt", "the letter")
    let (identity, place) = try recorded(path)
    volume.unmount()
    // Made alike: the same numbers, most likely, and another identifier.
    let other = try Volume(kind)
    let point = try other.mount("disk")
    try other.write("disk/letter.txt", "an impostor")
    #expect(looking.finder.find(identity, lastSeenAt: "\(point)/letter.txt", place: place, pinned: nil) == nil)
    #expect(
      looking.finder.standing(at: place, lastSeenAt: "\(point)/letter.txt")?.candidate.isInSameFolder == false)
  }

  @Test(arguments: VolumeKind.here) func `after the kernel has forgotten every path, the folder's handle leads to it`(
    kind: VolumeKind
  ) throws {
    let volume = try Volume(kind)
    let point = try volume.mount("disk")
    try volume.folder("disk/Papers")
    let path = try volume.write("disk/Papers/letter.txt", "the letter")
    let (identity, place) = try recorded(path)
    try rename("\(point)/Papers", to: "\(point)/Old")
    sync()
    try Data("2".utf8).write(to: URL(fileURLWithPath: "/proc/sys/vm/drop_caches"))
    let finder = DocumentFinder(privileged: true)
    let found = try #require(finder.find(identity, lastSeenAt: path, place: place, pinned: nil))
    #expect(found.document.path == "\(point)/Old/letter.txt")
  }
}

@Suite(.enabled(if: try Feature.root.isHere(geteuid() == 0), "needs root")) struct `A file system in memory` {
  @Test(arguments: Looking.possible) func `tells its documents apart`(looking: Looking) throws {
    let folder = try Folder()
    let point = try folder.folder("memory")
    try DiskImage.run("mount", "-t", "tmpfs", "none", point)
    // A search of another test's may be in it just now.
    defer { _ = try? DiskImage.run("umount", "--lazy", point) }
    let path = try folder.write("memory/letter.txt", "the letter")
    let document = try FoundDocument(Descriptor.open(path, flags: .path))
    let place = try #require(Place(of: document))
    try rename(path, to: "\(point)/other.txt")
    try folder.write("memory/letter.txt", "an impostor")
    #expect(
      looking.finder.find(document.identity, lastSeenAt: path, place: place, pinned: nil)?.document.path
        == "\(point)/other.txt")
    for _ in 0..<50 {
      try FileManager.default.removeItem(atPath: path)
      try folder.write("memory/letter.txt", "an impostor")
      #expect(try FoundDocument(Descriptor.open(path, flags: .path)).identity != document.identity)
    }
  }

  /// Handles there can be compared and not opened (Linux 6.5).
  @Test(arguments: Looking.possible) func `of layers has documents as well`(looking: Looking) throws {
    let folder = try Folder()
    for name in ["lower", "upper", "work", "merged"] { try folder.folder(name) }
    try folder.write("lower/old.txt", "from below")
    let point = "\(folder.path)/merged"
    try DiskImage.run(
      "mount", "-t", "overlay", "overlay", "-o",
      "lowerdir=\(folder.path)/lower,upperdir=\(folder.path)/upper,workdir=\(folder.path)/work", point)
    // A search of another test's may be in it just now.
    defer { _ = try? DiskImage.run("umount", "--lazy", point) }
    let path = try folder.write("merged/letter.txt", "the letter")
    let document = try FoundDocument(Descriptor.open(path, flags: .path))
    let place = try #require(Place(of: document))
    try folder.folder("merged/Deep")
    try rename(path, to: "\(point)/Deep/other.txt")
    try folder.write("merged/letter.txt", "an impostor")
    #expect(
      looking.finder.find(document.identity, lastSeenAt: path, place: place, pinned: nil)?.document.path
        == "\(point)/Deep/other.txt")
    try FileManager.default.removeItem(atPath: "\(point)/Deep/other.txt")
    #expect(looking.finder.find(document.identity, lastSeenAt: path, place: place, pinned: nil) == nil)
    #expect(looking.finder.standing(at: place, lastSeenAt: path)?.candidate.isInSameFolder == true)
  }
}
