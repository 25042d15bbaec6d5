package import Query

/// A document of one app's catalog.
package struct CatalogItem: Equatable, Sendable {
  /// Never another item's, in this database. No app is told of it.
  package var id: Int64
  package var record: MetadataRecord
  /// The folder of a local item, from `Documents` on; `nil` for an external one.
  package var folder: String?
  /// The launch that alone may know it; `nil`: every launch of the app.
  package var launch: String?
  /// Which file it is, and when it was changed last.
  package var stamp: CatalogStamp
  /// The number of the change that it was last part of, among those of this app's catalog.
  package var ordinal: Int64

  package init(
    id: Int64 = 0, record: MetadataRecord, folder: String?, launch: String? = nil, stamp: CatalogStamp,
    ordinal: Int64 = 0
  ) {
    self.id = id
    self.record = record
    self.folder = folder
    self.launch = launch
    self.stamp = stamp
    self.ordinal = ordinal
  }

  /// The same facts, whatever number it has.
  package func isSame(as other: CatalogItem) -> Bool {
    record == other.record && launch == other.launch && stamp == other.stamp
  }
}

/// A file as it was when it was looked at.
package struct CatalogStamp: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  /// `st_ctime`, in nanoseconds since 1970.
  package var changed: Int64

  package init(device: UInt64 = 0, inode: UInt64, changed: Int64) {
    (self.device, self.inode, self.changed) = (device, inode, changed)
  }
}
