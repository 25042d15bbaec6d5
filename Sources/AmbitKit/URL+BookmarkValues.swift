public import Foundation
internal import Wire

extension URL {
  /// A bookmark's record of its document. Foundation's `URLResourceValues` has these names and cannot be made with
  /// values by others. Values that were not asked for when the bookmark was made, or now, are nil.
  public struct BookmarkResourceValues: Sendable, Hashable {
    /// The document's file name.
    public var name: String?
    /// The same.
    public var localizedName: String? { name }
    /// Where it appeared in the sandbox. Where it is on the host is not the app's to know.
    public var path: String?
    /// It is a folder.
    public var isDirectory: Bool?
    /// It is a file.
    public var isRegularFile: Bool?
    /// A folder that is one document.
    public var isPackage: Bool?
    /// The app might write it.
    public var isWritable: Bool?
    /// Bytes; nil for a folder.
    public var fileSize: Int?
    /// Nil as well where the file system records none.
    public var creationDate: Date?
    /// When its content was changed last.
    public var contentModificationDate: Date?
    /// The uniform type identifier that its name's extension stands for.
    public var typeIdentifier: String?
    /// A person's name for the volume.
    public var volumeName: String?
    /// The type that its name's extension stands for.
    public var contentType: UTType? { typeIdentifier.map { UTType(importedAs: $0) } }

    /// All that there are, by their keys.
    public var allValues: [URLResourceKey: any Sendable] {
      var all: [URLResourceKey: any Sendable] = [:]
      all[.nameKey] = name
      all[.pathKey] = path
      all[.isDirectoryKey] = isDirectory
      all[.isRegularFileKey] = isRegularFile
      all[.isPackageKey] = isPackage
      all[.isWritableKey] = isWritable
      all[.fileSizeKey] = fileSize
      all[.creationDateKey] = creationDate
      all[.contentModificationDateKey] = contentModificationDate
      all[.typeIdentifierKey] = typeIdentifier
      all[.volumeNameKey] = volumeName
      return all
    }

    /// Of a URL that is no file's nothing is known.
    fileprivate init() {}

    init(_ reply: BookmarksInterface.ValuesReply, _ keys: Set<URLResourceKey>) {
      let kept = Set(reply.keys.map(URLResourceKey.init(rawValue:)))
      func wants(_ key: URLResourceKey) -> Bool { keys.contains(key) && kept.contains(key) }
      func date(_ nanoseconds: Int?) -> Date? {
        nanoseconds.flatMap { $0 == 0 ? nil : Date(timeIntervalSince1970: Double($0) / 1e9) }
      }
      // Without being asked for: the values that every bookmark must have (`BMK-9`).
      if keys.contains(.nameKey) || keys.contains(.localizedNameKey) { name = reply.name }
      if keys.contains(.pathKey) { path = reply.path }
      if keys.contains(.isDirectoryKey) { isDirectory = reply.kind.map { $0 != .file } }
      if keys.contains(.isPackageKey) { isPackage = reply.kind.map { $0 == .package } }
      if keys.contains(.isRegularFileKey) { isRegularFile = reply.kind.map { $0 == .file } }
      if wants(.isWritableKey) { isWritable = reply.access == .readWrite }
      if wants(.fileSizeKey), reply.kind == .file { fileSize = reply.size }
      if wants(.creationDateKey) { creationDate = date(reply.created) }
      if wants(.contentModificationDateKey) { contentModificationDate = date(reply.modified) }
      if wants(.volumeNameKey) { volumeName = reply.volumeName }
      if wants(.typeIdentifierKey) || wants(Self.contentTypeKey) {
        let suffix = (reply.name as NSString).pathExtension
        typeIdentifier =
          reply.kind == .folder
          ? UTType.folder.identifier : UTType(filenameExtension: suffix)?.identifier ?? UTType.data.identifier
      }
    }

    /// Apple's key of `contentType`, which Foundation has no name for here.
    public static let contentTypeKey = URLResourceKey(rawValue: "NSURLContentTypeKey")
  }

  /// A bookmark's record, without resolving it: the document may have been deleted (`BMK-9`, `BMK-22`).
  ///
  /// - Returns: nil when the bytes are no bookmark that this app may resolve. Name, path and kind are always known;
  ///   anything else only if it was asked for when the bookmark was made. Of a URL that is no file's there is
  ///   none (`BMK-19`).
  public static func resourceValues(
    forKeys keys: Set<URLResourceKey>, fromBookmarkData data: Data
  ) -> BookmarkResourceValues? {
    if PlainBookmark(data) != nil { return BookmarkResourceValues() }
    let call = BookmarksInterface.ValuesCall(bookmark: data.base64EncodedString())
    guard let reply: BookmarksInterface.ValuesReply = try? Broker.call(BookmarksInterface.values, call) else {
      return nil
    }
    return BookmarkResourceValues(reply, keys)
  }
}
