internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Synchronization
internal import SystemPackage
internal import Wire

/// Something that an app hands over to its user: a file or a folder in its container (`PCK-5`, `PCK-6`).
struct HandedItem: Sendable {
  let item: Descriptor
  let folder: Descriptor
  let name: String
}

/// Copies of an app's items in a folder of the user's.
struct PutItems: Sendable {
  let copies: [ItemCopy]
  fileprivate let sources: [HandedItem]
  /// The last change of each source before it was copied: ``ScopedAccess/InboxDocument/lastChange(of:most:)``.
  fileprivate let changes: [Int64?]
}

/// Whether the app still waits for a copy.
final class CopyTicket: Sendable {
  private let wanted = Atomic(true)
  var isWanted: Bool { wanted.load(ordering: .relaxed) }
  func withdraw() { wanted.store(false, ordering: .relaxed) }
}

/// The copies that picks make: of documents into an app's container, and of an app's files into a folder of the user's. Threads make them,
/// by descriptors, and whole or not at all.
@BrokerLoop
final class PickedCopies {
  private let host: BrokerHost
  private let jobs: Jobs

  /// Brings the content of a document that is elsewhere, before it is copied.
  var bring: (String) async throws -> Void = { _ in }

  /// Told of files that were put there, moved or removed.
  var onChanged: (String) -> Void = { _ in }

  init(_ host: BrokerHost, _ jobs: Jobs) { (self.host, self.jobs) = (host, jobs) }

  /// The folder of a launch's imported copies, in the container's `tmp`.
  private nonisolated static let prefix = "Imports-"
  /// Files that one request hands over.
  static let mostSources = 256
  /// Files and folders of something that is moved; a copy has no more.
  private nonisolated static let mostMoved = 200_001

  // MARK: An app's own files

  /// Opens what an app wants to hand over, before the user is asked (`PCK-20`).
  func sources(_ request: PickerInterface.PickCall, _ instance: Instance) throws -> [HandedItem] {
    let isHanding = request.mode == .export || request.mode == .move
    let paths = request.sources ?? []
    guard isHanding == !paths.isEmpty, paths.count <= Self.mostSources, !isHanding || !request.multiple else {
      throw ErrorReply.invalidParameter("sources")
    }
    guard isHanding else { return [] }
    return try paths.map { try source($0, instance) }
  }

  /// Opens a file or folder in an app's container that the app wants to hand over.
  func source(_ path: String, _ instance: Instance) throws -> HandedItem {
    guard let container = host.openContainer(instance.app.bundleIdentifier) else {
      throw PickerInterface.Failure.noSource(path: path, "the app has no container")
    }
    let names = path.pathNames
    guard let inner = path.path(within: ScopeMounts.home), !inner.isEmpty,
      !names.contains(where: { $0 == "." || $0 == ".." }), let name = names.last
    else { throw PickerInterface.Failure.noSource(path: path, "it does not lie in the app's container") }
    // In a home folder these are settings and keys of programs: “.ssh”, “.bashrc”. People do not see them, and would not notice.
    guard !name.isHiddenName else {
      throw PickerInterface.Failure.noSource(
        path: path, "its name begins with a dot, and hidden files are not handed over")
    }
    do throws(KernelError) {
      let folder = try Descriptor.open(
        inner.parentPath.flatMap { $0.isEmpty ? nil : $0 } ?? ".", below: container, flags: [.path, .directory],
        resolve: [.beneath, .noSymlinks])
      let item = try Descriptor.open(name, below: folder, flags: .place)
      guard item.mount == container.mount else { throw KernelError("openat2", name, errno: .improperLink) }
      let kind = try item.status().kind
      guard kind == .regular || kind == .directory else {
        throw KernelError("openat2", "\(name) is no file and no folder", errno: .notPermitted)
      }
      return HandedItem(item: item, folder: folder, name: name)
    } catch { throw PickerInterface.Failure.noSource(path: path, error.errno.symbol) }
  }

  /// Puts copies into a folder of the user's.
  ///
  /// - Parameter mustStayAsItIs: the items go afterwards. One that is changed while it is copied is an error, `EBUSY`.
  /// - Returns: `nil` if it was given up.
  func put(
    _ items: [HandedItem], into folder: Descriptor, _ ticket: CopyTicket, _ instance: Instance, mustStayAsItIs: Bool
  ) async throws(CancellationError) -> Result<PutItems, KernelError>? {
    let made = try await copy(instance, ticket) { isWanted, beforeDisk in
      let changes = mustStayAsItIs ? items.map { Self.lastChange($0.item) } : []
      return ItemCopy.all(
        items.map { ($0.item, $0.name) }, into: folder, owner: nil, while: isWanted, beforeDisk: beforeDisk
      ).flatMap { copies -> Result<PutItems, KernelError> in
        if mustStayAsItIs, items.map({ Self.lastChange($0.item) }) != changes {
          ItemCopy.discard(copies, in: folder)
          return .failure(KernelError("copy", "it was changed meanwhile", errno: .resourceBusy))
        }
        return .success(PutItems(copies: copies, sources: items, changes: changes))
      }
    }
    if let place = folder.currentPath { onChanged(place) }
    return made
  }

