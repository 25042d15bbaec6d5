internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

/// Places besides this machine (`io.ambit.Locations`): shows what enabled providers have, and brings contents when they are read.
@BrokerLoop
final class LocationService {
  private let host: BrokerHost
  private let extensions: ProviderExtensions
  private let jobs: Jobs
  private let trail: AuditTrail
  private let path: String
  private var opened: ProviderStore?
  /// Contents that are on their way, and the requests that wait for each.
  private var bringing: [String: [Wait<Result<Void, ProviderFault>>]] = [:]

  init(_ host: BrokerHost, _ extensions: ProviderExtensions, _ jobs: Jobs, _ trail: AuditTrail) {
    (self.host, self.extensions, self.jobs, self.trail) = (host, extensions, jobs, trail)
    path = host.folders.providers
  }

  /// The folder in which all providers' folders are.
  private var root: String { host.rules.home.path(of: "CloudStorage") }

  /// Opened when it is used for the first time. Without the file, no provider was ever enabled.
  private func store(making: Bool = false) throws -> ProviderStore? {
    if let opened { return opened }
    guard making || FileManager.default.fileExists(atPath: path) else { return nil }
    let made = try ProviderStore(path: path)
    opened = made
    return made
  }

  private func folder(of provider: EnabledProvider) -> LocationFolder {
    LocationFolder(path: root.path(of: provider.identifier))
  }

  /// For the picker.
  var places: [LauncherInterface.Place] {
    let providers = (try? store()?.providers()) ?? []
    return providers.map { .init(name: $0.name, path: folder(of: $0).path) }
  }

  // MARK: The user's side

  func serve(_ call: CheckedCall) async throws -> Answer {
    switch call.member {
    case "Enable":
      let request = try LocationsInterface.EnableCall(json: call.parameters)
      return Answer(LocationsInterface.EnableReply(location: try enable(request)).json)
    case "Disable":
      let provider = try provider(LocationsInterface.DisableCall(json: call.parameters).provider)
      return Answer(LocationsInterface.DisableReply(kept: try await disable(provider)).json)
    case "List":
      let all = try store()?.providers().map { try location($0) } ?? []
      return Answer(LocationsInterface.ListReply(locations: all).json)
    case "Refresh":
      let provider = try provider(LocationsInterface.RefreshCall(json: call.parameters).provider)
      let faults = try await refresh(provider)
      return Answer(LocationsInterface.RefreshReply(location: try location(provider), faults: faults).json)
    case "Fetch":
      let path = try LocationsInterface.FetchCall(json: call.parameters).path
      guard let (_, file) = try known(path) else {
        throw LocationsInterface.Failure.notFound("\(path) is no document of an enabled provider")
      }
      do { try await bring(path) } catch let fault as ProviderFault {
        throw LocationsInterface.Failure.notProvided(fault.description)
      }
      return Answer(LocationsInterface.FetchReply(bytes: file.item.size).json)
    case "Evict":
      let path = try LocationsInterface.EvictCall(json: call.parameters).path
      return Answer(LocationsInterface.EvictReply(bytes: try await evictAll(path)).json)
    default:
      return Answer(try await ask(try LocationsInterface.AskCall(json: call.parameters)).json)
    }
  }

  private func provider(_ identifier: String) throws -> EnabledProvider {
    let all = try store()?.providers() ?? []
    guard let provider = all.first(where: { $0.identifier == identifier || $0.name == identifier }) else {
      throw LocationsInterface.Failure.notFound("no provider \(identifier) is enabled")
    }
    return provider
  }

  private func location(_ provider: EnabledProvider) throws -> LocationsInterface.Location {
    let files = try store()?.files(of: provider.identifier) ?? []
    return .init(
      provider: provider.identifier, name: provider.name, app: provider.app, folder: folder(of: provider).path,
      items: files.count, here: files.count { $0.isHere && !$0.item.isFolder },
      running: extensions.isRunning(provider.identifier))
  }

