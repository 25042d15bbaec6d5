internal import CLinux
internal import SystemPackage

/// A command that is run to its end, with its output kept.
package struct CapturedCommand: Sendable {
  /// The exit status as shells have it: 128+n for a signal.
  package let status: Int32
  package let output: [UInt8]
  package let errors: [UInt8]

  /// Runs it in a session of its own, without input. Its program is looked for in `PATH`.
  ///
  /// - Parameters:
  ///   - environment: all of it.
  ///   - most: bytes of output.
  /// - Throws: `ETIMEDOUT` or `EFBIG` if it had to be killed for its time or its output.
  package init(
    _ arguments: [String], environment: [String: String], in folder: String, patience: Duration, most: Int
  ) throws(KernelError) {
    let (output, errors) = (try MemoryFile.make("output"), try MemoryFile.make("errors"))
    let memory = LaunchMemory()
    let status = try KernelError.checkNegative("posix_spawn", arguments.first ?? "") {
      unsafe ambit_run_captured(
        memory.argv(arguments), memory.argv(environment.map { "\($0.key)=\($0.value)" }.sorted()), folder.kernel,
        output.rawValue, errors.rawValue, Int32(clamping: patience.components.seconds * 1000), Int64(most))
    }
    withExtendedLifetime(memory) {}
    let signal = status & 0x7F
    self.status = signal == 0 ? status >> 8 & 0xFF : 128 + signal
    self.output = try MemoryFile.content(of: output)
    self.errors = try MemoryFile.content(of: errors)
  }
}
