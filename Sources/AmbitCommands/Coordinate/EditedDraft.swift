internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// A private copy of a file, and the file's text at the time of the copy.
struct EditedDraft {
  let path: String
  /// The file's real path.
  private let place: String
  private let folder: String
  /// The text that was copied; `nil`: there was no file. It has no name any more.
  private let original: Descriptor?

  /// Copies the file in a coordinated reading, for which its presenters save.
  init(of file: String, _ terms: CoordinatedAccess.Terms) throws {
    place = file
    guard let kind = HostPath.kind(file) else {
      (original, folder) = (nil, try Self.makeFolder())
      path = folder.path(of: file.lastPathName)
      return
    }
    guard kind == .regular else { throw Failure("\(printable(file)) is no regular file, and cannot be edited.") }
    let access = try CoordinatedAccess([.init(path: file, use: .read, options: [])], terms)
    let source = try Descriptor.regularFile(access.paths.first ?? file)
    folder = try Self.makeFolder()
    path = folder.path(of: file.lastPathName)
    do {
      original = try Self.copy(source, to: folder.path(of: ".original"))
      try Descriptor.open(folder, flags: [.path, .directory]).removeFile(".original")
      let copy = try Descriptor.regularFile("/proc/self/fd/\(original?.rawValue ?? -1)")
      _ = try Self.copy(copy, to: path)
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
    access.done()
  }

  /// Where drafts survive a restart of the machine, as those of `sudoedit` do.
  private static func makeFolder() throws -> String {
    let parent = ThisProcess.environment["TMPDIR"].flatMap { $0.isAbsolutePath ? $0 : nil } ?? "/var/tmp"
    var template = Array("\(parent)/ambit-edit.XXXXXX".kernel)
    guard let made = unsafe mkdtemp(&template) else {
      throw Failure("\(printable(parent)) has no room for a copy: \(KernelError.last("mkdtemp", parent))")
    }
    return unsafe String(kernel: made)
  }

  private static func copy(_ source: Descriptor, to path: String) throws(KernelError) -> Descriptor {
    let copy = try Descriptor.open(path, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
    try source.copyContent(to: copy)
    return copy
  }

  /// For the user: where the text is.
  var note: String { "Your text is kept in \(printable(path))." }

  var hasChanged: Bool {
    get throws {
      guard let original else { return HostPath.kind(path) != nil }
      return try !Self.isSame(original, try Descriptor.regularFile(path))
    }
  }

  /// Presenters save before the file is looked at again, so that their changes are not lost. A new file takes its name.
  var intent: CoordinatedAccess.Intent {
    .init(path: place, use: .write, options: [original == nil ? "forReplacing" : "forMerging"])
  }

  /// Puts the draft in the place of the file, in one step.
  ///
  /// - Throws: `Failure` with status 1 if the file is not as it was, or its owner could not be kept.
  func replace(_ file: String) throws {
    let folder = try Descriptor.open(file.parentPath ?? "/", flags: [.path, .directory])
    let name = file.lastPathName
    guard let original else {
      let new = ".\(name).\(UUID().uuidString)"
      return try placing(new, in: folder, mode: 0o666) { _ in
        do { try folder.moveAside(new, to: folder, as: name) } catch let error as KernelError
          where error.errno == .fileExists
        {
          throw Failure("\(printable(file)) has been made meanwhile.", status: 1)
        }
      }
    }
    let current: Descriptor
    do throws(KernelError) { current = try Descriptor.regularFile(file, followsLink: false) } catch {
      throw Failure("\(printable(file)) is not the file any more that was read: \(error.fileFault).", status: 1)
    }
    guard try Self.isSame(original, current) else {
      throw Failure("\(printable(file)) has changed since it was read, and is left as it is.", status: 1)
    }
    let old = try current.status()
    let new = ".\(name).\(UUID().uuidString)"
    try placing(new, in: folder, mode: 0o600) { text in
      try current.copyAttributes(to: text)
      let status = try text.status()
      guard (status.userID, status.groupID, status.mode & 0o777) == (old.userID, old.groupID, old.mode & 0o777) else {
        throw Failure("owner, group and mode of \(printable(file)) cannot be kept by you.", status: 1)
      }
      try folder.move(new, to: folder, as: name)
      if old.links > 1 { Failure.say("other names of the file (hard links) keep the old text.") }
    }
  }

  /// Writes the draft into a new file, and removes that again if it does not come to its place.
  private func placing(_ new: String, in folder: Descriptor, mode: UInt64, _ act: (Descriptor) throws -> Void) throws {
    let draft = try Descriptor.regularFile(path)
    let text = try Descriptor.open(
      new, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: mode)
    do {
      try draft.copyContent(to: text)
      try text.synchronize()
      try act(text)
    } catch {
      try? folder.removeFile(new)
      throw error
    }
    // The name is on the disk as well.
    try? Descriptor.open(".", below: folder, flags: [.read, .directory]).synchronize()
  }

  /// Whether two files have the same bytes.
  private static func isSame(_ one: Descriptor, _ other: Descriptor) throws(KernelError) -> Bool {
    let size = try one.status().size
    guard try other.status().size == size else { return false }
    var offset: UInt64 = 0
    while offset < size {
      let count = Int(min(1 << 20, size - offset))
      let part = try one.bytes(at: offset, count: count)
      guard !part.isEmpty, try other.bytes(at: offset, count: count) == part else { return false }
      offset += UInt64(part.count)
    }
    return true
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
