internal import CLinux
internal import Paths
internal import SystemPackage

/// What a process has of a mount that was taken away: an open descriptor, memory, or a folder to stand in.
package struct Hold: Equatable, Sendable {
  /// Inside the sandbox.
  package let process: Int32
  package var reads = false
  package var writes = false
  /// In its memory (`mmap(2)`), also without a descriptor.
  package var mapped = false
  /// A folder, or the process's current one: what is in it can be opened from there.
  package var folder = false
  /// And changed, removed and made: the mount could not be made read-only.
  package var changesFolder = false

  init(process: Int32) { self.process = process }
}

/// A mount that was taken away while something of it was in use, as the kernel has it.
package struct BusyMount: Sendable {
  /// As ``Descriptor/mount`` has it.
  package let number: UInt64
  /// What was mounted in it, by which alone the kernel takes a mount for one that is in use.
  package let inner: [MountTable.Inner]
  /// Nothing can be opened for writing through it any more.
  package let isReadOnly: Bool

  package init(number: UInt64, inner: [MountTable.Inner] = [], isReadOnly: Bool = false) {
    self.number = number
    self.inner = inner
    self.isReadOnly = isReadOnly
  }
}

/// Finds out, in a sandbox's own `/proc` (`proc(5)`), which of its processes have something of a mount.
///
/// A descriptor that is on its way in a socket is in no process's table and is not found; that there are any is
/// (``Findings/sends``).
@safe package struct HeldFiles {
  private let processes: Descriptor
  /// Nanoseconds after which it is given up: others wait for an answer meanwhile, and an app can have as many processes and
  /// descriptors as it likes.
  private static let patience: Int64 = 20_000_000

  /// - Parameter processes: the sandbox's `/proc`.
  package init(_ processes: Descriptor) { self.processes = processes }

  package struct Findings {
    package fileprivate(set) var holds: [Hold] = []
    /// `false` where there was more than could be looked at.
    package fileprivate(set) var isComplete = true
    /// Sockets have descriptors in them that nobody has received yet, whatever they are of. Looked for where
    /// the mount has others in it.
    package fileprivate(set) var sends = false
  }

  /// - Parameters:
  ///   - mount: what was taken away.
  ///   - anyMount: descriptors of the document itself count on whatever mount they were opened.
  ///   - document: what was mounted: files that are mapped are known by being this one, or by lying in it.
  package func holds(on mount: BusyMount?, orAny anyMount: Bool, of document: Descriptor) -> Findings {
    var found = Findings()
    guard let own = Self.place("", in: document) else {
      found.isComplete = false
      return found
    }
    let device = Self.mappingDevice(of: document) ?? own.device
    let inner = mount?.inner ?? []
    let mounts = Set(inner.map(\.number) + (mount.map { [$0.number] } ?? []))
    let isHeld: (Place) -> Bool = { mounts.contains($0.mount) || (anyMount && $0.isSameFile(as: own)) }
    let deadline = Clock.monotonic() + Self.patience
    let listed = (try? DirectoryReader.entries(of: processes)) ?? []
    for name in listed.map(\.name) {
      guard let process = Int32(name), process != 1 else { continue }
      // Gone meanwhile: it has nothing any more.
      guard let folder = try? Descriptor.open(name, below: processes, flags: [.read, .directory]) else { continue }
      var hold = Hold(process: process)
      for name in ["cwd", "root"] {
        if let place = Self.place(name, in: folder), isHeld(place) { hold.folder = true }
      }
      var sends: Bool? = inner.isEmpty ? nil : found.sends
      let isComplete = look(folder, &hold, &sends, until: deadline, isHeld)
      found.sends = sends ?? false
      if isMapped(document, own, on: device, inner, by: folder, &hold) { hold.mapped = true }
      hold.changesFolder = hold.folder && mount?.isReadOnly != true
      if hold != Hold(process: process) { found.holds.append(hold) }
      if !isComplete || Clock.monotonic() > deadline {
        found.isComplete = false
        return found
      }
    }
    return found
  }

  /// - Parameter sends: whether a socket with descriptors in it was seen; `nil` if that is not asked.
  /// - Returns: `false` if the time was over, or the process does not let itself be looked at.
  private func look(
    _ process: Descriptor, _ hold: inout Hold, _ sends: inout Bool?, until deadline: Int64, _ isHeld: (Place) -> Bool
  ) -> Bool {
    let table: Descriptor
    do throws(KernelError) { table = try Descriptor.open("fd", below: process, flags: [.read, .directory]) } catch {
      return error.errno != .permissionDenied
    }
    for (index, entry) in ((try? DirectoryReader.entries(of: table)) ?? []).enumerated() {
      if index % 256 == 255, Clock.monotonic() > deadline { return false }
      guard let place = Self.place(entry.name, in: table) else { continue }
      if place.isSocket, sends == false, Self.isCarrying(entry.name, of: process) { sends = true }
      guard isHeld(place) else { continue }
      if place.isFolder { hold.folder = true }
      switch Self.accessMode(entry.name, of: process) {
      case 0: hold.reads = true
      case 1: hold.writes = true
      default:
        hold.reads = true
        hold.writes = true
      }
    }
    return true
  }

  private static func place(_ name: String, in folder: Descriptor) -> Place? {
    var found = ambit_place()
    guard unsafe ambit_stat_mount(folder.rawValue, name, &found) == 0 else { return nil }
    return Place(
      mount: found.mount, inode: found.inode, device: found.device, isFolder: found.is_folder != 0,
      isSocket: found.is_socket != 0)
  }

  struct Place: Equatable {
    let mount: UInt64
    let inode: UInt64
    /// Major number above, minor number in the lower half.
    let device: UInt64
    let isFolder: Bool
    let isSocket: Bool

    func isSameFile(as other: Place) -> Bool { inode == other.inode && device == other.device }
  }

  /// `O_ACCMODE` of an open file. What cannot be read counts as open for both.
  private static func accessMode(_ name: String, of process: Descriptor) -> Int {
    guard let flags = fact("flags:", radix: 8, name, of: process) else { return 2 }
    return flags & 3
  }

  /// Whether a socket has descriptors in it. What cannot be read counts as one that has; sockets that can carry none tell nothing.
  private static func isCarrying(_ name: String, of process: Descriptor) -> Bool {
    guard fact("flags:", radix: 8, name, of: process) != nil else { return true }
    return fact("scm_fds:", radix: 10, name, of: process) ?? 0 > 0
  }

  /// What `fdinfo` has of a descriptor.
  private static func fact(_ key: String, radix: Int, _ name: String, of process: Descriptor) -> Int? {
    guard let file = try? Descriptor.open("fdinfo/\(name)", below: process, flags: .read),
      let text = try? file.readAll(limit: 4096)
    else { return nil }
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(whereSeparator: { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") })
      guard words.count == 2, words[0].elementsEqual(key.utf8) else { continue }
      return Int(String(decoding: words[1], as: UTF8.self), radix: radix)
    }
    return nil
  }

  // MARK: Memory

  /// Whether a process has the document, or a file in it, in its memory; notes whether it can change it there.
  ///
  /// - Parameters:
  ///   - device: as ``mappingDevice(of:)``.
  ///   - inner: what is mounted in it.
  private func isMapped(
    _ document: Descriptor, _ own: Place, on device: UInt64, _ inner: [MountTable.Inner], by process: Descriptor,
    _ hold: inout Hold
  ) -> Bool {
    guard let file = try? Descriptor.open("maps", below: process, flags: .read), let text = try? file.readAll() else {
      return false
    }
    // Most processes have nothing of it, and their lines are not worth being read one by one.
    let words = own.isFolder ? ([device] + inner.map(\.device)).map(Self.deviceWord) : [" \(own.inode) "]
    guard words.contains(where: { Self.contains(text, $0) }) else { return false }
    var isMapped = false
    for line in text.split(separator: UInt8(ascii: "\n")) {
      guard let mapping = Mapping(line) else { continue }
      let isOwn =
        mapping.device == device
        && (mapping.inode == own.inode || (own.isFolder && Self.lies(mapping, in: document)))
      guard isOwn || inner.contains(where: { $0.device == mapping.device && Self.lies(mapping, in: document, $0.path) })
      else { continue }
      isMapped = true
      hold.reads = true
      if mapping.isShared && mapping.isWritable { hold.writes = true }
    }
    return isMapped
  }

  /// The device number that mappings tell where it is not the file's: each subvolume has one of its own, and mappings have the whole
  /// file system's, as the mount table does. So a file of the same number in another subvolume is taken for the document.
  private static func mappingDevice(of document: Descriptor) -> UInt64? {
    guard (try? FileHandle(of: document))?.subvolume != nil else { return nil }
    func text(_ name: String) -> [UInt8] {
      (try? Descriptor.open("/proc/thread-self/\(name)", flags: .read).readAll()) ?? []
    }
    let facts = text("fdinfo/\(document.rawValue)").split(separator: UInt8(ascii: "\n"))
    guard let mount = facts.first(where: { $0.starts(with: "mnt_id:".utf8) })?.dropFirst(7) else { return nil }
    return MountTable.device(ofMount: mount.filter { $0 > UInt8(ascii: " ") }, in: text("mountinfo"))
  }

  /// As the kernel writes it there.
  static func deviceWord(_ device: UInt64) -> String {
    func two(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
    return " \(two(device >> 32)):\(two(device & 0xffff_ffff)) "
  }

  static func contains(_ text: [UInt8], _ word: String) -> Bool {
    unsafe text.withUnsafeBytes { all in
      unsafe Array(word.utf8).withUnsafeBytes { part in
        guard let start = all.baseAddress, let wanted = part.baseAddress else { return false }
        return unsafe ambit_find(start, all.count, wanted, part.count) != 0
      }
    }
  }

  /// The kernel has the path below the mount that was taken away; of what was mounted in it, below that one or the other.
  private static func lies(_ mapping: Mapping, in folder: Descriptor, _ mount: String = "") -> Bool {
    let path = mapping.path.pathNames.joined(separator: "/")
    guard !path.isEmpty else { return false }
    return (mount.isEmpty ? [path] : [path, "\(mount)/\(path)"]).contains { path in
      guard
        let file = try? Descriptor.open(
          path, below: folder, flags: [.path, .noFollow], resolve: [.beneath, .noSymlinks])
      else { return false }
      return place("", in: file)?.inode == mapping.inode
    }
  }

  /// A line of `/proc/PID/maps`.
  struct Mapping: Equatable {
    let isWritable: Bool
    let isShared: Bool
    let device: UInt64
    let inode: UInt64
    let path: String

    init?(_ line: ArraySlice<UInt8>) {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: true)
      guard fields.count == 6, fields[1].count == 4, let inode = UInt64(String(decoding: fields[4], as: UTF8.self)),
        inode != 0
      else { return nil }
      let numbers = fields[3].split(separator: UInt8(ascii: ":")).map {
        UInt64(String(decoding: $0, as: UTF8.self), radix: 16)
      }
      guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
      let rights = Array(fields[1])
      isWritable = rights[1] == UInt8(ascii: "w")
      isShared = rights[3] == UInt8(ascii: "s")
      device = major << 32 | minor
      self.inode = inode
      path = String(kernel: fields[5].drop { $0 == UInt8(ascii: " ") })
    }
  }
}
