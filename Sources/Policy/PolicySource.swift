internal import Kernel
internal import SystemPackage

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
  /// Its name in messages.
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
  /// Only regular files: the broker reads policies too, and must not wait for the other end of a pipe.
  static func read(_ path: String) throws(PolicyError) -> [UInt8]? {
    do throws(KernelError) {
      return try Descriptor.regularFile(path).readAll(limit: StrictTOML.maximumSize + 1)
    } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw .unreadable(path: path, reason: error.fileFault)
    }
  }
}
