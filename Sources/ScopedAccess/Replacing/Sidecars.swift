package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The files that SQLite keeps beside a database, by exact name (`FSF-6`): what a transaction would undo (`-journal`), and what
/// has been committed and is not in the database yet (`-wal`). A database without the one that belongs to it is another database.
package enum Sidecars {
  private static let suffixes = ["-journal", "-wal"]
  private static let heading = Array("SQLite format 3\0".utf8)
  /// Ends a journal that names another file, which whoever rolls it back deletes.
  private static let reference: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

  /// The name of a file beside a database on the host that says that another program has it open, or died over it.
  package static func inUse(beside document: FoundDocument) -> String? {
    guard let path = document.path else { return nil }
    for suffix in suffixes {
      guard let file = regular(path + suffix, in: nil), isDatabase(document.descriptor) else { continue }
      let first = (try? file.reopened(.read)).flatMap { try? $0.readAll(limit: 1) }?.first
      // A journal that is kept for the next time begins with zeros.
      if suffix == "-wal" || first != 0 { return path + suffix }
    }
    return nil
  }

  /// Puts beside a database on the host what an app that did not close it has left in its own folder. Nothing that is there is
  /// touched.
  ///
  /// - Parameters:
  ///   - name: the database's, inside.
  ///   - area: a folder out of every app's reach, on the file system of the app's own.
  /// - Returns: the paths.
  package static func keep(
    _ document: FoundDocument, name: String, from folder: Descriptor, through area: Descriptor
  ) -> [String] {
    var kept: [String] = []
    for suffix in suffixes where regular(name + suffix, in: folder) != nil {
      guard isDatabase(document.descriptor), let path = document.descriptor.currentPath,
        let place = DocumentPlace(of: document)
      else { return kept }
      if (try? move(name + suffix, from: folder, through: area, to: place, as: place.name + suffix, document)) == true {
        kept.append(path + suffix)
      }
    }
    return kept
  }

  private static func move(
    _ name: String, from folder: Descriptor, through area: Descriptor, to place: DocumentPlace, as new: String,
    _ document: FoundDocument
  ) throws(KernelError) -> Bool {
    let taken = "sidecar"
    try? area.removeFile(taken)
    try folder.move(name, to: area, as: taken)
    guard let file = regular(taken, in: area) else { return false }
    // Always a copy: who has the app's file open could still make it name another one.
    let copy = try place.folder.makeUnnamedFile()
    try file.reopened(.read).copyContent(to: copy)
    if name.hasSuffix("-journal"), try end(of: copy) == reference { return false }
    try document.descriptor.copyAttributes(to: copy)
    try copy.synchronize()
    try place.folder.name(copy, new)
    try? area.removeFile(taken)
    return true
  }

  private static func end(of file: Descriptor) throws(KernelError) -> [UInt8] {
    var end = [UInt8](repeating: 0, count: reference.count)
    let size = try file.status().size
    guard size >= reference.count else { return [] }
    let content = try file.reopened(.read)
    try KernelError.check("pread") {
      unsafe pread(content.rawValue, &end, end.count, off_t(size) - off_t(reference.count))
    }
    return end
  }

  /// A file with something in it and with this one name.
  private static func regular(_ name: String, in folder: Descriptor?) -> Descriptor? {
    guard let file = try? Descriptor.open(name, below: folder, flags: .place),
      let status = try? file.status(),
      status.kind == .regular, status.size > 0, status.links == 1
    else { return nil }
    return file
  }

  private static func isDatabase(_ file: Descriptor) -> Bool {
    (try? file.reopened(.read)).flatMap { try? $0.readAll(limit: heading.count) }?.prefix(heading.count).elementsEqual(
      heading)
      ?? false
  }
}
