internal import Folders
internal import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Keeps other programs out of a SQLite database in write-ahead mode while an app has it (`FSF-6`).
///
/// In that mode all programs must share one `-wal` and one `-shm`. The app's own lie in its staging folder, so a program of the host
/// would write a second log, and the commits of one of the two would be lost. A symbolic link in the place of `-shm` keeps SQLite
/// from opening the database: it answers `SQLITE_CANTOPEN`, and the text of the link names the app. A database in another mode is
/// not affected, since only write-ahead mode uses this file.
package struct DatabaseHold: Sendable {
  package enum Refusal: Error, Equatable {
    /// Another launch has the database.
    case held(instance: String)
    /// A program holds SQLite's locks on it.
    case open(path: String)
  }

  private let place: DocumentPlace
  private var name: String { place.name + "-shm" }
  private let text: String

  private init(_ place: DocumentPlace, _ text: String) { (self.place, self.text) = (place, text) }

  /// The folder is one that is not there, so that no program makes a file by following the link.
  private static let folder = "held-by-ambit"
  static func text(_ instance: String, _ app: String) -> String { "\(folder)/\(instance)/\(app)" }

  /// The launch that a link's text names.
  static func instance(in text: String) -> String? {
    let names = text.pathNames
    return names.count == 3 && names[0] == folder ? names[1] : nil
  }

  /// Holds a database for a launch.
  ///
  /// - Returns: `nil` if it is no database, or if nothing can be made beside it: then no program of this user can open it in
  ///   write-ahead mode either.
  /// - Throws: ``Refusal`` if the database is in write-ahead mode and something else has it.
  package static func take(
    _ document: FoundDocument, for instance: String, of app: String, isRunning: (String) -> Bool
  ) throws -> DatabaseHold? {
    // Without waiting: the loop itself may have a lease on the document.
    guard document.kind == .file, document.size >= header,
      let file = try? document.descriptor.reopened([.read, .nonBlocking]), let mode = mode(of: file),
      let place = DocumentPlace(of: document)
    else { return nil }
    let hold = DatabaseHold(place, text(instance, app))
    for _ in 0..<2 {
      do throws(KernelError) {
        try place.folder.makeLink(hold.text, as: hold.name)
        return hold
      } catch {
        guard error.errno == .fileExists else { return nil }
      }
      guard let present = try? Descriptor.open(hold.name, below: place.folder, flags: [.path, .noFollow]),
        let status = try? present.status()
      else { continue }
      switch status.kind {
      case .symlink:
        guard let other = (try? present.linkText()).flatMap(Self.instance(in:)) else { return nil }
        if other == instance { return hold }
        if isRunning(other) {
          if mode == .writeAhead { throw Refusal.held(instance: other) }
          return nil
        }
      case .regular:
        guard mode == .writeAhead, status.links == 1 else { return nil }
        // A program that has the database open in this mode holds a shared lock all the time. Without one the file is left over
        // from a program that died, and SQLite makes it anew.
        if try file.isLocked(sharedLock) { throw Refusal.open(path: document.path ?? place.name) }
      default: return nil
      }
      try? place.folder.removeFile(hold.name)
    }
    return nil
  }

  /// Lets other programs open the database again.
  package func release() {
    guard let present = try? Descriptor.open(name, below: place.folder, flags: [.path, .noFollow]),
      (try? present.linkText()) == text
    else { return }
    try? place.folder.removeFile(name)
  }

  /// The hold of a launch that is over, to be released.
  package static func left(beside document: FoundDocument, by isOver: (String) -> Bool) -> DatabaseHold? {
    guard let place = DocumentPlace(of: document),
      let link = try? Descriptor.open(place.name + "-shm", below: place.folder, flags: [.path, .noFollow]),
      let text = try? link.linkText(), let instance = instance(in: text), isOver(instance)
    else { return nil }
    return DatabaseHold(place, text)
  }

  /// Removes the empty log that a program makes before it finds that it cannot open the database.
  ///
  /// - Returns: whether there was one: a program has tried.
  package func clearAttempt() -> Bool { Sidecars.removeEmptyLog(at: place) }

  private enum Mode { case rollback, writeAhead }
  /// Bytes of a database's header up to its format numbers.
  private static let header = 20
  /// SQLite's shared lock (`SHARED_FIRST`, `SHARED_SIZE`).
  private static let sharedLock: Range<Int64> = 0x4000_0002..<0x4000_0200

  private static func mode(of file: Descriptor) -> Mode? {
    guard let bytes = try? file.readAll(limit: header), bytes.count >= header, Sidecars.isHeading(bytes)
    else { return nil }
    return bytes[18] == 2 && bytes[19] == 2 ? .writeAhead : .rollback
  }
}
