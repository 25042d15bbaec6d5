internal import AmbitKit
internal import Foundation
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Tries every way that might lead back into a document whose scope has just ended: by names, by what is held open of the folder
/// around it, and by where it has gone.
enum LeadBack {
  /// What is tried, from the folder around the document and from the root.
  private static func ways(_ name: String, _ path: String, _ folder: Int32) -> [String] {
    let places = (0..<8).flatMap { ["file-\($0)", "folder-\($0)", "folder-\($0)/\(name)"] }
    let roots =
      ["..", "/proc/self/fd/\(folder)/..", "/proc/self/cwd/.."]
      + ["now", "next"].flatMap { exit in
        [
          "../\(exit)", "../../.leaving/\(exit)", "/documents/.leaving/\(exit)",
          "/proc/self/root/documents/.leaving/\(exit)", "/proc/thread-self/cwd/../\(exit)",
        ]
      }
    return [
      name, "./\(name)", path, "/proc/self/fd/\(folder)/\(name)", "/proc/self/cwd/\(name)", "/proc/self/root\(path)",
    ]
      + roots.flatMap { root in places.map { "\(root)/\($0)" } }
  }

  private static func reads(_ way: String, from folder: Int32) -> Bool {
    let opened = unsafe openat(folder, way, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else { return false }
    defer { close(opened) }
    var byte: UInt8 = 0
    return unsafe read(opened, &byte, 1) > 0
  }

  /// - Returns: `controls`: rounds in which a held folder led to the document while its scope was active; `reached`: ways that did
  ///   when it was over; `raced`: reads of other threads, which never pause, that began after the stop had been answered; `late`:
  ///   those that were not done when the scope began again, and may have had it open when that one ended.
  static func run(_ url: URL, rounds: Int, standing: Bool) throws -> [String: Any] {
    let path = url.path(percentEncoded: false)
    let (parent, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
    var (controls, reached): (Int, [String]) = (0, [])
    // Even: active. It is odd from before the look of who may still read until the next start.
    let state = Atomic<Int>(0)
    let raced = Atomic<Int>(0)
    let late = Atomic<Int>(0)
    let held = Atomic<Int>(-1)
    let ended = Atomic<Bool>(false)
    let racers = DispatchGroup()
    for _ in 0..<2 {
      DispatchQueue.global().async(group: racers) {
        while !ended.load(ordering: .sequentiallyConsistent) {
          let before = state.load(ordering: .sequentiallyConsistent)
          let folder = Int32(held.load(ordering: .sequentiallyConsistent))
          guard before % 2 == 1 else { continue }
          for way in [name, path] where reads(way, from: folder < 0 ? AT_FDCWD : folder) {
            let isWithin = state.load(ordering: .sequentiallyConsistent) == before
            _ =
              isWithin
              ? raced.add(1, ordering: .sequentiallyConsistent) : late.add(1, ordering: .sequentiallyConsistent)
          }
        }
      }
    }
    defer {
      ended.store(true, ordering: .sequentiallyConsistent)
      racers.wait()
    }
    for round in 0..<rounds {
      try SecurityScope.start(url)
      let folder = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      defer { close(folder) }
      if folder >= 0, reads(name, from: folder), reads(path, from: folder) { controls += 1 }
      if standing { _ = unsafe chdir(parent) }
      // Every other round nothing is held while it ends.
      let isHeld = standing || round % 2 == 0
      let other = isHeld ? folder : unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      if !isHeld { _ = dup2(other, folder) }
      held.store(isHeld ? Int(folder) : -1, ordering: .sequentiallyConsistent)
      try SecurityScope.stop(url)
      state.add(1, ordering: .sequentiallyConsistent)
      for way in ways(name, path, folder) where reads(way, from: folder) { reached.append(way) }
      state.add(1, ordering: .sequentiallyConsistent)
      held.store(-1, ordering: .sequentiallyConsistent)
      if !isHeld { close(other) }
      if standing { _ = unsafe chdir("/") }
    }
    ended.store(true, ordering: .sequentiallyConsistent)
    racers.wait()
    return [
      "controls": controls, "reached": reached.count, "text": Set(reached).sorted().joined(separator: " "),
      "raced": raced.load(ordering: .sequentiallyConsistent), "late": late.load(ordering: .sequentiallyConsistent),
    ]
  }
}
