public import Foundation
internal import Wire

#if AMBIT_MUTANTS
  internal import Kernel
#endif

extension URL {
  /// How a bookmark is made, by Apple's names.
  public struct BookmarkCreationOptions: OptionSet, Sendable, Hashable {
    /// Apple's bits.
    public let rawValue: UInt
    /// Options from their bits; bits without a name are ignored.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// As few bytes as can be: without values to read, and without the folder that the document stands in.
    public static let minimalBookmark = BookmarkCreationOptions(rawValue: 1 << 9)
    /// With everything that a bookmark can remember; for `writeBookmarkData(_:to:)`.
    public static let suitableForBookmarkFile = BookmarkCreationOptions(rawValue: 1 << 10)
    /// The bookmark gives its scope back to this app, and to no other; with `relativeTo`, to every app that has access to
    /// that document.
    public static let withSecurityScope = BookmarkCreationOptions(rawValue: 1 << 11)
    /// Together with `withSecurityScope`: the scope that is given back allows reading only.
    public static let securityScopeAllowOnlyReadAccess = BookmarkCreationOptions(rawValue: 1 << 12)
    /// Without `withSecurityScope`: no other app can resolve it. Otherwise any app can that is handed the bytes, until the
    /// machine is started anew (`BMK-8`).
    public static let withoutImplicitSecurityScope = BookmarkCreationOptions(rawValue: 1 << 29)
  }

  /// How a bookmark is resolved. Ambit shows nothing while it resolves, and mounts nothing itself.
  public struct BookmarkResolutionOptions: OptionSet, Sendable, Hashable {
    /// Apple's bits.
    public let rawValue: UInt
    /// Options from their bits; bits without a name are ignored.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Show nothing to the user. Nothing ever is.
    public static let withoutUI = BookmarkResolutionOptions(rawValue: 1 << 8)
    /// Fail at once where looking could have the system mount a volume.
    public static let withoutMounting = BookmarkResolutionOptions(rawValue: 1 << 9)
    /// The URL has the scope that the bookmark was made with. It always has.
    public static let withSecurityScope = BookmarkResolutionOptions(rawValue: 1 << 10)
    /// Do not start the scope of a bookmark that was made without `withSecurityScope`. Those are started otherwise, and
    /// want a stop (`LIM-7`).
    public static let withoutImplicitStartAccessing = BookmarkResolutionOptions(rawValue: 1 << 15)
  }