  private func enable(_ request: LocationsInterface.EnableCall) throws -> LocationsInterface.Location {
    let provider = EnabledProvider(
      identifier: request.provider, name: request.name, app: request.app, program: request.program)
    guard !provider.identifier.isEmpty, !provider.identifier.hasSlash, !provider.identifier.hasPrefix("."),
      provider.identifier.utf8.count <= 200
    else { throw ErrorReply.invalidParameter("provider") }
    try trail.decide([AuditEvent(.provider, app: provider.identifier, how: "enabled", rule: "PRV-19")])
    try folder(of: provider).make()
    try store(making: true)?.enable(provider)
    return try location(provider)
  }

  /// - Returns: documents that stay, since the provider has not got their content.
  private func disable(_ provider: EnabledProvider) async throws -> [String] {
    let folder = folder(of: provider)
    var files = try store()?.files(of: provider.identifier) ?? []
    for index in files.indices where isChangedByHand(files[index], provider) { files[index].isChanged = true }
    let kept = files.filter(\.isChanged).map { folder.path.path(of: $0.path) }
    let gone = files.filter { !$0.isChanged }.sorted { $0.path > $1.path }
    try trail.decide([AuditEvent(.provider, app: provider.identifier, how: "disabled", rule: "PRV-19")])
    extensions.stop(provider.identifier)
    _ = try await jobs.run(owner: "location", subject: provider.identifier) { heartbeat in
      for file in gone where heartbeat.beat() {
        _ = try? folder.carryOut(
          .remove(.init(item: file.item, path: file.path, isHere: file.isHere, isChanged: false)))
      }
      folder.removeIfEmpty()
    }
    try store()?.disable(provider.identifier)
    return kept
  }

  private func note(
    _ how: String, _ file: ProvidedFile, _ provider: EnabledProvider, _ fault: ProviderFault? = nil
  ) {
    trail.record(
      AuditEvent(
        .provider, fault == nil ? .allowed : .failed, app: provider.identifier,
        document: .init(path: folder(of: provider).path.path(of: file.path)), how: how,
        rule: how == "sent" ? "PRV-4" : how == "brought" ? "PRV-1" : nil, reason: fault?.description,
        detail: fault == nil ? ["bytes": "\(file.item.size)"] : [:]))
  }

  // MARK: Items

  /// Asks for all items, and shows them.
  ///
  /// - Returns: the rules that the provider breaks.
  private func refresh(_ provider: EnabledProvider) async throws -> [String] {
    var items: [ProviderItem] = []
    var folders = [ProviderItem.root]
    var seen: Set<String> = [ProviderItem.root]
    do {
      while let next = folders.popLast() {
        let content = try await enumerate(provider, next, room: ProviderTree.most + 1 - items.count)
        items += content
        for item in content where item.isFolder && seen.insert(item.identifier).inserted {
          folders.append(item.identifier)
        }
      }
    } catch let fault as ProviderFault { throw LocationsInterface.Failure.notProvided(fault.description) }
    let tree = ProviderTree(items)
    guard let store = try store() else { return [] }
    var known = try store.files(of: provider.identifier)
    for index in known.indices where notice(known[index], provider) { known[index].isChanged = true }
    let shown = known.map {
      ProviderChange.Shown(item: $0.item, path: $0.path, isHere: $0.isHere, isChanged: $0.isChanged)
    }
    let steps = ProviderChange.steps(from: shown, to: tree)
    let folder = folder(of: provider)
    let done = try await jobs.run(owner: "location", subject: provider.identifier) {
      heartbeat -> [(ProviderChange, Result<ProviderTree.Placed?, KernelError>)] in
      var done: [(ProviderChange, Result<ProviderTree.Placed?, KernelError>)] = []
      for step in steps where heartbeat.beat() {
        done.append((step, Result { () throws(KernelError) in try folder.carryOut(step) }))
      }
      return done
    }
    var faults = tree.faults.map(\.description)
    var put: [ProvidedFile] = []
    var removed: [String] = []
    for (step, result) in done ?? [] {
      switch (step, result) {
      case (.remove(let shown), .success): removed.append(shown.item.identifier)
      case (.move(let item, _, let to), .success):
        guard var file = known.first(where: { $0.item.identifier == item.identifier }) else { continue }
        (file.item.filename, file.item.parent, file.path) = (item.filename, item.parent, to)
        put.append(file)
      case (_, .success(let placed?)):
        put.append(.init(provider: provider.identifier, item: placed.item, path: placed.path))
      case (let step, .failure(let error)): faults.append("\(step.words): \(error.errno.symbol)")
      default: break
      }
    }
    try store.remove(removed, of: provider.identifier)
    try store.put(put)
    // What waited for the provider.
    for file in known where file.isChanged { deliver(file, provider) }
    return faults
  }

