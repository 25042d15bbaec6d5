internal import CLinux
package import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A program that is followed call by call, with all its threads and children (`ptrace(2)`).
///
/// Everything about it is done by the thread that has started it: so the kernel wants it.
package struct TracedProgram: ~Copyable {
  package let pid: Int32
  /// Has an errno in it if the program could not be started.
  private let failure: Descriptor

  /// Whether the calls of this machine's architecture are understood.
  package static var isPossible: Bool { ambit_trace_is_possible() == 1 }

  /// Starts a program, which is looked for in `PATH`.
  ///
  /// - Parameters:
  ///   - kept: a descriptor that the program gets under the same number.
  ///   - endsWithTracer: if this thread ends, all of the program does.
  ///   - isQuiet: its standard streams are `/dev/null`.
  /// - Throws: `EPERM` where this process may trace none.
  package init(
    _ arguments: [String], environment: [String: String], kept: Descriptor?, endsWithTracer: Bool, isQuiet: Bool = false
  ) throws(KernelError) {
    let memory = LaunchMemory()
    var failure: Int32 = -1
    pid = try KernelError.checkNegative("ptrace", arguments.first ?? "") {
      unsafe ambit_trace_start(
        memory.argv(arguments), memory.argv(environment.map { "\($0.key)=\($0.value)" }.sorted()), kept?.rawValue ?? -1,
        endsWithTracer ? 1 : 0, isQuiet ? 1 : 0, &failure)
    }
    withExtendedLifetime(memory) {}
    self.failure = Descriptor(owning: failure)
  }

  /// The reason why the program could not be started, once it has ended.
  package func startFailure() -> Errno? {
    var code: Int32 = 0
    let got = unsafe read(failure.rawValue, &code, MemoryLayout<Int32>.size)
    return got == MemoryLayout<Int32>.size ? Errno(rawValue: code) : nil
  }

  package enum Stop: Sendable {
    /// A thread is about to make a call; `nil`: one that changes no file.
    case entry(Int32, TracedCall?)
    /// It has made the call: the result is a value, or `-errno`.
    case exit(Int32, Int64)
    case child(Int32, of: Int32)
    /// It has become another program.
    case program(Int32)
    case signal(Int32, Int32)
    case group(Int32)
    case other(Int32)
    /// It has ended, with a status as in `waitpid(2)`.
    case end(Int32, Int32)
    /// No thread is left.
    case none
  }

  /// Waits for the next stop of any of the threads.
  package borrowing func next() throws(KernelError) -> Stop {
    var stop = ambit_trace_stop()
    try KernelError.checkNegative("waitpid", "a traced program") { unsafe ambit_trace_wait(&stop) }
    let thread = stop.thread
    switch UInt32(bitPattern: stop.kind) {
    case AMBIT_TRACE_ENTRY.rawValue: return .entry(thread, TracedCall(stop.call))
    case AMBIT_TRACE_EXIT.rawValue: return .exit(thread, stop.value)
    case AMBIT_TRACE_CHILD.rawValue: return .child(Int32(truncatingIfNeeded: stop.value), of: thread)
    case AMBIT_TRACE_PROGRAM.rawValue: return .program(thread)
    case AMBIT_TRACE_SIGNAL.rawValue: return .signal(thread, Int32(truncatingIfNeeded: stop.value))
    case AMBIT_TRACE_GROUP.rawValue: return .group(thread)
    case AMBIT_TRACE_END.rawValue: return .end(thread, Int32(truncatingIfNeeded: stop.value))
    case AMBIT_TRACE_NONE.rawValue: return .none
    default: return .other(thread)
    }
  }

  // A thread that was killed meanwhile cannot be told anything; its end comes as a stop.

  /// Lets a stopped thread go on to its next call.
  package borrowing func resume(_ thread: Int32, signal: Int32 = 0) { _ = ambit_trace_resume(thread, signal) }

  /// Leaves a thread stopped, as its user wants it.
  package borrowing func listen(_ thread: Int32) { _ = ambit_trace_listen(thread) }

  /// Stops a running thread, so that it can be released.
  ///
  /// - Returns: `false` if there is no such thread any more.
  package borrowing func interrupt(_ thread: Int32) -> Bool { ambit_trace_interrupt(thread) == 0 }

  /// Lets a stopped thread go on without being followed.
  package borrowing func release(_ thread: Int32, signal: Int32 = 0) { _ = ambit_trace_release(thread, signal) }

  /// Ends a process at once, whatever it is at. A call that it is about to make is not made.
  package borrowing func kill(_ process: Int32) { _ = Glibc.kill(process, SIGKILL) }
}

