internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A file that has the size and the date of a document, and not its content. It has no mode at all: no app can open it, and so nothing
/// reads zeros in place of the content. It keeps its identity when the content comes, and when it goes.
///
/// While its content comes or goes it has the mode 01000, which lets no program open it either. So a content that a killed broker left
/// halfway can be told from a file that the user has shut.
package enum Placeholder {
  static let unfinished: UInt32 = 0o1000

  /// Makes one: it gets its name when it is whole.
  ///
  /// - Parameters:
  ///   - workshop: a folder of the same file system that no guard watches. In a watched one, each open is a question to the guard.
  ///   - modified: nanoseconds since 1970.
  /// - Throws: `EEXIST` where another file has the name.
  package static func make(
    _ name: String, in folder: Descriptor, by workshop: Descriptor?, size: Int, modified: Int
  ) throws(KernelError) -> FileStatus {
    if let file = try? workshop?.makeUnnamedFile() {
      do throws(KernelError) {
        let status = try shape(file, size, modified)
        try folder.name(file, name)
        return status
      } catch {
        // It lies on another file system.
        guard error.errno == .improperLink else { throw error }
      }
    }
    let flags: OpenFlags = [.write, .create, .exclusive, .noFollow]
    return try shape(Descriptor.open(name, below: folder, flags: flags, mode: 0), size, modified)
  }

  private static func shape(_ file: Descriptor, _ size: Int, _ modified: Int) throws(KernelError) -> FileStatus {
    try file.cut(at: UInt64(max(0, size)))
    try file.setModified(modified)
    #if AMBIT_MUTANTS
      try file.changeMode(Mutant.placeholderReadable.isActive ? 0o400 : 0)
    #else
      try file.changeMode(0)
    #endif
    return try file.status()
  }

  /// Puts content into one; it can be read when all of it is there.
  ///
  /// - Parameters:
  ///   - place: the file, opened by `O_PATH`.
  ///   - content: copied from its start.
  ///   - size: bytes that it has to have. Nothing of a shorter or longer content is copied: that is an error, `EIO`. One that
  ///     becomes shorter meanwhile stays out of sight.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  ///   - beforeDisk: called before it waits for the disk.
  package static func fill(
    _ place: Descriptor, with content: Descriptor, size: Int, modified: Int, isWritable: Bool,
    while isWanted: () -> Bool, beforeDisk: () -> Void = {}
  ) throws(KernelError) {
    let whole = UInt64(max(0, size))
    guard try content.status().size == whole else { throw KernelError("copy_file_range", errno: .ioError) }
    let filling = try PlaceholderFilling(place, size: size, modified: modified)
    do throws(KernelError) {
      try filling.copy(content, from: 0, while: isWanted)
      try filling.finish(isWritable: isWritable, beforeDisk: beforeDisk)
    } catch {
      filling.giveUp()
      throw error
    }
  }

  /// Size and date of a content; the date in nanoseconds since 1970.
  package struct Content: Equatable, Sendable {
    package let size: Int
    package let modified: Int

    package init(size: Int, modified: Int) { (self.size, self.modified) = (size, modified) }

    package init(_ status: FileStatus) {
      self.init(size: Int(clamping: status.size), modified: Int(clamping: status.modified))
    }

    package init(of file: Descriptor) throws(KernelError) { self.init(try file.status()) }
  }

  /// Whether the content was coming, or going, when the broker was killed. No process has it open.
  package static func isLeftOver(_ place: Descriptor) -> Bool {
    guard isUnfinished(place), let breaks = try? LeaseBreaks(), let file = try? PlaceholderFilling.openForWriting(place)
    else { return false }
    defer { withExtendedLifetime(breaks) {} }
    defer { file.giveBackLease() }
    return (try? leaseUnfinished(file)) != nil
  }

  /// The event of its own open has the file open in a guard, for a moment. To pass that over would let programs of root read it.
  private static func leaseUnfinished(_ file: Descriptor) throws(KernelError) {
    for _ in 0..<50 {
      if (try? file.take(.write)) != nil { return }
      usleep(1_000)
    }
    try file.take(.write)
  }

  private static func isUnfinished(_ place: Descriptor) -> Bool {
    (try? place.status()).map { $0.mode & 0o7777 == unfinished } ?? false
  }

  /// Takes the content away.
  ///
  /// - Parameters:
  ///   - known: the content that the provider has.
  ///   - next: size and date from then on.
  ///   - mayBeLeftOver: no content is known to be here: one that a killed broker left halfway goes, too. Waits for 50 ms.
  ///   - group: a guard's; it asks about the file from then on.
  /// - Throws: `EAGAIN` while a process has it open, `EMLINK` if it has further names, `EBUSY` if it has another content than the known
  ///   one.
  package static func empty(
    _ place: Descriptor, known: Content, next: Content, mayBeLeftOver: Bool = false, _ group: GuardGroup? = nil
  ) throws(KernelError) {
    let status = try place.status()
    guard status.links == 1 else { throw KernelError("evict", errno: .tooManyLinks) }
    let hasContent = try place.hasBlocks
    // No program can have a content open that is not there. And without a mode its owner could not open it here.
    let isUnfinished = mayBeLeftOver && isUnfinished(place)
    guard status.mode & 0o777 != 0 || hasContent || isUnfinished else {
      guard Content(status) == known else { throw KernelError("evict", errno: .resourceBusy) }
      return try PlaceholderFilling(place, size: next.size, modified: next.modified).giveUp()
    }
    // No process has it open, and none opens it meanwhile. An event of a leased file would be an error for its opener. And an event of
    // this open would be a second one in the guard, for a moment. The content is here: nothing has to be asked.
    if !isUnfinished { group?.passOver(place) }
    let file = try isUnfinished ? PlaceholderFilling.openForWriting(place) : place.reopened([.readWrite, .nonBlocking])
    // A break of the lease is a signal, which would end a process that does not hold it back.
    let breaks = try LeaseBreaks()
    defer { withExtendedLifetime(breaks) {} }
    if isUnfinished { try leaseUnfinished(file) } else { try file.take(.write) }
    defer { file.giveBackLease() }
    let content = try Content(of: file)
    guard isUnfinished || content == known else { throw KernelError("evict", errno: .resourceBusy) }
    let mode = try file.status().mode & 0o7777
    try file.changeMode(unfinished)
    group?.askAgain(place)
    // A program that passed the check of the mode before may wait for the lease in its open(2): it reads the content, and so it stays.
    do throws(KernelError) { try file.take(.write) } catch {
      try? file.changeMode(mode)
      throw error
    }
    // From here on no program can open it, or its open is a question to the guard. Cutting it is an event of its own, which a lease would
    // break.
    file.giveBackLease()
    try file.cut(at: 0)
    try file.cut(at: UInt64(max(0, next.size)))
    try file.setModified(next.modified)
    try file.changeMode(0)
  }
}

extension Descriptor {
  /// Whether the file takes room on its disk: holes take none.
  var hasBlocks: Bool {
    get throws(KernelError) {
      var found = stat()
      guard unsafe fstat(rawValue, &found) == 0 else { throw KernelError.last("fstat", "descriptor \(rawValue)") }
      return found.st_blocks != 0
    }
  }

  /// `futimens(2)`.
  ///
  /// - Parameter modified: nanoseconds since 1970.
  package func setModified(_ modified: Int) throws(KernelError) {
    let time = timespec(tv_sec: modified / 1_000_000_000, tv_nsec: max(0, modified % 1_000_000_000))
    try KernelError.check("futimens", "descriptor \(rawValue)") { unsafe futimens(rawValue, [time, time]) }
  }
}
