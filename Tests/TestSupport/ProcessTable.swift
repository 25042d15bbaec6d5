internal import CLinux
internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// What `/proc` says of the machine's processes. Numbers are reused, so a process is a number and when it began.
package enum ProcessTable {
  package struct Process: Hashable, Sendable {
    package let pid: Int32
    let started: String
  }

  /// A process and all that it has started, and what those have started; but not one that it merely started, as a
  /// launcher does its broker.
  package static func tree(below root: Int32, except stranger: Int32? = nil) -> Set<Process> {
    var all = everyone()
    if let stranger { all[stranger] = nil }
    var family: Set<Int32> = [root]
    while true {
      let more = all.filter { !family.contains($0.key) && family.contains($0.value.parent) }.keys
      if more.isEmpty { break }
      family.formUnion(more)
    }
    // Reading takes a while, and numbers come again: a child counts whose parent is still who it was.
    func isStill(_ pid: Int32) -> Bool { all[pid].map { isThere(Process(pid: pid, started: $0.started)) } ?? false }
    return Set(
      family.compactMap { pid in
        guard let seen = all[pid] else { return nil }
        if pid != root {
          guard let now = status(pid), now.started == seen.started, family.contains(now.parent), isStill(now.parent)
          else { return nil }
        }
        return Process(pid: pid, started: seen.started)
      })
  }

  /// Whether it is there, alive or not, and its number not another one's.
  package static func isThere(_ process: Process) -> Bool { status(process.pid)?.started == process.started }

  /// Makes this process the parent of whatever its descendants leave behind, so that ``tree(below:except:)`` of it misses
  /// nothing (`PR_SET_CHILD_SUBREAPER`).
  package static func adoptOrphans() throws {
    try KernelError.checkNegative("prctl", "PR_SET_CHILD_SUBREAPER") { ambit_adopt_orphans() }
  }

  /// Takes the status of a child that has ended and that nobody else waits for.
  package static func reap(_ pid: Int32) { _ = waitpid(pid, nil, WNOHANG) }

  /// The children of a process, those that have ended and wait for it too.
  package static func children(of pid: Int32) -> [Int32] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.flatMap { thread in
      let list = FileManager.default.contents(atPath: "/proc/\(pid)/task/\(thread)/children") ?? Data()
      return String(decoding: list, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// The inits of sandboxes in which something from a folder of that name is mounted.
  package static func sandboxes(showing name: String) -> Set<Process> {
    var found: Set<Process> = []
    for (pid, status) in everyone() where commandLine(pid).hasPrefix("ambit-init") {
      if mounts(pid).contains(where: { $0.contains(name) }) { found.insert(Process(pid: pid, started: status.started)) }
    }
    return alive(found)
  }

  /// Those that are still there. One that has ended and waits for its parent is not.
  package static func alive(_ processes: Set<Process>) -> Set<Process> {
    processes.filter { process in
      guard let status = status(process.pid) else { return false }
      return status.started == process.started && status.state != "Z" && status.state != "X"
    }
  }

  /// Who they are, for a message.
  package static func describe(_ processes: Set<Process>) -> String {
    processes.map { describe($0.pid) }.joined(separator: "; ")
  }

  package static func describe(_ pid: Int32) -> String {
    let status = status(pid)
    let wait = (try? String(contentsOfFile: "/proc/\(pid)/wchan", encoding: .utf8)) ?? ""
    let environment = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
    let home = String(decoding: environment, as: UTF8.self).split(separator: "\0").first { $0.hasPrefix("AMBIT_HOME=") }
    return
      "\(pid) (\(commandLine(pid))) state \(status?.state ?? "?") parent \(status?.parent ?? 0) since \(status?.started ?? "?") \(wait) \(home ?? "")"
  }

  package static func isAlive(_ pid: Int32) -> Bool {
    guard let status = status(pid) else { return false }
    return status.state != "Z" && status.state != "X"
  }

  package static func state(_ pid: Int32) -> String? { status(pid)?.state }

  package static func commandLine(_ pid: Int32) -> String {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
    return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\0", with: " ")
  }

  /// What is mounted, as that process sees it, one line each; but for the volumes of tests, which come and go in every namespace
  /// (``DiskImage``).
  package static func mounts(_ pid: Int32) -> [String] {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/mountinfo") ?? Data()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { !$0.contains("/\(DiskImage.folderName)") }
  }

  /// Kibibytes of memory that a process has in use.
  package static func residentKibibytes(_ pid: Int32) -> Int? {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data()
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }
  }

  /// How many descriptors a process has open.
  package static func descriptors(_ pid: Int32) -> Int? {
    try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
  }

  /// What they lead to.
  package static func openFiles(_ pid: Int32) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
    return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)") }
      .sorted()
  }

  /// Whether it is process 1 of a pid namespace below this one.
  package static func isInit(_ pid: Int32) -> Bool {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data()
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("NSpid:") }
    let numbers = (line ?? "").split(separator: "\t").dropFirst()
    return numbers.count > 1 && numbers.last == "1"
  }

  private static func everyone() -> [Int32: (parent: Int32, started: String)] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    var all: [Int32: (parent: Int32, started: String)] = [:]
    for pid in names.compactMap({ Int32($0) }) {
      if let status = status(pid) { all[pid] = (status.parent, status.started) }
    }
    return all
  }

  private static func status(_ pid: Int32) -> (state: String, parent: Int32, started: String)? {
    // As bytes: tests are built for debugging, and look at all processes again and again.
    guard let bytes = try? Descriptor.open("/proc/\(pid)/stat", flags: .read).readAll(limit: 4096),
      // The name stands in parentheses and may hold anything, a parenthesis too.
      let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
    guard fields.count > 19, let parent = Int32(String(decoding: fields[1], as: UTF8.self)) else { return nil }
    return (String(decoding: fields[0], as: UTF8.self), parent, String(decoding: fields[19], as: UTF8.self))
  }
}