/// A call that changes files. Variants of one call have one form here.
package struct TracedCall: Sendable {
  package enum Kind: Int32, Sendable {
    case open = 1, write, writeVector, resize, rename, link, symlink, unlink, makeFolder, makeNode, allocate, copy,
      clone, sync,
      syncAll, map, syncMap, ring
  }

  /// A path in the other process's memory, from one of its folders.
  package struct Path: Sendable {
    package let folder: Int32
    /// 0: there is none.
    package let address: UInt64
  }

  package let kind: Kind
  /// The descriptor of the changed file, or -1.
  package let file: Int32
  /// The descriptor that is read from, or -1.
  package let source: Int32
  package let first: Path
  package let second: Path
  package let buffer: UInt64
  package let count: UInt64
  /// Bytes; -1: the file's own position.
  package let offset: Int64
  package let flags: UInt64

  fileprivate init?(_ call: ambit_traced_call) {
    guard let kind = Kind(rawValue: call.kind) else { return nil }
    self.kind = kind
    (file, source) = (call.file, call.second_file)
    first = Path(folder: call.first_folder, address: call.first_path)
    second = Path(folder: call.second_folder, address: call.second_path)
    (buffer, count, offset, flags) = (call.buffer, call.count, call.offset, call.flags)
  }
}

/// A thread of another program, to be looked at while it is stopped.
package struct TracedThread: Sendable {
  package let number: Int32
  package init(_ number: Int32) { self.number = number }

  /// Its folder of `/proc`, as this process sees it.
  package var folder: String { "/proc/\(number)" }

  /// Some of its memory; fewer bytes where no more is there.
  package func memory(at address: UInt64, count: Int) throws(KernelError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = try KernelError.checkNegative("process_vm_readv", "thread \(number)") {
        unsafe bytes.withUnsafeMutableBytes {
          unsafe ambit_read_memory(
            number, address + UInt64(done), $0.baseAddress.map { unsafe $0 + done }, count - done)
        }
      }
      if got == 0 { break }
      done += got
    }
    bytes.removeLast(count - done)
    return bytes
  }

  /// A path in its memory.
  package func text(at address: UInt64) throws(KernelError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = try KernelError.checkNegative("process_vm_readv", "a path of thread \(number)") {
      unsafe buffer.withUnsafeMutableBufferPointer { unsafe ambit_read_text(number, address, $0.baseAddress, $0.count) }
    }
    return String(kernel: buffer[..<length].map { UInt8(bitPattern: $0) })
  }

  /// The file that it has open under a number. Nothing is opened for that.
  package func status(of file: Int32) throws(KernelError) -> FileStatus {
    var found = ambit_stat()
    try KernelError.checkNegative("stat", "\(folder)/fd/\(file)") {
      unsafe ambit_traced_status(number, file, &found)
    }
    return FileStatus(traced: found)
  }

  /// The position and the flags of an open file (`/proc/PID/fdinfo`).
  package func opening(of file: Int32) throws(KernelError) -> (position: Int64, flags: UInt64) {
    let text = String(
      decoding: try Descriptor.open("\(folder)/fdinfo/\(file)", flags: .read).readAll(limit: 4096), as: UTF8.self)
    var (position, flags): (Int64, UInt64) = (0, 0)
    for line in text.split(separator: "\n") {
      let value = line.split(separator: ":").last.map { $0.drop { $0 == "\t" || $0 == " " } } ?? ""
      if line.hasPrefix("pos:") { position = Int64(value) ?? 0 }
      if line.hasPrefix("flags:") { flags = UInt64(value, radix: 8) ?? 0 }
    }
    return (position, flags)
  }

  /// Its program's name, as the kernel has it.
  package var program: String {
    guard let file = try? Descriptor.open("\(folder)/comm", flags: .read), let bytes = try? file.readAll(limit: 64)
    else { return "" }
    return String(kernel: bytes.prefix { $0 != UInt8(ascii: "\n") })
  }

  /// The number of the process that it belongs to.
  package var process: Int32? {
    guard let file = try? Descriptor.open("\(folder)/status", flags: .read), let bytes = try? file.readAll(limit: 8192)
    else {
      return nil
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.split(separator: "\n").first { $0.hasPrefix("Tgid:") }.flatMap {
      Int32($0.dropFirst(5).drop { $0 == "\t" })
    }
  }

  /// The same open file as the thread has (`pidfd_getfd(2)`), so that no lease on it is broken.
  package func descriptor(_ file: Int32) throws(KernelError) -> Descriptor {
    let process = Descriptor(
      owning: try KernelError.checkNegative("pidfd_open", "\(number)") { ambit_pidfd_thread(number) })
    return Descriptor(
      owning: try KernelError.checkNegative("pidfd_getfd", "\(file)") { ambit_pidfd_getfd(process.rawValue, file) })
  }
}

extension FileStatus {
  fileprivate init(traced found: ambit_stat) {
    self.init(
      inode: found.inode, device: found.device, size: found.size, links: found.links, mode: found.mode,
      userID: found.uid,
      groupID: found.gid, birth: 0, modified: 0, changed: 0, mount: nil, characterDevice: nil)
  }
}

extension Descriptor {
  /// Whether it lies in procfs, where links lead elsewhere than their texts say.
  package var isProcfs: Bool { ambit_is_procfs(rawValue) == 1 }

  /// A file to tell a tracer things by: a program that inherits it writes to it.
  package static func markFile() throws(KernelError) -> Descriptor {
    Descriptor(owning: try KernelError.checkNegative("memfd_create", "crashcheck") { ambit_mark_file() })
  }
}
