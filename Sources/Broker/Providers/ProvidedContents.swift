internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

/// Contents of providers' documents: brought when they are read, and taken away.
@BrokerLoop
final class ProvidedContents {
  private let files: ProviderFiles
  private let extensions: ProviderExtensions
  private let changes: ProvidedChanges
  private let jobs: Jobs
  /// Contents that are on their way, and the requests that wait for each.
  private var bringing: [String: [Wait<Result<Void, ProviderFault>>]] = [:]
  /// Providers of which a content is copied while it is written.
  private var following: Set<String> = []

  /// Told of a document when its content has come or gone.
  var onContent: (_ path: String) -> Void = { _ in }
  /// Requests that want to know it as well.
  private var watchers: [String: [Int: (Int, Int) -> Void]] = [:]
  private var nextWatcher = 1

  init(_ files: ProviderFiles, _ extensions: ProviderExtensions, _ changes: ProvidedChanges, _ jobs: Jobs) {
    (self.files, self.extensions, self.changes, self.jobs) = (files, extensions, changes, jobs)
  }

  var transfers: ContentTransfers { changes.transfers }

  /// Whether a document is of a provider that is enabled.
  func isProvided(_ path: String) -> Bool { files.capabilities(path) != nil }

  /// Whether a document is a provider's that does not let it be used so.
  func lacks(_ capability: ProviderItem.Capabilities, _ path: String) -> Bool {
    files.capabilities(path)?.contains(capability) == false
  }

  // MARK: Placeholders

  /// Nanoseconds: the placeholder that is here is good enough.
  private static let placeholderPatience: Int64 = 5_000_000_000

  /// Asks for the metadata of a document that is a placeholder (`PRV-2`). The placeholder stays with any answer.
  func refreshPlaceholder(_ path: String) async throws {
    guard path.path(within: files.root) != nil, let (provider, file) = try files.known(path), !file.isHere,
      bringing[path] == nil
    else { return }
    let place = "/home/user".path(
      of: ProviderStorage.path(identifier: file.item.identifier, filename: file.item.filename))
    let answer: ProviderInterface.AnswerCall
    do {
      answer = try await extensions.ask(
        provider, .placeholder, file.item.identifier, path: place, patience: Self.placeholderPatience)
    } catch is ProviderFault { return }
    guard let item = answer.items?.first.map(ProviderItem.init), item.fault == nil,
      item.identifier == file.item.identifier, !item.isFolder, let (_, present) = try files.known(path),
      !present.isHere, bringing[path] == nil, present.item.content != item.content
    else { return }
    var now = present
    (now.item.size, now.item.modified, now.item.version) = (item.size, item.modified, item.version)
    let (folder, was) = (files.folder(of: provider), present.item)
    let placed = ProviderTree.Placed(item: now.item, path: now.path)
    // A file that is not as it was is left to the next look at the folder.
    do throws(KernelError) { _ = try folder.carryOut(.renew(placed, was: was, mayBeLeftOver: false)) } catch { return }
    try files.store()?.put([now])
  }

  /// When apps used documents last, in nanoseconds since 1970: a file system notes reads once a day.
  private var used: [String: Int64] = [:]

  /// Whether a process has access to a document.
  var isUsed: (_ path: String) -> Bool = { _ in false }

  /// A process has no access to a document any more. If it was the last one, the provider may stop (`PRV-5`). It is not launched for that,
  /// and a change that it has not got comes first.
  func accessEnded(_ path: String) {
    guard path.path(within: files.root) != nil, let (provider, file) = try? files.known(path), file.isHere else {
      return
    }
    used[path] = Clock.realtime()
    #if AMBIT_MUTANTS
      if Mutant.lastAccessKeeps.isActive { return }
    #endif
    guard !file.isChanged, extensions.isRunning(provider.identifier), !isUsed(path)
    else { return }
    BrokerLoop.begin(Cancellation()) { _ = try? await self.extensions.ask(provider, .stop, file.item.identifier) }
  }

