internal import Foundation
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A short file with sealed bytes. A process that can write to the container may have put anything in its place.
enum SealedFile {
  /// - Parameter what: its expected content, with an article.
  static func content(of url: URL, longest: Int, _ what: String) throws -> Data {
    let bytes: [UInt8]
    do throws(KernelError) {
      let file = try AppFile.open(url.path, O_RDONLY | O_NONBLOCK)
      guard try file.status().kind == .regular else {
        throw KernelError("read", url.path, errno: .invalidArgument)
      }
      bytes = try file.readAll(limit: longest + 1)
    } catch {
      guard error.errno == .invalidArgument else { throw error.cocoa(for: url) }
      throw CocoaError.make(.fileReadCorruptFile, nil, url, "\(url.path) is no regular file, and so not \(what).")
    }
    guard bytes.count <= longest else {
      throw CocoaError.make(.fileReadCorruptFile, nil, url, "\(url.path) is too long to be \(what).")
    }
    return Data(bytes)
  }
}

/// Opening as an app can: a sandbox's filter knows no `openat2(2)`.
enum AppFile {
  static func open(_ path: String, _ flags: Int32, below folder: Descriptor? = nil) throws(KernelError) -> Descriptor {
    let number = try KernelError.check("open", path) {
      unsafe openat(folder?.rawValue ?? AT_FDCWD, path.kernel, flags | O_CLOEXEC | O_NOCTTY)
    }
    return Descriptor(owning: number)
  }

  /// Opens something in a folder by the names that lead to it, none of which may be a link's.
  static func open(_ names: [String], _ flags: Int32, below folder: Descriptor) throws(KernelError) -> Descriptor {
    var here = folder
    for name in names.dropLast() { here = try open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, below: here) }
    return try open(names.last ?? ".", flags | O_NOFOLLOW, below: here)
  }
}

extension KernelError {
  func cocoa(for url: URL) -> CocoaError {
    let code: CocoaError.Code =
      switch errno {
      case .noSuchFileOrDirectory, .notDirectory: .fileReadNoSuchFile
      case .permissionDenied, .notPermitted, .readOnlyFileSystem: .fileReadNoPermission
      default: .fileReadUnknown
      }
    return .make(code, POSIXErrorCode(rawValue: errno.rawValue), url, "\(url.path): \(errno).")
  }
}
