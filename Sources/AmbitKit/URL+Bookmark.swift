public import Foundation
internal import Wire

extension URL {
  /// How a bookmark is made. All of Apple's options have their names here; those that this version does not do are
  /// refused when used, by an error that names them.
  public struct BookmarkCreationOptions: OptionSet, Sendable, Hashable {
    /// Apple's bits.
    public let rawValue: UInt
    /// Options from their bits; bits without a name are ignored.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A smaller bookmark. Ambit's are all of one size.
    public static let minimalBookmark = BookmarkCreationOptions(rawValue: 1 << 9)
    /// Not in this version.
    public static let suitableForBookmarkFile = BookmarkCreationOptions(rawValue: 1 << 10)
    /// The bookmark gives its scope back. Every bookmark of Ambit's does.
    public static let withSecurityScope = BookmarkCreationOptions(rawValue: 1 << 11)
    /// Together with `withSecurityScope`: the scope that is given back allows reading only.
    public static let securityScopeAllowOnlyReadAccess = BookmarkCreationOptions(rawValue: 1 << 12)
    /// Not in this version.
    public static let withoutImplicitSecurityScope = BookmarkCreationOptions(rawValue: 1 << 29)
  }

  /// How a bookmark is resolved. Ambit shows and mounts nothing while it resolves, and starts no scope, so that every
  /// option of Apple's is kept already.
  public struct BookmarkResolutionOptions: OptionSet, Sendable, Hashable {
    /// Apple's bits.
    public let rawValue: UInt
    /// Options from their bits; bits without a name are ignored.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Show nothing to the user.
    public static let withoutUI = BookmarkResolutionOptions(rawValue: 1 << 8)
    /// Mount no volume.
    public static let withoutMounting = BookmarkResolutionOptions(rawValue: 1 << 9)
    /// The URL has the scope that the bookmark was made with. It always has.
    public static let withSecurityScope = BookmarkResolutionOptions(rawValue: 1 << 10)
    /// Do not start the scope. It never is.
    public static let withoutImplicitStartAccessing = BookmarkResolutionOptions(rawValue: 1 << 15)
  }

  /// Bytes that find this document again after a relaunch, a rename or a move, for this app alone.
  ///
  /// - Throws: `CocoaError`: `fileReadNoPermission` when the scope is not started (`BMK-18`); `featureUnsupported` for
  ///   what this version does not do: a document-scoped bookmark (`relativeTo`), resource values, and a bookmark of
  ///   anything but a document that the user picked.
  public func bookmarkData(
    options: URL.BookmarkCreationOptions = [], includingResourceValuesForKeys keys: Set<URLResourceKey>? = nil,
    relativeTo url: URL? = nil
  ) throws -> Data {
    try Self.check(options)
    if url != nil { throw CocoaError.notInThisVersion("a document-scoped bookmark, made relative to another document") }
    if keys?.isEmpty == false { throw CocoaError.notInThisVersion("resource values in a bookmark") }
    guard isFileURL, fragment != nil else {
      throw CocoaError.notInThisVersion("a bookmark of something that the user did not pick, here \(absoluteString)")
    }
    let scope = try SecurityScope.scope(of: self)
    guard SecurityScope.inside(self).isEmpty else {
      throw CocoaError.notInThisVersion("a bookmark of something in a picked folder; make one of the folder")
    }
    let readOnly = options.isSuperset(of: [.withSecurityScope, .securityScopeAllowOnlyReadAccess])
    do {
      let made: BookmarksInterface.CreateReply = try Broker.call(
        BookmarksInterface.create, BookmarksInterface.CreateCall(scope: scope, readOnly: readOnly))
      guard let data = Data(base64Encoded: made.bookmark) else {
        throw WireError.broken("a bookmark is base64")
      }
      return data
    } catch let error as WireError { throw error.cocoa(for: self) }
  }

  private static func check(_ options: BookmarkCreationOptions) throws {
    if options.contains(.withSecurityScope), !options.isDisjoint(with: [.minimalBookmark, .suitableForBookmarkFile]) {
      throw CocoaError.make(
        .fileReadUnknown, .EINVAL, nil,
        "withSecurityScope cannot be combined with minimalBookmark or suitableForBookmarkFile.")
    }
    if options.contains(.suitableForBookmarkFile) { throw CocoaError.notInThisVersion("suitableForBookmarkFile") }
    if options.contains(.withoutImplicitSecurityScope) {
      throw CocoaError.notInThisVersion("withoutImplicitSecurityScope")
    }
  }

  /// The document behind a bookmark of this app's. Its scope is not started.
  ///
  /// - Parameter bookmarkDataIsStale: set to true when something that the bookmark remembers has changed: make a new
  ///   one from this URL (`BMK-2`).
  /// - Throws: `CocoaError`: `fileReadCorruptFile` when the bytes are not a bookmark of this app's, or were changed
  ///   (`BMK-4`, `BMK-20`); `fileNoSuchFile` when the document is gone (`BMK-9`); `fileReadNoPermission` when the user
  ///   has withdrawn the grant.
  public init(
    resolvingBookmarkData data: Data, options: URL.BookmarkResolutionOptions = [], relativeTo url: URL? = nil,
    bookmarkDataIsStale: inout Bool
  ) throws {
    if url != nil { throw CocoaError.notInThisVersion("a document-scoped bookmark, resolved relative to another one") }
    let resolved = try Self.resolved(
      BookmarksInterface.resolve, BookmarksInterface.ResolveCall(bookmark: data.base64EncodedString()))
    bookmarkDataIsStale = resolved.isStale
    self = resolved.url
  }

  /// Resolves a bookmark or a document reference.
  static func resolved(_ method: String, _ call: some WireMessage) throws -> (url: URL, isStale: Bool) {
    do {
      let reply: BookmarksInterface.ResolveReply = try Broker.call(method, call)
      return (try URL(document: reply.document), reply.isStale)
    } catch { throw error.cocoa() }
  }

  init(document: DocumentMessage) throws(WireError) {
    guard let url = URL(string: document.url), url.isFileURL else { throw .broken("a document has a file URL") }
    self = url
  }
}
