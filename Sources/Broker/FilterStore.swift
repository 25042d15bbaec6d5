internal import Kernel
internal import Seccomp

/// The compiled filters of the standard profile, sealed: launchers get one each, and nobody can change it.
final class FilterStore {
  private let cache: SeccompCache
  private var filters: [Kind: Descriptor] = [:]

  struct Kind: Hashable {
    let network: Bool
    let execute: Bool
    let observed: Bool
  }

  /// - Parameter folder: where compiled filters outlive the broker.
  init(folder: String) { cache = SeccompCache(folder: folder) }

  func filter(_ kind: Kind) throws(KernelError) -> Descriptor {
    if let filter = filters[kind] { return filter }
    let standard = SeccompProfile.standard(network: kind.network, execute: kind.execute)
    let program = try cache.program(for: kind.observed ? standard.observed : standard)
    let filter = try MemoryFile.sealed("ambit-filter", program.bytes)
    filters[kind] = filter
    return filter
  }
}
