internal import Foundation
internal import Kernel
package import ScopedAccess

#if canImport(Glibc)
  internal import Glibc
#endif

/// How an app comes to the documents in a folder, found out by trying. Nothing is changed.
package struct DocumentFolder: Equatable, Sendable {
  package let path: String
  /// The folder's file system, as `mount(8)` calls it.
  package let fileSystem: String
  /// `nil` if the folder cannot be opened or shown.
  package let method: AccessMethod?
  /// Why not.
  package let failure: String

  package init(path: String, fileSystem: String, method: AccessMethod?, failure: String = "") {
    (self.path, self.fileSystem, self.method, self.failure) = (path, fileSystem, method, failure)
  }

  /// Of root's apps each has a host id of its own; no file belongs to this one.
  private static let someApp: UInt32 = 0x7000_0000

  /// Tries it with a folder, for a grant to read and write.
  package init(_ path: String) {
    let hostID = Namespaces.isHostRoot ? Self.someApp : nil
    let full = URL(fileURLWithPath: path).path
    let kind = MountTable.covering(
      URL(fileURLWithPath: path).resolvingSymlinksInPath().path, in: MountTable.entries())?.fileSystem
    do {
      let folder = try Descriptor.open(path, flags: [.path, .directory])
      let method = try AccessMethod(trying: folder, isFolder: true, .readWrite, hostID: hostID)
      self.init(path: full, fileSystem: kind ?? "unknown file system", method: method)
    } catch {
      self.init(path: full, fileSystem: kind ?? "unknown file system", method: nil, failure: "\(error)")
    }
  }

  /// The loss for an app with a host id of its own; `nil`: none, also for an ordinary user.
  var cost: String? { Namespaces.isHostRoot ? method?.cost : nil }
}
