package import Folders

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The content of a bookmark, or of a document reference, under its seal.
package struct Bookmark: Equatable, Sendable {
  /// The app that it was made for (`BMK-4`).
  package let bundleIdentifier: String
  package let grant: String
  /// Less than the grant allows, if the app asked for that.
  package let rights: AccessRights
  /// Where the document was when the bookmark was made; anything else since makes it stale (`BMK-2`).
  package let path: String
  /// Which file the document was then.
  package let identity: FileIdentity?
  /// `nil` as well in a minimal one.
  package let place: Place?
  package let scope: Scope
  /// Nanoseconds since 1970;
  package let created: Int64?
  /// The part that can be read without resolving (`BMK-22`).
  package let values: Values?
  /// The file that was meant in a folder: that of the grant, or without a grant the app's container.
  package let inside: Inside?
  /// The item of a file provider that the document is: it leads to the document where the provider shows it anew.
  package let provided: Provided?

  /// An item of a file provider.
  package struct Provided: Equatable, Sendable {
    package let provider: String
    package let item: String

    package init(provider: String, item: String) { (self.provider, self.item) = (provider, item) }
  }

  /// Something in a folder.
  package struct Inside: Equatable, Sendable {
    /// From the folder on, without a slash before it.
    package let path: String
    package let identity: FileIdentity

    package init(path: String, identity: FileIdentity) {
      self.path = path
      self.identity = identity
    }
  }

  /// The apps that may resolve it besides its maker.
  package enum Scope: Equatable, Sendable {
    /// None (`BMK-4`).
    case app
    /// Any app, until the machine is started anew: the kernel's boot identifier then (`BMK-8`).
    case implicit(boot: String)
    /// Any app that has a grant of this document (`BMK-5`).
    case document(Anchor)

    package var name: String {
      switch self {
      case .app: "app"
      case .implicit: "implicit"
      case .document: "document"
      }
    }
  }

  /// The document that a document-scoped bookmark was made relative to.
  package struct Anchor: Equatable, Sendable {
    /// The maker's grant of it: it tells of the document's fate since, also after it was saved anew.
    package let grant: String
    package let identity: FileIdentity

    package init(grant: String, identity: FileIdentity) {
      self.grant = grant
      self.identity = identity
    }
  }

  /// The facts of the document when the bookmark was made, as far as the app may know them.
  package struct Values: Equatable, Sendable {
    /// Those that the app asked for, by Apple's names. Name, path and kind need not be asked for.
    package var keys: [String]
    package var kind: DocumentKind
    /// Bytes.
    package var size: UInt64
    /// Nanoseconds since 1970; 0 where the file system records none.
    package var birth: Int64
    package var modified: Int64
    package var volumeName: String

    package init(
      keys: [String], kind: DocumentKind, size: UInt64, birth: Int64, modified: Int64, volumeName: String
    ) {
      self.keys = keys
      self.kind = kind
      self.size = size
      self.birth = birth
      self.modified = modified
      self.volumeName = volumeName
    }
  }

  package init(
    bundleIdentifier: String, grant: String, rights: AccessRights, path: String, identity: FileIdentity? = nil,
    place: Place? = nil, created: Int64? = nil, scope: Scope = .app, values: Values? = nil,
    inside: Inside? = nil, provided: Provided? = nil
  ) {
    self.bundleIdentifier = bundleIdentifier
    self.grant = grant
    self.rights = rights
    self.path = path
    self.identity = identity
    self.place = place
    self.scope = scope
    self.created = created
    self.values = values
    self.inside = inside
    self.provided = provided
  }

  /// The document's name when the bookmark was made.
  package var name: String { Grant.name(inside: path) }

  package enum OpenError: Error, Equatable, Sendable {
    case brokenSeal
    /// Whole, and another app's.
    case otherApp(String)
  }

  package func sealed(with key: SealingKey, for purpose: SealingKey.Purpose) -> [UInt8] {
    key.seal(bytes, for: purpose)
  }

  /// Opens sealed bytes, for any app that they were made for.
  package static func open(
    _ sealed: [UInt8], with key: SealingKey, for purpose: SealingKey.Purpose
  ) throws(OpenError) -> Bookmark {
    guard let content = try? key.open(sealed, for: purpose), let bookmark = Bookmark(bytes: content) else {
      throw .brokenSeal
    }
    return bookmark
  }

  /// Opens sealed bytes that an app has presented.
  package static func open(
    _ sealed: [UInt8], with key: SealingKey, for purpose: SealingKey.Purpose, app: String
  ) throws(OpenError) -> Bookmark {
    let bookmark = try open(sealed, with: key, for: purpose)
    #if AMBIT_MUTANTS
      if Mutant.anyAppOpens.isActive { return bookmark }
    #endif
    if bookmark.scope == .app, bookmark.bundleIdentifier != app { throw .otherApp(bookmark.bundleIdentifier) }
    return bookmark
  }
}
