internal import CLinux
internal import Paths
internal import SystemPackage

/// A process's uses of a mount that was taken away: an open descriptor, memory, a folder to stand in, or a watch.
package struct Hold: Equatable, Sendable {
  /// Inside the sandbox.
  package let process: Int32
  package var reads = false
  package var writes = false
  /// In its memory (`mmap(2)`), also without a descriptor.
  package var mapped = false
  /// A folder, or the process's current one: files in it can be opened from there.
  package var folder = false
  /// And changed, removed and made: the mount could not be made read-only.
  package var changesFolder = false
  /// The kernel tells it of events of the document (`inotify(7)`), which needs nothing open of it.
  package var watches = false
  /// The launch that it is in; `nil`: the one whose scope has ended.
  package var instance: String?

  init(process: Int32) { self.process = process }
}

/// A mount that was taken away while something of it was in use, as the kernel has it.
package struct BusyMount: Sendable {
  /// As ``Descriptor/mount`` has it.
  package let number: UInt64
  /// Mounts that were in it; only by them the kernel takes a mount for one that is in use.
  package let inner: [MountTable.Inner]
  /// Nothing can be opened for writing through it any more.
  package let isReadOnly: Bool
  /// Mounts of the same document under other names, which were taken away together with it.
  package private(set) var others: [UInt64] = []

  package init(number: UInt64, inner: [MountTable.Inner] = [], isReadOnly: Bool = false) {
    self.number = number
    self.inner = inner
    self.isReadOnly = isReadOnly
  }

  /// The two as one: of the same document.
  package func joined(with other: BusyMount?) -> BusyMount {
    guard let other else { return self }
    var both = BusyMount(number: number, inner: inner + other.inner, isReadOnly: isReadOnly && other.isReadOnly)
    both.others = others + [other.number] + other.others
    return both
  }
}

