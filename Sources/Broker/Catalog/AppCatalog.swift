internal import BrokerCore
internal import Catalog
internal import Kernel
internal import Paths
internal import Query
internal import ScopedAccess

/// The broker's knowledge of one app's documents, while queries of that app run or may come again.
@BrokerLoop
final class AppCatalog {
  let app: String
  let table: CatalogTable
  /// `nil`: the app has no container.
  let files: LocalFiles?

  var listing: FolderListing

  // MARK: Granted documents

  struct External {
    /// Where it was found, and which file it is; `nil`: it is nowhere, or in the trash.
    var found: ExternalDocument?
    /// The path under which the catalog has it; `nil`: another grant of the same document stands for it.
    var listed: String?
    /// Its folder, and itself if it is a folder.
    var watches: [CatalogWatches.Role] = []
  }

  var externals: [String: External] = [:]
  /// Grants that have to be looked at.
  private(set) var dueGrants: [String] = []
  private var isDue: Set<String> = []
  /// Grants that are being searched for.
  var searching: Set<String> = []
  private(set) var references = ReferenceIndex()
  /// The grants of each document that was found.
  private var grantsOf: [FileIdentity: Set<String>] = [:]
  private var waits: [Wait<Void>] = []

  init(_ app: String, _ table: CatalogTable, _ files: LocalFiles?) {
    (self.app, self.table, self.files) = (app, table, files)
    listing = FolderListing(isWhole: files == nil)
  }

  /// Whether it has the container and the packages of a launch.
  func isOf(_ instance: Instance) -> Bool { files.map { $0.packages == instance.app.packages } ?? false }

  /// Nothing has to be read, and nothing looked at.
  var isSettled: Bool { listing.isSettled && dueGrants.isEmpty && searching.isEmpty }

  /// Whether what the catalog says of an item is of now.
  func knows(_ item: CatalogItem) -> Bool {
    guard let folder = item.folder else {
      return item.record.grant.flatMap { externals[$0]?.listed }.isSamePath(as: item.record.path)
    }
    return listing.isWhole || listing.begun.contains(PathKey(folder))
  }

  func lookAt(_ grants: some Sequence<String>) {
    for grant in grants where isDue.insert(grant).inserted { dueGrants.append(grant) }
  }

  func nextGrant() -> String? {
    guard !dueGrants.isEmpty else { return nil }
    let grant = dueGrants.removeFirst()
    isDue.remove(grant)
    return grant
  }

  /// A reference stands at a path, or none does any more.
  func setReference(_ path: String, _ grant: String?) {
    lookAt(references.set(path, grant).filter { externals[$0] != nil })
  }

  /// A folder was read, and these are all references in it.
  func keepReferences(_ found: Set<PathKey>, in folder: String) {
    for path in references.paths(in: folder).subtracting(found) { setReference(path.text, nil) }
  }

  /// The reference of a grant that comes first by its path.
  func reference(to grant: String) -> String? { references.first(of: grant) }

  /// A grant's document was found, or is nowhere.
  func setFound(_ grant: String, _ found: ExternalDocument?) {
    if let former = externals[grant]?.found?.identity {
      grantsOf[former]?.remove(grant)
      if grantsOf[former]?.isEmpty == true { grantsOf[former] = nil }
    }
    if let found { grantsOf[found.identity, default: []].insert(grant) }
    externals[grant]?.found = found
  }

  /// All grants of a document.
  func all(of identity: FileIdentity) -> [ExternalDocument] {
    (grantsOf[identity] ?? []).compactMap { externals[$0]?.found }
  }

  /// Whether one of the granted documents lies in these places, or around one of them.
  func hasFound(in places: [PathKey]) -> Bool {
    externals.values.contains { external in
      guard let path = external.found?.path.text else { return false }
      return places.contains { path.lies(within: $0.text) || $0.text.lies(within: path) }
    }
  }

  func whenSettled() -> Wait<Void> {
    let wait = Wait<Void>()
    waits.append(wait)
    settleWaits()
    return wait
  }

  func settleWaits() {
    guard !waits.isEmpty, isSettled else { return }
    endWaits()
  }

  func endWaits() {
    for wait in waits { wait.finish(()) }
    waits = []
  }

  /// A folder is at another place, with all that was known of it.
  func movedFolder(_ old: String, _ new: String) {
    listing.move(old, new)
    let (before, after) = (LocalFiles.path(old), LocalFiles.path(new))
    for (path, grant) in references.all {
      guard let rest = path.text.path(within: before), !rest.isEmpty else { continue }
      setReference(path.text, nil)
      setReference(after.path(of: rest), grant)
    }
  }
}
