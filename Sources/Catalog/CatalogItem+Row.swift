internal import Folders
internal import GRDB
internal import Query

/// An item as a row of its app's table.
extension CatalogItem {
  /// Its name as it is searched.
  var folded: String { SearchText.folded(record.name, .both) }

  /// In the order of the table's columns, without the number.
  func row(_ ordinal: Int64) -> StatementArguments {
    [
      record.isExternal, folder, record.path, record.kind.rawValue, record.size, record.created, record.modified,
      record.isWritable, record.isHere, record.container, record.reference, record.grant, launch,
      Int64(bitPattern: stamp.device),
      Int64(bitPattern: stamp.inode), stamp.changed, ordinal, folded,
      SearchText.folded(record.type().identifier, .both),
    ]
  }

  /// In the order of ``CatalogTable/columns``. A value of another type than it was written with means damage; GRDB's shorter way to read a
  /// column would end the broker over it.
  init(row: Row) throws {
    func value<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
      let stored: DatabaseValue = row[index]
      guard let value = Value.fromDatabaseValue(stored) else { throw StateError("a row of the catalog makes no sense") }
      return value
    }
    func given<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value? {
      let stored: DatabaseValue = row[index]
      return stored.isNull ? nil : try value(index)
    }
    guard let kind = MetadataRecord.Kind(rawValue: try value(4)) else {
      throw StateError("a row of the catalog makes no sense")
    }
    let device: Int64 = try value(14)
    let inode: Int64 = try value(15)
    self.init(
      id: try value(0),
      record: MetadataRecord(
        isExternal: try value(1), path: try value(3), kind: kind, size: try given(5), created: try given(6),
        modified: try given(7), isWritable: try value(8), isHere: try value(9), container: try given(10),
        reference: try given(11), grant: try given(12)),
      folder: try given(2), launch: try given(13),
      stamp: CatalogStamp(
        device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode), changed: try value(16)),
      ordinal: try value(17))
  }
}
