internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Control groups that this process has for itself and whatever it starts: what is made below them was made by its programs,
/// and nobody else's groups are counted with them. An ordinary user, whom nobody on most machines has given any, gets these.
package final class OwnGroups {
  private struct Folder {
    /// Where launches make theirs.
    let path: String
    /// Where this process is meanwhile, and where it came from.
    let member: String
    let origin: String
  }

  private var folders: [Folder] = []

  /// Moves this process into groups of its own while something is done; `nil` where none can be had.
  package static func with<Result>(_ user: TestUser, _ body: (OwnGroups?) throws -> Result) throws -> Result {
    let places = ControlGroups([.memory, .pids]).places
    guard geteuid() == 0, places.count == 2 else { return try body(nil) }
    let groups = OwnGroups()
    defer { groups.leave() }
    for place in places where !groups.folders.contains(where: { $0.path == groups.path(in: place) }) {
      try groups.enter(place, places, user)
    }
    return try body(groups)
  }

  /// The groups that launches have made and that are there now.
  package var ofLaunches: [String] {
    folders.flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasPrefix("ambit-") }.map { "\(folder.path)/\($0)" }
    }
  }

  private func path(in place: ControlGroups.Place) -> String { "\(place.parent)/test-\(getpid())" }

  private func enter(_ place: ControlGroups.Place, _ places: [ControlGroups.Place], _ user: TestUser) throws {
    let path = path(in: place)
    // A group of version 2 has processes or hands controllers down; of version 1 it can do both.
    let member = place.isUnified ? "\(path)/self" : path
    let table = ControlGroupTable.current
    let hierarchy = place.isUnified ? table.unified : table.legacy(place.controller.rawValue)
    guard let origin = hierarchy?.own else { throw HarnessError("\(place.parent) is in no hierarchy") }
    guard unsafe mkdir(path, 0o755) == 0 else { throw HarnessError("mkdir \(path): errno \(errno)") }
    folders.append(Folder(path: path, member: member, origin: origin))
    for file in [path, "\(path)/cgroup.procs"] { try user.own(file) }
    if place.isUnified {
      let names = places.filter(\.isUnified).map { "+\($0.controller.rawValue)" }.joined(separator: " ")
      try Self.write(names, to: "\(path)/cgroup.subtree_control")
      guard unsafe mkdir(member, 0o755) == 0 else { throw HarnessError("mkdir \(member): errno \(errno)") }
    }
    try Self.write("\(getpid())", to: "\(member)/cgroup.procs")
  }

  private func leave() {
    for folder in folders {
      try? Self.write("\(getpid())", to: "\(folder.origin)/cgroup.procs")
      // Who was killed takes a moment to be gone.
      try? Deadline.wait(.seconds(3), for: "the groups to be empty") {
        (ofLaunches + [folder.member, folder.path]).forEach { unsafe rmdir($0) }
        return unsafe access(folder.path, F_OK) == -1
      }
    }
  }

  private static func write(_ text: String, to path: String) throws(KernelError) {
    try Descriptor.open(path, flags: .write).writeAll(Array(text.utf8))
  }
}