  private nonisolated static func lastChange(_ item: Descriptor) -> Int64? {
    try? InboxDocument.lastChange(of: item, most: mostMoved)
  }

  /// Takes copies away for which there is no use.
  func discard(_ made: [ItemCopy], in folder: Descriptor, _ instance: Instance) async {
    let owner = "copies of \(instance.app.bundleIdentifier)"
    _ = try? await jobs.run(owner: owner, subject: Grant.makeID()) { _ in ItemCopy.discard(made, in: folder) }
  }

  /// Takes an app's own files away, after they were moved: those that still are where they were, as they were.
  func remove(_ put: PutItems, _ instance: Instance) async {
    let owner = "copies of \(instance.app.bundleIdentifier)"
    // The app may have gone; they go all the same.
    _ = try? await jobs.run(owner: owner, subject: Grant.makeID()) { heartbeat in
      for (each, changed) in zip(put.sources, put.changes) where heartbeat.beat() {
        guard let now = try? Descriptor.open(each.name, below: each.folder, flags: .place),
          let present = try? FileIdentity(of: now), let moved = try? FileIdentity(of: each.item), present == moved,
          Self.lastChange(now) == changed
        else { continue }
        if (try? each.folder.removeFile(each.name)) == nil { try? each.folder.removeTree(each.name) }
      }
    }
  }

  // MARK: Imports

  /// Copies documents into the app's container (`PCK-2`). The originals stay as they are (`PCK-4`).
  ///
  /// - Returns: the copies, by the app's paths; `nil` if it was given up.
  func importing(
    _ documents: [(item: Descriptor, name: String)], _ ticket: CopyTicket, _ instance: Instance
  ) async throws(CancellationError) -> Result<[PickerInterface.Copy], KernelError>? {
    let container = host.openContainer(instance.app.bundleIdentifier)
    let (inbox, hostID) = (Self.prefix + instance.id, instance.hostID)
    let made: Result<[ItemCopy], KernelError>? = try await copy(instance, ticket) { isWanted, beforeDisk in
      Result { () throws(KernelError) in
        guard let container else { throw KernelError("open", "container", errno: .noSuchFileOrDirectory) }
        let temporary = try Descriptor.open("tmp", below: container, flags: [.read, .directory, .noFollow])
        try withFileSystemIdentity(hostID) { () throws(KernelError) in
          do throws(KernelError) { try temporary.makeDirectory(inbox, mode: 0o700) } catch {
            guard error.errno == .fileExists else { throw error }
          }
        }
        let folder = try Descriptor.open(inbox, below: temporary, flags: [.read, .directory, .noFollow])
        guard folder.mount == container.mount else { throw KernelError("open", inbox, errno: .improperLink) }
        return try ItemCopy.all(
          documents, into: folder, owner: container, while: isWanted, beforeDisk: beforeDisk
        ).get()
      }
    }
    return made.map { result in
      result.map { copies in
        copies.map { .init(name: $0.name, path: ScopeMounts.home.path(of: "tmp/\(inbox)/\($0.name)")) }
      }
    }
  }

  /// A launch is over: its imported copies go (`PCK-3`). So do those of launches whose end no broker has seen.
  /// Files that are removed at the end of a launch. The end of the next launch removes the rest.
  private nonisolated static let mostCleaned = 1_000_000

  func clean(_ app: String, keeping running: Set<String>) {
    guard let container = host.openContainer(app) else { return }
    try? Worker.start {
      guard let temporary = try? Descriptor.open("tmp", below: container, flags: [.read, .directory, .noFollow]),
        let entries = try? DirectoryReader.entries(of: temporary, limit: 20_000)
      else { return }
      for entry in entries where entry.kind == .directory && entry.name.hasPrefix(Self.prefix) {
        if !running.contains(String(entry.name.dropFirst(Self.prefix.count))) {
          try? temporary.removeTree(entry.name, most: Self.mostCleaned)
        }
      }
    }
  }

  // MARK: -

  private func copy<Value: Sendable>(
    _ instance: Instance, _ ticket: CopyTicket,
    _ work: @escaping @Sendable (_ isWanted: @escaping () -> Bool, _ beforeDisk: @escaping () -> Void) -> Value
  ) async throws(CancellationError) -> Value? {
    try await jobs.run(owner: "copies of \(instance.app.bundleIdentifier)", subject: Grant.makeID()) { heartbeat in
      work({ heartbeat.beat() && ticket.isWanted }, heartbeat.waitForDisk)
    }
  }
}
