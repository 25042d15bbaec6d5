/// One file or folder of the cloud, as the ledger's row for it.
package struct CloudItem: Codable, Hashable, Sendable {
  package enum Kind: String, Codable, Sendable { case folder, document }

  /// The parent of the items at the top.
  package static let root = "root"

  /// Unique. The device that creates the item chooses it.
  package var id: String
  /// The folder's id, or ``root``.
  package var parent: String
  package var name: String
  package var kind: Kind
  /// The ledger's counter at the last change of this item. It starts at 1.
  package var revision: Int
  /// The ledger's counter at the last change of the content. A replace names it as its base.
  package var contentRevision: Int
  /// The ledger's counter at the last change of parent or name. A move names it as its base.
  package var placeRevision: Int
  /// The name of the bytes: SHA-256 in hexadecimal. Folders have none.
  package var content: String?
  /// In bytes.
  package var size: Int64
  /// The device that wrote the content.
  package var device: String
  /// A tombstone. It stays in the ledger so that other devices hear of the deletion.
  package var isDeleted: Bool

  package init(
    id: String, parent: String, name: String, kind: Kind, revision: Int = 0, contentRevision: Int = 0,
    placeRevision: Int = 0, content: String? = nil, size: Int64 = 0, device: String = "", isDeleted: Bool = false
  ) {
    self.id = id
    self.parent = parent
    self.name = name
    self.kind = kind
    self.revision = revision
    self.contentRevision = contentRevision
    self.placeRevision = placeRevision
    self.content = content
    self.size = size
    self.device = device
    self.isDeleted = isDeleted
  }
}

/// A change that a device asks the ledger for. Each one concerns one item.
package enum CloudChange: Codable, Hashable, Sendable {
  /// The ledger sets the revisions and the device of the new item.
  case create(CloudItem)
  /// The base is the `contentRevision` that the device replaces.
  case replace(id: String, content: String, size: Int64, base: Int)
  /// The base is the `placeRevision` that the device moves the item from.
  case move(id: String, parent: String, name: String, base: Int)
  /// The base is the item's `revision` known to the device.
  case delete(id: String, base: Int)

  package var id: String {
    switch self {
    case .create(let item): item.id
    case .replace(let id, _, _, _), .move(let id, _, _, _), .delete(let id, _): id
    }
  }
}

package enum CloudAnswer: Codable, Hashable, Sendable {
  /// The item after the change.
  case accepted(CloudItem)
  /// Another device changed the item first, or the folder has items in it, or the id is in use. The item as it is now, perhaps deleted.
  case conflict(CloudItem)
  /// The item that has this name in this folder.
  case collision(CloudItem)
  /// The id of a parent or an item that is unknown, deleted, or no folder.
  case missing(String)
  /// The folder would contain itself.
  case cycle
  case overQuota
}

/// The ledger's answer to a change, by its idempotency key. A server stores it with the row that changed.
package struct CloudReceipt: Codable, Hashable, Sendable {
  package var key: String
  package var answer: CloudAnswer

  package init(key: String, answer: CloudAnswer) {
    self.key = key
    self.answer = answer
  }
}

/// A part of the changes since an anchor.
package struct CloudPage: Codable, Hashable, Sendable {
  package var items: [CloudItem]
  /// The anchor for the next page.
  package var next: Int
  /// More changes follow at once.
  package var more: Bool
  /// The ledger's revision.
  package var revision: Int

  package init(items: [CloudItem], next: Int, more: Bool, revision: Int) {
    self.items = items
    self.next = next
    self.more = more
    self.revision = revision
  }
}
