internal import Kernel
internal import SystemPackage

/// The files in a package, by their paths in it. From any thread.
struct PackageListing {
  private var paths: [String] = []
  private var left: Int
  /// Bytes of the paths: they go in one message.
  private var room = 2 << 20
  private let isWanted: () -> Bool

  /// Files, folders and links that a package has at most.
  static let most = 10_000
  private static let depth = 64

  private init(most: Int, while isWanted: @escaping () -> Bool) {
    left = most
    self.isWanted = isWanted
  }

  /// - Parameters:
  ///   - most: entries of all folders together.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Throws: `E2BIG` if there are too many.
  static func paths(
    in folder: Descriptor, most: Int = PackageListing.most, while isWanted: @escaping () -> Bool
  ) throws(KernelError) -> [String] {
    var listing = PackageListing(most: most, while: isWanted)
    try listing.add(folder, "", depth: depth)
    return listing.paths
  }

  private mutating func add(_ folder: Descriptor, _ prefix: String, depth: Int) throws(KernelError) {
    let entries = try DirectoryReader.entries(of: folder, limit: left + 1)
    for entry in entries.sorted(by: { $0.name < $1.name }) {
      guard isWanted() else { throw KernelError("open", entry.name, errno: .canceled) }
      guard left > 0, depth > 0 else { throw KernelError("open", entry.name, errno: .argListTooLong) }
      left -= 1
      let path = prefix.isEmpty ? entry.name : "\(prefix)/\(entry.name)"
      switch try folder.status(of: entry.name).kind {
      case .regular:
        room -= path.utf8.count
        guard room >= 0 else { throw KernelError("open", entry.name, errno: .argListTooLong) }
        paths.append(path)
      case .directory:
        let inner = try Descriptor.open(entry.name, below: folder, flags: [.read, .directory, .noFollow])
        try add(inner, path, depth: depth - 1)
      case .symlink, .other: break
      }
    }
  }
}
