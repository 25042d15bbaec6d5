internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage

/// The pictures that apps have drawn of documents of theirs: a file for each, in a folder for each app. A name says which document it is
/// and when that was changed, so the picture of another content is not found.
struct DrawnPictures: Sendable {
  /// Need not be there yet.
  let folder: String
  /// Pictures of one app, and their bytes; before one more the oldest go.
  var most = (count: 500, bytes: 64 << 20)

  /// Keeps a picture of a document as it is now, in place of the one before.
  func keep(_ picture: [UInt8], of document: FoundDocument, by app: String) throws(KernelError) {
    let place = folder.path(of: app)
    do {
      try FileManager.default.createDirectory(
        atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw KernelError("mkdir", place, errno: .permissionDenied) }
    let directory = try Descriptor.open(place, flags: [.read, .directory, .noFollow])
    let (mark, name) = (Self.mark(document), try Self.name(document))
    let temporary = ".new-\(UInt64.random(in: 0 ... .max))"
    let file = try Descriptor.open(
      temporary, below: directory, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    do throws(KernelError) {
      try file.writeAll(picture)
      try directory.move(temporary, to: directory, as: name)
    } catch {
      try? directory.removeFile(temporary)
      throw error
    }
    clear(directory, besides: name, mark)
  }

  /// The picture of a document as it is now, and the app that has drawn it.
  func picture(of document: FoundDocument) -> (app: String, file: Descriptor)? {
    guard let name = try? Self.name(document),
      let apps = try? DirectoryReader.entries(of: Descriptor.open(folder, flags: [.read, .directory, .noFollow]))
    else { return nil }
    for app in apps.map(\.name).sorted() {
      let path = folder.path(of: app).path(of: name)
      if let file = try? Descriptor.open(path, flags: [.read, .noFollow, .nonBlocking]) { return (app, file) }
    }
    return nil
  }

  /// The app is removed.
  func forget(_ app: String) {
    try? Descriptor.open(folder, flags: [.read, .directory, .noFollow]).removeTree(app)
  }

  /// Takes former pictures of the document away, and the oldest of all where there are too many.
  private func clear(_ directory: Descriptor, besides name: String, _ mark: String) {
    guard let entries = try? DirectoryReader.entries(of: directory) else { return }
    var others: [(name: String, time: Int64, size: Int)] = []
    var bytes = 0
    for entry in entries.map(\.name) {
      let status = try? Descriptor.open(entry, below: directory, flags: .place).status()
      let size = min(Int(clamping: status?.size ?? 0), Int(Int32.max))
      guard entry == name || !entry.hasPrefix(mark) else {
        try? directory.removeFile(entry)
        continue
      }
      bytes += size
      if entry != name { others.append((entry, status?.modified ?? 0, size)) }
    }
    var count = others.count + 1
    for old in others.sorted(by: { $0.time < $1.time }) where count > most.count || bytes > most.bytes {
      try? directory.removeFile(old.name)
      (count, bytes) = (count - 1, bytes - old.size)
    }
  }

  private static func mark(_ document: FoundDocument) -> String {
    let identity = document.identity
    let volume = identity.volume.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    return "\(volume)-\(identity.inode)-\(identity.birth)-"
  }

  private static func name(_ document: FoundDocument) throws(KernelError) -> String {
    "\(mark(document))\(try document.modified())"
  }
}
