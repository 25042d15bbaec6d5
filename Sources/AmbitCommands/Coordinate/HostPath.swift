internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage
internal import Terminal

/// Files of the user's as coordination knows them: by their real paths.
enum HostPath {
  /// The absolute path, with all links resolved. Where nothing is there yet, its folder's, and its name.
  ///
  /// - Parameter followsLink: the last name is resolved as well. Moving and deleting are about the link itself.
  static func resolved(_ text: String, followsLink: Bool = true) throws(Failure) -> String {
    guard !text.isEmpty else { throw Failure("an empty path names no file.") }
    let path = text.isAbsolutePath ? text : ThisProcess.directory.path(of: text)
    let names = path.pathNames
    let endsInDots = names.last.map { $0 == "." || $0 == ".." } ?? true
    if followsLink || endsInDots {
      do throws(KernelError) { return try real(path) } catch {
        guard error.errno == .noSuchFileOrDirectory, !endsInDots else { throw failure(text, error) }
      }
    }
    do throws(KernelError) {
      return try real(path.withoutTrailingSlashes.parentPath ?? "/").path(of: names.last ?? "")
    } catch { throw failure(text, error) }
  }

  private static func real(_ path: String) throws(KernelError) -> String {
    guard let found = try Descriptor.open(path, flags: .path).currentPath else {
      throw KernelError("readlink", path, errno: .noSuchFileOrDirectory)
    }
    return found
  }

  private static func failure(_ text: String, _ error: KernelError) -> Failure {
    Failure("\(printable(text)) cannot be coordinated: \(error.errno) (\(error.errno.symbol))")
  }

  /// The kind of the file at a path; `nil`: nothing is there.
  static func kind(_ path: String, followsLink: Bool = true) -> FileStatus.Kind? {
    try? Descriptor.open(path, flags: followsLink ? .path : .place).status().kind
  }
}
