public import Foundation
internal import Wire

/// A small sealed file that a pick leaves in the app's `Documents`, and that stands for the picked document
/// (`REF-1`). It can be renamed and moved within the container (`REF-3`).
public struct DocumentReference: Sendable, Hashable {
  /// Of the reference's file name.
  public static let fileExtension = "ambitref"
  /// References are short; a longer file is none.
  private static let longest = 48 << 10

  /// Where the reference itself is.
  public let fileURL: URL

  /// The reference in a file; whether it is one shows when it is resolved.
  public init(fileURL: URL) { self.fileURL = fileURL }

  /// The reference's name without extension.
  public var name: String { fileURL.deletingPathExtension().lastPathComponent }

  /// The references in a folder, by name; in the container's `Documents` unless told otherwise.
  public static func references(in folder: URL = documents) throws -> [DocumentReference] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == fileExtension }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map(DocumentReference.init(fileURL:))
  }

  /// The references in a folder and in those below it, by path. Links are not followed, and after so many entries, or folders in
  /// one another, there is an end of it.
  public static func references(
    below folder: URL, entries: Int = 100_000, depth: Int = 16
  ) throws -> [DocumentReference] {
    var found = try references(in: folder)
    guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return found }
    var seen = 0
    for case let url as URL in walk {
      seen += 1
      if seen > entries { break }
      if walk.level >= depth { walk.skipDescendants() }
      if walk.level > 1, url.pathExtension == fileExtension { found.append(DocumentReference(fileURL: url)) }
    }
    return found.sorted { $0.fileURL.path < $1.fileURL.path }
  }

  /// The container's `Documents`.
  public static var documents: URL {
    Container.folder.appendingPathComponent("Documents", isDirectory: true)
  }

  /// The document that the reference stands for, with its scope, which is not started (`REF-2`).
  ///
  /// - Returns: the document's URL, and whether something that the reference remembers has changed.
  /// - Throws: as `URL.init(resolvingBookmarkData:options:relativeTo:bookmarkDataIsStale:)`.
  public func resolve() throws -> (url: URL, isStale: Bool) {
    let resolved = try resolution()
    return (resolved.url, resolved.isStale)
  }

  /// The same, with everything that resolving tells.
  public func resolution() throws -> BookmarkResolution {
    let content = try SealedFile.content(of: fileURL, longest: Self.longest, "a document reference")
    return try BookmarkResolution(
      BookmarksInterface.resolveReference,
      BookmarksInterface.ResolveReferenceCall(reference: content.base64EncodedString()))
  }
}
