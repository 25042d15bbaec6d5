public import Foundation
internal import Query

// Apple's names and texts.

/// The file's name.
public let NSMetadataItemFSNameKey = MetadataAttribute.name.rawValue
/// The name without its extension.
public let NSMetadataItemDisplayNameKey = MetadataAttribute.displayName.rawValue
/// The document's `URL`; an external one's has its scope (`MDQ-3`).
public let NSMetadataItemURLKey = MetadataAttribute.url.rawValue
/// The path, as the app sees it. An external document is there while it is started.
public let NSMetadataItemPathKey = MetadataAttribute.path.rawValue
/// Bytes.
public let NSMetadataItemFSSizeKey = MetadataAttribute.size.rawValue
/// When the file was made; a `Date`.
public let NSMetadataItemFSCreationDateKey = MetadataAttribute.created.rawValue
/// When its content was changed last; a `Date`.
public let NSMetadataItemFSContentChangeDateKey = MetadataAttribute.modified.rawValue
/// The identifier of its uniform type.
public let NSMetadataItemContentTypeKey = MetadataAttribute.type.rawValue
/// The identifiers of its type and of all that it is a kind of. A comparison is true if it is of one of them.
public let NSMetadataItemContentTypeTreeKey = MetadataAttribute.typeTree.rawValue
/// Whether it is in the app's reach from several places: all items of queries are.
public let NSMetadataItemIsUbiquitousKey = MetadataAttribute.isUbiquitous.rawValue
/// Whether it lies outside the app's container (`MDQ-5`).
public let NSMetadataUbiquitousItemIsExternalDocumentKey = MetadataAttribute.isExternal.rawValue
/// The name of the app whose container it lies in, for people (`MDQ-6`). A document in no container has none.
public let NSMetadataUbiquitousItemContainerDisplayNameKey = MetadataAttribute.container.rawValue
/// The `URL` of the reference that stands for an external document in the app's container (`MDQ-4`).
public let NSMetadataUbiquitousItemURLInLocalContainerKey = MetadataAttribute.reference.rawValue
/// Whether its content is here, or at its provider alone (`PRV-1`).
public let NSMetadataUbiquitousItemDownloadingStatusKey = MetadataAttribute.downloadingStatus.rawValue
/// Only its provider has the content.
public let NSMetadataUbiquitousItemDownloadingStatusNotDownloaded = MetadataAttribute.notDownloaded
/// The newest content is here.
public let NSMetadataUbiquitousItemDownloadingStatusCurrent = MetadataAttribute.current

/// The app's own documents: its container's `Documents` (`MDQ-1`).
public let NSMetadataQueryUbiquitousDocumentsScope = "NSMetadataQueryUbiquitousDocumentsScope"
/// Documents elsewhere that were granted to the app (`MDQ-2`).
public let NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope =
  "NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope"
/// The app's container outside of `Documents`, where nothing is catalogued.
public let NSMetadataQueryUbiquitousDataScope = "NSMetadataQueryUbiquitousDataScope"
/// The app's home: its own documents.
public let NSMetadataQueryUserHomeScope = "NSMetadataQueryUserHomeScope"
/// All that the app may know: its own documents and granted ones.
public let NSMetadataQueryLocalComputerScope = "NSMetadataQueryLocalComputerScope"
/// The same.
public let NSMetadataQueryIndexedLocalComputerScope = "NSMetadataQueryIndexedLocalComputerScope"

/// The new results in the user info of an update.
public let NSMetadataQueryUpdateAddedItemsKey = "kMDQueryUpdateAddedItems"
/// The results that are other than they were.
public let NSMetadataQueryUpdateChangedItemsKey = "kMDQueryUpdateChangedItems"
/// The items that are no results any more.
public let NSMetadataQueryUpdateRemovedItemsKey = "kMDQueryUpdateRemovedItems"

extension Notification.Name {
  /// A query has begun to collect the results that are there already.
  public static let NSMetadataQueryDidStartGathering = Notification.Name("NSMetadataQueryDidStartGatheringNotification")
  /// It has collected some.
  public static let NSMetadataQueryGatheringProgress = Notification.Name("NSMetadataQueryGatheringProgressNotification")
  /// It has collected all, and goes on with changes.
  public static let NSMetadataQueryDidFinishGathering = Notification.Name(
    "NSMetadataQueryDidFinishGatheringNotification")
  /// Results have changed.
  public static let NSMetadataQueryDidUpdate = Notification.Name("NSMetadataQueryDidUpdateNotification")
}
