internal import Foundation

/// What a bookmark, or a document reference, holds under its seal.
package struct Bookmark: Equatable, Sendable, Codable {
  /// The app that it was made for; no other can open it (`BMK-4`).
  package let bundleIdentifier: String
  package let grant: String
  /// Less than the grant allows, if the app asked for that.
  package let rights: AccessRights
  /// Where the document was when the bookmark was made; anything else since makes it stale (`BMK-2`).
  package let path: String

  package init(bundleIdentifier: String, grant: String, rights: AccessRights, path: String) {
    self.bundleIdentifier = bundleIdentifier
    self.grant = grant
    self.rights = rights
    self.path = path
  }

  package enum OpenError: Error, Equatable, Sendable {
    case brokenSeal
    /// Whole, and another app's.
    case otherApp(String)
  }

  package func sealed(with key: SealingKey, for purpose: SealingKey.Purpose) -> [UInt8] {
    guard let content = try? JSONEncoder().encode(self) else { return [] }
    return key.seal(Array(content), for: purpose)
  }

  /// Opens sealed bytes that an app has presented.
  package static func open(
    _ sealed: [UInt8], with key: SealingKey, for purpose: SealingKey.Purpose, app: String
  ) throws(OpenError) -> Bookmark {
    guard let content = try? key.open(sealed, for: purpose),
      let bookmark = try? JSONDecoder().decode(Bookmark.self, from: Data(content))
    else { throw .brokenSeal }
    guard bookmark.bundleIdentifier == app else { throw .otherApp(bookmark.bundleIdentifier) }
    return bookmark
  }
}
