internal import Foundation

/// A policy's text and where it is from.
struct PolicySource {
  enum Place: Equatable {
    /// The n-th of the library's folders.
    case directory(Int)
    case builtin
    /// A path that the user gave.
    case path
  }

  /// The name that `inherits` would use; of a file given by path, none.
  let name: String?
  /// What messages call it.
  let file: String
  let place: Place
  let bytes: [UInt8]

  init(name: String?, file: String, place: Place, bytes: [UInt8]) {
    self.name = name
    self.file = file
    self.place = place
    self.bytes = bytes
  }

  init(file: String) throws(PolicyError) {
    guard let bytes = try Self.read(file) else {
      throw .unreadable(path: file, reason: "there is no such file")
    }
    self.init(name: nil, file: file, place: .path, bytes: bytes)
  }

  /// A file's bytes, and one more than the reader takes when it is larger; `nil` when there is none.
  ///
  /// Pipes are read as well: a shell's `<(…)` is one.
  static func read(_ path: String) throws(PolicyError) -> [UInt8]? {
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      return try Array(handle.read(upToCount: StrictTOML.maximumSize + 1) ?? Data())
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      return nil
    } catch {
      let error = error as NSError
      let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
      var reason = (underlying ?? error).localizedDescription
      while reason.hasSuffix(".") { reason.removeLast() }
      throw .unreadable(path: path, reason: reason)
    }
  }
}
