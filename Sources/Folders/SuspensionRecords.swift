package import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The launches that the user has suspended, for their launchers and for the next broker: a link for each, with the moment as its
/// text. The kernel alone does not tell a suspended app from one that a signal has stopped.
package struct SuspensionRecords {
  private let folder: String

  package init(_ folders: AmbitFolders) { folder = "\(folders.runtime)/suspended" }

  /// - Parameter since: nanoseconds since 1970.
  package func add(_ instance: String, since: Int64) throws(KernelError) {
    guard !instance.hasSlash else { throw KernelError("symlink", instance, errno: .invalidArgument) }
    if (try? Descriptor.open(folder, flags: [.path, .directory])) == nil {
      let runtime = try Descriptor.open(folder.parentPath ?? "", flags: [.path, .directory])
      try runtime.makeDirectory("suspended", mode: 0o700)
    }
    remove(instance)
    let path = "\(folder)/\(instance)"
    try KernelError.check("symlink", path) { unsafe symlink("\(since)", path) }
  }

  package func remove(_ instance: String) {
    guard !instance.hasSlash else { return }
    unsafe unlink("\(folder)/\(instance)")
  }

  /// - Returns: nanoseconds since 1970; `nil`: it is not suspended.
  package func since(_ instance: String) -> Int64? {
    guard !instance.hasSlash,
      let link = try? Descriptor.open("\(folder)/\(instance)", flags: [.path, .noFollow])
    else { return nil }
    return (try? link.linkText()).flatMap { Int64($0) }
  }
}
