import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

/// A file system in a file, that can be taken away and come back as another device in another place. Root's alone.
final class Volume {
  let folder: Folder
  private let image: String
  private var devices: [String] = []
  private(set) var point: String?

  static let isPossible =
    geteuid() == 0
    && ["/usr/sbin/mkfs.ext4", "/usr/sbin/losetup"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
    && FileManager.default.isReadableFile(atPath: "/dev/loop-control")

  init() throws {
    folder = try Folder()
    image = "\(folder.path)/image"
    try KernelError.check("truncate", image) {
      FileManager.default.createFile(atPath: image, contents: nil) ? unsafe truncate(image, 24 << 20) : -1
    }
    try Self.run("/usr/sbin/mkfs.ext4", "-q", "-F", image)
  }

  deinit {
    unmount()
    for device in devices { _ = try? Self.run("/usr/sbin/losetup", "--detach", device) }
  }

  @discardableResult
  static func run(_ program: String, _ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw HarnessError("\(program) \(arguments)")
    }
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Mounts it at a folder of this name, on a device that it has not been on before.
  func mount(_ name: String) throws -> String {
    let device = try Self.run("/usr/sbin/losetup", "--find", "--show", image)
    devices.append(device)
    let point = try folder.folder(name)
    try Self.run("/usr/bin/mount", device, point)
    self.point = point
    return point
  }

  func unmount() {
    guard let point else { return }
    // Other tests may have copied the mount into namespaces of theirs: the disk has to be whole without them.
    _ = try? Self.run("/usr/bin/mount", "-o", "remount,ro", point)
    // A search of another test's may be in it just now.
    for _ in 0..<200 {
      if (try? Self.run("/usr/bin/umount", point)) != nil { break }
      usleep(20_000)
    }
    self.point = nil
    // Held by nothing, so that the next mount is of another device: the number is what must not count. What was detached is
    // another's soon.
    if let last = devices.popLast() { _ = try? Self.run("/usr/sbin/losetup", "--detach", last) }
    if let next = try? Self.run("/usr/sbin/losetup", "--find", "--show", image) { devices.append(next) }
  }
}

@Suite(.enabled(if: Volume.isPossible, "needs loop devices"), .serialized)
struct `BMK-1, BMK-3: a volume that comes back elsewhere` {
  private func recorded(_ path: String) throws -> (FileIdentity, Place) {
    let document = try FoundDocument(Descriptor.open(path, flags: .path))
    return (document.identity, try #require(Place(of: document)))
  }

  @Test(arguments: Looking.possible) func `has the same documents, under another device number and with cold caches`(
    looking: Looking
  ) throws {
    let volume = try Volume()
    let first = try volume.mount("first")
    try volume.folder.folder("first/Papers/Deep")
    let path = try volume.folder.write("first/Papers/letter.txt", "the letter")
    let top = try volume.folder.write("first/top.txt", "at the top")
    let moved = try volume.folder.write("first/Papers/moved.txt", "moved")
    let (identity, place) = try recorded(path)
    let (topIdentity, topPlace) = try recorded(top)
    let (movedIdentity, movedPlace) = try recorded(moved)
    let device = try Descriptor.open(path, flags: .path).status().device
    try rename(moved, to: "\(first)/Papers/Deep/elsewhere.txt")
    try rename("\(first)/Papers", to: "\(first)/Letters")
    volume.unmount()
    #expect(looking.finder.find(identity, lastSeenAt: path, place: place, pinned: nil) == nil)
    let second = try volume.mount("second")
    #expect(try Descriptor.open("\(second)/top.txt", flags: .path).status().device != device)

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

  @Test(arguments: Looking.possible) func `BMK-15: what was copied to another volume is another file`(looking: Looking)
    throws
  {
    let volume = try Volume()
    let here = try volume.mount("here")
    let path = try volume.folder.write("here/letter.txt", "the letter")
    let (identity, place) = try recorded(path)
    try FileManager.default.copyItem(atPath: path, toPath: "\(volume.folder.path)/letter.txt")
    try FileManager.default.removeItem(atPath: path)
    #expect(looking.finder.find(identity, lastSeenAt: path, place: place, pinned: nil) == nil)
    #expect(looking.finder.standing(at: place, lastSeenAt: path) == nil)
    // Its image, with all that is in it, is another volume only if it has another name.
    #expect(here == volume.point)
  }

  @Test(arguments: Looking.possible) func `another volume in its place has none of its documents`(looking: Looking)
    throws
  {
    let volume = try Volume()
    _ = try volume.mount("disk")
    let path = try volume.folder.write("disk/letter.txt", "the letter")
    let (identity, place) = try recorded(path)
    volume.unmount()
    // Made alike: the same numbers, most likely, and another identifier.
    let other = try Volume()
    let point = try other.mount("disk")
    try other.folder.write("disk/letter.txt", "an impostor")
    #expect(looking.finder.find(identity, lastSeenAt: "\(point)/letter.txt", place: place, pinned: nil) == nil)
    #expect(
      looking.finder.standing(at: place, lastSeenAt: "\(point)/letter.txt")?.candidate.isInSameFolder == false)
  }

  @Test func `after the kernel has forgotten every path, the folder's handle leads to it`() throws {
    let volume = try Volume()
    let point = try volume.mount("disk")
    try volume.folder.folder("disk/Papers")
    let path = try volume.folder.write("disk/Papers/letter.txt", "the letter")
    let (identity, place) = try recorded(path)
    try rename("\(point)/Papers", to: "\(point)/Old")
    sync()
    try Data("2".utf8).write(to: URL(fileURLWithPath: "/proc/sys/vm/drop_caches"))
    let finder = DocumentFinder(privileged: true)
    let found = try #require(finder.find(identity, lastSeenAt: path, place: place, pinned: nil))
    #expect(found.document.path == "\(point)/Old/letter.txt")
  }
}

@Suite(.enabled(if: geteuid() == 0, "needs root")) struct `A file system in memory` {
  @Test(arguments: Looking.possible) func `tells its documents apart`(looking: Looking) throws {
    let folder = try Folder()
    let point = try folder.folder("memory")
    try Volume.run("/usr/bin/mount", "-t", "tmpfs", "none", point)
    defer { _ = try? Volume.run("/usr/bin/umount", point) }
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
    try Volume.run(
      "/usr/bin/mount", "-t", "overlay", "overlay", "-o",
      "lowerdir=\(folder.path)/lower,upperdir=\(folder.path)/upper,workdir=\(folder.path)/work", point)
    defer { _ = try? Volume.run("/usr/bin/umount", point) }
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
