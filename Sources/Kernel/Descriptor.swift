#if canImport(Glibc)
  internal import Glibc
#endif

/// An open file descriptor that is closed when its last reference goes away.
///
/// A class rather than a noncopyable struct: descriptors travel in arrays (`SCM_RIGHTS`, launch plans) and are shared
/// between a table and the call in progress, which noncopyable values cannot do. The missing compile-time proof of
/// single ownership is made up for by there being no way to close one early by accident.
package final class Descriptor: Sendable {
  /// The descriptor's number. Valid as long as this object lives; never close it directly.
  package let rawValue: Int32

  /// Takes ownership of an open descriptor.
  package init(owning rawValue: Int32) {
    precondition(rawValue >= 0, "a descriptor is not negative")
    self.rawValue = rawValue
  }

  deinit { _ = close(rawValue) }

  /// A second descriptor for the same open file description, close-on-exec (`fcntl(2)`, `F_DUPFD_CLOEXEC`).
  package func duplicate() throws(KernelError) -> Descriptor {
    Descriptor(
      owning: try KernelError.check("fcntl", "F_DUPFD_CLOEXEC, \(rawValue)") { fcntl(rawValue, F_DUPFD_CLOEXEC, 3) })
  }

  /// The number of a further descriptor for the same file, which the program that this process becomes will have too.
  ///
  /// It has no owner here: for the moment before ``ThisProcess/become(_:_:)``.
  package func inheritable() throws(KernelError) -> Int32 {
    try KernelError.check("fcntl", "F_DUPFD, \(rawValue)") { fcntl(rawValue, F_DUPFD, 3) }
  }
}
