internal import Kernel
internal import Paths

/// The system's records of its users.
enum UserDirectory {
  /// The home folder of a user by `/etc/passwd`.
  ///
  /// By this file alone: the launcher is linked statically and has no name service, and the broker has to come to the same
  /// answer. Users that other services know have `HOME` set by their session.
  static func home(of user: UInt32) -> String? {
    guard let file = try? Descriptor.open("/etc/passwd", flags: .read), let bytes = try? file.readAll() else {
      return nil
    }
    return home(of: user, in: String(decoding: bytes, as: UTF8.self))
  }

  static func home(of user: UInt32, in text: String) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count >= 7, UInt32(fields[2]) == user, fields[5].isAbsolutePath { return String(fields[5]) }
    }
    return nil
  }
}