  private static let page = 1000

  /// All pages of a folder.
  private func enumerate(_ provider: EnabledProvider, _ folder: String, room: Int) async throws -> [ProviderItem] {
    var items: [ProviderItem] = []
    var page: String?
    var pages: Set<String> = []
    var expired = 0
    while true {
      let answer: ProviderInterface.AnswerCall
      do {
        answer = try await extensions.ask(provider, .enumerate, folder, page: page)
      } catch let fault as ProviderFault {
        // The list begins anew (`PRV-8`).
        guard fault.word == "pageExpired", expired < 3 else { throw fault }
        expired += 1
        (items, page, pages) = ([], nil, [])
        continue
      }
      items += (answer.items ?? []).map(ProviderItem.init)
      guard items.count <= room else {
        throw ProviderFault(description: "\(provider.name) has more than \(ProviderTree.most) items")
      }
      page = answer.next
      if let page, !pages.insert(page).inserted || pages.count > 10_000 {
        throw ProviderFault(description: "\(provider.name) answers with pages without end")
      }
      if page == nil { return items }
    }
  }

  private func ask(_ request: LocationsInterface.AskCall) async throws -> LocationsInterface.AskReply {
    let provider = try provider(request.provider)
    do {
      switch request.kind {
      case .enumerate, .item:
        let kind: ProviderInterface.Request.Kind = request.kind == .item ? .item : .enumerate
        let answer = try await extensions.ask(provider, kind, request.identifier, page: request.page)
        return .init(items: answer.items ?? [], next: answer.next)
      case .provide:
        let found = try await extensions.ask(provider, .item, request.identifier).items?.first.map(ProviderItem.init)
        guard let item = found, item.fault == nil else {
          return .init(items: [], error: "noSuchItem", reason: "there is no such item")
        }
        let content = try await provided(item, by: provider)
        return .init(items: [], size: Int(clamping: try content.status().size))
      }
    } catch let fault as ProviderFault { return .init(items: [], error: fault.word, reason: fault.description) }
  }

  // MARK: Contents

  /// The document of a provider's at a path of the host's.
  private func known(_ path: String) throws -> (EnabledProvider, ProvidedFile)? {
    guard let inner = path.path(within: root), let identifier = inner.pathNames.first, let store = try store(),
      let provider = try store.providers().first(where: { $0.identifier == identifier }),
      let rest = inner.path(within: identifier), let file = try store.file(of: identifier, path: rest),
      !file.item.isFolder
    else { return nil }
    return (provider, file)
  }

  /// Whether a document is of a provider that is enabled.
  func isProvided(_ path: String) -> Bool { path.path(within: root) != nil && (try? known(path)) != nil }

  /// Brings the content of a document, if it is not here (`PRV-1`, `COO-26`). Anything else is left alone.
  ///
  /// - Throws: `ProviderFault`, the provider's error.
  func bring(_ path: String) async throws {
    guard path.path(within: root) != nil else { return }
    while let (provider, file) = try known(path), !file.isHere {
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
      do {
        try await fetch(file, provider)
        note("brought", file, provider)
      } catch let error where !(error is CancellationError) {
        let fault = error as? ProviderFault ?? ProviderFault(description: "\(provider.name): \(error)")
        outcome = .failure(fault)
        note("brought", file, provider, fault)
        throw fault
      }
    }
  }

