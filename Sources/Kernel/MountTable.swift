internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// The mounts and their places (`/proc/PID/mountinfo`, proc(5)).
package enum MountTable {
  package struct Entry: Equatable, Sendable {
    package let point: String
    /// As the kernel names it: `ext4`, `fuse.sshfs`.
    package let fileSystem: String

    package init(point: String, fileSystem: String) {
      self.point = point
      self.fileSystem = fileSystem
    }

    /// Looking into one of these may wait for another machine or another program, or mount something.
    package var mayWait: Bool {
      let waiting = ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "coda", "autofs", "fuse"]
      return waiting.contains(fileSystem) || fileSystem.hasPrefix("fuse.")
    }
  }

  /// In the order in which they were mounted: of two at one place, the later one is seen.
  /// The calling thread's, since another one of the process may be in another namespace for a moment.
  package static func entries(process: String = "thread-self") -> [Entry] {
    guard let file = try? Descriptor.open("/proc/\(process)/mountinfo", flags: .read) else { return [] }
    return (try? entries(in: file)) ?? []
  }

  /// - Parameter table: an open `mountinfo`; read from its beginning.
  static func entries(in table: Descriptor) throws(KernelError) -> [Entry] {
    try rewind(table)
    return try table.readAll().split(separator: UInt8(ascii: "\n")).compactMap(entry)
  }

  static func rewind(_ table: Descriptor) throws(KernelError) {
    try KernelError.check("lseek", "mountinfo") { lseek(table.rawValue, 0, SEEK_SET) }
  }

  /// Where something is mounted in this thread's namespace, as `/proc/thread-self/mountinfo` lists it.
  package static func mountPoints(process: String = "thread-self") -> [String] {
    entries(process: process).map(\.point)
  }

  /// Without those with a file system that may keep one waiting.
  package static func localMountPoints() -> [String] { entries().filter { !$0.mayWait }.map(\.point) }

  /// The mount that an absolute path lies on.
  package static func covering(_ path: String, in entries: [Entry]) -> Entry? {
    var found: Entry?
    for entry in entries where path.lies(within: entry.point) {
      // Of nested ones the innermost, which need not be the latest; of two at one place the later.
      if entry.point.utf8.count >= found?.point.utf8.count ?? 0 { found = entry }
    }
    return found
  }

  /// - Parameters:
  ///   - mount: its number in this table, in digits.
  ///   - table: `mountinfo`.
  /// - Returns: the file system's device number: the major one above, the minor one in the lower half.
  static func device(ofMount mount: [UInt8], in table: [UInt8]) -> UInt64? {
    for line in table.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
      guard fields.count == 4, fields[0].elementsEqual(mount) else { continue }
      let numbers = fields[2].split(separator: UInt8(ascii: ":")).map { UInt64(String(decoding: $0, as: UTF8.self)) }
      guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
      return major << 32 | minor
    }
    return nil
  }

  /// A mount that lies in another one, at any depth.
  package struct Inner: Equatable, Sendable {
    package let number: UInt64
    /// As mappings tell it: the major number above, the minor one in the lower half.
    let device: UInt64
    /// Below the other one.
    let path: String
  }

  /// - Parameters:
  ///   - mount: its number, as ``Descriptor/mount`` has it.
  ///   - processes: a `/proc` that the calling thread has a place in, whichever mount namespace it is in.
  /// - Returns: the mounts that lie in the mount, in the calling thread's mount namespace.
  package static func inner(of mount: UInt64, below processes: Descriptor) throws(KernelError) -> [Inner] {
    inner(of: mount, in: try Descriptor.open("thread-self/mountinfo", below: processes, flags: .read).readAll())
  }

  static func inner(of mount: UInt64, in table: [UInt8]) -> [Inner] {
    func number(_ digits: ArraySlice<UInt8>) -> UInt64? { UInt64(String(decoding: digits, as: UTF8.self)) }
    var point: String?
    var found: [(parent: UInt64, inner: Inner, point: String)] = []
    for line in table.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count == 6, let own = number(fields[0]), let parent = number(fields[1]) else { continue }
      let device = fields[2].split(separator: UInt8(ascii: ":")).compactMap(number)
      let here = unescape(fields[4])
      if own == mount { point = here }
      guard device.count == 2 else { continue }
      found.append((parent, Inner(number: own, device: device[0] << 32 | device[1], path: here), here))
    }
    guard let point else { return [] }
    var within: Set<UInt64> = [mount]
    var result: [Inner] = []
    // A mount may stand before the one that it lies in, after one was moved.
    while let next = found.firstIndex(where: { within.contains($0.parent) }) {
      let (_, inner, place) = found.remove(at: next)
      guard within.insert(inner.number).inserted else { continue }
      let path = place.path(within: point) ?? ""
      result.append(Inner(number: inner.number, device: inner.device, path: path))
    }
    return result
  }

  static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
    let fields = line.split(separator: UInt8(ascii: " "))
    // Optional fields stand before a hyphen, and nothing else there is one.
    guard fields.count > 6, let hyphen = fields[6...].firstIndex(of: [UInt8(ascii: "-")]), hyphen + 1 < fields.count
    else { return nil }
    return Entry(point: unescape(fields[4]), fileSystem: String(decoding: fields[hyphen + 1], as: UTF8.self))
  }

  /// Space, tab, newline and backslash stand there as three octal digits.
  static func unescape(_ field: ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(kernel: bytes)
  }
}
