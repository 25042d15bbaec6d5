internal import Folders
internal import Kernel
internal import Sandbox
internal import Synchronization
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Lets an app save its document as programs do: write a new file beside it and rename that over it (`FSF-1`, `FSF-3`); and set
/// the old one aside before, under another name.
///
/// The kernel refuses a rename onto a mount and of one, and nothing else rests on the observations here. A call with other names
/// than that of a started document goes on, and the kernel reads the names again. A call with that name is carried out by the
/// broker on the host: by names that were copied once, and in folders that it holds itself.
final class Renamer: Sendable {
  let listener: SeccompListener
  private let instance: String
  private let folders: AmbitFolders
  /// The app's identity on the host, where it has one of its own.
  let hostID: UInt32?
  private let broker = Mutex<WireClient?>(nil)
  /// The broker knows that the app can watch files.
  private let watches = Mutex(false)
  /// An app cannot change its root: the result stays valid.
  private let root = Mutex<Descriptor?>(nil)

  init(_ listener: SeccompListener, plan: SandboxPlan, instance: String, folders: AmbitFolders) {
    self.listener = listener
    self.instance = instance
    self.folders = folders
    hostID = plan.hostID
  }

  enum Decision {
    /// A file in the folder of a grant comes into the place of the document there.
    case replace(grant: String, folder: Descriptor, document: String, by: String)
    /// A file from elsewhere does; the kernel would say that the two are on different file systems.
    case bring(Source, grant: String, folder: Descriptor, document: String)
    /// A folder there and the package change places.
    case exchange(grant: String, folder: Descriptor, document: String, with: String)
    /// The document gets another name in its folder.
    case setAside(folder: Descriptor, document: String, as: String, over: Bool)
    case fail(Errno)
    case goOn
  }

  /// `RENAME_NOREPLACE` and `RENAME_EXCHANGE` of rename(2).
  static let noReplace: UInt64 = 1
  private static let exchange: UInt64 = 2

  func decide(_ call: SeccompListener.Notification) -> Decision {
    let arguments = call.arguments
    let to: Target?
    let (old, oldFolder): (UInt64, UInt64?)
    var flags: UInt64 = 0
    switch call.kind {
    case .rename:
      to = target(arguments[1], from: nil, call)
      (old, oldFolder) = (arguments[0], nil)
    default:
      to = target(arguments[3], from: arguments[2], call)
      (old, oldFolder) = (arguments[1], arguments[0])
      if call.kind == .renameAt2 { flags = arguments[4] & 0xffff_ffff }
    }
    guard let to else { return .goOn }
    // Between the folder of a grant and any other place there is a border of mounts.
    guard let from = target(old, from: oldFolder, call), from.grant == to.grant else {
      return bringing(old, from: oldFolder, to, flags, call)
    }
    guard listener.isWaiting(call) else { return .goOn }
    switch (from.isDocument, to.isDocument) {
    case (false, true):
      if flags == Self.noReplace { return .fail(.fileExists) }
      if flags == Self.exchange, to.isFolder {
        return .exchange(grant: to.grant, folder: to.folder, document: to.name, with: from.name)
      }
      // As of a file system on which names cannot change places.
      guard flags == 0 else { return .fail(.invalidArgument) }
      #if AMBIT_MUTANTS
        if Mutant.renameBusy.isActive { return .fail(.resourceBusy) }
      #endif
      return .replace(grant: to.grant, folder: to.folder, document: to.name, by: from.name)
    case (true, false):
      if flags == Self.exchange, from.isFolder {
        return .exchange(grant: to.grant, folder: to.folder, document: from.name, with: to.name)
      }
      guard flags & ~Self.noReplace == 0 else { return .fail(.invalidArgument) }
      return .setAside(folder: to.folder, document: from.name, as: to.name, over: flags == 0)
    default: return .goOn
    }
  }

  // MARK: Names

  /// A name in the folder of a grant.
  struct Target {
    let folder: Descriptor
    let name: String
    let grant: String
    /// Something is mounted on the name; in the folder of a grant that is the document.
    let isDocument: Bool
    let isFolder: Bool
  }

