internal import Cryptography
internal import Foundation
package import Kernel
internal import Paths
internal import SystemPackage

/// The cache of thumbnails that all programs of a desktop share (freedesktop's thumbnail managing standard): pictures by the digest of
/// their document's URL, with its time of change in a text of the picture.
package struct ThumbnailCache: Sendable {
  /// The sizes of the standard, in pixels of the longest side.
  package enum Size: Int, CaseIterable, Sendable {
    case normal = 128
    case large = 256
    case extraLarge = 512
    case doubleExtraLarge = 1024

    var folder: String {
      switch self {
      case .normal: "normal"
      case .large: "large"
      case .extraLarge: "x-large"
      case .doubleExtraLarge: "xx-large"
      }
    }

    /// The smallest that is large enough.
    package init(for pixels: Int) { self = Self.allCases.first { $0.rawValue >= pixels } ?? .doubleExtraLarge }
  }

  /// A document as the cache knows it.
  package struct Subject: Equatable, Sendable {
    /// Absolute path, without links.
    package let path: String
    /// Seconds since 1970.
    package let modified: Int64
    /// Bytes.
    package let size: Int64
    /// Of an item of a file provider: its version (`THM-5`).
    package var version: String?

    package init(path: String, modified: Int64, size: Int64) {
      (self.path, self.modified, self.size) = (path, modified, size)
    }

    package var url: String { Thumbnailer.url(path) }
    package var name: String {
      Hexadecimal.text(MD5.digest(Array(url.utf8))) + ".png"
    }
  }

  /// Why there is no thumbnail, as it was noted.
  package struct Failure: Equatable, Sendable {
    package let reason: String
    /// The program that failed, and when it was changed last.
    package let thumbnailer: String

    package init(reason: String, thumbnailer: String) { (self.reason, self.thumbnailer) = (reason, thumbnailer) }
  }

  package let folder: String
  private static let failures = "fail/ambit-1"
  private static let longestFile = 16 << 20

  /// - Parameter environment: `XDG_CACHE_HOME` and `HOME` are looked at.
  package init(environment: [String: String]) {
    let home = environment["XDG_CACHE_HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
    folder = (home ?? (environment["HOME"] ?? "/").path(of: ".cache")).path(of: "thumbnails")
  }

  package func path(of subject: Subject, _ size: Size) -> String {
    folder.path(of: size.folder).path(of: subject.name)
  }

  /// The thumbnail of a document as it is now; one of an earlier content is none.
  package func picture(of subject: Subject, _ size: Size) -> PNG? {
    guard let picture = read(path(of: subject, size)), Self.isOf(picture, subject) else { return nil }
    return picture
  }

  /// The failure that was noted for a document as it is now, by a program as it is now.
  ///
  /// - Parameter thumbnailer: the program, and when it was changed last.
  package func failure(of subject: Subject, by thumbnailer: String) -> Failure? {
    guard let picture = read(folder.path(of: Self.failures).path(of: subject.name)), Self.isOf(picture, subject),
      let noted = picture.texts["X-Ambit::Thumbnailer"], noted == thumbnailer
    else { return nil }
    return Failure(reason: picture.texts["X-Ambit::Reason"] ?? "", thumbnailer: noted)
  }

  package func keep(_ picture: PNG, of subject: Subject, _ size: Size) throws(KernelError) {
    var picture = picture
    picture.texts = Self.texts(subject)
    try write(picture, path(of: subject, size))
    // It is drawn now.
    try? Descriptor.open(folder.path(of: Self.failures), flags: [.read, .directory]).removeFile(subject.name)
  }

  package func note(_ failure: Failure, of subject: Subject) throws(KernelError) {
    var picture = PNG(width: 1, height: 1, pixels: [0, 0, 0, 0])
    picture.texts = Self.texts(subject)
    picture.texts["X-Ambit::Thumbnailer"] = failure.thumbnailer
    picture.texts["X-Ambit::Reason"] = String(failure.reason.prefix(500))
    try write(picture, folder.path(of: Self.failures).path(of: subject.name))
  }

  private static func texts(_ subject: Subject) -> [String: String] {
    var texts = [
      "Thumb::URI": subject.url, "Thumb::MTime": "\(subject.modified)", "Thumb::Size": "\(subject.size)",
      "Software": "Ambit",
    ]
    texts["X-Ambit::Version"] = subject.version.map(digest)
    return texts
  }

  /// A version is the provider's, and may have any letters.
  private static func digest(_ version: String) -> String {
    Hexadecimal.text(SHA256.digest(version))
  }

  private static func isOf(_ picture: PNG, _ subject: Subject) -> Bool {
    picture.texts["Thumb::URI"] == subject.url && picture.texts["Thumb::MTime"] == "\(subject.modified)"
      && (picture.texts["Thumb::Size"] ?? "\(subject.size)") == "\(subject.size)"
      && (subject.version == nil || picture.texts["X-Ambit::Version"] == subject.version.map(digest))
  }

  private func read(_ path: String) -> PNG? {
    guard let bytes = try? Descriptor.content(ofFile: path, limit: Self.longestFile) else { return nil }
    return try? PNG(bytes, longest: Size.doubleExtraLarge.rawValue)
  }

  /// Whole or not at all; the folders are the user's alone.
  private func write(_ picture: PNG, _ path: String) throws(KernelError) {
    let place = path.parentPath ?? "/"
    do {
      try FileManager.default.createDirectory(
        atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw KernelError("mkdir", place, errno: .permissionDenied) }
    let directory = try Descriptor.open(place, flags: [.read, .directory])
    let temporary = ".ambit-\(UInt64.random(in: .min ... .max))"
    let file = try Descriptor.open(
      temporary, below: directory, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
    do throws(KernelError) {
      try file.writeAll(picture.encoded)
      try directory.move(temporary, to: directory, as: path.lastPathName)
    } catch {
      try? directory.removeFile(temporary)
      throw error
    }
  }
}
