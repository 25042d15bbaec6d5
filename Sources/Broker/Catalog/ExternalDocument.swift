internal import BrokerCore
internal import Catalog
internal import Folders
internal import Kernel
internal import Paths
internal import Query
internal import ScopedAccess

/// A granted document as it was found on the host.
struct ExternalDocument {
  let grant: Grant
  let identity: FileIdentity
  /// On the host.
  let path: PathKey
  let status: FileStatus

  /// - Returns: `nil`: no path leads to it.
  init?(_ grant: Grant, _ document: FoundDocument) {
    guard let path = document.path ?? document.descriptor.currentPath, let status = try? document.descriptor.status(),
      status.links > 0
    else { return nil }
    (self.grant, identity, self.path, self.status) = (grant, document.identity, PathKey(path), status)
  }

  /// Which of several grants of one document stands for it in queries: one for every launch, then one for writing, then the oldest.
  func goesBefore(_ other: ExternalDocument) -> Bool {
    func rank(_ grant: Grant) -> (Int, Int, Int64, String) {
      (grant.term.launch == nil ? 0 : 1, grant.rights == .readWrite ? 0 : 1, grant.created, grant.id)
    }
    return rank(grant) < rank(other.grant)
  }

  /// - Parameters:
  ///   - container: the name of the app whose container it lies in.
  ///   - reference: as the app sees it.
  ///   - isHere: its content is on this machine.
  func item(container: String?, reference: String?, isHere: Bool) -> CatalogItem {
    let kind: MetadataRecord.Kind =
      switch grant.kind {
      case .file: .file
      case .folder: .folder
      case .package: .package
      }
    return CatalogItem(
      record: MetadataRecord(
        isExternal: true, path: ScopeMounts.path(grant: grant.id, name: Grant.name(inside: path.text)), kind: kind,
        size: kind == .file ? Int64(clamping: status.size) : nil, created: status.birth == 0 ? nil : status.birth,
        modified: status.modified, isWritable: grant.rights == .readWrite, isHere: isHere, container: container,
        reference: reference,
        grant: grant.id),
      folder: nil, launch: grant.term.launch,
      stamp: CatalogStamp(device: status.device, inode: status.inode, changed: status.changed))
  }
}