  /// The provider's picture of a document: a regular file of a bounded size (`THM-5`).
  func picture(_ path: String, pixels: Int) async throws -> (Descriptor, version: String) {
    guard let (provider, file) = try files.known(path) else {
      throw LocationsInterface.Failure.notFound("\(path) is no document of an enabled provider")
    }
    let inner = ProviderStorage.picture(identifier: file.item.identifier)
    _ = try await extensions.ask(
      provider, .thumbnail, file.item.identifier, path: "/home/user".path(of: inner), size: pixels)
    let picture = try own(inner, of: provider, "picture of “\(file.item.filename)”")
    guard try picture.status().size <= UInt64(Self.largestPicture) else {
      throw ProviderFault(description: "\(provider.name) gave a picture of more than \(Self.largestPicture) bytes")
    }
    return (picture, file.item.version)
  }
  private static let largestPicture = 8 << 20

  // MARK: Bringing

  /// Brings the contents of all documents in a folder, or that of the document.
  func bringAll(_ path: String) async throws {
    guard try files.known(path) == nil, let inner = path.path(within: files.root),
      let provider = try files.store()?.providers().first(where: { $0.identifier == inner.pathNames.first })
    else { return try await bring(path) }
    let folder = files.folder(of: provider).path
    for file in try files.store()?.files(of: provider.identifier) ?? [] where !file.isHere && !file.item.isFolder {
      let place = folder.path(of: file.path)
      if place.path(within: path) != nil { try await bring(place) }
    }
  }

  /// The same, and tells how far it has come.
  func bring(_ path: String, _ progress: @escaping (_ completed: Int, _ total: Int) -> Void) async throws {
    let number = nextWatcher
    nextWatcher += 1
    watchers[path, default: [:]][number] = progress
    defer {
      watchers[path]?[number] = nil
      if watchers[path]?.isEmpty == true { watchers[path] = nil }
    }
    try await bring(path)
  }

  private func transferred(_ path: String, _ completed: Int, _ total: Int) {
    transfers.note(path, completed, of: total)
    for watcher in watchers[path]?.values ?? [:].values { watcher(completed, total) }
  }

  /// Whether a path is among those of which ``bring(_:)`` may have to bring the content.
  func mayBeElsewhere(_ path: String) -> Bool { path.path(within: files.root) != nil }

  /// Brings the content of a document, if it is not here (`PRV-1`, `COO-26`). Anything else is left alone.
  ///
  /// - Throws: `ProviderFault`, the provider's error.
  func bring(_ path: String) async throws {
    guard path.path(within: files.root) != nil else { return }
    var tries = 0
    while let (provider, file) = try files.known(path), try !isHere(file, provider) {
      if bringing[path] != nil {
        let wait = Wait<Result<Void, ProviderFault>>()
        bringing[path]?.append(wait)
        try await wait.get().get()
        continue
      }
      bringing[path] = []
      var outcome = Result<Void, ProviderFault>.success(())
      // Of a request that was cancelled, another one takes over.
      defer { for wait in bringing.removeValue(forKey: path) ?? [] { wait.finish(outcome) } }
      defer { transfers.end(path) }
      do {
        transferred(path, 0, file.item.size)
        guard try await fetch(file, provider, { self.transferred(path, $0, $1) }) else {
          tries += 1
          guard tries < Self.mostTries else {
            throw ProviderFault(
              description: "\(provider.name) changes “\(file.item.filename)” again and again while its content comes")
          }
          continue
        }
        files.note("brought", file, provider)
        onContent(path)
      } catch let error where !(error is CancellationError) {
        let fault = error as? ProviderFault ?? ProviderFault(description: "\(provider.name): \(error)")
        outcome = .failure(fault)
        files.note("brought", file, provider, fault)
        throw fault
      } catch {
        // No other request waits for it: the provider need not go on.
        if bringing[path]?.isEmpty ?? true { contentIsNotWanted(file, provider) }
        throw error
      }
    }
  }

  private func contentIsNotWanted(_ file: ProvidedFile, _ provider: EnabledProvider) {
    guard extensions.isRunning(provider.identifier) else { return }
    files.note("cancelled", file, provider)
    BrokerLoop.begin(Cancellation()) { _ = try? await self.extensions.ask(provider, .stop, file.item.identifier) }
  }

  /// Versions of a content that are fetched one after the other for one reader.
  private static let mostTries = 4

