import Foundation
import TestSupport

/// File systems whose mounts cannot be id-mapped, as people have them: each in a folder of its own, and taken away in the end.
enum ForeignMountKind: String, CaseIterable, Sendable, CustomStringConvertible {
  case overlay, bindfs, ramfs

  var description: String { rawValue }

  /// Those that this machine has.
  static let here = allCases.filter { kind in
    kind != .bindfs
      || Feature.fuse.isTried(
        ["/dev/fuse", "/usr/bin/bindfs"].allSatisfy(FileManager.default.fileExists(atPath:)))
  }
}

final class ForeignMount {
  /// Where documents are.
  let point: String

  /// - Parameters:
  ///   - files: what lies there before it is mounted, in a lower layer where there is one: name and content.
  ///   - user: whom all of it belongs to.
  init(_ kind: ForeignMountKind, in world: Workspace, files: [String: String], mode: Int) throws {
    let base = "\(world.folder)/\(kind)"
    point = "\(base)/point"
    for name in ["point", "lower", "upper", "work"] { try world.makeFolder("\(base)/\(name)") }
    func fill(_ folder: String) throws {
      for (name, content) in files {
        let path = "\(folder)/\(name)"
        try world.makeFolder((path as NSString).deletingLastPathComponent)
        try world.write(content, to: path)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      }
    }
    switch kind {
    case .overlay:
      try fill("\(base)/lower")
      let layers = "lowerdir=\(base)/lower,upperdir=\(base)/upper,workdir=\(base)/work"
      try DiskImage.run("mount", "-t", "overlay", "-o", layers, "overlay", point)
    case .bindfs:
      try fill("\(base)/lower")
      // Mounted by root it lets other users in (bindfs(1), allow_other).
      try DiskImage.run("bindfs", "\(base)/lower", point)
    case .ramfs:
      try DiskImage.run("mount", "-t", "ramfs", "ramfs", point)
      try world.user.own(point)
      _ = unsafe chmod(point, 0o755)
      try fill(point)
    }
  }

  func end() { _ = unsafe umount2(point, Int32(MNT_DETACH)) }

  deinit { end() }
}
