/// An item of the device's folder, as a scan finds it.
package struct LocalItem: Codable, Hashable, Sendable {
  /// The parent of the items at the top, and never an item itself.
  package static let root = "root"

  /// The file's identity, which a move keeps. On a disk: device and inode number with the birth time.
  package var id: String
  /// The identity of the folder, or ``root``.
  package var parent: String
  package var name: String
  package var kind: CloudItem.Kind
  /// Changes whenever the content may have changed. On a disk: size, modification time and change time. The engine ignores a folder's.
  package var stamp: String

  package init(id: String, parent: String, name: String, kind: CloudItem.Kind, stamp: String) {
    (self.id, self.parent, self.name, self.kind, self.stamp) = (id, parent, name, kind, stamp)
  }
}

package enum SyncInput: Codable, Hashable, Sendable {
  /// The first input after the saved state is loaded, before a scan. Requests and transfers from before are
  /// forgotten, and the device counts as online.
  case restored
  /// All items of the folder. The device sends one after each change of the user, and after ``SyncEffect/scan``.
  case scan([LocalItem])
  case online
  /// Requests under way will be reported as lost.
  case offline
  /// The cloud has changes; a hint that may get lost.
  case hint
  case page(request: Int, CloudPage)
  /// The anchor is older than the ledger's tombstones.
  case anchorTooOld(request: Int)
  /// In the order of the request's changes.
  case answers(request: Int, [CloudAnswer])
  /// It is unknown whether the request took effect.
  case lost(request: Int)
  /// The bytes that were in the document at this stamp are in the cloud.
  case uploaded(request: Int, content: String, size: Int64, stamp: String)
  /// The item is whole, as a temporary outside the folder. Moving it into the folder keeps its identity.
  case staged(request: Int, LocalItem)
  /// An upload or download failed, or the document changed during the upload.
  case transferFailed(request: Int)
  /// The local act is done. The item as it is after it; `nil` after ``LocalAct/remove(id:stamp:)``.
  case acted(number: Int, LocalItem?)
  /// A condition of the local act did not hold, so nothing was changed.
  case refused(number: Int)
  /// The clock has reached ``SyncEngine/nextDue``.
  case tick
}

/// A task for the device. It carries effects out in their order.
package enum SyncEffect: Codable, Hashable, Sendable {
  /// Make the state durable, as it is when ``SyncEngine/apply(_:at:)`` returns, before the effects after this one: store
  /// ``SyncEngine/takeDelta()``.
  case save
  /// Ask the ledger for a page of changes. The anchor is too old if the ledger has forgotten a tombstone after
  /// `tombstonesSince`; `nil`: it never is.
  case fetch(request: Int, since: Int, tombstonesSince: Int?)
  /// Ask the ledger for changes of different items, all in one transaction. A change with the same key may have been asked for before.
  case send(request: Int, [KeyedChange])
  /// Copy the document, hash and upload the copy. The answer carries the stamp that held from the start of copying to its end.
  case upload(request: Int, id: String, stamp: String)
  /// Make a temporary outside the folder: a document with this content, whole and verified, or an empty folder.
  case stage(request: Int, CloudItem)
  /// Remove a temporary that is not needed.
  case discard(id: String)
  case act(number: Int, LocalAct)
  /// Scan the folder.
  case scan
}

/// A change of the ledger with its idempotency key.
package struct KeyedChange: Codable, Hashable, Sendable {
  package var key: String
  package var change: CloudChange

  package init(key: String, change: CloudChange) { (self.key, self.change) = (key, change) }
}

/// A change of the device's own folder. Each one is atomic, and refused if its condition does not hold.
package enum LocalAct: Codable, Hashable, Sendable {
  /// Move a temporary into the folder. Condition: the parent exists and the name is free.
  case place(staged: String, parent: String, name: String)
  /// Exchange the document with the temporary, and drop the old one. Condition: the document has this stamp.
  case replace(id: String, stamp: String, staged: String)
  /// Condition: the item is still at the old place, and the name at the new one is free.
  case move(id: String, from: LocalPlace, to: LocalPlace)
  /// Condition: the document has this stamp; the folder (`nil`) is empty.
  case remove(id: String, stamp: String?)
  /// Store the content, which was uploaded before, as a conflict version of the document, named with the device. `item` is the cloud's
  /// id, which stays the same when ``replace(id:stamp:staged:)`` gives the document another identity. The act may come twice.
  case keep(item: String, id: String, content: String, device: String)
}

package struct LocalPlace: Codable, Hashable, Sendable {
  package var parent: String
  package var name: String

  package init(parent: String, name: String) { (self.parent, self.name) = (parent, name) }
}
