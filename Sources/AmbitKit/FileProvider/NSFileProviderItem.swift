public import Foundation
internal import Wire

/// The provider's persistent name of a document or a folder.
public struct NSFileProviderItemIdentifier: RawRepresentable, Hashable, Sendable {
  /// At most 1,024 bytes.
  public let rawValue: String
  /// An identifier with this name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// An identifier with this name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The top of a provider's tree.
  public static let rootContainer = NSFileProviderItemIdentifier("NSFileProviderRootContainerItemIdentifier")
  /// The working set (`PRV-11`).
  public static let workingSet = NSFileProviderItemIdentifier("NSFileProviderWorkingSetContainerItemIdentifier")
  /// The trash.
  public static let trashContainer = NSFileProviderItemIdentifier("NSFileProviderTrashContainerItemIdentifier")

  /// As the broker has it.
  init(wire: String) { self = wire == "root" ? .rootContainer : .init(wire) }
  var wire: String { self == .rootContainer ? "root" : rawValue }
}

/// The acts that a user may do with an item. The broker enforces them.
public struct NSFileProviderItemCapabilities: OptionSet, Sendable {
  /// Apple's bits.
  public let rawValue: UInt
  /// These bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// It can be read.
  public static let allowsReading = Self(rawValue: 1 << 0)
  /// It can be changed.
  public static let allowsWriting = Self(rawValue: 1 << 1)
  /// It can go to another folder.
  public static let allowsReparenting = Self(rawValue: 1 << 2)
  /// It can get another name.
  public static let allowsRenaming = Self(rawValue: 1 << 3)
  /// It can be thrown away.
  public static let allowsTrashing = Self(rawValue: 1 << 4)
  /// It can be deleted for good.
  public static let allowsDeleting = Self(rawValue: 1 << 5)
  /// Its content can be taken from this machine, and comes again (`PRV-13`). Without it, it stays once it is here.
  public static let allowsEvicting = Self(rawValue: 1 << 6)
  /// Of a folder: items can be added.
  public static let allowsAddingSubItems = allowsWriting
  /// Of a folder: its items can be listed.
  public static let allowsContentEnumerating = allowsReading
  /// All of these.
  public static let allowsAll: Self = [
    .allowsReading, .allowsWriting, .allowsReparenting, .allowsRenaming, .allowsTrashing, .allowsDeleting,
    .allowsEvicting,
  ]

  func words(ofFolder isFolder: Bool) -> [String] {
    let names: [(Self, String)] = [
      (.allowsReading, isFolder ? "contentEnumerating" : "reading"),
      (.allowsWriting, isFolder ? "addingSubItems" : "writing"), (.allowsReparenting, "reparenting"),
      (.allowsRenaming, "renaming"), (.allowsTrashing, "trashing"), (.allowsDeleting, "deleting"),
      (.allowsEvicting, "evicting"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}

/// A document or a folder of a provider's.
public protocol NSFileProviderItem {
  /// Persistent: the same at every launch.
  var itemIdentifier: NSFileProviderItemIdentifier { get }
  /// The folder; `.rootContainer` is the top.
  var parentItemIdentifier: NSFileProviderItemIdentifier { get }
  /// At most 255 bytes, without slash and control characters.
  var filename: String { get }
  /// `.folder` says that it has items.
  var contentType: UTType { get }
  /// The acts that a user may do with it.
  var capabilities: NSFileProviderItemCapabilities { get }
  /// In bytes.
  var documentSize: NSNumber? { get }
  /// When its content was changed last.
  var contentModificationDate: Date? { get }
  /// Another one means other content; at most 1,000 bytes (`PRV-16`).
  var versionIdentifier: Data? { get }
  /// When the user used it last: such items are in the working set (`PRV-11`), as are those of the next four.
  var lastUsedDate: Date? { get }
  /// The user's tags.
  var tagData: Data? { get }
  /// Its place among the favourites.
  var favoriteRank: NSNumber? { get }
  /// Others have it as well.
  var isShared: Bool { get }
  /// It is in the trash.
  var isTrashed: Bool { get }
}

extension NSFileProviderItem {
  /// All.
  public var capabilities: NSFileProviderItemCapabilities { .allowsAll }
  /// None is known.
  public var documentSize: NSNumber? { nil }
  /// None is known.
  public var contentModificationDate: Date? { nil }
  /// None: size and date stand for it.
  public var versionIdentifier: Data? { nil }
  /// Never.
  public var lastUsedDate: Date? { nil }
  /// None.
  public var tagData: Data? { nil }
  /// It is no favourite.
  public var favoriteRank: NSNumber? { nil }
  /// No.
  public var isShared: Bool { false }
  /// Where its folder is the trash.
  public var isTrashed: Bool { parentItemIdentifier == .trashContainer }

  private var marks: [String] {
    [
      (lastUsedDate != nil, "recent"), (tagData?.isEmpty == false, "tagged"), (favoriteRank != nil, "favorite"),
      (isShared, "shared"), (isTrashed, "trashed"),
    ].filter(\.0).map(\.1)
  }

  var message: ProviderItemMessage {
    let isFolder = contentType == .folder
    let seconds = contentModificationDate?.timeIntervalSince1970 ?? 0
    let modified = seconds.isFinite && abs(seconds) < 9e9 ? Int(seconds * 1_000_000_000) : 0
    let size = documentSize?.intValue ?? 0
    let version = versionIdentifier.map { $0.base64EncodedString() } ?? "\(size) \(modified)"
    return ProviderItemMessage(
      identifier: itemIdentifier.wire, parent: parentItemIdentifier.wire, filename: filename, folder: isFolder,
      contentType: contentType.identifier, size: size, modified: modified, version: version,
      capabilities: capabilities.words(ofFolder: isFolder), marks: marks)
  }
}

/// A page of an enumeration, as the provider names it.
public struct NSFileProviderPage: RawRepresentable, Hashable, Sendable {
  /// At most 500 bytes.
  public let rawValue: Data
  /// A page with this name.
  public init(rawValue: Data) { self.rawValue = rawValue }
  /// A page with this name.
  public init(_ rawValue: Data) { self.rawValue = rawValue }
  /// The beginning, sorted by name.
  public static let initialPageSortedByName = NSFileProviderPage(Data("name".utf8))
  /// The beginning, sorted by date.
  public static let initialPageSortedByDate = NSFileProviderPage(Data("date".utf8))
}

/// An error that a provider answers with.
public struct NSFileProviderError: Error, LocalizedError, Sendable {
  /// Apple's names.
  public enum Code: String, Sendable {
    case noSuchItem, notAuthenticated, serverUnreachable, insufficientQuota, cannotSynchronize, pageExpired
    case syncAnchorExpired, filenameCollision, deletionRejected
  }
  /// The kind of the error.
  public let code: Code
  /// A sentence for people.
  public let errorDescription: String?

  /// An error of this kind, with a sentence for people.
  public init(_ code: Code, _ description: String? = nil) { (self.code, errorDescription) = (code, description) }
}
