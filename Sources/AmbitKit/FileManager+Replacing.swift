public import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

extension FileManager {
  /// Puts the content of one file in the place of another, in one step: whoever reads has the old one or the new one, whole. The
  /// document keeps its name, its place on the host, its owner and its attributes; the other file is gone afterwards.
  ///
  /// As `replaceItemAt(_:withItemAt:)`, for a document whose scope is started. A file that does not lie in the document's own
  /// folder, as one in the container, cannot be renamed over it (`EXDEV`) and is copied beside it first.
  /// A folder, and so a package, is not replaced: it is saved by changing what is in it, where renaming works as everywhere.
  /// - Throws: `CocoaError` with the POSIX error underneath; the document is then what it was.
  public func replaceDocument(at document: URL, withItemAt item: URL) throws {
    var isFolder = ObjCBool(false)
    if unsafe fileExists(atPath: document.path, isDirectory: &isFolder), isFolder.boolValue {
      throw CocoaError.make(
        .featureUnsupported, .EISDIR, document,
        "A folder, and so a package, does not give way to another one. Save it by changing what is in it.")
    }
    if unsafe rename(item.path, document.path) == 0 { return }
    let code = errno
    guard code == EXDEV else { throw Self.failure(document, code) }
    let copy = document.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString)")
    do {
      try copyItem(at: item, to: copy)
      guard unsafe rename(copy.path, document.path) == 0 else { throw Self.failure(document, errno) }
    } catch {
      try? removeItem(at: copy)
      throw error
    }
    try removeItem(at: item)
  }

  private static func failure(_ document: URL, _ code: Int32) -> CocoaError {
    CocoaError(
      .fileWriteUnknown,
      userInfo: [
        NSURLErrorKey: document, NSFilePathErrorKey: document.path,
        NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
      ])
  }
}
