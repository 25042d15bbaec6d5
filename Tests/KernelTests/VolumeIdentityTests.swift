import Foundation
import TestSupport
import Testing

@testable import Kernel

/// What the file systems tell of themselves.
@Suite(.serialized, .enabled(if: try Feature.loopDevices.isHere(DiskImage.isPossible), "needs loop-devices"))
struct VolumeIdentityTests {
  private func withVolume(_ kind: VolumeKind, _ body: (_ point: String) throws -> Void) throws {
    let folder = try VolumeFolder()
    let image = try DiskImage(kind, in: "\(folder.path)/ambit-volumes")
    defer { image.unmount() }
    try body(try image.mount("point"))
  }

  private func identifier(_ image: DiskImage) throws -> String {
    // The number itself, from what is on the disk.
    try DiskImage.run("blkid", "-o", "value", "-s", "UUID", image.path)
  }

  @Test(arguments: VolumeKind.here)
  func `a volume is named by the UUID that is on its disk, whichever way the kernel was asked`(kind: VolumeKind) throws
  {
    let folder = try VolumeFolder()
    let image = try DiskImage(kind, in: "\(folder.path)/ambit-volumes")
    defer { image.unmount() }
    let point = try image.mount("point")
    let expected = try identifier(image).replacingOccurrences(of: "-", with: "")
    func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
    let file = try Descriptor.open(point, flags: [.read, .directory])
    #expect(hex(try file.volumeIdentity()) == expected)
    #expect(hex(try Descriptor.open(point, flags: [.path]).volumeIdentity(onMount: file.status().mount)) == expected)
    // As before Linux 6.9.
    if kind != .ext4 { #expect(try hex(#require(file.ownUUID)) == expected) }
  }

  @Test(arguments: VolumeKind.here)
  func `a handle opens the file, and not one that has its number again`(kind: VolumeKind) throws {
    try withVolume(kind) { point in
      let volume = try Descriptor.open(point, flags: [.read, .directory])
      let path = "\(point)/a"
      try Data("first".utf8).write(to: URL(fileURLWithPath: path))
      let first = try FileHandle(of: Descriptor.open(path, flags: .path))
      #expect(first.canBeOpened && (first.subvolume != nil) == (kind == .btrfs))
      #expect(try first.open(on: volume, flags: .read).readAll() == Array("first".utf8))
      #expect(try Descriptor.open(path, flags: .path).status().birth > 0)
      try FileManager.default.removeItem(atPath: path)
      for index in 0..<100 { try Data("second".utf8).write(to: URL(fileURLWithPath: "\(point)/\(index)")) }
      #expect(throws: KernelError.self) { try first.open(on: volume, flags: .read) }
    }
  }

  @Test(
    .enabled(if: try Feature.btrfs.isHere(VolumeKind.here.contains(.btrfs)), "needs btrfs"),
    arguments: [VolumeKind.btrfs])
  func `what lies in a subvolume counts as well, and what is mounted does not`(kind: VolumeKind) throws {
    try withVolume(kind) { point in
      func measured() throws -> Int {
        let measurement = try FolderMeasurement(of: [Descriptor.open("\(point)/own", flags: [.path, .directory])])
        #expect(measurement.proceed(until: .max))
        return measurement.files
      }
      try FileManager.default.createDirectory(atPath: "\(point)/own/deep", withIntermediateDirectories: true)
      try DiskImage.run("btrfs", "subvolume", "create", "\(point)/own/deep/inner")
      try FileManager.default.createDirectory(atPath: "\(point)/own/deep/inner/most", withIntermediateDirectories: true)
      for folder in ["own", "own/deep", "own/deep/inner", "own/deep/inner/most"] {
        for index in 0..<5 {
          try Data("text".utf8).write(to: URL(fileURLWithPath: "\(point)/\(folder)/\(index)"))
          #expect(unsafe link("\(point)/\(folder)/\(index)", "\(point)/\(folder)/\(index)-too") == 0)
        }
      }
      #expect(try measured() == 23)
      try FileManager.default.createDirectory(atPath: "\(point)/own/mounted", withIntermediateDirectories: true)
      try DiskImage.run("mount", "-t", "tmpfs", "none", "\(point)/own/mounted")
      defer { _ = try? DiskImage.run("umount", "\(point)/own/mounted") }
      try Data("text".utf8).write(to: URL(fileURLWithPath: "\(point)/own/mounted/other"))
      #expect(try measured() == 23)
    }
  }

  @Test(
    .enabled(if: try Feature.btrfs.isHere(VolumeKind.here.contains(.btrfs)), "needs btrfs"),
    arguments: [VolumeKind.btrfs])
  func `a folder is removed with the subvolumes in it, and what is mounted in it stays`(kind: VolumeKind) throws {
    try withVolume(kind) { point in
      func make(_ folder: String, subvolume: Bool = false) throws {
        let path = "\(point)/\(folder)"
        if subvolume {
          try DiskImage.run("btrfs", "subvolume", "create", path)
        } else {
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try Data("text".utf8).write(to: URL(fileURLWithPath: "\(path)/file"))
      }
      for folder in ["own", "own/a", "own/a/b"] { try make(folder) }
      try make("own/a/b/inner", subvolume: true)
      for folder in ["own/a/b/inner/c", "own/a/b/inner/c/d", "own/a/b/inner/c/d/e"] { try make(folder) }
      try make("own/a/b/inner/c/d/e/most", subvolume: true)
      try make("own/a/b/inner/c/d/e/most/f")
      try make("own/mounted")
      try DiskImage.run("mount", "-t", "tmpfs", "none", "\(point)/own/mounted")
      let isMounted = { FileManager.default.fileExists(atPath: "\(point)/own/mounted/other") }
      try Data("text".utf8).write(to: URL(fileURLWithPath: "\(point)/own/mounted/other"))
      let volume = try Descriptor.open(point, flags: [.read, .directory])
      #expect(throws: KernelError.self) { try volume.removeTree("own") }
      #expect(isMounted())
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(point)/own") == ["mounted"])
      try DiskImage.run("umount", "\(point)/own/mounted")
      try volume.removeTree("own")
      #expect(try FileManager.default.contentsOfDirectory(atPath: point) == [])
    }
  }
}
