internal import AppModel
internal import Audit
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// An app may not change its own files: neither its bundle or program, nor a folder that it lies in.
///
/// By paths, and by the files that they lead to: a folder may be mounted in two places.
enum OwnFiles {
  /// The end of a sentence.
  static let isOwn = "it belongs to the app itself, which may not change what it is"
  static let holdsOwn =
    "the app itself lies in it, and may not change what it is; grant it for reading, or another folder"

  /// By the paths alone.
  static func refusal(ofWriting path: String?, own: String) -> String? {
    guard let path, !own.isEmpty else { return nil }
    if path.lies(within: own) { return isOwn }
    return own.lies(within: path) ? holdsOwn : nil
  }

  /// - Parameters:
  ///   - document: the document that the app is to write, opened as a location.
  ///   - own: where the app's bundle or program lies.
  static func refusal(ofWriting document: Descriptor, at path: String?, own: String) -> String? {
    if let refusal = refusal(ofWriting: path, own: own) { return refusal }
    // A file that has been removed, or moved elsewhere, cannot be found in a document any more.
    guard let status = try? document.status(), !own.isEmpty, (try? Descriptor.open(own, flags: .place)) != nil else {
      return nil
    }
    if status.kind == .regular, status.links > 1, isLinked(File(status), in: own) { return isOwn }
    let above = files(on: own)
    if above.first == File(status) { return isOwn }
    if above.contains(File(status)) { return holdsOwn }
    guard let first = above.first, let path else { return nil }
    return files(on: path).contains(first) ? isOwn : nil
  }

  private struct File: Hashable {
    let device, inode: UInt64
    init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
  }

  /// Whether a file has a further name among those that make a bundle.
  private static func isLinked(_ file: File, in bundle: String) -> Bool {
    ["", "Contents", "Contents/MacOS"].contains { name in
      guard let folder = try? Descriptor.open(bundle.path(of: name), flags: [.read, .directory]),
        (try? folder.status().device) == file.device, let entries = try? DirectoryReader.entries(of: folder)
      else { return false }
      return entries.contains { $0.inode == file.inode }
    }
  }

  /// The target of a path, and the folders that it leads through, from the end.
  private static func files(on path: String) -> [File] {
    var all: [File] = []
    var next: String? = path
    while let path = next {
      if let status = try? Descriptor.open(path, flags: .place).status() { all.append(File(status)) }
      next = path == "/" ? nil : path.parentPath
    }
    return all
  }
}
