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

  private let time: SearchTime

  /// - Parameters:
  ///   - processes: the sandbox's `/proc`.
  ///   - time: for this search and the others that share it.
  package init(_ processes: Descriptor, within time: SearchTime) {
    self.processes = processes
    self.time = time
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
    time.search { holds(question, of: document, within: $0) }
  }

  private func holds(_ question: Question, of document: Descriptor, within effort: Effort) -> Findings {
    var found = Findings()
    guard !effort.isSpent, let own = Self.place("", in: document),
      let listed = try? Descriptor.open(".", below: processes, flags: [.read, .directory])
    else {
      found.isComplete = false
      return found
    }
    var search = Search(question, document, own, effort)
    let isWhole = Self.each(in: listed, within: effort) { name in
      guard let process = Int32(name), process != 1, let folder = search.opened(name, below: listed) else { return }
      let hold = search.hold(of: folder, name, process)
      if hold != Hold(process: process) { found.holds.append(hold) }
    }
    if !isWhole { search.isComplete = false }
    if question.watches { found.holds = search.addingWatchers(to: found.holds) }
    found.isComplete = search.isComplete
    found.sends = search.sends
    return found
  }

  /// Hands on the names in a folder of `/proc` as long as there is time. The kernel makes each of them when it is read, and an app
  /// decides how many there are.
  ///
  /// - Returns: whether these were all of them.
  private static func each(in folder: Descriptor, within effort: Effort, _ body: (String) -> Void) -> Bool {
    var scan = FolderScan(room: 4096)
    do throws(KernelError) {
      return try scan.eachPart(of: folder) { entries in
        for entry in entries {
          if effort.isSpent { return false }
          body(entry.name)
        }
        return true
      }
    } catch { return isGone(error) }
  }

  /// A process or a thread that has ended has nothing any more.
  private static func isGone(_ error: KernelError) -> Bool {
    error.errno == .noSuchFileOrDirectory || error.errno == .noSuchProcess
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

    /// - Returns: `nil` where it has ended, or may have anything since it does not let itself be looked at.
    mutating func opened(
      _ name: String, below folder: Descriptor, _ flags: OpenFlags = [.read, .directory]
    ) -> Descriptor? {
      do throws(KernelError) { return try Descriptor.open(name, below: folder, flags: flags) } catch {
        if !HeldFiles.isGone(error) { isComplete = false }
        return nil
      }
    }

    /// Looks at a process: its own folder, which is its first thread's, and those of its other threads.
    mutating func hold(of process: Descriptor, _ name: String, _ number: Int32) -> Hold {
      var hold = Hold(process: number)
      var isMapped: Bool? = question.mappings ? nil : false
      look(process, &hold, &isMapped)
      if let threads = opened("task", below: process) {
        let isWhole = HeldFiles.each(in: threads, within: effort) { thread in
          guard thread != name, let folder = opened(thread, below: threads) else { return }
          look(folder, &hold, &isMapped)
        }
        if !isWhole { isComplete = false }
      }
      hold.mapped = isMapped ?? false
      hold.changesFolder = hold.folder && question.mount?.isReadOnly != true
      return hold
    }

    private mutating func look(_ thread: Descriptor, _ hold: inout Hold, _ isMapped: inout Bool?) {
      look(thread, &hold)
      // The memory is the process's. Of a first thread that has ended the kernel tells none.
      if isMapped == nil { isMapped = self.isMapped(by: thread, &hold) }
    }

    /// Notes the entries of a thread's table of descriptors, and where it stands.
    private mutating func look(_ thread: Descriptor, _ hold: inout Hold) {
      for name in ["cwd", "root"] {
        if let place = HeldFiles.place(name, in: thread), isHeld(place) { hold.folder = true }
      }
      guard let table = opened("fd", below: thread) else { return }
      let isWhole = HeldFiles.each(in: table, within: effort) { look($0, in: table, of: thread, &hold) }
      if !isWhole { isComplete = false }
    }

    /// Notes one entry of it.
    private mutating func look(_ name: String, in table: Descriptor, of thread: Descriptor, _ hold: inout Hold) {
      if let ownWatch, unsafe ambit_is_watcher(table.rawValue, name) == 1 {
        let watches = watches(name, of: thread, onDevice: ownWatch.device)
        watched[hold.process, default: []].formUnion(watches)
      }
      guard let place = HeldFiles.place(name, in: table) else { return }
      if place.isSocket, asksForSends, !sends, HeldFiles.isCarrying(name, of: thread) { sends = true }
      guard isHeld(place) else { return }
      if place.isFolder { hold.folder = true }
      switch HeldFiles.accessMode(name, of: thread) {
      case 0: hold.reads = true
      case 1: hold.writes = true
      default:
        hold.reads = true
        hold.writes = true
      }
    }

    /// The files that an inotify descriptor watches on a file system, as many as there is time for: an app may watch a million.
    private mutating func watches(
      _ name: String, of thread: Descriptor, onDevice device: UInt64
    ) -> [FileWatched] {
      guard let file = opened("fdinfo/\(name)", below: thread, .read) else { return [] }
      let text = wholeLines(of: file)
      var found: [FileWatched] = []
      for line in text.split(separator: UInt8(ascii: "\n")) {
        if effort.isSpent {
          isComplete = false
          break
        }
        if let watched = FileWatched(line), watched.device == device { found.append(watched) }
      }
      return found
    }

    /// As many lines as there is time for: a process may have 65,530 mappings (`vm.max_map_count`), and the kernel takes some
    /// microseconds for each.
    private mutating func wholeLines(of file: Descriptor) -> [UInt8] {
      var text: [UInt8] = []
      while !effort.isSpent, text.count < HeldFiles.mostText {
        // The kernel hands out no more than a page's worth of mappings at a time.
        guard let more = try? file.readAll(limit: 1), !more.isEmpty else { return text }
        text += more
      }
      isComplete = false
      // The beginning of a line says something else.
      text.removeSubrange((text.lastIndex(of: UInt8(ascii: "\n")) ?? 0)...)
      return text
    }

    /// Whether a process has the document, or a file in it, in its memory; notes whether it can change it there.
    ///
    /// - Returns: `nil` where the kernel tells nothing of this thread's memory.
    private mutating func isMapped(by thread: Descriptor, _ hold: inout Hold) -> Bool? {
      guard let file = try? Descriptor.open("maps", below: thread, flags: .read) else { return nil }
      let text = wholeLines(of: file)
      guard !text.isEmpty else { return nil }
      // Most processes have nothing of it, and their lines are not worth being read one by one.
      let words = own.isFolder ? ([device] + inner.map(\.device)).map(HeldFiles.deviceWord) : [" \(own.inode) "]
      guard words.contains(where: { HeldFiles.contains(text, $0) }) else { return false }
      var isMapped = false
      for (index, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
        if index % 64 == 63, effort.isSpent {
          isComplete = false
          break
        }
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
            let lies = known[file] ?? (effort.isSpent ? nil : file.lies(in: document, within: effort))
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

  /// Bytes of the longest text that is read of a process.
  private static let mostText = 16 << 20

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
