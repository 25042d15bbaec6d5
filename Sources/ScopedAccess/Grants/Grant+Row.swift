internal import Folders
internal import Foundation
internal import GRDB
internal import Kernel

/// A grant as a row of the database.
extension Grant {
  static let columns = """
    id, bundleIdentifier, kind, rights, origin, created, revoked, volume, handleType, handle, inode, birth, path, place, \
    decided, until, launch, appMade
    """

  /// In the order of ``columns``. SQLite's integers are signed, inode numbers are not.
  var row: StatementArguments {
    [
      id, bundleIdentifier, kind.rawValue, rights.rawValue, origin.rawValue, created, revoked, Data(identity.volume),
      identity.handle.type, Data(identity.handle.bytes), Int64(bitPattern: identity.inode), identity.birth, path,
      place.map { Data($0.bytes) }, term.decided, term.until, term.launch, isAppMade,
    ]
  }

  /// A value of another type than it was written with means damage that no check of pages finds. GRDB's shorter way to
  /// read a column would end the broker over it.
  init(row: Row) throws(StateError) {
    func value<Value: DatabaseValueConvertible>(_ column: String, _: Value.Type = Value.self) throws(StateError)
      -> Value
    { try Self.value(row, column) }
    guard let kind = DocumentKind(rawValue: try value("kind")) else { throw Self.damaged(row, "kind") }
    guard let rights = AccessRights(rawValue: try value("rights")) else { throw Self.damaged(row, "rights") }
    guard let origin = Origin(rawValue: try value("origin")) else { throw Self.damaged(row, "origin") }
    /// The parts that may be missing.
    func given<Value: DatabaseValueConvertible>(_ column: String, _: Value.Type = Value.self) throws(StateError)
      -> Value?
    {
      let stored: DatabaseValue? = row[column]
      return stored?.isNull == true ? nil : try value(column, Value.self)
    }
    let stored: DatabaseValue? = row["place"]
    var place: Place?
    if stored?.isNull == false {
      place = Place(bytes: Array(try value("place", Data.self)))
      if place == nil { throw Self.damaged(row, "place") }
    }
    let created: Int64 = try value("created")
    let decided: Int64? = try given("decided")
    self.init(
      id: try value("id"), bundleIdentifier: try value("bundleIdentifier"), kind: kind, rights: rights, origin: origin,
      created: created, revoked: try given("revoked", Int64.self),
      identity: try FileIdentity(row: row, ["volume", "handleType", "handle", "inode", "birth"]),
      path: try value("path"), place: place,
      term: Term(decided: decided ?? created, until: try given("until"), launch: try given("launch")),
      isAppMade: try value("appMade"))
  }

  static func value<Value: DatabaseValueConvertible>(
    _ row: Row, _ column: String, _: Value.Type = Value.self
  ) throws(StateError) -> Value {
    let stored: DatabaseValue? = row[column]
    guard let stored, let value = Value.fromDatabaseValue(stored) else { throw damaged(row, column) }
    return value
  }

  private static func damaged(_ row: Row, _ column: String) -> StateError {
    let id: DatabaseValue? = row["id"]
    let grant = id.flatMap(String.fromDatabaseValue) ?? "without a name"
    return StateError("it is damaged: the \(column) of the grant \(grant) makes no sense; put a backup in its place")
  }
}
