internal import CLinux
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The resources that the processes of a sandbox use, read from its own `/proc` (`proc(5)`): it lists them all, even without
/// their parents, and no others. Its init, process 1, is Ambit's and not counted.
@safe package final class ProcessUsage {
  private let processes: Descriptor
  private let sockets: SocketMemory?
  private let hasOwnNetwork: Bool
  private let pageSize = Int(sysconf(CInt(_SC_PAGESIZE)))
  private let nanosecondsPerTick = 1_000_000_000 / Int64(max(1, sysconf(CInt(_SC_CLK_TCK))))
  /// The sandbox's namespace for System V's objects, once it was needed.
  private var interprocess: Descriptor?
  private var buffer = [UInt8](repeating: 0, count: 4096)
  private let mostDescriptors: Int
  /// Descriptors that the measurement that runs may still look at.
  private var left = 0

  /// Descriptors that one measurement looks at: less than a second of work, in which the launcher does nothing else. It is a number
  /// and no time, so that no app has too many of them on a busy machine.
  package static let mostDescriptors = 200_000

  /// - Parameters:
  ///   - processes: the sandbox's `/proc`.
  ///   - sockets: of its network namespace; `nil`: this kernel does not tell, and buffers of sockets do not count.
  ///   - hasOwnNetwork: only its processes have sockets there.
  ///   - mostDescriptors: that one measurement looks at, of all processes together.
  package init(
    _ processes: Descriptor, sockets: SocketMemory? = nil, hasOwnNetwork: Bool = true,
    mostDescriptors: Int = ProcessUsage.mostDescriptors
  ) {
    self.processes = processes
    self.sockets = sockets
    self.hasOwnNetwork = hasOwnNetwork
    self.mostDescriptors = mostDescriptors
  }

  /// Cheap: a few microseconds a process.
  ///
  /// - Returns: bytes of private memory, shared pages counted for each process that has them, with the buffers of all
  ///   sockets of the network namespace; and, if wanted, nanoseconds of processor time of all that live, with the
  ///   processes that they have waited for.
  package func total(cpuTime wantsTime: Bool) -> (memory: Int, cpuTime: Int64) {
    var memory = sockets?.total ?? 0
    var time: Int64 = 0
    for process in listed("") where process != "1" {
      memory += anonymous(process)
      if wantsTime { time += cpuTime(process) }
    }
    return (memory, time)
  }

  /// Dear: the kernel looks at every page. Shared pages count once; swapped-out pages count, and so do files in memory that
  /// are held open or mapped.
  ///
  /// - Returns: `isWhole` is `false` where the processes have more descriptors than could be looked at.
  package func exactMemory() -> (bytes: Int, isWhole: Bool) {
    var (anonymous, mapped, held) = (0, 0, 0)
    var (files, connections): (Set<UInt64>, Set<UInt64>) = ([], [])
    var isWhole = true
    left = mostDescriptors
    for process in listed("") where process != "1" {
      if let found = proportional(process) {
        anonymous += found.anonymous
        mapped += found.mapped
      } else {
        anonymous += self.anonymous(process)
      }
      let isAll = eachUnnamed(process) { file in
        if file.is_socket != 0 {
          connections.insert(file.inode)
        } else if file.device == Self.memoryDevice, files.insert(file.inode).inserted {
          held += Self.bytes(file)
        }
      }
      if !isAll { isWhole = false }
    }
    // Held-open files are mostly mapped as well.
    return (anonymous + max(mapped, held + segments()) + socketBuffers(of: connections), isWhole)
  }

  /// Bytes in buffers of the app's sockets. Where it shares a network, these are the sockets that its processes have open.
  private func socketBuffers(of open: Set<UInt64>) -> Int {
    guard let sockets else { return 0 }
    return hasOwnNetwork ? sockets.total : sockets.total(of: open)
  }

  /// Bytes of System V shared memory (`shmget(2)`), which need have no holder.
  private func segments() -> Int {
    if interprocess == nil {
      for process in listed("") where process != "1" && interprocess == nil {
        interprocess = try? Descriptor.open("\(process)/ns/ipc", below: processes, flags: .read)
      }
    }
    guard let interprocess else { return 0 }
    let sum = Sum()
    // The file shows the values of the reading thread's namespace, so that one visits the sandbox's, and ends there.
    let visitor = try? Worker {
      guard (try? Namespaces.join(interprocess, .ipc)) != nil,
        let file = try? Descriptor.open("/proc/sysvipc/shm", flags: .read), let text = try? file.readAll()
      else { return }
      for line in text.split(separator: UInt8(ascii: "\n")).dropFirst() {
        let fields = line.split(separator: UInt8(ascii: " ")).map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
        // rss and swap, in bytes.
        if fields.count > 15 { sum.value.withLock { $0 += fields[14] + fields[15] } }
      }
    }
    visitor?.finish()
    return sum.value.withLock { $0 }
  }

  private final class Sum: Sendable { let value = Mutex(0) }

  // MARK: One process

  /// The process, or one of its threads if the first has ended: that one has given its memory back, and says so.
  private func living<Result>(_ process: String, _ read: (String) -> Result?) -> Result? {
    if let found = read(process) { return found }
    for thread in listed("\(process)/task") where thread != process {
      if let found = read("\(process)/task/\(thread)") { return found }
    }
    return nil
  }

  /// Bytes of private memory: resident pages that are neither a file's nor shared.
  private func anonymous(_ process: String) -> Int {
    living(process) { path in
      guard let text = content("\(path)/statm") else { return nil }
      let fields = text.split(separator: UInt8(ascii: " "))
      guard fields.count > 2, let size = number(fields[0]), size > 0, let resident = number(fields[1]),
        let shared = number(fields[2])
      else { return nil }
      return max(0, resident - shared) * pageSize
    } ?? 0
  }

  private func cpuTime(_ process: String) -> Int64 {
    // The name stands in brackets and may hold anything. utime, stime, cutime and cstime are fields 14 to 17.
    guard let text = content("\(process)/stat"), let end = text.lastIndex(of: UInt8(ascii: ")")) else { return 0 }
    let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 15)
    guard fields.count > 14 else { return 0 }
    return fields[11...14].reduce(0) { $0 + Int64(number($1) ?? 0) } * nanosecondsPerTick
  }

  private func proportional(_ process: String) -> (anonymous: Int, mapped: Int)? {
    living(process) { path in
      guard let text = content("\(path)/smaps_rollup") else { return nil }
      var (anonymous, mapped, found) = (0, 0, false)
      for line in text.split(separator: UInt8(ascii: "\n")) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        guard words.count == 3, let kibibytes = number(words[1]) else { continue }
        switch String(decoding: words[0], as: UTF8.self) {
        case "Pss_Anon:":
          anonymous += kibibytes << 10
          found = true
        case "SwapPss:": anonymous += kibibytes << 10
        case "Pss_Shmem:": mapped += kibibytes << 10
        default: break
        }
      }
      return found ? (anonymous, mapped) : nil
    }
  }

  /// The space of files on the file system of a folder that have no name any more and are held open.
  ///
  /// - Returns: `isWhole` is `false` where the processes have more descriptors than could be looked at.
  package func deletedFiles(besides folder: Descriptor) -> (bytes: Int, files: Int, isWhole: Bool) {
    guard let device = try? folder.status().device else { return (0, 0, true) }
    var seen: Set<UInt64> = []
    var bytes = 0
    var isWhole = true
    left = mostDescriptors
    for process in listed("") where process != "1" {
      let isAll = eachUnnamed(process) { file in
        guard file.is_socket == 0, file.device == device, file.links == 0, seen.insert(file.inode).inserted else {
          return
        }
        bytes += Self.bytes(file)
      }
      if !isAll { isWhole = false }
    }
    return (bytes, seen.count, isWhole)
  }

  /// Visits the sockets that a process has open, and the files without a name; all files in memory (`memfd_create(2)`, shared
  /// mappings) are such. The others are not looked at: a file system may ask a server for them.
  ///
  /// - Returns: `false` if it has more descriptors than may still be looked at.
  private func eachUnnamed(_ process: String, _ visit: (ambit_open_file) -> Void) -> Bool {
    guard let table = try? Descriptor.open("\(process)/fd", below: processes, flags: [.read, .directory])
    else { return true }
    var scan = FolderScan(room: 16384)
    let isWhole = try? scan.eachPart(of: table) { entries in
      for entry in entries {
        guard left > 0 else { return false }
        left -= 1
        var file = ambit_open_file()
        if unsafe ambit_unnamed_file_of(table.rawValue, entry.name, &file) == 1 { visit(file) }
      }
      return true
    }
    // It may have ended meanwhile.
    return isWhole ?? true
  }

  private static func bytes(_ file: ambit_open_file) -> Int { Int(clamping: file.blocks) * 512 }

  /// The device that the kernel's own files in memory are on.
  private static let memoryDevice: UInt64? = try? MemoryFile.sealed("ambit", []).status().device

  // MARK: Reading

  /// The numbered entries of a folder: processes, threads.
  private func listed(_ path: String) -> [String] {
    guard let folder = try? Descriptor.open(path.isEmpty ? "." : path, below: processes, flags: [.read, .directory])
    else { return [] }
    return ((try? DirectoryReader.entries(of: folder)) ?? []).map(\.name).filter { name in
      name.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
  }

  private func content(_ path: String) -> ArraySlice<UInt8>? {
    guard let file = try? Descriptor.open(path, below: processes, flags: .read) else { return nil }
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file.rawValue, $0.baseAddress, $0.count) }
    return count > 0 ? buffer[..<count] : nil
  }

  private func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    var any = false
    for byte in digits where byte != UInt8(ascii: "\n") {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte, value < Int.max / 10 - 10 else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      any = true
    }
    return any ? value : nil
  }
}
