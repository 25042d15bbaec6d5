internal import Kernel
internal import Paths
internal import SystemPackage

/// A name in a folder, as another process sees it: with its root, its current folder and its mounts.
struct TracedPlace {
  /// The folder of the name; `nil` where the path led to an open file at once.
  let folder: Descriptor?
  let name: String
  /// What stands there, if anything does.
  let entry: FileStatus?

  /// Links that a path may lead through (`path_resolution(7)`).
  private static let mostLinks = 40

  /// Walks a path name by name, since links in it start at the other process's root.
  ///
  /// - Parameter followsLast: also follows a link at the path's end.
  init(_ path: TracedCall.Path, of thread: TracedThread, followsLast: Bool) throws(KernelError) {
    let text = try thread.text(at: path.address)
    let root = try Descriptor.open("\(thread.folder)/root", flags: .path)
    let rootStatus = try root.status()
    var folder: Descriptor
    if text.isAbsolutePath {
      folder = root
    } else if path.folder == Self.currentFolder {
      folder = try Descriptor.open("\(thread.folder)/cwd", flags: .path)
    } else {
      folder = try Descriptor.open("\(thread.folder)/fd/\(path.folder)", flags: .path)
    }
    var rest = Array(text.pathNames.reversed())
    var links = 0
    while let name = rest.popLast() {
      if name == "." { continue }
      if name == ".." {
        let here = try folder.status()
        if (here.inode, here.device, here.mount) != (rootStatus.inode, rootStatus.device, rootStatus.mount) {
          folder = try Descriptor.open("..", below: folder, flags: .path)
        }
        continue
      }
      let isLast = rest.allSatisfy { $0 == "." }
      let place: Descriptor
      do throws(KernelError) { place = try Descriptor.open(name, below: folder, flags: .place) } catch {
        guard isLast, error.errno == .noSuchFileOrDirectory else { throw error }
        (self.folder, self.name, entry) = (folder, name, nil)
        return
      }
      let status = try place.status()
      if isLast, status.kind != .symlink || !followsLast {
        (self.folder, self.name, entry) = (folder, name, status)
        return
      }
      guard status.kind == .symlink else {
        folder = place
        continue
      }
      links += 1
      guard links <= Self.mostLinks else { throw KernelError("open", text, errno: .tooManySymbolicLinkLevels) }
      if folder.isProcfs {
        // Its own entry is another one for this process; all other links lead to an open file, whatever their text.
        let isOwn = name == "self" || name == "thread-self"
        let target =
          try isOwn
          ? Descriptor.open(thread.folder, flags: .path) : Descriptor.open(name, below: folder, flags: .path)
        if isLast {
          (self.folder, self.name, entry) = (nil, name, try target.status())
          return
        }
        folder = target
        continue
      }
      let target = try place.linkText()
      if target.isAbsolutePath { folder = root }
      rest += target.pathNames.reversed()
    }
    (self.folder, name, entry) = (nil, "", try folder.status())
  }

  /// `AT_FDCWD`.
  private static let currentFolder: Int32 = -100

  /// The folder as the kernel knows it.
  var folderKey: FileKey? { folder.flatMap { try? $0.status() }.map(FileKey.init) }
}
