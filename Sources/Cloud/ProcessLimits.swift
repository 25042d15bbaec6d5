#if canImport(Glibc)
  internal import Glibc
#endif

/// A server or a device has the descriptors of all contents that are on their way.
func raiseDescriptorLimit() {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
