package import Kernel
internal import Paths
internal import SystemPackage

extension TypeDecider {
  /// The type of a file, by its descriptor; the name says what it is called.
  ///
  /// - Parameter file: opened with `O_PATH` is enough; its content is read where the name is not enough, and if that can be done
  ///   without waiting.
  package func decide(_ name: String, _ file: Descriptor) throws(KernelError) -> TypeDecision {
    let status = try file.status()
    let kind: TypeDecision.Kind =
      switch status.mode & 0o170000 {
      case 0o100000: .file(size: Int64(clamping: status.size))
      case 0o040000: .folder
      case 0o120000: .symlink
      case 0o020000: .characterDevice
      case 0o060000: .blockDevice
      case 0o140000: .socket
      default: .pipe
      }
    return decide(name, kind) {
      guard let opened = try? file.reopened([.read, .nonBlocking]) else { return nil }
      return (try? opened.readAll(limit: Self.extent)).map { Array($0.prefix(Self.extent)) }
    }
  }

  /// The same by a path; links are followed.
  package func decide(path: String) throws(KernelError) -> TypeDecision {
    let file: Descriptor
    do throws(KernelError) { file = try .open(path, flags: .path) } catch {
      guard error.errno == .noSuchFileOrDirectory else { throw error }
      // A link that leads nowhere.
      file = try .open(path, flags: [.path, .noFollow])
    }
    let name = path.lastPathName
    return try decide(name, file)
  }
}