  private func fetch(_ file: ProvidedFile, _ provider: EnabledProvider) async throws {
    let content = try await provided(file.item, by: provider)
    guard try content.status().size == UInt64(file.item.size) else {
      throw ProviderFault(
        description:
          "\(provider.name) gave \(try content.status().size) bytes for “\(file.item.filename)”, which has \(file.item.size)"
      )
    }
    let (folder, modified) = (folder(of: provider), file.item.modified)
    let filled = try await jobs.run(owner: "provider \(provider.identifier)", subject: file.item.identifier) { beat in
      Result { () throws(KernelError) in
        try Placeholder.fill(folder.place(file.path), with: content, modified: modified) { beat.beat() }
      }
    }
    guard let filled else {
      throw ProviderFault(description: "the content of “\(file.item.filename)” made no progress")
    }
    do { try filled.get() } catch {
      throw ProviderFault(description: "“\(file.item.filename)” cannot be written: \(error.errno.symbol)")
    }
    var present = file
    present.isHere = true
    // As the file system keeps it.
    present.item.modified = (try? Placeholder.Content(of: folder.place(file.path)).modified) ?? modified
    try store()?.put([present])
  }

  /// A content that the extension has put into its storage: a regular file there, reached without links.
  private func provided(_ item: ProviderItem, by provider: EnabledProvider) async throws -> Descriptor {
    let inner = ProviderStorage.path(identifier: item.identifier, filename: item.filename)
    _ = try await extensions.ask(provider, .provide, item.identifier, path: "/home/user".path(of: inner))
    do throws(KernelError) {
      let container = try container(of: provider)
      let file = try Descriptor.open(
        inner, below: container, flags: [.read, .nonBlocking, .noFollow], resolve: [.beneath, .noSymlinks])
      guard try file.status().kind == .regular, file.mount == container.mount else {
        throw KernelError("open", inner, errno: .improperLink)
      }
      return file
    } catch {
      throw ProviderFault(
        description: "\(provider.name) has put no file for “\(item.filename)” into its storage: \(error.errno.symbol)")
    }
  }

  private func container(of provider: EnabledProvider) throws(KernelError) -> Descriptor {
    guard let container = host.openContainer(ProviderExtensions.container(of: provider.identifier)) else {
      throw KernelError("open", "the container of \(provider.identifier)", errno: .noSuchFileOrDirectory)
    }
    return container
  }

  /// Takes the contents of a folder away; it stops at the first that stays.
  private func evictAll(_ path: String) async throws -> Int {
    if try known(path) != nil { return try await evict(path) }
    guard let inner = path.path(within: root), let identifier = inner.pathNames.first,
      let provider = try store()?.providers().first(where: { $0.identifier == identifier })
    else { return try await evict(path) }
    var bytes = 0
    let folder = folder(of: provider).path
    for file in try store()?.files(of: identifier) ?? [] where file.isHere && !file.item.isFolder {
      let place = folder.path(of: file.path)
      if place.path(within: path) != nil { bytes += try await evict(place) }
    }
    return bytes
  }

  /// Takes a content away (`PRV-13`).
  ///
  /// - Returns: bytes that are free now.
  private func evict(_ path: String) async throws -> Int {
    guard let (provider, file) = try known(path) else {
      throw LocationsInterface.Failure.notFound("\(path) is no document of an enabled provider")
    }
    guard file.isHere else { return 0 }
    guard !file.isChanged, !notice(file, provider) else {
      throw LocationsInterface.Failure.notProvided("\(provider.name) has not got the last changes yet")
    }
    let folder = folder(of: provider)
    do throws(KernelError) {
      try Placeholder.empty(folder.place(file.path), known: file.item.content, next: file.item.content)
    } catch {
      let reason =
        switch error.errno {
        case .resourceTemporarilyUnavailable: "a program has it open"
        case .resourceBusy: "it has just been changed"
        case .tooManyLinks: "it has further names (hard links)"
        default: error.errno.symbol
        }
      throw LocationsInterface.Failure.notProvided("“\(file.item.filename)” stays: \(reason)")
    }
    var absent = file
    absent.isHere = false
    try store()?.put([absent])
    note("evicted", file, provider)
    _ = try? await extensions.ask(provider, .stop, file.item.identifier)
    return file.item.size
  }

  // MARK: Changes