  /// - Parameter folder: the argument with the number that a relative path starts from; `nil`: the current folder.
  /// - Returns: `nil` if it is no name in the folder of a grant, or leads nowhere.
  private func target(_ address: UInt64, from folder: UInt64?, _ call: SeccompListener.Notification) -> Target? {
    place(address, from: folder, call, unlessIn: { Self.grant(at: $0) == nil }) { folder, name throws(KernelError) in
      guard let grant = Self.grant(at: try Descriptor.linkBytes("/proc/self/fd/\(folder.rawValue)")) else { return nil }
      let present = try? Descriptor.open(name, below: folder, flags: [.path, .noFollow])
      return Target(
        folder: folder, name: name, grant: grant, isDocument: present.map { $0.mount != folder.mount } ?? false,
        isFolder: (try? present?.status().kind) == .directory)
    }
  }

  /// Looks, with the app's rights, at a name in a folder that a path leads to.
  ///
  /// - Parameters:
  ///   - isIdle: of the thread's current folder, or the one that it names: whether a mere name in it need not be looked at.
  ///   - look: gets the folder, open as a place, and the name in it.
  func place<Found>(
    _ address: UInt64, from folder: UInt64?, _ call: SeccompListener.Notification,
    unlessIn isIdle: ([UInt8]) -> Bool = { _ in false },
    _ look: (Descriptor, String) throws(KernelError) -> Found?
  ) -> Found? {
    let slash = UInt8(ascii: "/")
    guard let path = listener.path(at: address, of: call), let last = path.split(separator: slash).last,
      path.last != slash
    else { return nil }
    let name = String(kernel: last)
    if name == "." || name == ".." { return nil }
    let leading = Array(path.dropLast(last.count))
    var number = folder.map { Int32(truncatingIfNeeded: $0) }
    if number == AT_FDCWD { number = nil }
    // Most programs rename where they are, and that is not here.
    if leading.isEmpty, let place = try? AppPath.folder(number, call.thread), isIdle(place) { return nil }
    guard let root = root(of: call),
      let whole = try? AppPath.whole(leading, from: number, call.thread), whole.count < Int(PATH_MAX)
    else { return nil }
    do throws(KernelError) {
      return try ThreadIdentity.acting(as: hostID) { () throws(KernelError) in
        let folder = try Descriptor.open(
          bytes: whole, below: root, flags: [.path, .directory], resolve: [.inRoot, .noMagicLinks])
        return try look(folder, name)
      }
    } catch { return nil }
  }

  /// The grant whose folder contains this path.
  private static func grant(at place: [UInt8]) -> String? {
    guard place.starts(with: InsidePath.documents.utf8) else { return nil }
    let parts = place.split(separator: UInt8(ascii: "/"))
    return parts.count == 2 && parts[0].count == InsidePath.documents.utf8.count - 1
      ? String(validating: parts[1], as: UTF8.self) : nil
  }

  private func root(of call: SeccompListener.Notification) -> Descriptor? {
    root.withLock { known in
      if known == nil {
        let found = try? Descriptor.open("/proc/\(call.thread)/root", flags: [.path, .directory])
        // Only this check tells to which process that belongs: a number may have passed to another process.
        if listener.isWaiting(call) { known = found }
      }
      return known
    }
  }

  // MARK: Acting

  /// - Parameter exchanging: the document is to stand at the other name afterwards.
  /// - Returns: the answer to the rename; `nil`: the kernel answers.
  func replace(
    _ grant: String, in folder: Descriptor, _ document: String, by temporary: String, exchanging: Bool = false
  ) -> Errno?? {
    let call = LauncherInterface.ReplaceCall(
      instance: instance, grant: grant, name: document, temporary: temporary, exchanges: exchanging)
    let answer = broker.withLock { Self.ask(&$0, folders, LauncherInterface.replace, call.json) }
      .flatMap { try? LauncherInterface.ReplaceReply(json: $0).error }
    switch answer {
    case LauncherInterface.ReplaceReply.undecided: return .none
    case 0: return .some(nil)
    case let error?: return .some(Errno(rawValue: Int32(truncatingIfNeeded: error)))
    case nil: return .some(.ioError)
    }
  }

