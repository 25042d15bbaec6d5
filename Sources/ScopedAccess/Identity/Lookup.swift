internal import Folders
package import Kernel

/// A document that a caller asks for, with everything that is known of where it may be.
package struct Lookup: Sendable {
  /// For whom, so that two questions can be told apart, or found to be the same.
  package struct Key: Hashable, Sendable {
    /// A grant, or the folder that it is looked for in.
    package let subject: String
    package let identity: FileIdentity

    package init(subject: String, identity: FileIdentity) {
      self.subject = subject
      self.identity = identity
    }
  }

  package let key: Key
  /// Where it was last seen: absolute, or below ``folder``.
  package let path: String
  /// The folder and the name of it, if they were recorded.
  package var place: Place?
  /// A descriptor that was kept open since, if there is one.
  package var pinned: Descriptor?
  /// It was seen that it has no name any more: nothing but its last place is looked at.
  package var isGone = false
  /// Where a background survey has seen it since: as good as any other path, and believed no more.
  package var hint: String?
  /// It is looked for in this folder and nowhere else.
  package var folder: Descriptor?
  /// Its kind, if that is known: anything else in its place is not opened, not even to ask which volume it is on.
  package var kind: FileStatus.Kind?
  /// A search for it looks out for these as well.
  package var batch: [FileIdentity] = []
  /// Documents that a search has not found a short while ago.
  package var absent: Set<FileIdentity> = []

  package var identity: FileIdentity { key.identity }

  package init(_ key: Key, path: String) {
    self.key = key
    self.path = path
  }
}

/// The result of a look.
package struct LookupResult: Sendable {
  package var found: (document: FoundDocument, by: FindMethod)?
  /// The file in its last place, where it was not found itself.
  package var standing: (candidate: ReplacementRule.Candidate, document: FoundDocument?)?
  /// Where it is below the folder that it was looked for in.
  package var pathInside: String?

  // Of a thorough look:
  /// The place of the found file.
  package var place: Place?
  /// A file beside it that says that another program has it open (``Sidecars``).
  package var sidecar: String?
  /// The documents that were searched for and are nowhere.
  package var absent: Set<FileIdentity> = []
  /// Others of the batch that were met, and where.
  package var others: [FileIdentity: String] = [:]
  /// It was looked at thoroughly: a file that was not found there is not there.
  package var isThorough = false

  package init() {}
}

extension DocumentFinder {
  /// Looks where that takes no time to speak of, however many files there are.
  ///
  /// - Returns: `nil` if only a search could tell.
  package func findQuickly(_ lookup: Lookup) -> LookupResult? {
    var looked = LookupResult()
    if let folder = lookup.folder {
      looked.found = candidate(lookup.path, below: folder, lookup.identity).map { ($0, .lastPlace) }
      looked.pathInside = looked.found == nil ? nil : lookup.path
      return looked.found != nil || lookup.absent.contains(lookup.identity) ? looked : nil
    }
    switch brief(lookup.identity, lookup.path, lookup.place, hint: lookup.hint, lookup.pinned, isGone: lookup.isGone) {
    case .found(let document, let method):
      looked.found = (document, method)
      return looked
    case .pathless(let document) where lookup.absent.contains(lookup.identity):
      looked.found = (document, .handle)
      return looked
    case .gone: break
    case .unknown where lookup.absent.contains(lookup.identity): break
    default: return nil
    }
    guard let place = lookup.place, let (parent, _) = lookup.path.parentAndName else { return looked }
    switch brief(place.folder, parent, nil, hint: nil, nil) {
    case .found(let folder, _), .pathless(let folder):
      looked.standing = standing(at: place, in: folder, parent, as: lookup.kind)
    case .unknown where !lookup.absent.contains(place.folder): return nil
    default: looked.standing = standing(at: place, in: nil, parent, as: lookup.kind)
    }
    return looked
  }

  /// Looks everywhere. May take as long as a search, and for ever where a file system does not answer.
  ///
  /// - Parameter beside: also looks for the files of other programs beside it, and where it stands.
  package func findThoroughly(_ lookup: Lookup, beside: Bool) -> LookupResult {
    var looked = findQuickly(lookup) ?? searched(lookup)
    looked.isThorough = true
    if let document = looked.found?.document ?? looked.standing?.document {
      let place = DocumentPlace(of: document, at: document.path)
      looked.place = place.flatMap(Place.init)
      if beside { looked.sidecar = Sidecars.inUse(beside: document, at: place) }
    }
    return looked
  }

  private func searched(_ lookup: Lookup) -> LookupResult {
    var looked = LookupResult()
    if let folder = lookup.folder {
      if let found = find(lookup.identity, under: folder, at: lookup.path) {
        looked.found = (found.document, .search)
        looked.pathInside = found.path
      } else {
        looked.absent = [lookup.identity]
      }
      return looked
    }
    let (found, met) = find(lookup)
    looked.found = found
    looked.others = (met ?? [:]).compactMapValues(\.path)
    if found?.document.path == nil { looked.absent.insert(lookup.identity) }
    guard found == nil, let place = lookup.place, let (parent, _) = lookup.path.parentAndName else { return looked }
    var folder: FoundDocument?
    switch brief(place.folder, parent, nil, hint: nil, nil) {
    case .found(let there, _), .pathless(let there): folder = there
    case .gone: break
    // The search for the document has been wherever one for its folder would go.
    case .unknown:
      folder = met.map { $0[place.folder] } ?? find(place.folder, lastSeenAt: parent, pinned: nil)?.document
    }
    if folder == nil { looked.absent.insert(place.folder) }
    looked.standing = standing(at: place, in: folder, parent, as: lookup.kind)
    return looked
  }
}
