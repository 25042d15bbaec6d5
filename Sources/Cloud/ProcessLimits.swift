internal import CSync
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

extension Descriptor {
  /// Waits until everything on the file system of the file is on the disk (`syncfs(2)`).
  func synchronizeFileSystem() throws(KernelError) {
    try KernelError.checkNegative("syncfs", "descriptor \(rawValue)") { ambit_sync_file_system(rawValue) }
  }
}

/// A server has the descriptors of all contents that are on their way.
func raiseDescriptorLimit() {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
