package import ContentTypes
internal import Paths

/// A document as a query shows it to one app: the facts that the app may know.
package struct MetadataRecord: Hashable, Sendable {
  package enum Kind: String, Sendable { case file, folder, package }

  /// It lies outside the app's container, and was granted.
  package var isExternal: Bool
  /// Two spellings of a name are two files.
  private var place: PathKey
  private var referencePlace: PathKey?
  package var kind: Kind
  /// Bytes; `nil` for folders.
  package var size: Int64?
  /// Nanoseconds since 1970; `nil` where the file system records none.
  package var created: Int64?
  /// Nanoseconds since 1970.
  package var modified: Int64?
  package var isWritable: Bool
  /// Its content is on this machine; `false`: a provider has it.
  package var isHere: Bool
  /// The name of the app whose container it lies in, for people.
  package var container: String?
  /// The grant of an external document.
  package var grant: String?

  package init(
    isExternal: Bool = false, path: String, kind: Kind = .file, size: Int64? = nil, created: Int64? = nil,
    modified: Int64? = nil, isWritable: Bool = true, isHere: Bool = true, container: String? = nil,
    reference: String? = nil, grant: String? = nil
  ) {
    self.isExternal = isExternal
    place = PathKey(path)
    self.kind = kind
    self.size = size
    self.created = created
    self.modified = modified
    self.isWritable = isWritable
    self.isHere = isHere
    self.container = container
    referencePlace = reference.map { PathKey($0) }
    self.grant = grant
  }

  /// Where it is, as the app sees it.
  package var path: String {
    get { place.text }
    set { place = PathKey(newValue) }
  }
  /// The reference that stands for an external document in the app's container.
  package var reference: String? {
    get { referencePlace?.text }
    set { referencePlace = newValue.map { PathKey($0) } }
  }

  package var name: String { path.lastPathName }
  /// Without the extension, but for folders.
  package var displayName: String { kind == .folder ? name : ContentType.split(name).stem }
  package func type(by types: TypeDecider = .system) -> ContentType { ContentType(ofName: name, kind, by: types) }

  /// - Parameter types: the system's, and those that the asking app declares.
  package func value(of attribute: MetadataAttribute, by types: TypeDecider = .system) -> MetadataValue {
    switch attribute {
    case .name: .text(name)
    case .displayName: .text(displayName)
    case .path: .text(path)
    case .url: .text(path)
    case .size: size.map { .integer($0) } ?? .none
    case .created: created.map { MetadataValue(nanoseconds: $0) } ?? .none
    case .modified: modified.map { MetadataValue(nanoseconds: $0) } ?? .none
    case .type: .text(type(by: types).identifier)
    case .typeTree: .list(type(by: types).tree.map { .text($0) })
    case .isUbiquitous: .flag(true)
    case .isExternal: .flag(isExternal)
    case .container: container.map { .text($0) } ?? .none
    case .reference: reference.map { .text($0) } ?? .none
    case .downloadingStatus: .text(isHere ? MetadataAttribute.current : MetadataAttribute.notDownloaded)
    }
  }
}

/// The attributes of items, with the texts of Apple's constants.
package enum MetadataAttribute: String, CaseIterable, Hashable, Sendable {
  case name = "kMDItemFSName"
  case displayName = "kMDItemDisplayName"
  case path = "kMDItemPath"
  case url = "kMDItemURL"
  case size = "kMDItemFSSize"
  case created = "kMDItemFSCreationDate"
  case modified = "kMDItemFSContentChangeDate"
  case type = "kMDItemContentType"
  case typeTree = "kMDItemContentTypeTree"
  case isUbiquitous = "NSMetadataItemIsUbiquitousKey"
  case isExternal = "NSMetadataUbiquitousItemIsExternalDocumentKey"
  case container = "NSMetadataUbiquitousItemContainerDisplayNameKey"
  case reference = "NSMetadataUbiquitousItemURLInLocalContainerKey"
  case downloadingStatus = "NSMetadataUbiquitousItemDownloadingStatusKey"

  /// The status of an item without its content: only the provider has that.
  package static let notDownloaded = "NSMetadataUbiquitousItemDownloadingStatusNotDownloaded"
  /// The status of an item that is here in its newest form.
  package static let current = "NSMetadataUbiquitousItemDownloadingStatusCurrent"
}

extension MetadataRecord {
  /// The folder of a local item or the place of a document, for scopes that are folders.
  package func lies(within folder: String) -> Bool { path.lies(within: folder) }
}
