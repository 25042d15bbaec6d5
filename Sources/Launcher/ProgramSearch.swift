internal import Kernel
internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// Finds programs as a shell does.
package enum ProgramSearch {
  /// With a slash where it is, otherwise on the path.
  ///
  /// - Returns: an absolute path.
  package static func find(_ program: String, path: String?) throws(Failure) -> String {
    if program.hasSlash {
      let absolute = absolute(program)
      if let failure = check(absolute) { throw failure }
      return absolute
    }
    for folder in (path ?? "/usr/bin:/bin").split(separator: ":") where folder.isAbsolutePath {
      let candidate = "\(folder)/\(program)"
      if check(candidate) == nil { return candidate }
    }
    throw Failure("\(program): there is no such program on the PATH.", status: 127)
  }

  private static func check(_ candidate: String) -> Failure? {
    guard let status = try? Descriptor.open(candidate, flags: .path).status() else {
      return Failure("\(candidate): there is no such program.", status: 127)
    }
    if status.kind == .directory {
      return Failure(
        "\(candidate): is a folder. An app's folder is called Name.app; a program is a file.", status: 126)
    }
    guard unsafe access(candidate.kernel, X_OK) == 0 else {
      return Failure("\(candidate): is not executable (chmod +x it if it should be).", status: 126)
    }
    return nil
  }

  /// A path as this process means it.
  package static func absolute(_ path: String) -> String {
    normal(path.isAbsolutePath ? path : "\(ThisProcess.directory)/\(path)")
  }

  /// Without `.`, `..` and doubled slashes, by the text alone.
  static func normal(_ path: String) -> String {
    var normal: [UInt8] = []
    normal.reserveCapacity(path.utf8.count)
    for part in path.utf8.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
      if part.elementsEqual("..".utf8) {
        while let last = normal.popLast(), last != UInt8(ascii: "/") {}
      } else {
        normal.append(UInt8(ascii: "/"))
        normal += part
      }
    }
    return normal.isEmpty ? "/" : String(decoding: normal, as: UTF8.self)
  }
}
