internal import Kernel
internal import Paths

/// Varlink addresses (https://varlink.org/Address). Ambit's servers listen on Unix sockets with a path.
package enum WireAddress {
  /// The path in an address such as `unix:/run/ambit/broker`.
  package static func path(of address: String) throws(WireError) -> String {
    guard address.hasPrefix("unix:") else {
      throw .badAddress("the address “\(address)” is not of the form unix:/PATH")
    }
    // Options, for example `;mode=0600`, are for the listening process.
    let path = String(address.dropFirst("unix:".count).prefix { $0 != ";" })
    guard path.isAbsolutePath, !path.utf8.contains(0) else {
      throw .badAddress("the address “\(address)” is not of the form unix:/PATH, with an absolute path")
    }
    return path
  }

  static func connect(path: String) throws(KernelError) -> Descriptor { try UnixSocket.connect(path: path) }
}