  /// Whether a content is here. The table says so, unless the file says something else: a broker may be killed between the two, and a
  /// content also comes for a reader that has left. A content that can be read is whole. One that was being evicted has no mode.
  private func isHere(_ file: ProvidedFile, _ provider: EnabledProvider) throws -> Bool {
    guard !file.item.isFolder, let place = try? files.folder(of: provider).place(file.path),
      let status = try? place.status(), status.kind == .regular
    else { return file.isHere }
    let isShut = status.mode & 0o777 == 0
    guard file.isHere == isShut else { return file.isHere }
    let content = Placeholder.Content(status)
    var present = file
    if isShut {
      // With changes that were not sent it is not the broker that has shut it.
      guard !file.isChanged else { return true }
      present.isHere = false
    } else {
      // A user can give a placeholder a mode. It has no content all the same: parts of it take no room on the disk.
      let (gap, isFar) = content.modified.subtractingReportingOverflow(file.item.modified)
      let isUnchanged = content.size == file.item.size && !isFar && gap.magnitude < 2_000_000_000
      let room = place.room
      let isWhole = content.size == 0 || room >= content.size || isUnchanged && room > 0
      guard isWhole, status.mode & 0o444 != 0, file.node.isEmpty || status.node == file.node else { return false }
      present.isHere = true
      present.isChanged = !isUnchanged
      if isUnchanged { present.item.modified = content.modified }
    }
    try files.store()?.put([present])
    if present.isChanged { changes.deliver(present, provider) }
    return present.isHere
  }

  /// - Returns: `false`: the provider has another content by now.
  func fetch(
    _ file: ProvidedFile, _ provider: EnabledProvider, _ progress: @escaping (_ completed: Int, _ total: Int) -> Void
  ) async throws -> Bool {
    guard file.item.capabilities.contains(.reading) else {
      throw ProviderFault(
        word: "notPermitted", description: "\(provider.name) does not let “\(file.item.filename)” be read")
    }
    let followed = follow(file, provider)
    let content: Descriptor
    do {
      content = try await provided(file.item, by: provider, progress)
      guard try content.status().size == UInt64(file.item.size) else {
        throw ProviderFault(
          description:
            "\(provider.name) gave \(try content.status().size) bytes for “\(file.item.filename)”, which has \(file.item.size)"
        )
      }
    } catch {
      followed?.content.giveUp()
      throw error
    }
    followed?.content.finish(with: content)
    var filled =
      if let followed { try await filling(file, followed.end.get()) } else { try await fill(file, provider, content) }
    if case .failure(let error) = filled, [.noSpace, .diskQuotaExceeded].contains(error.errno),
      await makeRoom(min(content.room, file.item.size))
    {
      filled = try await fill(file, provider, content)
    }
    // A request that was cancelled may have left its copy under way: that one has come meanwhile.
    if case .failure(let error) = filled, error.errno == .fileExists,
      let present = try files.store()?.file(of: provider.identifier, item: file.item.identifier),
      try isHere(present, provider)
    {
      return false
    }
    do { try filled.get() } catch {
      throw ProviderFault(description: "“\(file.item.filename)” cannot be written: \(error.errno.symbol)")
    }
    // The list may have been renewed meanwhile.
    guard var present = try files.store()?.file(of: provider.identifier, item: file.item.identifier) else {
      return false
    }
    let folder = files.folder(of: provider)
    // As the file system keeps it.
    let place = try? folder.place(present.path)
    let written = place.flatMap { try? Placeholder.Content(of: $0) }
    if present.item.version != file.item.version || present.item.size != file.item.size {
      let isEmpty: Void? = place.flatMap { place in
        written.flatMap { try? Placeholder.empty(place, known: $0, next: present.item.content, folder.group) }
      }
      if isEmpty != nil { return false }
      // A program has it open already: it is here, and of the earlier version.
      (present.item.version, present.item.size) = (file.item.version, file.item.size)
    }
    present.isHere = true
    present.item.modified = written?.modified ?? file.item.modified
    try files.store()?.put([present])
    return true
  }

  private func fill(
    _ file: ProvidedFile, _ provider: EnabledProvider, _ content: Descriptor
  ) async throws -> Result<Void, KernelError> {
    let folder = files.folder(of: provider)
    let isWritable = file.item.capabilities.contains(.writing)
    return try filling(
      file,
      await jobs.run(owner: "provider \(provider.identifier)", subject: file.item.identifier) { beat in
        Result { () throws(KernelError) in
          try Placeholder.fill(
            folder.place(file.path), with: content, size: file.item.size, modified: file.item.modified,
            isWritable: isWritable, while: beat.beat, beforeDisk: beat.waitForDisk)
        }
      })
  }