  /// Paths that a coordinated access has written. The provider hears of it afterwards, and holds nothing up (`PRV-4`).
  func wrote(_ paths: [PathKey]) {
    for path in Set(paths) {
      guard path.text.path(within: root) != nil, let (provider, found) = try? known(path.text) else { continue }
      var file = found
      (file.isHere, file.isChanged) = (true, true)
      do { try store()?.put([file]) } catch { complain("\(error)") }
      deliver(file, provider)
    }
  }

  /// Looks whether a program that coordinates nothing has changed a document: the provider gets that too.
  private func notice(_ file: ProvidedFile, _ provider: EnabledProvider) -> Bool {
    guard isChangedByHand(file, provider) else { return false }
    var changed = file
    changed.isChanged = true
    do { try store()?.put([changed]) } catch { complain("\(error)") }
    deliver(changed, provider)
    return true
  }

  private func isChangedByHand(_ file: ProvidedFile, _ provider: EnabledProvider) -> Bool {
    file.isHere && !file.item.isFolder && !file.isChanged
      && (try? folder(of: provider).isChanged(file.item, file.path)) == true
  }

  private func deliver(_ file: ProvidedFile, _ provider: EnabledProvider) {
    // Not a part of the request that wrote.
    Task.detached { await self.attempt(file, provider) }
  }

  private func attempt(_ file: ProvidedFile, _ provider: EnabledProvider) async {
    do {
      try await send(file, to: provider)
      note("sent", file, provider)
    } catch {
      note("sent", file, provider, error as? ProviderFault ?? ProviderFault(description: "\(error)"))
      // It stays changed, and is tried again when the location is refreshed.
      complain("\(provider.name) has not got “\(file.item.filename)” yet: \(error)")
    }
  }

  private func send(_ file: ProvidedFile, to provider: EnabledProvider) async throws {
    // Starts the extension, whose files these are to be.
    _ = try await extensions.ask(provider, .item, file.item.identifier)
    let (inner, folder) = (
      ProviderStorage.path(identifier: file.item.identifier, filename: file.item.filename), folder(of: provider)
    )
    let (container, owner) = (try container(of: provider), extensions.hostID(of: provider.identifier))
    let copied = try await jobs.run(owner: "provider \(provider.identifier)", subject: file.item.identifier) { beat in
      Result { () throws(KernelError) -> FileStatus in
        let source = try folder.place(file.path).reopened([.read, .nonBlocking])
        try withFileSystemIdentity(owner) { () throws(KernelError) in
          var parent = container
          for name in inner.pathNames.dropLast() {
            do throws(KernelError) { try parent.makeDirectory(name, mode: 0o700) } catch {
              guard error.errno == .fileExists else { throw error }
            }
            parent = try Descriptor.open(name, below: parent, flags: [.read, .directory, .noFollow])
          }
          let name = inner.lastPathName
          try? parent.removeFile(name)
          let copy = try Descriptor.open(
            name, below: parent, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
          try source.copyContent(to: copy) { beat.beat() }
        }
        return try source.status()
      }
    }
    guard let status = try copied?.get() else { throw ProviderFault(description: "the copy made no progress") }
    let answer = try await extensions.ask(
      provider, .changed, file.item.identifier, path: "/home/user".path(of: inner))
    guard var now = try store()?.file(of: provider.identifier, item: file.item.identifier) else { return }
    if let item = answer.items?.first.map(ProviderItem.init), item.fault == nil { now.item.version = item.version }
    (now.item.size, now.item.modified) = (Int(clamping: status.size), Int(clamping: status.modified))
    // Written again meanwhile: that is delivered on its own.
    let present = try? folder.place(file.path).status()
    now.isChanged = present?.modified != status.modified
    try store()?.put([now])
  }
}

extension ProviderChange {
  /// For a message.
  fileprivate var words: String {
    switch self {
    case .add(let placed): "“\(placed.path)” cannot be shown"
    case .move(_, let from, let to): "“\(from)” cannot become “\(to)”"
    case .renew(let placed, _): "“\(placed.path)” stays as it was"
    case .remove(let shown): "“\(shown.path)” cannot be removed"
    }
  }
}
