#if canImport(Glibc)
  internal import Glibc
#endif

/// The state in which a process starts, as its starter has left it.
package enum StandardDescriptors {
  /// Puts `/dev/null` in the place of each of 0, 1 and 2 that is closed.
  ///
  /// Before anything else is opened: the next descriptor would take the number, and that file would become a standard input or
  /// output, such as an app's. Where that cannot be done the process ends, with status 125.
  package static func fill() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
      do throws(KernelError) {
        let null = try aside()
        guard dup2(null.rawValue, number) == number else { throw .last("dup2") }
      } catch {
        let sentence = Array(
          "ambit: descriptor \(number) is closed, and cannot be made to lead nowhere: \(error)\n".utf8)
        if number == 2 || fcntl(2, F_GETFD) != -1 { _ = unsafe write(2, sentence, sentence.count) }
        exit(125)
      }
    }
  }

  /// Opened, and moved away from the numbers that are to be filled. The first descriptor is closed when this returns.
  private static func aside() throws(KernelError) -> Descriptor {
    try DeviceNode.null.open([.readWrite]).duplicate()
  }

  /// Has the children of this process wait to be waited for.
  ///
  /// A process that ignores `SIGCHLD` passes that on through `execve(2)`, and the kernel then forgets children as they end: the
  /// init of a sandbox would wait for its app for ever (`signal(7)`, `wait(2)`).
  package static func keepChildren() { _ = signal(SIGCHLD, SIG_DFL) }
}
