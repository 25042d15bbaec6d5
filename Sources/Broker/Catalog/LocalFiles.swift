internal import Catalog
internal import Folders
internal import Kernel
internal import Paths
internal import Query
internal import ScopedAccess
internal import SystemPackage

/// An app's own documents: its container's `Documents`, which the app may have filled with anything. Every step is by descriptor and
/// follows no link.
struct LocalFiles: Sendable {
  let app: String
  /// The app's name, for people.
  let name: String
  let container: Descriptor
  let packages: PackageTypes
  let key: SealingKey

  /// A place in `Documents`.
  enum Found {
    case item(CatalogItem)
    /// A reference, and the grant that it leads to.
    case reference(String)
    case nothing
  }

  /// `Documents`, as the app sees it.
  static let root = ScopeMounts.home.path(of: folder)
  static let folder = "Documents"
  private static let resolve: Resolve = [.beneath, .noSymlinks, .sameMount]
  /// Entries of a package that are looked at for its size and date.
  private static let mostInPackage = 1024
  static let mostDepth = 32

  static func path(_ folder: String) -> String { folder.isEmpty ? root : root.path(of: folder) }
  static func path(_ folder: String, _ name: String) -> String { path(folder).path(of: name) }
  static func inner(_ folder: String, _ name: String) -> String { folder.isEmpty ? name : folder.path(of: name) }

  /// The folder and the name of a place in `Documents`.
  static func split(_ path: String) -> (folder: String, name: String) {
    path.parentPath.map { ($0, path.lastPathName) } ?? ("", path)
  }

  /// - Parameter folder: from `Documents` on.
  func open(_ folder: String) -> Descriptor? { (try? opened(folder)) ?? nil }

  /// - Returns: `nil`: there is no such folder.
  /// - Throws: where it cannot be read now.
  func opened(_ folder: String) throws(KernelError) -> Descriptor? {
    let path = folder.isEmpty ? Self.folder : Self.folder.path(of: folder)
    do throws(KernelError) {
      return try Descriptor.open(
        path, below: container, flags: [.read, .directory, .noFollow, .nonBlocking], resolve: Self.resolve)
    } catch {
      let isGone = [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .improperLink]
        .contains(error.errno)
      if isGone { return nil }
      throw error
    }
  }

  /// Names that queries do not show: hidden ones, and those that no text of an app's leads to.
  static func isShown(_ name: String) -> Bool {
    !name.isHiddenName && name.repaired.isSamePath(as: name)
  }

  func isPackage(_ name: String) -> Bool { packages.isPackage(name) }

  /// Looks at one place.
  func look(at name: String, in folder: Descriptor, _ path: String) -> Found {
    guard Self.isShown(name),
      let file = try? Descriptor.open(name, below: folder, flags: .place, resolve: Self.resolve),
      let status = try? file.status()
    else { return .nothing }
    switch status.kind {
    case .regular:
      if name.hasSuffix(".\(ReferenceFiles.referenceExtension)"),
        let grant = ReferenceFiles.grant(ofReference: name, in: folder, app: app, key)
      {
        return .reference(grant)
      }
      return .item(item(name, path, .file, status, size: Int64(clamping: status.size)))
    case .directory:
      guard isPackage(name) else { return .item(item(name, path, .folder, status, size: nil)) }
      var (size, modified) = (Int64(0), status.modified)
      if let inside = try? Descriptor.open(
        name, below: folder, flags: [.read, .directory, .noFollow, .nonBlocking], resolve: Self.resolve)
      {
        var walk = ContainerWalk(budget: Self.mostInPackage)
        _ = walk.run(from: inside) { folder, entry in
          guard let found = try? Descriptor.open(entry.name, below: folder, flags: .place).status() else { return }
          // Sparse files have any size.
          size += min(Int64(clamping: found.size), .max - size)
          modified = max(modified, found.modified)
        }
      }
      var package = item(name, path, .package, status, size: size)
      package.record.modified = modified
      package.stamp.changed = max(package.stamp.changed, modified)
      return .item(package)
    default: return .nothing
    }
  }

  private func item(
    _ name: String, _ folder: String, _ kind: MetadataRecord.Kind, _ status: FileStatus, size: Int64?
  ) -> CatalogItem {
    CatalogItem(
      record: MetadataRecord(
        path: Self.path(folder, name), kind: kind, size: size, created: status.birth == 0 ? nil : status.birth,
        modified: status.modified, isWritable: status.mode & 0o200 != 0, container: self.name),
      folder: folder, stamp: CatalogStamp(device: status.device, inode: status.inode, changed: status.changed))
  }
}
