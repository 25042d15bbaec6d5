internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The file systems that documents mostly lie on.
package enum VolumeKind: String, CaseIterable, Sendable, CustomStringConvertible {
  case ext4, xfs, btrfs

  /// Those that this machine's kernel has, and the programs for them (`scripts/deps.sh --test`).
  package static let here = allCases.filter { kind in
    let isHere = kind.isKnown && kind.programs.allSatisfy { DiskImage.program($0) != nil }
    return Feature(rawValue: kind.rawValue)?.isTried(isHere) ?? isHere
  }

  package var description: String { rawValue }

  fileprivate var maker: String { "mkfs.\(rawValue)" }
  private var programs: [String] { self == .btrfs ? [maker, "btrfs"] : [maker] }

  /// The least that its program makes one of. Next to nothing of it is on the disk.
  fileprivate var size: String {
    switch self {
    case .ext4: "24M"
    case .xfs: "300M"
    case .btrfs: "128M"
    }
  }

  private var isKnown: Bool {
    func isListed() -> Bool {
      ((try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? "").split(whereSeparator: \.isNewline)
        .contains { $0.split(separator: "\t").last.map(String.init) == rawValue }
    }
    // As a module it is listed once it was needed.
    return isListed() || ((try? DiskImage.run("modprobe", rawValue)) != nil && isListed())
  }
}

/// A file system in a file: taken away, and back as another device in another place. As after a boot nothing of it is in any
/// cache, and nothing has its old number. Root's alone.
package final class DiskImage {
  /// What the names of the folders begin with that volumes are mounted in.
  package static let folderName = "ambit-volume"

  package let kind: VolumeKind
  /// What it is mounted in.
  private let folder: String
  /// The file that it is in.
  package let path: String
  private var device: String?
  private var point: String?
  /// The device that it was on before, and those with its number since.
  private var last: String?
  private var spares: [String] = []

  package static let isPossible =
    geteuid() == 0 && !VolumeKind.here.isEmpty
    && program("losetup") != nil
    && FileManager.default.isReadableFile(atPath: "/dev/loop-control")

  /// - Parameter folder: is made; the image lies beside it. Its name, or that of one above, begins with ``folderName``.
  package init(_ kind: VolumeKind, in folder: String) throws {
    (self.kind, self.folder, path) = (kind, folder, "\(folder).image")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Self.run("truncate", "--size=\(kind.size)", path)
    try Self.run(kind.maker, "-q", path)
    // As on a machine where all mounts are shared: what is unmounted here goes from the namespaces that were made meanwhile as
    // well. A volume of btrfs or XFS that is mounted anywhere cannot be mounted from another device.
    try Self.run("mount", "--bind", folder, folder)
    try Self.run("mount", "--make-shared", folder)
  }

  deinit {
    unmount()
    for spare in spares { _ = try? Self.run("losetup", "--detach", spare) }
    _ = try? Self.run("umount", "--lazy", folder)
    _ = unsafe unlink(path)
    // What is left are the places of its mounts. Whoever made the folder that it lies in may have tried to remove that before.
    guard !MountTable.mountPoints().contains(where: { $0 == folder || $0.hasPrefix(folder + "/") }) else { return }
    try? FileManager.default.removeItem(atPath: folder)
    _ = unsafe rmdir(URL(fileURLWithPath: folder).deletingLastPathComponent().path)
  }

  /// Where one of the system's programs is.
  fileprivate static func program(_ name: String) -> String? {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { "\($0)/\(name)" }
      .first(where: FileManager.default.isExecutableFile(atPath:))
  }

  /// Runs one of the system's programs to its end.
  ///
  /// - Returns: what it has written.
  @discardableResult
  package static func run(_ program: String, _ arguments: String...) throws -> String {
    try run(program, arguments: arguments)
  }

  @discardableResult
  package static func run(_ program: String, arguments: [String]) throws -> String {
    guard let path = Self.program(program) else { throw HarnessError("there is no \(program)") }
    // Not Foundation's Process: it waits for its socket to close, which a program that goes on in the background keeps open.
    let process = try ChildProcess(
      [path] + arguments, user: .root, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], directory: "/")
    process.closeInput()
    guard try process.waitForExit(patience: .seconds(60)) == .status(0) else {
      throw HarnessError("\(program) \(arguments): \(process.allErrors)")
    }
    return process.allOutput.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Mounts it at a folder of this name, on a device that it was not on the last time.
  ///
  /// - Returns: where it is mounted.
  @discardableResult
  package func mount(_ name: String, for user: TestUser = .root, options: String = "defaults") throws -> String {
    var device = try Self.run("losetup", "--find", "--show", path)
    if device == last {
      spares.append(device)
      device = try Self.run("losetup", "--find", "--show", path)
    }
    self.device = device
    let point = "\(folder)/\(name)"
    try FileManager.default.createDirectory(atPath: point, withIntermediateDirectories: true)
    try Self.run("mount", "-t", kind.rawValue, "-o", options, device, point)
    self.point = point
    try user.own(point)
    return point
  }

  package func unmount() {
    if let point {
      // Whoever has something of it, the disk has to be whole without them.
      _ = try? Self.run("mount", "-o", "remount,ro", point)
      // A search of another test's may be in it just now; and the test may have unmounted it.
      for _ in 0..<200 where MountTable.mountPoints().contains(point) {
        if (try? Self.run("umount", point)) != nil { break }
        usleep(20_000)
      }
    }
    if let device {
      // In other namespaces a search may still have it open: until that is over, btrfs takes another device for another volume.
      for _ in 0..<500 where !isFree(device) { usleep(20_000) }
      _ = try? Self.run("losetup", "--detach", device)
    }
    (last, point, device) = (device, nil, nil)
  }
}

/// Whether no file system is on a device.
private func isFree(_ device: String) -> Bool {
  let file = unsafe open(device, O_RDONLY | O_EXCL | O_CLOEXEC)
  if file != -1 { close(file) }
  return file != -1 || errno != EBUSY
}

/// A folder for volumes, gone with the last reference. What is mounted in it is the tests' own, by its name.
package final class VolumeFolder {
  package let path: String

  package init() throws {
    path = "/tmp/\(DiskImage.folderName)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
