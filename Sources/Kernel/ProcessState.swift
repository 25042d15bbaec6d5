internal import SystemPackage

/// The state of another process (`proc_pid_stat(5)`).
package enum ProcessState: Equatable, Sendable {
  case running
  /// It waits for something to happen.
  case sleeping
  /// It waits for a disk or another device, and no signal reaches it.
  case waitingForDevice
  /// A signal has stopped it, or a debugger holds it.
  case stopped
  case ended

  /// For people: the state in a word.
  package var word: String {
    switch self {
    case .running: "at work"
    case .sleeping: "waiting for something"
    case .waitingForDevice: "waiting for a disk or another device"
    case .stopped: "stopped"
    case .ended: "ended"
    }
  }

  /// - Parameter text: `/proc/PID/stat`.
  init?(_ text: [UInt8]) {
    // The second field is the program's name in brackets, and may hold anything.
    guard let end = text.lastIndex(of: UInt8(ascii: ")")), end + 2 < text.count else { return nil }
    self.init(letter: text[end + 2])
  }

  /// - Parameter letter: as the kernel abbreviates the state.
  init?(letter: UInt8) {
    switch letter {
    case UInt8(ascii: "R"): self = .running
    case UInt8(ascii: "S"), UInt8(ascii: "I"): self = .sleeping
    case UInt8(ascii: "D"): self = .waitingForDevice
    case UInt8(ascii: "T"), UInt8(ascii: "t"): self = .stopped
    case UInt8(ascii: "Z"), UInt8(ascii: "X"): self = .ended
    default: return nil
    }
  }

  /// - Returns: `nil` if it cannot be told.
  package static func of(_ process: Int32) -> ProcessState? {
    do throws(KernelError) {
      return ProcessState(try Descriptor.open("/proc/\(process)/stat", flags: .read).readAll(limit: 4096))
    } catch { return error.errno == .noSuchFileOrDirectory ? .ended : nil }
  }

  /// The same of a process in another `/proc`.
  package static func of(_ process: Int32, in processes: Descriptor) -> ProcessState? {
    do throws(KernelError) {
      return ProcessState(try Descriptor.open("\(process)/stat", below: processes, flags: .read).readAll(limit: 4096))
    } catch { return error.errno == .noSuchFileOrDirectory ? .ended : nil }
  }
}