  /// - Parameter result: `nil`: the job was given up.
  private func filling(
    _ file: ProvidedFile, _ result: Result<Void, KernelError>?
  ) throws(ProviderFault) -> Result<Void, KernelError> {
    guard let result else {
      throw ProviderFault(description: "the content of “\(file.item.filename)” made no progress")
    }
    return result
  }

  private typealias Followed = (content: FollowedContent, end: Wait<Result<Void, KernelError>?>)

  /// Begins to copy a large content while the provider writes it. The disk has to have room for both, or the provider would lack it.
  private func follow(_ file: ProvidedFile, _ provider: EnabledProvider) -> Followed? {
    guard file.item.size >= FollowedContent.least, following.count < Self.mostFollowed,
      !following.contains(provider.identifier), LocationFolder(path: files.root).free / 4 > file.item.size,
      let container = try? files.container(of: provider)
    else { return nil }
    let (folder, path) = (files.folder(of: provider), file.path)
    let inner = ProviderStorage.path(identifier: file.item.identifier, filename: file.item.filename)
    let content = FollowedContent(
      .init(
        size: file.item.size, modified: file.item.modified, isWritable: file.item.capabilities.contains(.writing),
        place: { () throws(KernelError) in try folder.place(path) }, source: { try? Self.open(inner, below: container) }
      ))
    let end = Wait<Result<Void, KernelError>?>()
    following.insert(provider.identifier)
    jobs.start(
      owner: "provider \(provider.identifier)", subject: file.item.identifier, { content.carryOut($0) },
      then: {
        self.following.remove(provider.identifier)
        end.finish($0)
      })
    return (content, end)
  }
  /// At a time, one of a provider's: each has a thread as long as its provider writes.
  private static let mostFollowed = 4