  /// Bytes that find this document again after a relaunch, a rename or a move.
  ///
  /// A bookmark made without any option is for this app for good, and until the machine is started anew for any app that
  /// is handed it. With `withSecurityScope` it is for this app alone.
  ///
  /// - Parameters:
  ///   - keys: the keys that `resourceValues(forKeys:fromBookmarkData:)` shall answer.
  ///   - url: with `withSecurityScope`, a document with a started scope: the bookmark is then for every app that has access to it
  ///     (`BMK-5`), and this URL must be a file's.
  /// - Throws: `CocoaError`: `fileReadNoPermission` when a scope is not started (`BMK-18`); `fileReadUnknown` for options that
  ///   exclude each other (`BMK-7`); also for anything but documents that the user picked, files in a folder that they picked,
  ///   and files in the app's container (their bookmark needs no scope and has none). For a URL that is no file's, the bookmark
  ///   holds the URL, and options and keys mean nothing (`BMK-19`).
  public func bookmarkData(
    options: URL.BookmarkCreationOptions = [], includingResourceValuesForKeys keys: Set<URLResourceKey>? = nil,
    relativeTo url: URL? = nil
  ) throws -> Data {
    #if AMBIT_MUTANTS
      if Mutant.webOptionsKept.isActive, !isFileURL {
        return PlainBookmark(self).data + [UInt8(truncatingIfNeeded: options.rawValue >> 9)]
      }
      let ignored: BookmarkCreationOptions? =
        if Mutant.optionsCombined.isActive, options.contains(.withSecurityScope) {
          [.minimalBookmark, .suitableForBookmarkFile]
        } else { Mutant.implicitAnyway.isActive ? .withoutImplicitSecurityScope : nil }
      if let ignored, !options.isDisjoint(with: ignored) {
        return try bookmarkData(
          options: options.subtracting(ignored), includingResourceValuesForKeys: keys, relativeTo: url)
      }
    #endif
    guard isFileURL else { return PlainBookmark(self).data }
    let isExplicit = options.contains(.withSecurityScope)
    if isExplicit, !options.isDisjoint(with: [.minimalBookmark, .suitableForBookmarkFile]) {
      throw CocoaError.make(
        .fileReadUnknown, .EINVAL, self,
        "withSecurityScope cannot be combined with minimalBookmark or suitableForBookmarkFile.")
    }
    let values = (keys ?? []).map(\.rawValue).sorted()
    guard fragment != nil else {
      guard let path = Container.path(of: self) else {
        throw CocoaError.make(
          .fileReadNoPermission, .EPERM, self,
          "A bookmark can be made of what the user picked, and of what lies in the app's own container.")
      }
      return try made(
        BookmarksInterface.createContained, BookmarksInterface.CreateContainedCall(path: path, values: values))
    }
    let scope = try SecurityScope.scope(of: self)
    let inside = try SecurityScope.inside(self)
    let anchor = isExplicit ? try url.map { try SecurityScope.scope(of: $0) } : nil
    let kind: BookmarksInterface.Kind =
      if isExplicit { anchor == nil ? .app : .document } else {
        options.contains(.withoutImplicitSecurityScope) ? .app : .implicit
      }
    let call = BookmarksInterface.CreateCall(
      scope: scope, readOnly: isExplicit && options.contains(.securityScopeAllowOnlyReadAccess), kind: kind,
      relativeTo: anchor, values: values, minimal: options.contains(.minimalBookmark),
      inside: inside.isEmpty ? nil : String(inside.dropFirst()))
    return try made(BookmarksInterface.create, call)
  }

  private func made(_ method: String, _ call: some WireMessage) throws -> Data {
    do {
      let made: BookmarksInterface.CreateReply = try Broker.call(method, call)
      guard let data = Data(base64Encoded: made.bookmark) else {
        throw WireError.broken("a bookmark is base64")
      }
      return data
    } catch let error as WireError { throw error.cocoa(for: self) }
  }

  /// The document behind a bookmark.
  ///
  /// The scope of one made with `withSecurityScope` is not started. That of any other is, unless `options` say not to or
  /// every slot is taken; balance it by a stop.
  ///
  /// - Parameters:
  ///   - url: the URL that a document-scoped bookmark was made relative to, as this app has it.
  ///   - bookmarkDataIsStale: set to true when something that the bookmark remembers has changed: make a new one from this
  ///     URL (`BMK-2`).
  /// - Throws: `CocoaError`: `fileReadCorruptFile` when the bytes are not a bookmark that this app may resolve, or were
  ///   changed (`BMK-4`, `BMK-20`); `fileNoSuchFile` when the document is gone (`BMK-9`); `fileReadNoPermission` when the
  ///   user has withdrawn the grant, or this app has no access to `url`.
  public init(
    resolvingBookmarkData data: Data, options: URL.BookmarkResolutionOptions = [], relativeTo url: URL? = nil,
    bookmarkDataIsStale: inout Bool
  ) throws {
    let resolved = try BookmarkResolution(resolving: data, options: options, relativeTo: url)
    bookmarkDataIsStale = resolved.isStale
    self = resolved.url
  }

  init(document: DocumentMessage) throws(WireError) {
    if document.scope.isEmpty {
      self = Container.folder.appendingPathComponent(document.path, isDirectory: document.kind == .folder)
      return
    }
    guard let url = URL(string: document.url), url.isFileURL else { throw .broken("a document has a file URL") }
    self = url
  }
}

extension URL {
  /// Keeps a bookmark in a file, which `bookmarkData(withContentsOf:)` reads. Whole or not at all.
  public static func writeBookmarkData(_ data: Data, to url: URL) throws { try data.write(to: url, options: .atomic) }

  /// A bookmark that was kept in a file.
  public static func bookmarkData(withContentsOf url: URL) throws -> Data {
    try SealedFile.content(of: url, longest: BookmarkResolution.longest, "a bookmark")
  }
}
