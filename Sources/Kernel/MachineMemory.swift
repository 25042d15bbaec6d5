internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#endif

/// The machine's memory (`sysinfo(2)`), in bytes. One call, no file.
package struct MachineMemory: Equatable, Sendable {
  package var total: Int
  /// In files in memory, tmpfs and shared mappings, of all processes.
  package var shared: Int
  package var swapUsed: Int

  /// Now. Cannot fail with a valid address; zeros stand for a machine that does not say.
  package static var current: MachineMemory {
    var found = ambit_memory()
    guard unsafe ambit_machine_memory(&found) == 0 else { return MachineMemory(total: 0, shared: 0, swapUsed: 0) }
    return MachineMemory(
      total: Int(clamping: found.total), shared: Int(clamping: found.shared), swapUsed: Int(clamping: found.swap_used))
  }

  /// The memory that this machine has.
  package static var total: Int { current.total }

  /// Processors that are switched on.
  package static var processors: Int { max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN)))) }
}
