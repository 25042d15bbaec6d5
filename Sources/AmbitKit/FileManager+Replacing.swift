public import Foundation
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

extension FileManager {
  /// Puts the content of one file in the place of another, in one step: a reader has the old one or the new one, whole. The
  /// document keeps its name, its place on the host, its owner and its attributes; the other file is gone afterwards.
  ///
  /// As `replaceItemAt(_:withItemAt:)`, for a document with a started scope; a package gives way to a folder in the same way. A
  /// file that does not lie in the document's own folder, as something in the container, cannot be renamed over it (`EXDEV`) and is
  /// copied beside it first. A folder that was picked as such does not give way to another one: there is no room beside it.
  /// - Throws: `CocoaError` with the POSIX error underneath; the document is then as it was.
  public func replaceDocument(at document: URL, withItemAt item: URL) throws {
    var isFolder = ObjCBool(false)
    let isPackage = unsafe fileExists(atPath: document.path, isDirectory: &isFolder) && isFolder.boolValue
    // Before it is started nothing may be done with it.
    if isPackage, unsafe access(document.path, W_OK) != 0 { throw Self.failure(document, errno) }
    let code = Self.put(item, at: document, exchanging: isPackage)
    if code == 0 { return try isPackage ? removeItem(at: item) : () }
    guard code == EXDEV else { throw Self.failure(document, code) }
    let beside = document.deletingLastPathComponent()
    guard unsafe access(beside.path, W_OK) == 0 else {
      guard isPackage else { throw Self.failure(document, code) }
      throw CocoaError.make(
        .featureUnsupported, .EISDIR, document,
        "This folder does not give way to another one. Save it by changing what is in it.")
    }
    let copy = beside.appendingPathComponent(".\(UUID().uuidString)")
    do {
      try copyItem(at: item, to: copy)
      let code = Self.put(copy, at: document, exchanging: isPackage)
      guard code == 0 else { throw Self.failure(document, code) }
    } catch {
      try? removeItem(at: copy)
      throw error
    }
    if isPackage { try? removeItem(at: copy) }
    try removeItem(at: item)
  }

  /// - Returns: 0 or an errno.
  private static func put(_ item: URL, at document: URL, exchanging: Bool) -> Int32 {
    guard exchanging else { return unsafe rename(item.path, document.path) == 0 ? 0 : errno }
    do throws(KernelError) {
      try Descriptor.exchange(item.path, with: document.path)
      return 0
    } catch { return error.errno.rawValue }
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