  /// A content that the extension has put into its storage: a regular file there, reached without links.
  func provided(
    _ item: ProviderItem, by provider: EnabledProvider,
    _ progress: @escaping (_ completed: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> Descriptor {
    let inner = ProviderStorage.path(identifier: item.identifier, filename: item.filename)
    _ = try await extensions.ask(
      provider, .provide, item.identifier, path: "/home/user".path(of: inner), bytes: item.size, progress: progress)
    return try own(inner, of: provider, "file for “\(item.filename)”")
  }

  /// A regular file, reached without links.
  private nonisolated static func open(_ inner: String, below container: Descriptor) throws(KernelError) -> Descriptor {
    let file = try Descriptor.open(
      inner, below: container, flags: [.read, .nonBlocking, .noFollow], resolve: [.beneath, .noSymlinks])
    guard try file.status().kind == .regular, file.mount == container.mount else {
      throw KernelError("open", inner, errno: .improperLink)
    }
    return file
  }

  /// A file that the extension has made in its container.
  private func own(_ inner: String, of provider: EnabledProvider, _ what: String) throws -> Descriptor {
    do throws(KernelError) {
      let container = try files.container(of: provider)
      #if AMBIT_MUTANTS
        if Mutant.linkOutOfStorage.isActive { return try Descriptor.open(inner, below: container, flags: .read) }
      #endif
      return try Self.open(inner, below: container)
    } catch {
      throw ProviderFault(
        description: "\(provider.name) has put no \(what) into its storage: \(error.errno.symbol)")
    }
  }

  /// Takes the contents of a folder away; it stops at the first that stays.
  func evictAll(_ path: String) async throws -> Int {
    if try files.known(path) != nil { return try await evict(path) }
    guard let inner = path.path(within: files.root), let identifier = inner.pathNames.first,
      let provider = try files.store()?.providers().first(where: { $0.identifier == identifier })
    else { return try await evict(path) }
    var bytes = 0
    let folder = files.folder(of: provider).path
    for file in try files.store()?.files(of: identifier) ?? [] where file.isHere && !file.item.isFolder {
      let place = folder.path(of: file.path)
      if place.path(within: path) != nil { bytes += try await evict(place) }
    }
    return bytes
  }

  /// Takes contents away, those that were used longest ago first, until no more bytes than these are here. What is open, unsent or has
  /// further names is passed over.
  ///
  /// - Parameter path: a document, a folder, or the folder of all providers.
  func evictLeastUsed(in path: String, keep: Int) async throws -> (bytes: Int, left: Int) {
    let found = try here(path)
    var (bytes, left) = (0, found.reduce(0) { $0 + $1.size })
    for file in found where left > max(0, keep) && file.size > 0 {
      guard let freed = try? await evict(file.path) else { continue }
      (bytes, left) = (bytes + freed, left - freed)
    }
    return (bytes, left)
  }

  /// A content that is here.
  private struct Here {
    let path: String
    let size: Int
    let used: Int64
    /// Bytes of the disk that its eviction frees; 0: it stays.
    let room: Int
  }

  /// The contents in a folder; those that were used longest ago come first.
  private func here(_ path: String) throws -> [Here] {
    var found: [Here] = []
    for provider in try files.store()?.providers() ?? [] {
      let folder = files.folder(of: provider)
      for file in try files.store()?.files(of: provider.identifier) ?? [] where file.isHere && !file.item.isFolder {
        let place = folder.path.path(of: file.path)
        guard place.path(within: path) != nil else { continue }
        let (last, room) = folder.usage(file.path)
        let goes = file.item.capabilities.contains(.evicting) && !file.isChanged
        found.append(
          Here(
            path: place, size: min(file.item.size, ProviderItem.largest), used: max(used[place] ?? 0, last),
            room: goes ? room : 0))
      }
    }
    return found.sorted { ($0.used, $0.path) < ($1.used, $1.path) }
  }

  /// Room for a content on a disk that is full: from contents that were used longest ago, and no more of them than it needs. One
  /// that has no room even then takes none.
  ///
  /// - Returns: whether it may be tried again.
  private func makeRoom(_ size: Int) async -> Bool {
    guard let found = try? here(files.root) else { return false }
    // A quota may be full where the disk is not.
    let free = LocationFolder(path: files.root).free
    var missing = max(1, free < size ? size - free : size)
    guard found.reduce(0, { $0 + $1.room }) >= missing else { return false }
    for file in found where missing > 0 && file.room > 0 {
      if (try? await evict(file.path)) != nil { missing -= file.room }
    }
    return missing <= 0
  }

  /// Takes a content away (`PRV-13`).
  ///
  /// - Returns: bytes that are free now.
  func evict(_ path: String) async throws -> Int {
    guard let (provider, file) = try files.known(path) else {
      throw LocationsInterface.Failure.notFound("\(path) is no document of an enabled provider")
    }
    guard file.isHere else { return 0 }
    guard file.item.capabilities.contains(.evicting) else {
      throw LocationsInterface.Failure.notProvided("“\(file.item.filename)” stays: \(provider.name) wants it kept here")
    }
    #if AMBIT_MUTANTS
      let isUnsent = !Mutant.unsentEvicted.isActive && (file.isChanged || changes.notice(file, provider))
    #else
      let isUnsent = file.isChanged || changes.notice(file, provider)
    #endif
    guard !isUnsent else {
      throw LocationsInterface.Failure.notProvided("\(provider.name) has not got the last changes yet")
    }
    let folder = files.folder(of: provider)
    var absent = file
    absent.isHere = false
    // First: a broker that is killed in between has said nothing wrong. What can be read is here all the same.
    try files.store()?.put([absent])
    do throws(KernelError) {
      try Placeholder.empty(folder.place(file.path), known: file.item.content, next: file.item.content, folder.group)
    } catch {
      try files.store()?.put([file])
      let reason =
        switch error.errno {
        case .resourceTemporarilyUnavailable: "a program has it open"
        case .resourceBusy: "it has just been changed"
        case .tooManyLinks: "it has further names (hard links)"
        default: error.errno.symbol
        }
      throw LocationsInterface.Failure.notProvided("“\(file.item.filename)” stays: \(reason)")
    }
    used[path] = nil
    files.note("evicted", file, provider)
    onContent(path)
    _ = try? await extensions.ask(provider, .stop, file.item.identifier)
    return file.item.size
  }
}
