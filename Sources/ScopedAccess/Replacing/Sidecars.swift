internal import Folders
package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The files that SQLite keeps beside a database, by exact name (`FSF-6`): the changes that a transaction would undo
/// (`-journal`), and those that have been committed and are not in the database yet (`-wal`). A database without the one that
/// belongs to it is another database.
package enum Sidecars {
  private static let suffixes = ["-journal", "-wal"]
  private static let heading = Array("SQLite format 3\0".utf8)
  /// Ends a journal that names another file, which a rollback would delete.
  private static let reference: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

  /// The name of a file beside a database on the host that says that another program has it open, or died over it.
  ///
  /// - Parameter place: the document's place, for callers that know it already.
  package static func inUse(beside document: FoundDocument, at place: DocumentPlace? = nil) -> String? {
    guard document.kind == .file, document.size >= heading.count, let path = document.path else { return nil }
    for suffix in suffixes {
      guard let file = regular((place?.name ?? path) + suffix, in: place?.folder), isDatabase(document.descriptor)
      else {
        continue
      }
      let first = (try? file.reopened([.read, .nonBlocking])).flatMap { try? $0.readAll(limit: 1) }?.first
      // A journal that is kept for the next time begins with zeros.
      if suffix == "-wal" || first != 0 { return path + suffix }
    }
    return nil
  }

  /// Takes the files that an app has left in its own folder without closing its database out of the app's reach.
  ///
  /// - Parameters:
  ///   - name: the database's, inside.
  ///   - area: a folder out of every app's reach, on the file system of the app's own.
  /// - Returns: whether there was anything.
  package static func take(_ name: String, of grant: String, from folder: Descriptor, to area: Descriptor) -> Bool {
    var found = false
    for suffix in suffixes where regular(name + suffix, in: folder) != nil {
      let taken = taken(grant, suffix)
      try? area.removeFile(taken)
      if (try? folder.move(name + suffix, to: area, as: taken)) != nil { found = true }
    }
    return found
  }

  /// The names in an app's own folder beside which something was left. The host may have renamed the document since.
  package static func databases(in folder: Descriptor) -> [String] {
    let names = ((try? DirectoryReader.entries(of: folder)) ?? []).map(\.name)
    let present = Set(names)
    return names.filter { name in suffixes.contains { present.contains(name + $0) } }.sorted()
  }

  private static func taken(_ grant: String, _ suffix: String) -> String { "\(grant).sidecar\(suffix)" }

  /// The grants that something was taken for, by the names in an area.
  package static func grants(in names: [String]) -> Set<String> {
    Set(
      names.flatMap { name in
        suffixes.map { taken("", $0) }.filter { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
      })
  }

  /// The files that were taken for a grant are needed no more.
  package static func discard(_ grant: String, in area: Descriptor) {
    for suffix in suffixes { try? area.removeFile(taken(grant, suffix)) }
  }

  /// A copy of a sidecar, which has no name yet.
  package struct Copy: Sendable {
    fileprivate let file: Descriptor
    fileprivate let place: DocumentPlace
    fileprivate let name: String
    /// On the host.
    package let path: String

    /// Something is there already, which is not touched.
    package var isInTheWay: Bool {
      _ = Sidecars.removeEmptyLog(at: place)
      return (try? Descriptor.open(name, below: place.folder, flags: [.path, .noFollow])) != nil
    }

    package func appear() throws(KernelError) { try place.folder.name(file, name) }
  }

  /// Removes a log without content beside a database: a program that is held off leaves one.
  static func removeEmptyLog(at place: DocumentPlace) -> Bool {
    let name = place.name + "-wal"
    guard let status = try? Descriptor.open(name, below: place.folder, flags: [.path, .noFollow]).status(),
      status.kind == .regular, status.size == 0, status.links == 1
    else { return false }
    return (try? place.folder.removeFile(name)) != nil
  }

  static func isHeading(_ bytes: [UInt8]) -> Bool { bytes.starts(with: heading) }

  /// Copies the taken files to the place of their database, which may take long; from any thread. Always a copy: a process with
  /// the app's file open could still make it name another one.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  package static func copies(
    of grant: String, in area: Descriptor, beside document: FoundDocument, while isWanted: () -> Bool
  ) throws(KernelError) -> [Copy] {
    var copies: [Copy] = []
    for suffix in suffixes {
      guard let file = regular(taken(grant, suffix), in: area), isDatabase(document.descriptor) else { continue }
      guard let path = document.descriptor.currentPath, let place = DocumentPlace(of: document) else {
        throw KernelError("open", "the database is in no folder any more", errno: .noSuchFileOrDirectory)
      }
      let copy = try place.folder.makeUnnamedFile()
      try file.reopened(.read).copyContent(to: copy, while: isWanted)
      if suffix == "-journal", try end(of: copy) == reference { continue }
      try document.descriptor.copyAttributes(to: copy)
      try copy.synchronize()
      copies.append(Copy(file: copy, place: place, name: place.name + suffix, path: path + suffix))
    }
    return copies
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
    (try? file.reopened([.read, .nonBlocking])).flatMap { try? $0.readAll(limit: heading.count) }.map(isHeading)
      ?? false
  }
}
