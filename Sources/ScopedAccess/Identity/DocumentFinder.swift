package import Kernel
internal import Paths
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
  /// Where it was seen since, before any request.
  case catalog
}

/// Finds a document by its identity, after any rename or move within its file system (`BMK-1`).
///
/// The path is evidence, never proof: each file that a path leads to is compared with the identity before it is
/// believed. With `CAP_DAC_READ_SEARCH` the kernel opens the handle, in the same time for a tree of any size. Without
/// it handles can only be compared, so the candidates come from the last place, the descriptor kept since, the last
/// folder's other entries, and a bounded search.
package struct DocumentFinder: Sendable {
  /// Entries that a search may look at before it gives up.
  private let searchBudget: Int
  /// Nanoseconds after which it gives up, however slow the disk is (`BMK-16`).
  static let searchTime: Int64 = 5_000_000_000
  private let privileged: Bool

  /// - Parameter privileged: whether the kernel may be asked to open handles; `nil` looks at this process's rights.
  package init(searchBudget: Int = 4_000_000, privileged: Bool? = nil) {
    self.searchBudget = searchBudget
    self.privileged = privileged ?? (geteuid() == 0)
  }

  /// Whether this file's new place can only be found out by searching: then it pays to look before a request comes.
  package func searches(for identity: FileIdentity) -> Bool { !privileged || !identity.handle.canBeOpened }

  /// Finds a document, at any cost in time.
  ///
  /// - Parameters:
  ///   - path: where it was last seen, absolute.
  ///   - place: the folder and the name of it, if they were recorded.
  ///   - pinned: a descriptor kept open since, if there is one.
  /// - Returns: `nil` if it is nowhere to be found. Deleted counts as not found, even while it is still open somewhere.
  package func find(
    _ identity: FileIdentity, lastSeenAt path: String, place: Place? = nil, pinned: Descriptor?
  ) -> (document: FoundDocument, by: FindMethod)? {
    var lookup = Lookup(.init(subject: "", identity: identity), path: path)
    (lookup.place, lookup.pinned) = (place, pinned)
    return find(lookup).found
  }

  /// - Returns: `met`: the search's findings about it, its folder and its batch; `nil` without a search.
  func find(
    _ lookup: Lookup
  ) -> (found: (document: FoundDocument, by: FindMethod)?, met: [FileIdentity: FoundDocument]?) {
    let identity = lookup.identity
    switch brief(identity, lookup.path, lookup.place, hint: lookup.hint, lookup.pinned, isGone: lookup.isGone) {
    case .found(let document, let method): return ((document, method), nil)
    case .pathless(let document): return ((withPath(document, lookup.place, lookup.path), .handle), nil)
    case .gone: return (nil, nil)
    case .unknown: break
    }
    let batch = lookup.batch.filter { $0 != identity } + (lookup.place.map { [$0.folder] } ?? [])
    // Most likely a program has saved it, and it is nowhere any more: then the caller waits for nothing.
    let budget = isTaken(lookup.path) ? min(searchBudget, 400_000) : searchBudget
    var search = DocumentSearch(finder: self, [identity], batch: batch, budget: budget)
    search.run(from: [lookup.path])
    return (search.found[identity], search.found.mapValues(\.document))
  }

  /// Searches for documents of any volumes at once, from where they were last seen.
  ///
  /// - Parameters:
  ///   - entries, time: its limits for each volume; in nanoseconds.
  /// - Returns: the places of those that it has found, and those that it has not found although it has been everywhere.
  package func search(
    _ lost: [FileIdentity: String], entries: Int, time: Int64
  ) -> (found: [FileIdentity: String], absent: Set<FileIdentity>) {
    var found: [FileIdentity: String] = [:]
    var absent: Set<FileIdentity> = []
    for (_, identities) in Dictionary(grouping: lost.keys, by: \.volume) {
      var search = DocumentSearch(finder: self, identities, budget: min(entries, searchBudget), time: time)
      search.run(from: identities.compactMap { lost[$0] })
      let here = search.found.compactMapValues(\.document.path)
      found.merge(here) { $1 }
      if search.isComplete { absent.formUnion(identities.filter { here[$0] == nil }) }
    }
    return (found, absent)
  }

  /// Finds something in an open folder, and nowhere else.
  ///
  /// - Parameter path: where it was last seen in the folder.
  /// - Returns: where it is in the folder now.
  package func find(
    _ identity: FileIdentity, under folder: Descriptor, at path: String
  ) -> (path: String, document: FoundDocument)? {
    if let document = candidate(path, below: folder, identity) { return (path, document) }
    var search = DocumentSearch(finder: self, [identity], budget: searchBudget)
    search.run(in: folder)
    guard let document = search.found[identity]?.document, let here = folder.currentPath,
      let inside = document.path?.path(within: here), !inside.isEmpty
    else { return nil }
    return (inside, document)
  }

  /// Whether a document is where it was last seen. Nothing is followed on the way.
  package func isInPlace(_ identity: FileIdentity, at path: String) -> Bool {
    candidate(path, below: nil, identity) != nil
  }

  /// Whether anything stands at a path.
  package func isTaken(_ path: String) -> Bool {
    (try? Descriptor.open(path, flags: .place, resolve: .noSymlinks)) != nil
  }

  /// The file under the last name in the last folder, for ``ReplacementRule``: nothing is followed on the way.
  ///
  /// - Returns: `nil` if nothing stands there. The document is `nil` where the rule cannot take it for one.
  package func standing(
    at place: Place, lastSeenAt path: String
  ) -> (candidate: ReplacementRule.Candidate, document: FoundDocument?)? {
    guard let (parent, _) = path.parentAndName else { return nil }
    return standing(at: place, in: find(place.folder, lastSeenAt: parent, pinned: nil)?.document, parent)
  }

  /// - Parameters:
  ///   - found: the very folder, if it was found.
  ///   - parent: the path that it was last seen at.
  ///   - kind: ``Lookup/kind``.
  func standing(
    at place: Place, in found: FoundDocument?, _ parent: String, as kind: FileStatus.Kind? = nil
  ) -> (candidate: ReplacementRule.Candidate, document: FoundDocument?)? {
    // Another folder under the same path is worth a word in the log, and no more than that.
    guard
      let folder = found?.descriptor
        ?? (try? Descriptor.open(parent, flags: [.path, .directory], resolve: .noSymlinks)),
      let opened = try? Descriptor.open(place.name, below: folder, flags: .place, resolve: .noSymlinks),
      let status = try? opened.status()
    else { return nil }
    let isDocument = kind.map { $0 == status.kind } ?? (status.kind == .regular || status.kind == .directory)
    let document = isDocument ? try? FoundDocument(opened, status: status) : nil
    return (
      ReplacementRule.Candidate(
        isInSameFolder: found != nil, kind: status.kind, links: status.links,
        isOnSameVolume: document?.identity.volume == place.folder.volume),
      document
    )
  }

  // MARK: Without a search

  enum Brief {
    case found(FoundDocument, FindMethod)
    /// Opened by its handle, and no path leads to it that would be known.
    case pathless(FoundDocument)
    /// It has no name any more, or its volume is not there.
    case gone
    case unknown
  }

  func brief(
    _ identity: FileIdentity, _ path: String, _ place: Place?, hint: String?, _ pinned: Descriptor?,
    isGone: Bool = false
  ) -> Brief {
    #if AMBIT_MUTANTS
      if let document = Self.mutated(path) { return .found(document, .lastPlace) }
    #endif
    if let document = candidate(path, below: nil, identity) { return .found(document, .lastPlace) }
    #if AMBIT_MUTANTS
      if Mutant.noSearch.isActive { return .gone }
    #endif
    if isGone { return .gone }
    // While it is open no other file has its number: without a name it is gone, and no search finds it.
    if let pinned, let status = try? pinned.status(), status.links == 0, status.inode == identity.inode,
      identity.birth == 0 || status.birth == identity.birth
    {
      return .gone
    }
    if let pinned, let document = try? FoundDocument(pinned), document.identity == identity {
      return document.path == nil ? .pathless(document) : .found(document, .pinned)
    }
    if privileged {
      do throws(KernelError) {
        guard let document = try byHandle(identity, near: path) else { return .gone }
        return named(document, place, path)
      } catch {
        // Handles of this file system can be compared alone, as without privilege.
      }
    }
    if let hint, let document = candidate(hint, below: nil, identity) { return .found(document, .catalog) }
    return .unknown
  }

  #if AMBIT_MUTANTS
    private static func mutated(_ path: String) -> FoundDocument? {
      guard Mutant.pathAlone.isActive || Mutant.linkFollowed.isActive,
        let opened = try? Descriptor.open(path, flags: .place), let status = try? opened.status()
      else { return nil }
      if Mutant.pathAlone.isActive { return try? FoundDocument(opened, status: status) }
      guard status.kind == .symlink else { return nil }
      return (try? Descriptor.open(path, flags: .path)).flatMap { try? FoundDocument($0) }
    }
  #endif
  /// After a cold cache the kernel opens a file by its handle without a path. A folder always has one: so the last
  /// folder is opened by its handle, and looked into.
  private func named(_ document: FoundDocument, _ place: Place?, _ path: String) -> Brief {
    if document.path != nil { return .found(document, .handle) }
    if let place, let folder = try? byHandle(place.folder, near: path),
      let found = candidate(place.name, below: folder.descriptor, document.identity)
    {
      return .found(found, .handle)
    }
    return .pathless(document)
  }

  /// It has left its name, and perhaps its folder: a little search, since it can be shown without a path all the same.
  private func withPath(_ document: FoundDocument, _ place: Place?, _ path: String) -> FoundDocument {
    let folder = privileged ? place.flatMap { try? byHandle($0.folder, near: path) } : nil
    let start = folder?.path.map { $0.path(of: place?.name ?? "") } ?? path
    var search = DocumentSearch(finder: self, [document.identity], budget: min(searchBudget, 400_000) / 20)
    search.run(from: [start])
    return search.found[document.identity]?.document ?? document
  }

  /// Opens a path without following any link, and answers it only if it is the document.
  func candidate(_ path: String, below folder: Descriptor?, _ identity: FileIdentity) -> FoundDocument? {
    guard
      let opened = try? Descriptor.open(path, below: folder, flags: .place, resolve: .noSymlinks),
      let status = try? opened.status(), status.inode == identity.inode,
      let document = try? FoundDocument(opened, status: status), document.identity == identity
    else { return nil }
    return document
  }

  /// - Throws: when this file system opens no file by its handle.
  private func byHandle(_ identity: FileIdentity, near path: String) throws(KernelError) -> FoundDocument? {
    guard identity.handle.canBeOpened else { throw KernelError("open_by_handle_at", path, errno: .notSupported) }
    var document: FoundDocument?
    var tried: Set<UInt64> = []
    // An ancestor of its last place, else any mount.
    for places in [{ path.ancestors }, MountTable.localMountPoints] as [() -> [String]] {
      for place in places() {
        guard let (volume, mount) = folder(place, on: identity.volume), mount.map({ tried.insert($0).inserted }) ?? true
        else { continue }
        guard let opened = try? identity.handle.open(on: volume, flags: .path), let status = try? opened.status(),
          status.links > 0, let found = try? FoundDocument(opened, status: status), found.identity == identity
        else { return nil }
        // By a mount that shows another part of the volume it is open as well, and the path that the kernel tells leads nowhere.
        guard let path = found.path, candidate(path, below: nil, identity) == nil else { return found }
        document = document ?? found.withoutPath
      }
    }
    return document
  }

  /// An open folder, and the number of its mount, if it lies on a volume.
  private func folder(_ path: String, on volume: [UInt8]) -> (folder: Descriptor, mount: UInt64?)? {
    guard let folder = try? Descriptor.open(path, flags: [.read, .directory, .nonBlocking]),
      let status = try? folder.status(), (try? folder.volumeIdentity(onMount: status.mount)) == volume
    else { return nil }
    return (folder, status.mount)
  }
}
