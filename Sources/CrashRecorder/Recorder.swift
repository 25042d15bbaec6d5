package import CrashStates
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// What a program did to the watched folders.
package struct Recording: Sendable {
  package let trace: Trace
  /// What the trace lacks, as sentences: the check is incomplete.
  package let gaps: [String]
  /// What it has less exactly.
  package let remarks: [String]
  /// Calls on watched files, those that failed included.
  package let calls: Int
  package let ending: Ending

  package enum Ending: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
    /// It was killed here, before a call.
    case killed
  }
}

/// Runs a program and writes down what it and its children do to folders (`ptrace(2)`).
///
/// A step is written down when its call has returned, so that it has happened; a sync counts from its beginning. Content comes from the
/// program's memory or from its own open files: to open a document here would break a lease that a program has on it.
package struct Recorder {
  package struct Options: Sendable {
    package var limits = RecordingLimits()
    /// Kills the program and its children before this call on a watched file, from 1 on.
    package var killBefore: Int?
    /// Its standard streams lead nowhere.
    package var isQuiet: Bool

    package init(limits: RecordingLimits = RecordingLimits(), killBefore: Int? = nil, isQuiet: Bool = false) {
      (self.limits, self.killBefore, self.isQuiet) = (limits, killBefore, isQuiet)
    }
  }

  /// The variable that has the number of a descriptor. A program that writes a line there acknowledges a save.
  package static let markVariable = "AMBIT_CRASHCHECK_ACK"
  /// The same by a line on standard output or standard error, which begins so.
  package static let markText = "ambit:ack"

  private let folders: [WatchedFolder]
  private let options: Options
  private let mark: Descriptor
  private let markKey: FileKey
  var state: RecorderState
  /// What is to be done when the call of a thread has returned.
  private var pending: [Int32: Completion] = [:]
  private var threads: Set<Int32> = []
  private var calls = 0
  private var ending: Recording.Ending?

  typealias Completion = (inout RecorderState, _ result: Int64) throws -> Void

  /// Records one run, on the calling thread.
  ///
  /// - Parameters:
  ///   - arguments: a program, looked for in `PATH`, and its arguments. It has this process's standard streams.
  ///   - environment: all of it.
  /// - Throws: `RecordingError`, or a `KernelError`, which names the program if that could not be started.
  package static func record(
    _ arguments: [String], environment: [String: String], watching folders: [WatchedFolder], _ options: Options
  ) throws -> Recording {
    guard TracedProgram.isPossible else {
      throw RecordingError("This machine's architecture is none whose system calls can be recorded; x86-64 is.")
    }
    var recorder = try Recorder(folders, options)
    return try recorder.run(arguments, environment)
  }

  private init(_ folders: [WatchedFolder], _ options: Options) throws {
    (self.folders, self.options) = (folders, options)
    mark = try Descriptor.markFile()
    markKey = FileKey(try mark.status())
    state = RecorderState(try FolderReader.read(folders, options.limits))
  }

  private mutating func run(_ arguments: [String], _ environment: [String: String]) throws -> Recording {
    let initial = state.tree
    let program: TracedProgram
    do throws(KernelError) {
      program = try TracedProgram(
        arguments, environment: environment.merging([Self.markVariable: "\(mark.rawValue)"]) { $1 }, kept: mark,
        endsWithTracer: options.killBefore != nil, isQuiet: options.isQuiet)
    } catch {
      guard error.errno == .notPermitted else { throw error }
      throw RecordingError(
        "This process may not trace a program (ptrace: \(error.errno.symbol)). A container needs the capability SYS_PTRACE, and "
          + "kernel.yama.ptrace_scope must be below 3.")
    }
    do { try follow(program) } catch {
      finish(program, killing: true)
      throw error
    }
    if let failure = program.startFailure() { throw KernelError("execve", arguments[0], errno: failure) }
    try state.noticeMappings(TracedThread(program.pid))
    if ending == .exit(0) { try state.add(.acknowledge("exit status 0"), TracedThread(program.pid)) }
    finish(program, killing: options.killBefore != nil)
    if ending != .killed {
      let different = state.tree.differences(from: try FolderReader.tree(of: folders, options.limits))
      if !different.isEmpty {
        state.lacks("The folder is another one than was recorded: \(different.map(\.shown).joined(separator: ", ")).")
      }
    }
    return Recording(
      trace: Trace(initial: initial, steps: state.steps), gaps: state.gaps, remarks: state.remarks, calls: calls,
      ending: ending ?? .killed)
  }

  /// Until the program itself has ended.
  private mutating func follow(_ program: borrowing TracedProgram) throws {
    while ending == nil {
      switch try program.next() {
      case .entry(let number, let call):
        threads.insert(number)
        pending[number] = nil
        if let call, try begin(call, TracedThread(number), program) {
          ending = .killed
          return
        }
        program.resume(number)
      case .exit(let number, let result):
        if let completion = pending.removeValue(forKey: number) { try completion(&state, result) }
        program.resume(number)
      case .end(let number, let status):
        threads.remove(number)
        pending[number] = nil
        guard number == program.pid else { continue }
        ending = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
      case .none: ending = .killed
      case .child(let child, let number):
        threads.formUnion([child, number])
        program.resume(number)
      case .program(let number):
        threads.insert(number)
        pending[number] = nil
        program.resume(number)
      case .signal(let number, let signal): program.resume(number, signal: signal)
      case .group(let number): program.listen(number)
      case .other(let number):
        threads.insert(number)
        program.resume(number)
      }
    }
  }

  /// - Returns: whether this is the call before which the program is killed.
  private mutating func begin(_ call: TracedCall, _ thread: TracedThread, _ program: borrowing TracedProgram) throws
    -> Bool
  {
    if let text = markedText(call, thread) {
      pending[thread.number] = { state, result in
        if result > 0 { try state.add(.acknowledge(text), thread) }
      }
      return false
    }
    try state.noticeMappings(thread)
    do throws(KernelError) {
      guard let completion = try self.completion(call, thread) else { return false }
      calls += 1
      if calls == options.killBefore { return true }
      pending[thread.number] = completion
    } catch {
      // A path that leads nowhere fails for the program as well. What else cannot be seen is found by the last comparison.
      return false
    }
    return false
  }

  /// The text by which a program acknowledges a save.
  private func markedText(_ call: TracedCall, _ thread: TracedThread) -> String? {
    guard call.kind == .write, let status = try? thread.status(of: call.file) else { return nil }
    let isMark = FileKey(status) == markKey
    guard isMark || call.file == 1 || call.file == 2, state.id(status) == nil else { return nil }
    guard let bytes = try? thread.memory(at: call.buffer, count: Int(clamping: min(call.count, 200))) else {
      return nil
    }
    var line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    if !isMark {
      guard line.hasPrefix(Self.markText) else { return nil }
      line = String(line.dropFirst(Self.markText.count).drop { $0 == " " })
    }
    return line.isEmpty ? "save" : line
  }

  /// Ends it, or lets the processes that are left go on without being followed.
  private mutating func finish(_ program: borrowing TracedProgram, killing: Bool) {
    if killing {
      for number in threads { program.kill(TracedThread(number).process ?? number) }
    } else {
      threads = threads.filter { program.interrupt($0) }
    }
    while killing || !threads.isEmpty {
      guard let stop = try? program.next() else { return }
      switch stop {
      case .none: return
      case .end(let number, _): threads.remove(number)
      case .child(let child, let number):
        if killing { program.kill(child) } else { threads.insert(child) }
        leave(program, number, killing)
      case .signal(let number, let signal):
        if killing { program.resume(number, signal: signal) } else { leave(program, number, killing, signal: signal) }
      case .entry(let number, _), .exit(let number, _), .program(let number), .group(let number), .other(let number):
        leave(program, number, killing)
      }
    }
  }

  private mutating func leave(_ program: borrowing TracedProgram, _ number: Int32, _ killing: Bool, signal: Int32 = 0) {
    if killing {
      program.kill(TracedThread(number).process ?? number)
      program.resume(number)
    } else {
      program.release(number, signal: signal)
      threads.remove(number)
    }
  }
}
