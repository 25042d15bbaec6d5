internal import CLinux
internal import Foundation
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Remembers the namespaces that processes were in, and says which of them are still there.
///
/// `/proc/PID/ns` has only those that somebody is in. One that nobody is in any more can still be held: by a descriptor, by a
/// mount, by another namespace, by a pidfd of the dead. From Linux 6.18 on a namespace has a file handle, with a number in it
/// that is never given again: who remembers it sees, by opening it, whether the namespace is gone, whatever else would hold it.
/// On older kernels the descriptors and mounts of the processes that are left have to do. (`listns(2)`, which lists all of
/// them, is Linux 6.19's, and would list those of everybody else's programs with them.)
///
/// A processor that has nothing to do keeps the memory map of the last process that ran there, and with it the user namespace
/// which that process began in, for as long as it idles. That is nobody's doing and nobody's reach, so who is asked what is
/// left lets every processor run something else first.
package struct NamespaceWatch {
  private static let kinds = ["user", "mnt", "pid", "ipc", "uts", "cgroup", "net", "time"]

  /// By name, `net:[4026531833]`. Names are given again; the handle, where there is one, says which of them is meant.
  private struct Seen: Hashable {
    let name: String
    let handle: Kernel.FileHandle?
  }

  private let own: Set<String>
  /// Anything on the file system of namespaces, which handles are opened on.
  private let place: Descriptor
  private var seen: Set<Seen> = []
  /// How many different ones have been seen since the beginning.
  package private(set) var count = 0

  package init() throws {
    own = Set(Self.names(of: getpid()))
    place = try Descriptor.open("/proc/self/ns/uts", flags: .read)
  }

  /// Whether the kernel itself says which are gone.
  package var isExact: Bool { (try? Kernel.FileHandle(of: place)) != nil }

  /// Remembers what these processes are in, if it is not what this one is in.
  ///
  /// - Parameter but: a kind that is left out.
  package mutating func look(at processes: some Sequence<ProcessTable.Process>, but: String? = nil) {
    for process in processes {
      var all: [Seen] = []
      for kind in Self.kinds where kind != but {
        let path = "/proc/\(process.pid)/ns/\(kind)"
        guard let name = Self.link(path), !own.contains(name), let descriptor = try? Descriptor.open(path, flags: .read)
        else { continue }
        // The process may have moved.
        let opened = Self.link("/proc/self/fd/\(descriptor.rawValue)") ?? name
        all.append(Seen(name: opened, handle: try? Kernel.FileHandle(of: descriptor)))
      }
      // Or have ended, and its number be another one's.
      guard ProcessTable.isThere(process) else { continue }
      for found in all where seen.insert(found).inserted { count += 1 }
    }
  }

  /// Forgets what is gone, and what these processes are in, which may stay.
  ///
  /// - Returns: the names of those that are left, in order.
  package mutating func left(beside processes: [Int32]) -> [String] {
    let theirs = Set(processes.flatMap(Self.names(of:)))
    ambit_settle_processors()
    // Whoever is looked at next time will be seen again.
    seen = seen.filter { !theirs.contains($0.name) && isThere($0, processes) }
    return seen.map(\.name).sorted()
  }

  private func isThere(_ namespace: Seen, _ processes: [Int32]) -> Bool {
    guard let handle = namespace.handle else {
      return processes.contains { pid in
        Self.descriptors(of: pid).contains(namespace.name)
          || ProcessTable.mounts(pid).contains { $0.contains(" \(namespace.name) ") }
      }
    }
    do throws(KernelError) {
      _ = try handle.open(on: place, flags: .read)
      return true
    } catch { return error.errno.rawValue != ESTALE }
  }

  /// Who is in one of these, or holds a descriptor of it: for who wants to know why it is still there.
  package static func holders(of names: [String]) -> [String] {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap(Int32.init) ?? []
    return processes.sorted().compactMap { pid in
      let isIn = Self.names(of: pid).contains(where: names.contains)
      let holds = descriptors(of: pid).contains(where: names.contains)
      return isIn || holds ? "\(isIn ? "in it" : "by a descriptor"): \(ProcessTable.describe(pid))" : nil
    }
  }

  /// The namespaces that a process holds by descriptors: how many of each kind.
  package static func held(by pid: Int32) -> [String: Int] {
    Dictionary(descriptors(of: pid).map { (String($0.prefix { $0 != ":" }), 1) }, uniquingKeysWith: +)
  }

  // MARK: Mount namespaces, of which there is a list

  /// All mount namespaces that this process may look into, by name; `nil` where there is no list (before Linux 6.12).
  package static func mountNamespaces() -> Set<String>? {
    // NS_MNT_GET_NEXT of ioctl_nsfs(2): the number is in no header of these years.
    let next: UInt = 0x8010_b70b
    guard var place = try? Descriptor.open("/proc/1/ns/mnt", flags: .read) else { return nil }
    var names = Set([link("/proc/self/fd/\(place.rawValue)")].compactMap { $0 })
    while true {
      var answer: (size: UInt32, mounts: UInt32, id: UInt64) = (16, 0, 0)
      let found = unsafe ioctl(place.rawValue, next, &answer)
      if found == -1 { return errno == ENOENT ? names : nil }
      place = Descriptor(owning: found)
      if let name = link("/proc/self/fd/\(found)") { names.insert(name) }
    }
  }

  /// Mount namespaces that some thread is in, and those that a process other than these holds by a descriptor.
  package static func mountNamespacesInUse(except processes: Set<Int32>) -> Set<String> {
    func numbers(_ folder: String) -> [Int32] {
      ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { Int32($0) }
    }
    var names: Set<String> = []
    for pid in numbers("/proc") {
      for thread in numbers("/proc/\(pid)/task") {
        if let name = link("/proc/\(pid)/task/\(thread)/ns/mnt") { names.insert(name) }
      }
      if !processes.contains(pid) { names.formUnion(descriptors(of: pid)) }
    }
    return names
  }

  // MARK: Links

  private static func names(of pid: Int32) -> [String] { kinds.compactMap { link("/proc/\(pid)/ns/\($0)") } }

  private static func descriptors(of pid: Int32) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []).compactMap { number in
      link("/proc/\(pid)/fd/\(number)").flatMap { name in
        kinds.contains { name.hasPrefix("\($0):[") } ? name : nil
      }
    }
  }

  private static func link(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 256)
    let length = unsafe readlink(path, &buffer, buffer.count)
    return length > 0 ? String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}
