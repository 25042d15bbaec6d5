#if canImport(Glibc)
  internal import Glibc
#endif

package enum StandardDescriptors {
  /// Puts `/dev/null` in the place of each of 0, 1 and 2 that is closed.
  ///
  /// Before anything else is opened: the next descriptor would take the number, and what is meant for somebody's standard
  /// input or output, such as an app's, would be that file.
  package static func fill() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
      // The lowest free number, which is this one: those below are open by now.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }
}
