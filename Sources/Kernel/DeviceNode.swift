package import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The devices that Ambit opens by name, or shows to apps.
///
/// Where `/dev` is not the system's own, anything may stand under such a name: a link to a file, which root would write to in the
/// place of `/dev/null`. So no link is followed at the end of the path, and the opened file has to be the device of that name.
package enum DeviceNode: String, CaseIterable, Sendable {
  case null, zero, full, random, urandom, tty

  package var path: String { "/dev/\(rawValue)" }

  /// Major and minor number (`devices.txt` of the kernel's documentation).
  package var number: (major: UInt32, minor: UInt32) {
    switch self {
    case .null: (1, 3)
    case .zero: (1, 5)
    case .full: (1, 7)
    case .random: (1, 8)
    case .urandom: (1, 9)
    case .tty: (5, 0)
    }
  }

  /// Whether an open file is this device.
  package func isOpen(as descriptor: Descriptor) throws(KernelError) -> Bool {
    try descriptor.status().characterDevice == UInt64(number.major) << 32 | UInt64(number.minor)
  }

  /// Opens it.
  ///
  /// - Parameter path: where it is looked for.
  /// - Throws: `ELOOP` for a link; `ENODEV` for anything else that is not this device.
  package func open(_ flags: OpenFlags, at path: String? = nil) throws(KernelError) -> Descriptor {
    let path = path ?? self.path
    // As a place first: to open another device for reading or writing may do something already.
    let place = try Descriptor.open(path, flags: .place)
    guard try place.status().kind != .symlink else { throw fault(path, .tooManySymbolicLinkLevels) }
    guard try isOpen(as: place) else { throw fault(path) }
    let device = try Descriptor.open(path, flags: flags.union([.noFollow, .noControllingTerminal]))
    guard try isOpen(as: device) else { throw fault(path) }
    return device
  }

  /// Says that something else stands there.
  package func fault(_ path: String, _ errno: Errno = Errno(rawValue: ENODEV)) -> KernelError {
    KernelError("open", "\(path), which should be the character device \(number.major):\(number.minor)", errno: errno)
  }
}
