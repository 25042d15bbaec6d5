import Glibc
import Kernel
internal import Paths
internal import UserFiles

/// The folder that the picker shows, held open: names are looked up in it, not in the present folder at its path.
struct OpenFolder: Sendable {
  let descriptor: Descriptor
  /// For people.
  let path: String
  let isTop: Bool
  /// Documents from everywhere, by their paths without the first slash: the folder held open is the root.
  private let collection: [FileName]?
  var collected: [FileName] { collection ?? [] }

  /// It has documents of many folders, and is none itself.
  var isCollection: Bool { collection != nil }

  /// Which of the user's places it is.
  private(set) var userPlace: UserPlace?

  /// A place of the user's, with its files as far as they are there.
  init(_ place: UserPlace, _ paths: [String]) throws(KernelError) {
    try self.init(recents: paths, called: place.title)
    userPlace = place
  }

  /// The documents that were used last, as far as they are there.
  init(recents: [String], called name: String = "Recents") throws(KernelError) {
    descriptor = try KernelPath.open(FileName("/"), in: AT_FDCWD, O_RDONLY | O_DIRECTORY, subject: "/")
    (path, isTop) = (name, true)
    collection = recents.filter { $0.isAbsolutePath && $0 != "/" }.map { FileName(String($0.dropFirst())) }
  }

  init(_ path: String) throws(KernelError) {
    try self.init(FileName(path), in: AT_FDCWD)
  }

  /// `O_DIRECTORY` makes the kernel refuse anything else before it could block. A link to a folder is followed.
  private init(_ name: FileName, in folder: Int32) throws(KernelError) {
    descriptor = try KernelPath.open(name, in: folder, O_RDONLY | O_DIRECTORY, subject: name.text)
    path = String(kernel: try KernelPath.bytes(of: descriptor.rawValue, subject: name.text))
    isTop = path == "/"
    collection = nil
  }

  func entering(_ name: FileName) throws(KernelError) -> OpenFolder {
    try OpenFolder(name, in: descriptor.rawValue)
  }

  func parent() throws(KernelError) -> OpenFolder { try OpenFolder(FileName(".."), in: descriptor.rawValue) }

  /// The last component of `path`: where the cursor goes in the parent.
  var name: FileName { FileName(path.pathNames.last ?? "") }

  /// Text of the path above, for messages.
  var parentPath: String { path.parentPath ?? "/" }

  /// The wanted folder, or the nearest one above it that can be opened.
  static func nearest(to path: String) throws(KernelError) -> OpenFolder {
    var path = path.isAbsolutePath && !path.utf8.contains(0) ? path : "/"
    while true {
      do throws(KernelError) {
        let folder = try OpenFolder(path)
        return folder
      } catch {
        if path == "/" { throw error }
        path = path.withoutTrailingSlashes.parentPath ?? "/"
      }
    }
  }

  func open(_ target: Target) throws(KernelError) -> PickedDocument {
    switch target {
    case .here: try DocumentOpening.open(FileName("."), in: descriptor.rawValue)
    case .entry(let name): try DocumentOpening.open(name, in: descriptor.rawValue)
    }
  }

  /// Looks up the facts that a row is to show: of one file, the one that the name leads to now.
  func details(of entry: Entry) -> EntryDetails {
    guard let document = try? open(.entry(entry.name)) else { return unopened(entry) }
    var details = details(of: document)
    #if AMBIT_MUTANTS
      if Mutant.linkEndUnsaid.isActive { return details }
    #endif
    let place = isCollection ? "/" : path
    if entry.isLink || !document.path.isSamePath(as: place.path(of: entry.name.text)) {
      details.linkTarget = document.path
    }
    return details
  }

  /// The same of the folder itself.
  func ownDetails() -> EntryDetails {
    guard let document = try? open(.here) else { return EntryDetails() }
    return details(of: document)
  }

  private func details(of document: PickedDocument) -> EntryDetails {
    let status = try? FileStatus(of: document.descriptor.rawValue)
    var details = EntryDetails(size: status?.size, modified: status?.modified, document: document)
    details.isReadOnly = document.userAccess == .readOnly
    details.tags = document.descriptor.fileTags.tags
    return details
  }

  /// A row that is no document, or out of reach.
  private func unopened(_ entry: Entry) -> EntryDetails {
    let status = try? FileStatus(of: entry.name, in: descriptor.rawValue)
    var details = EntryDetails(size: status?.size, modified: status?.modified)
    if entry.isLink, let target = try? KernelPath.link(descriptor.rawValue, entry.name, subject: "") {
      details.linkTarget = String(kernel: target)
    }
    return details
  }
}
