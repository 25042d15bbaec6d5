package import Folders
package import Kernel

/// The fate of a grant when its document is gone while another file stands where it was last seen: programs save by writing a
/// new file and renaming it over the old one, and the user means the new one (`BMK-12`, `BMK-15`). A package is one document,
/// and saved whole: a folder takes its place.
///
/// A pure decision over the findings of a look. ``DocumentFinder/standing(at:lastSeenAt:)`` takes the look.
package struct ReplacementRule: Equatable, Sendable {
  /// The policy's word (`[bookmarks] replaced`).
  package enum Setting: String, CaseIterable, Sendable {
    /// The file in its place is taken for the document.
    case follow
    /// Only the very file that the user chose is the document.
    case refuse
  }

  /// The file under the document's last name, as a name and without following a link.
  package struct Candidate: Equatable, Sendable {
    /// The folder that it stands in is the very one that the document was last seen in.
    package var isInSameFolder: Bool
    package var kind: FileStatus.Kind
    /// How many names it has.
    package var links: UInt64
    /// It is on the folder's own volume, and nothing that was mounted over the name.
    package var isOnSameVolume: Bool

    package init(isInSameFolder: Bool, kind: FileStatus.Kind, links: UInt64, isOnSameVolume: Bool) {
      self.isInSameFolder = isInSameFolder
      self.kind = kind
      self.links = links
      self.isOnSameVolume = isOnSameVolume
    }
  }

  package enum Verdict: Equatable, Sendable {
    /// The document itself was found, at any place: a file in its old place is another file.
    case identity
    /// The candidate is the document from now on.
    case follow
    case refuse(Reason)
  }

  /// Why nothing is taken for the document. The raw value is the end of a sentence that begins with its name.
  package enum Reason: String, CaseIterable, Equatable, Sendable {
    case nothing = "was deleted, or moved to where it cannot be found; nothing stands in its place"
    /// Whether it is there is unknown.
    case unanswered = "is on a file system that does not answer"
    case policy = "is gone, and the policy lets no other file take its place (bookmarks.replaced)"
    case folder = "is gone, and the folder that it was in is another one now"
    case link = "is gone, and a symbolic link stands in its place"
    case kind = "is gone, and what stands in its place is no regular file"
    case packageKind = "is gone, and what stands in its place is no folder"
    case otherNames = "is gone, and the file in its place has other names as well, by which it is known elsewhere"
    case volume = "is gone, and what stands in its place is on another volume"
    /// A folder is known by its content: another one under its name is not the one that was chosen.
    case isFolder = "is gone; another folder does not take a folder's place"
  }

  package let setting: Setting

  package init(_ setting: Setting) { self.setting = setting }

  /// - Parameters:
  ///   - isFound: the document's own identity was found somewhere. It always wins.
  ///   - granted: the document that the user granted.
  ///   - candidate: the file in its last place; `nil` for nothing.
  package func verdict(isFound: Bool, granted: DocumentKind, candidate: Candidate?) -> Verdict {
    if isFound { return .identity }
    guard let candidate else { return .refuse(.nothing) }
    if granted == .folder { return .refuse(.isFolder) }
    if !candidate.isInSameFolder { return .refuse(.folder) }
    switch candidate.kind {
    case .symlink: return .refuse(.link)
    case .directory where granted == .package, .regular where granted == .file: break
    case .directory, .regular, .other: return .refuse(granted == .package ? .packageKind : .kind)
    }
    if !candidate.isOnSameVolume { return .refuse(.volume) }
    // A save makes a file with one name. One with more existed before, and the user did not choose it. The meaning of a
    // folder's number of names depends on the file system.
    if granted == .file, candidate.links != 1 { return .refuse(.otherNames) }
    #if AMBIT_MUTANTS
      if Mutant.saveUnfollowed.isActive { return .refuse(.policy) }
      if Mutant.policyUnasked.isActive { return .follow }
    #endif
    return setting == .follow ? .follow : .refuse(.policy)
  }
}