/// Finds out, in a sandbox's own `/proc` (`proc(5)`), which of its processes have something of a mount or watch a document.
///
/// Threads can have descriptors and folders of their own (clone(2) without `CLONE_FILES` and `CLONE_FS`), so each of them is asked.
/// A descriptor that is on its way in a socket is in no process's table and is not found; that there are any is
/// (``Findings/sends``).
@safe package struct HeldFiles {
  private let processes: Descriptor
  /// Nanoseconds of work after which it is given up: others wait for an answer meanwhile, and an app can have as many processes and
  /// descriptors as it likes.
  package static let patience: Int64 = 20_000_000

  private let patience: Int64

  /// - Parameters:
  ///   - processes: the sandbox's `/proc`.
  ///   - patience: nanoseconds for the whole search.
  package init(_ processes: Descriptor, patience: Int64 = Self.patience) {
    self.processes = processes
    self.patience = patience
  }

  /// The question about a sandbox.
  package struct Question: Sendable {
    /// The mount that was taken away and is in use.
    package var mount: BusyMount?
    /// Descriptors of the document itself count on every mount on which they were opened.
    package var anyMount = false
    /// Mappings count. They are known by their file alone, so they may be of another mount that shows the same file.
    package var mappings = true
    /// Watches count.
    package var watches = false
    /// ``Findings/sends`` is asked for.
    package var sends = false

    package init(
      mount: BusyMount? = nil, anyMount: Bool = false, mappings: Bool = true, watches: Bool = false, sends: Bool = false
    ) {
      self.mount = mount
      self.anyMount = anyMount
      self.mappings = mappings
      self.watches = watches
      self.sends = sends
    }
  }

  package struct Findings {
    package fileprivate(set) var holds: [Hold] = []
    /// `false` where there was more than could be looked at.
    package fileprivate(set) var isComplete = true
    /// Sockets have descriptors in them, of any file, that no process has received yet. Looked for where that is asked, and where
    /// the mount has others in it.
    package fileprivate(set) var sends = false
  }

  /// - Parameter document: the document that was mounted: files that are mapped or watched are known by being
  ///   this one, or by lying in it.
  package func holds(_ question: Question, of document: Descriptor) -> Findings {
    var found = Findings()
    guard let own = Self.place("", in: document) else {
      found.isComplete = false
      return found
    }
    var search = Search(question, document, own, Effort(patience))
    let listed = (try? DirectoryReader.entries(of: processes)) ?? []
    for name in listed.map(\.name) {
      guard let process = Int32(name), process != 1 else { continue }
      // Gone meanwhile: it has nothing any more.
      guard let folder = try? Descriptor.open(name, below: processes, flags: [.read, .directory]) else { continue }
      var hold = Hold(process: process)
      var isMapped: Bool? = question.mappings ? nil : false
      for thread in threads(of: folder, name) {
        search.look(thread, &hold)
        // The memory is the process's. Of a first thread that has ended the kernel tells none.
        if isMapped == nil { isMapped = search.isMapped(by: thread, &hold) }
      }
      hold.mapped = isMapped ?? false
      hold.changesFolder = hold.folder && question.mount?.isReadOnly != true
      if hold != Hold(process: process) { found.holds.append(hold) }
      if search.effort.isSpent {
        search.isComplete = false
        break
      }
    }
    if question.watches { found.holds = search.addingWatchers(to: found.holds) }
    found.isComplete = search.isComplete
    found.sends = search.sends
    return found
  }

  /// The process's own folder, which is its first thread's, and those of its other threads.
  private func threads(of process: Descriptor, _ name: String) -> [Descriptor] {
    guard let list = try? Descriptor.open("task", below: process, flags: [.read, .directory]) else { return [process] }
    let others = ((try? DirectoryReader.entries(of: list)) ?? []).filter { $0.name != name }
    return [process]
      + others.compactMap { try? Descriptor.open($0.name, below: list, flags: [.read, .directory]) }
  }

  /// One search, for one document.
  private struct Search {
    let question: Question
    let document: Descriptor
    let own: Place
    let effort: Effort
    let device: UInt64
    let inner: [MountTable.Inner]
    let mounts: Set<UInt64>
    let asksForSends: Bool
    var isComplete = true
    var sends = false
    /// The watches of processes on the document's file system, by process.
    var watched: [Int32: Set<FileWatched>] = [:]
    let ownWatch: FileWatched?

    init(_ question: Question, _ document: Descriptor, _ own: Place, _ effort: Effort) {
      self.question = question
      self.document = document
      self.own = own
      self.effort = effort
      device = HeldFiles.mappingDevice(of: document) ?? own.device
      inner = question.mount?.inner ?? []
      mounts = Set(inner.map(\.number) + (question.mount.map { [$0.number] + $0.others } ?? []))
      asksForSends = question.sends || !inner.isEmpty
      ownWatch = question.watches ? FileWatched(of: document) ?? FileWatched(own.inode, onDevice: own.device) : nil
    }

    func isHeld(_ place: Place) -> Bool {
      mounts.contains(place.mount) || (question.anyMount && place.isSameFile(as: own))
    }

    /// Notes the entries of a thread's table of descriptors, and where it stands.
    mutating func look(_ thread: Descriptor, _ hold: inout Hold) {
      for name in ["cwd", "root"] {
        if let place = HeldFiles.place(name, in: thread), isHeld(place) { hold.folder = true }
      }
      let table: Descriptor
      do throws(KernelError) { table = try Descriptor.open("fd", below: thread, flags: [.read, .directory]) } catch {
        // One that does not let itself be looked at may have anything.
        if error.errno == .permissionDenied { isComplete = false }
        return
      }
      for (index, entry) in ((try? DirectoryReader.entries(of: table)) ?? []).enumerated() {
        if index % 256 == 255, effort.isSpent {
          isComplete = false
          return
        }
        if let ownWatch, unsafe ambit_is_watcher(table.rawValue, entry.name) == 1 {
          let watches = HeldFiles.watches(entry.name, of: thread).filter { $0.device == ownWatch.device }
          watched[hold.process, default: []].formUnion(watches)
        }
        guard let place = HeldFiles.place(entry.name, in: table) else { continue }
        if place.isSocket, asksForSends, !sends, HeldFiles.isCarrying(entry.name, of: thread) { sends = true }
        guard isHeld(place) else { continue }
        if place.isFolder { hold.folder = true }
        switch HeldFiles.accessMode(entry.name, of: thread) {
        case 0: hold.reads = true
        case 1: hold.writes = true
        default:
          hold.reads = true
          hold.writes = true
        }
      }
    }

    /// Whether a process has the document, or a file in it, in its memory; notes whether it can change it there.
    ///
    /// - Returns: `nil` where the kernel tells nothing of this thread's memory.
    func isMapped(by thread: Descriptor, _ hold: inout Hold) -> Bool? {
      guard let file = try? Descriptor.open("maps", below: thread, flags: .read) else { return nil }
      let text = HeldFiles.lines(of: file, within: effort)
      guard !text.isEmpty else { return nil }
      // Most processes have nothing of it, and their lines are not worth being read one by one.
      let words = own.isFolder ? ([device] + inner.map(\.device)).map(HeldFiles.deviceWord) : [" \(own.inode) "]
      guard words.contains(where: { HeldFiles.contains(text, $0) }) else { return false }
      var isMapped = false
      for (index, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
        if index % 256 == 255, effort.isSpent { break }
        guard let mapping = Mapping(line) else { continue }
        let isOwn =
          mapping.device == device
          && (mapping.inode == own.inode || (own.isFolder && HeldFiles.lies(mapping, in: document)))
        guard
          isOwn
            || inner.contains(where: { $0.device == mapping.device && HeldFiles.lies(mapping, in: document, $0.path) })
        else { continue }
        isMapped = true
        hold.reads = true
        if mapping.isShared && mapping.isWritable { hold.writes = true }
      }
      return isMapped
    }

    /// Adds the processes that watch the document, or something in it where it is a folder.
    mutating func addingWatchers(to holds: [Hold]) -> [Hold] {
      guard let ownWatch else { return holds }
      var found = Set(watched.filter { $0.value.contains(ownWatch) }.keys)
      if own.isFolder {
        // It takes looking at the files themselves, so each is looked at once.
        var known: [FileWatched: Bool] = [ownWatch: true]
        for (process, files) in watched where !found.contains(process) {
          for file in files {
            let lies = known[file] ?? file.lies(in: document, within: effort)
            guard let lies else {
              isComplete = false
              continue
            }
            known[file] = lies
            if lies { found.insert(process) }
          }
        }
      }
      var holds = holds
      for process in found.sorted() {
        if let known = holds.firstIndex(where: { $0.process == process }) {
          holds[known].watches = true
        } else {
          var hold = Hold(process: process)
          hold.watches = true
          holds.append(hold)
        }
      }
      return holds
    }
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

  /// `O_ACCMODE` of an open file. An unreadable one counts as open for both.
  private static func accessMode(_ name: String, of process: Descriptor) -> Int {
    guard let flags = fact("flags:", radix: 8, name, of: process) else { return 2 }
    return flags & 3
  }

  /// Whether a socket has descriptors in it. An unreadable one counts as one that has; sockets that can carry none tell nothing.
  private static func isCarrying(_ name: String, of process: Descriptor) -> Bool {
    guard fact("flags:", radix: 8, name, of: process) != nil else { return true }
    return fact("scm_fds:", radix: 10, name, of: process) ?? 0 > 0
  }

  /// The files that an inotify descriptor watches.
  private static func watches(_ name: String, of process: Descriptor) -> [FileWatched] {
    guard let file = try? Descriptor.open("fdinfo/\(name)", below: process, flags: .read),
      let text = try? file.readAll()
    else { return [] }
    return text.split(separator: UInt8(ascii: "\n")).compactMap { FileWatched($0) }
  }

  /// The content of a descriptor's `fdinfo`.
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

  /// Whole lines, as many as there is time for: a process may have 65,530 mappings (`vm.max_map_count`), and the kernel takes some
  /// microseconds for each.
  private static func lines(of file: Descriptor, within effort: Effort) -> [UInt8] {
    var text: [UInt8] = []
    while !effort.isSpent {
      // The kernel hands out no more than a page's worth at a time.
      guard let more = try? file.readAll(limit: 1), !more.isEmpty else { break }
      text += more
    }
    return text
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

  /// The kernel has the path below the mount that was taken away; for mounts in it, below that one or the other.
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
