public import Foundation
internal import Wire

/// The facts that resolving a bookmark tells beyond Apple's initialiser: the evidence that found the document, and its
/// place. Ambit's addition.
public struct BookmarkResolution: Sendable, Hashable {
  /// Which evidence found the document.
  public enum Evidence: String, Sendable, Hashable, Codable {
    /// It is the very file.
    case identity
    /// That file is gone; another one stands under its name in the same folder, as after a program saved it.
    case path
  }

  /// Where a document is, if that has to be said.
  public enum Location: String, Sendable, Hashable, Codable {
    /// It can be read, and will be deleted when the trash is emptied (`BMK-11`).
    case trash
  }

  /// Bookmarks are short; longer bytes are none.
  static let longest = 48 << 10

  /// The document, with its scope.
  public let url: URL
  /// Something that the bookmark remembers has changed: make a new one.
  public let isStale: Bool
  /// Which evidence found it.
  public let matchedBy: Evidence
  /// Nil for an ordinary place.
  public let location: Location?
  /// The scope was started by resolving, and wants a stop.
  public let isStarted: Bool
  /// The document was moved, and another file stands at the place that the bookmark remembers. `url` is the document (`BMK-13`).
  public let isPlaceTaken: Bool

  /// Resolves a bookmark. See `URL.init(resolvingBookmarkData:options:relativeTo:bookmarkDataIsStale:)`.
  public init(resolving data: Data, options: URL.BookmarkResolutionOptions = [], relativeTo url: URL? = nil) throws {
    if let plain = PlainBookmark(data) {
      self.init(
        url: plain.url, isStale: false, matchedBy: .identity, location: nil, isStarted: false, isPlaceTaken: false)
      return
    }
    let anchor = url.flatMap { try? SecurityScope.scope(of: $0) }
    try self.init(
      BookmarksInterface.resolve,
      BookmarksInterface.ResolveCall(
        bookmark: data.base64EncodedString(), relativeTo: anchor,
        implicitStart: !options.contains(.withoutImplicitStartAccessing),
        withoutMounting: options.contains(.withoutMounting)))
  }

  /// Resolves a bookmark or a document reference.
  init(_ method: String, _ call: some WireMessage) throws {
    do {
      let reply: BookmarksInterface.ResolveReply = try Broker.call(method, call)
      self.init(
        url: try URL(document: reply.document), isStale: reply.isStale,
        matchedBy: reply.matchedBy == .identity ? .identity : .path, location: reply.location.map { _ in .trash },
        isStarted: reply.started, isPlaceTaken: reply.isPlaceTaken)
    } catch { throw error.cocoa() }
  }

  private init(
    url: URL, isStale: Bool, matchedBy: Evidence, location: Location?, isStarted: Bool, isPlaceTaken: Bool
  ) {
    self.url = url
    self.isStale = isStale
    self.matchedBy = matchedBy
    self.location = location
    self.isStarted = isStarted
    self.isPlaceTaken = isPlaceTaken
  }
}

/// The bookmark of a URL that is no file's: the URL, and nothing that an app could be given access to (`BMK-19`).
struct PlainBookmark {
  private static let mark = Data("ambit-url\0".utf8)
  let url: URL

  init(_ url: URL) { self.url = url }

  init?(_ data: Data) {
    guard data.starts(with: Self.mark), let text = String(data: data.dropFirst(Self.mark.count), encoding: .utf8),
      let url = URL(string: text), !url.isFileURL
    else { return nil }
    self.url = url
  }

  var data: Data { Self.mark + Data(url.absoluteString.utf8) }
}
