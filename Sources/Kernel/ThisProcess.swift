internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// This process's arguments and environment, for programs that do without Foundation.
package enum ThisProcess {
  /// Its arguments, its own name first. `CommandLine` repairs texts that are not UTF-8, and a path then leads nowhere.
  package static var arguments: [String] {
    (0..<Int(CommandLine.argc)).compactMap { index in
      unsafe CommandLine.unsafeArgv[index].map { unsafe String(kernel: UnsafePointer($0)) }
    }
  }

  /// The environment as it is now. Of a name that occurs twice the first counts, as it does for `getenv(3)`.
  package static var environment: [String: String] {
    var result: [String: String] = [:]
    result.reserveCapacity(64)
    var next = unsafe ambit_environment()
    while let entry = unsafe next?.pointee {
      // By bytes: to look for a character is to look for where each of them ends.
      if let equals = unsafe strchr(entry, 0x3D) {
        let name = unsafe String(
          decoding: UnsafeRawBufferPointer(start: entry, count: equals - entry), as: UTF8.self)
        if result[name] == nil { result[name] = unsafe String(kernel: UnsafePointer(equals + 1)) }
      }
      unsafe next = next?.advanced(by: 1)
    }
    return result
  }

  /// Its number (`getpid(2)`).
  package static var number: Int { Int(getpid()) }

  /// The current folder; `/` if it is not known any more.
  package static var directory: String {
    guard let text = unsafe getcwd(nil, 0) else { return "/" }
    defer { unsafe free(text) }
    return unsafe String(kernel: UnsafePointer(text))
  }

  /// Where this process's own program lies, links resolved.
  package static var program: String? {
    try? Descriptor.open("/proc/self/exe", flags: [.path, .noFollow]).linkText()
  }

  /// Becomes another program (`execve(2)`), with the environment that this process has.
  ///
  /// - Returns: only if that failed.
  package static func become(_ program: String, _ arguments: [String]) -> KernelError {
    let memory = LaunchMemory()
    _ = unsafe execv(program, memory.argv(arguments))
    let error = KernelError.last("execve", program)
    withExtendedLifetime(memory) {}
    return error
  }

  /// Starts another program beside this one, with the environment and the open descriptors that this process has and that are
  /// meant to be inherited (`posix_spawn(3)`).
  package static func start(_ program: String, _ arguments: [String]) throws(KernelError) -> Int32 {
    let memory = LaunchMemory()
    var child: pid_t = 0
    let result = unsafe posix_spawn(
      &child, program, nil, nil, memory.mutableArgv(arguments), ambit_environment())
    withExtendedLifetime(memory) {}
    if result != 0 { throw KernelError("posix_spawn", program, errno: Errno(rawValue: result)) }
    return child
  }

  /// Waits until a child has ended.
  ///
  /// - Returns: its status as in `waitpid(2)`.
  package static func wait(_ child: Int32) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) == -1, Glibc.errno == EINTR {}
    return status
  }
}
