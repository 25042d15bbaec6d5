package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Which way led to a document; part of every resolution's audit record.
package enum FindMethod: String, Sendable {
  /// Where it was last seen.
  case lastPlace
  /// The descriptor that the broker kept open.
  case pinned
  /// Its kernel handle.
  case handle
  /// The folder that it was last seen in, wherever that is now.
  case folder
  /// The folder that it was last seen in, under another name.
  case siblings
  /// A search from there outwards.
  case search
}

/// Finds a document by its identity, after any rename or move within its file system (`BMK-1`).
///
/// The path is evidence, never proof: whatever a path leads to is compared with the identity before it is believed.
/// With `CAP_DAC_READ_SEARCH` the kernel opens the handle, in the same time whatever the size of the tree. Without it
/// handles can only be compared, so the candidates come from the last place, the descriptor kept since, the last
/// folder's other entries, and a bounded search.
package struct DocumentFinder: Sendable {
  /// Entries that a search may look at before it gives up.
  private let searchBudget: Int
  private let privileged: Bool

  /// - Parameter privileged: whether the kernel may be asked to open handles; `nil` looks at who this process is.
  package init(searchBudget: Int = 400_000, privileged: Bool? = nil) {
    self.searchBudget = searchBudget
    self.privileged = privileged ?? (geteuid() == 0)
  }

  /// - Parameters:
  ///   - path: where it was last seen, absolute.
  ///   - place: the folder and the name of it, if they were recorded.
  ///   - pinned: a descriptor kept open since, if there is one.
  /// - Returns: `nil` if it is nowhere to be found. Deleted counts as not found, even while it is still open somewhere.
  package func find(
    _ identity: FileIdentity, lastSeenAt path: String, place: Place? = nil, pinned: Descriptor?
  ) -> (document: FoundDocument, by: FindMethod)? {
    if let document = candidate(path, below: nil, identity) { return (document, .lastPlace) }
    if let pinned, let document = try? FoundDocument(pinned), document.identity == identity {
      // While it is open its number is nobody else's: without a name it is gone, and no search finds it.
      return Self.isLinked(pinned) ? (withPath(document, place, path), .pinned) : nil
    }
    if privileged {
      do throws(KernelError) {
        return try byHandle(identity, near: path).map { (withPath($0, place, path), .handle) }
      } catch {
        // Handles of this file system can be compared alone, as without privilege.
      }
    }
    var search = DocumentSearch(finder: self, identity: identity, budget: searchBudget)
    return search.run(from: path)
  }

  /// Finds something in an open folder, and nowhere else.
  ///
  /// - Parameter path: where it was last seen in the folder.
  /// - Returns: where it is in the folder now.
  package func find(
    _ identity: FileIdentity, under folder: Descriptor, at path: String
  ) -> (path: String, document: FoundDocument)? {
    if let document = candidate(path, below: folder, identity) { return (path, document) }
    var search = DocumentSearch(finder: self, identity: identity, budget: searchBudget)
    guard let document = search.run(in: folder), let here = folder.currentPath, let there = document.path,
      there.hasPrefix(here == "/" ? here : here + "/")
    else { return nil }
    return (String(there.dropFirst(here == "/" ? 1 : here.count + 1)), document)
  }

  /// What stands under the last name in the last folder, for ``ReplacementRule``: nothing is followed on the way.
  ///
  /// - Returns: `nil` if nothing stands there. The document is `nil` where the rule cannot take it for one.
  package func standing(
    at place: Place, lastSeenAt path: String
  ) -> (candidate: ReplacementRule.Candidate, document: FoundDocument?)? {
    guard let (parent, _) = path.parentAndName else { return nil }
    let found = find(place.folder, lastSeenAt: parent, pinned: nil)
    // Another folder under the same path is worth a word in the log, and no more than that.
    guard
      let folder = found?.document.descriptor
        ?? (try? Descriptor.open(parent, flags: [.path, .directory], resolve: .noSymlinks)),
      let opened = try? Descriptor.open(place.name, below: folder, flags: [.path, .noFollow], resolve: .noSymlinks),
      let status = try? opened.status()
    else { return nil }
    let document = status.kind == .regular ? try? FoundDocument(opened) : nil
    return (
      ReplacementRule.Candidate(
        isInSameFolder: found != nil, kind: status.kind, links: status.links,
        isOnSameVolume: document?.identity.volume == place.folder.volume),
      document
    )
  }

  /// After a cold cache the kernel opens a file by its handle without a path. A folder always has one: so the last
  /// folder is opened by its handle, and looked into. Without a path the document can be shown all the same.
  private func withPath(_ document: FoundDocument, _ place: Place?, _ path: String) -> FoundDocument {
    guard privileged, document.path == nil else { return document }
    let folder = place.flatMap { try? byHandle($0.folder, near: path) }
    if let place, let folder, let named = candidate(place.name, below: folder.descriptor, document.identity) {
      return named
    }
    // It has left its name, and perhaps its folder. A little search, since it can be used without.
    let start = folder?.path.map { "\($0 == "/" ? "" : $0)/\(place?.name ?? "")" } ?? path
    var search = DocumentSearch(finder: self, identity: document.identity, budget: searchBudget / 20)
    return search.run(from: start)?.document ?? document
  }

  /// Opens a path without following any link, and answers it only if it is the document.
  func candidate(_ path: String, below folder: Descriptor?, _ identity: FileIdentity) -> FoundDocument? {
    guard
      let opened = try? Descriptor.open(path, below: folder, flags: [.path, .noFollow], resolve: .noSymlinks),
      let status = try? opened.status(), status.inode == identity.inode, let document = try? FoundDocument(opened),
      document.identity == identity
    else { return nil }
    return document
  }

  private static func isLinked(_ descriptor: Descriptor) -> Bool {
    guard let status = try? descriptor.status() else { return false }
    return status.links > 0
  }

  /// - Throws: when this file system opens no file by its handle.
  private func byHandle(_ identity: FileIdentity, near path: String) throws(KernelError) -> FoundDocument? {
    guard identity.handle.canBeOpened else { throw KernelError("open_by_handle_at", path, errno: .notSupported) }
    guard let volume = volumeRoot(identity.volume, near: path),
      let opened = try? identity.handle.open(on: volume, flags: .path), Self.isLinked(opened),
      let document = try? FoundDocument(opened), document.identity == identity
    else {
      return nil
    }
    return document
  }

  /// Any open folder on the document's file system: an ancestor of its last place, else whatever is mounted.
  private func volumeRoot(_ volume: [UInt8], near path: String) -> Descriptor? {
    func onVolume(_ path: String) -> Descriptor? {
      guard let folder = try? Descriptor.open(path, flags: [.read, .directory, .nonBlocking]),
        let found = try? folder.volumeIdentity(), found == volume
      else { return nil }
      return folder
    }
    for ancestor in path.ancestors {
      if let folder = onVolume(ancestor) { return folder }
    }
    for mount in MountTable.localMountPoints() {
      if let folder = onVolume(mount) { return folder }
    }
    return nil
  }
}
