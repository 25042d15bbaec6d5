internal import CLinux

package enum Service {
  /// Starts a program that outlives this one: in a session of its own, with `/dev/null` as input and output.
  ///
  /// - Parameters:
  ///   - log: its standard error.
  ///   - ready: its descriptor 3.
  package static func start(
    _ program: String, arguments: [String], environment: [String: String], log: Descriptor, ready: Descriptor
  ) throws(KernelError) -> Int32 {
    let null = try DeviceNode.null.open([.readWrite])
    let memory = LaunchMemory()
    let argv = unsafe memory.mutableArgv(arguments)
    let envp = unsafe memory.mutableArgv(environment.map { "\($0.key)=\($0.value)" })
    let pid = try KernelError.checkNegative("posix_spawn", program) {
      unsafe ambit_spawn_service(program, argv, envp, null.rawValue, log.rawValue, ready.rawValue)
    }
    withExtendedLifetime(memory) {}
    return pid
  }
}

extension Poll {
  /// A descriptor that is readable while any of these is.
  package static func any(of descriptors: [Descriptor]) throws(KernelError) -> Descriptor {
    let raw = descriptors.map(\.rawValue)
    return Descriptor(
      owning: try KernelError.checkNegative("epoll_ctl") { unsafe ambit_any_readable(raw, raw.count) })
  }
}
