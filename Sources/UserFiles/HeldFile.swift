package import Kernel
internal import Paths
internal import SystemPackage

/// A file or folder that is to be acted on: open, and with the folder that has it under its name. An act on a name alone could meet
/// another file, since an app that may write the folder can give the name away at any moment (`PCK-23`).
package struct HeldFile: Sendable {
  /// A place (`O_PATH`), never a symbolic link.
  package let item: Descriptor
  package let folder: Descriptor
  package let name: String
  /// For people, and for coordination.
  package let path: String
  package let isFolder: Bool

  /// - Throws: `ESTALE` where the file does not stand at its own path; `EPERM` for anything but a file or a folder.
  package init(_ item: Descriptor) throws(KernelError) {
    guard let path = item.currentPath, let parent = path.parentPath, path != "/" else {
      throw KernelError("open", "the file", errno: .staleNFSFileHandle)
    }
    let kind = try item.status().kind
    guard kind == .regular || kind == .directory else {
      throw KernelError("open", "\(path), which is no file and no folder", errno: .notPermitted)
    }
    (self.item, self.path, name, isFolder) = (item, path, path.lastPathName, kind == .directory)
    folder = try Descriptor.open(parent, flags: [.read, .directory])
    try confirm()
  }

  /// Throws where another file has its name by now.
  package func confirm() throws(KernelError) {
    guard try isSame(as: try Descriptor.open(name, below: folder, flags: .place)) else {
      throw KernelError("open", path, errno: .staleNFSFileHandle)
    }
  }

  private func isSame(as other: Descriptor) throws(KernelError) -> Bool {
    let (mine, its) = (try item.status(), try other.status())
    return mine.inode == its.inode && mine.device == its.device && mine.birth == its.birth
  }

  /// Moves it to another name or folder, never over anything. If it is another file that has moved, that one goes back.
  ///
  /// - Throws: `EEXIST` where the name is taken, `EXDEV` for another volume, `ESTALE` if it was another file.
  package func move(to target: Descriptor, as new: String) throws(KernelError) {
    try confirm()
    try folder.moveAside(name, to: target, as: new)
    guard try isSame(as: try Descriptor.open(new, below: target, flags: .place)) else {
      try target.moveAside(new, to: folder, as: name)
      throw KernelError("rename", path, errno: .staleNFSFileHandle)
    }
  }
}
