internal import Foundation

/// A right that an app passes on to another one, under its seal (`TOK-18`).
package struct Transfer: Equatable, Sendable, Codable {
  /// The app that it is for; no other can redeem it.
  package let to: String
  /// The grant that it was made from.
  package let parent: String
  /// Of the grant that comes of it: redeemed twice, it is the same.
  package let grant: String
  package let rights: AccessRights
  /// Nanoseconds since 1970.
  package let created: Int64

  package init(to: String, parent: String, grant: String, rights: AccessRights, created: Int64) {
    self.to = to
    self.parent = parent
    self.grant = grant
    self.rights = rights
    self.created = created
  }

  package func sealed(with key: SealingKey) -> [UInt8] {
    guard let content = try? JSONEncoder().encode(self) else { return [] }
    return key.seal(Array(content), for: .transfer)
  }

  /// Opens sealed bytes that an app has presented.
  package static func open(
    _ sealed: [UInt8], with key: SealingKey, app: String
  ) throws(Bookmark.OpenError) -> Transfer {
    guard let content = try? key.open(sealed, for: .transfer),
      let transfer = try? JSONDecoder().decode(Transfer.self, from: Data(content))
    else { throw .brokenSeal }
    guard transfer.to == app else { throw .otherApp(transfer.to) }
    return transfer
  }
}
