internal import Kernel
internal import Seccomp

/// The compiled filters of the standard profile, sealed: launchers get one each, and nobody can change it.
final class FilterStore {
  private let cache: SeccompCache
  private var filters: [Bool: Descriptor] = [:]

  /// - Parameter folder: where compiled filters outlive the broker.
  init(folder: String) { cache = SeccompCache(folder: folder) }

  func filter(network: Bool) throws(KernelError) -> Descriptor {
    if let filter = filters[network] { return filter }
    let program = try cache.program(for: .standard(network: network))
    let filter = try MemoryFile.sealed("ambit-filter", program.bytes)
    filters[network] = filter
    return filter
  }
}
