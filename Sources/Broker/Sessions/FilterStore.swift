internal import Kernel
package import Policy
package import Seccomp

/// Compiled filters, sealed: launchers get one each, and no process can change it.
final class FilterStore {
  private let cache: SeccompCache
  private var filters: [Kind: Descriptor] = [:]

  /// - Parameter folder: where compiled filters outlive the broker.
  init(folder: String) { cache = SeccompCache(folder: folder) }

  /// The facts that a filter depends on.
  private struct Kind: Hashable {
    let network: Bool
    let execute: Bool
    let observe: Bool
  }

  /// The filters of a launch, in the order in which they are loaded: Ambit's own, and behind it those of
  /// other authors' profiles.
  func filters(for capabilities: Capabilities) throws -> [Descriptor] {
    let own = try filter(for: capabilities)
    // Read anew for each launch: they are the user's own files or the machine's, and small.
    return try [own]
      + capabilities.foreignSeccomp.map { try MemoryFile.sealed("ambit-profile", try $0.program(cache).bytes) }
  }

  private func filter(for capabilities: Capabilities) throws(KernelError) -> Descriptor {
    let kind = Kind(
      network: capabilities.hasInternetSockets, execute: capabilities.execute, observe: capabilities.observe)
    if let filter = filters[kind] { return filter }
    let program = try cache.program(for: capabilities.seccomp)
    let filter = try MemoryFile.sealed("ambit-filter", program.bytes)
    filters[kind] = filter
    return filter
  }
}

extension Capabilities {
  /// Ambit's own filter that an app runs under.
  package var seccomp: SeccompProfile {
    let standard = SeccompProfile.standard(network: hasInternetSockets, execute: execute)
    return observe ? standard.observed : standard
  }
}