  /// Whether the broker was told that the app can watch files.
  var isKnownToWatch: Bool { watches.withLock { $0 } }

  /// Tells it.
  ///
  /// - Returns: whether the broker has taken note.
  func tellOfWatches() -> Bool {
    let call = LauncherInterface.WatchesCall(instance: instance)
    guard broker.withLock({ Self.ask(&$0, folders, LauncherInterface.watches, call.json) }) != nil else { return false }
    watches.withLock { $0 = true }
    return true
  }

  /// - Returns: `nil` if it is unknown whether it was done.
  private static func ask(
    _ broker: inout WireClient?, _ folders: AmbitFolders, _ method: String, _ call: JSONObject
  ) -> JSONObject? {
    for _ in 1...mostTries {
      broker = broker ?? (try? BrokerConnection.existing(folders))
      do {
        guard let client = broker else { throw WireError.unread }
        return try client.call(method, call).parameters
      } catch WireError.unread {
        // That broker has gone: the next one is about to begin.
        broker = nil
      } catch WireError.remote(LauncherInterface.Failure.unknownInstanceName, _) {
        // And this one is about to take the app over.
      } catch {
        broker = nil
        return nil
      }
      usleep(tryPause)
    }
    return nil
  }

  /// Two seconds: a broker begins in a few milliseconds.
  private static let mostTries = 200
  private static let tryPause: UInt32 = 10_000

  /// The document stays where it is: the program's next step is to write at its name, and it is granted by that name. The file set
  /// aside is a copy, the program's own.
  func setAside(
    _ document: String, in folder: Descriptor, as name: String, over: Bool, for call: SeccompListener.Notification
  ) -> Errno?? {
    do throws(KernelError) {
      // The limit is asked for first: it takes the launcher's rights.
      let ceiling = try listener.fileSizeLimit(of: call)
      return try ThreadIdentity.acting(as: hostID) { () throws(KernelError) in
        let file = try Descriptor.open(document, below: folder, flags: [.read, .noFollow, .nonBlocking])
        guard try file.status().kind == .regular else {
          // The answer of every file system to such a rename; the kernel would speak of the mount. Foundation that was built
          // without renameat2(2) replaces folders so, and fails by it everywhere.
          let other = try? Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow, .nonBlocking])
          let entries = try other.map { other throws(KernelError) in try DirectoryReader.entries(of: other) } ?? []
          return over && !entries.isEmpty ? .some(.directoryNotEmpty) : .none
        }
        let unfinished = ".ambit-\(call.id)"
        let copy = try Descriptor.open(
          unfinished, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
        do throws(KernelError) {
          try file.copyAll(to: copy, ceiling: ceiling) { listener.isWaiting(call) }
          try over ? folder.move(unfinished, to: folder, as: name) : folder.rename(unfinished, to: name)
        } catch {
          try? folder.removeFile(unfinished)
          throw error
        }
        return .some(nil)
      }
    } catch { return .some(error.errno) }
  }
}

extension Descriptor {
  /// Copies a whole file's content and attributes into an empty file of an app's.
  ///
  /// - Parameters:
  ///   - ceiling: the app's limit on the size of its files, in bytes. The kernel holds the launcher to the launcher's own.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Throws: `EFBIG` if the file is larger than the limit.
  func copyAll(to copy: Descriptor, ceiling: UInt64, while isWanted: () -> Bool) throws(KernelError) {
    let tooLarge = KernelError("copy_file_range", "descriptor \(rawValue)", errno: .fileTooLarge)
    guard try status().size <= ceiling else { throw tooLarge }
    try copyContent(to: copy, while: isWanted)
    // It may have grown, and some file systems do not tell the size.
    guard try copy.status().size <= ceiling else { throw tooLarge }
    try copyAttributes(to: copy)
  }
}
