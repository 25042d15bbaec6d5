internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import UserFiles
internal import Wire

/// Changes of providers' documents: noticed, and handed to the provider. Nothing waits for it (`PRV-4`), and changes that it has not got stay.
@BrokerLoop
final class ProvidedChanges {
  private let files: ProviderFiles
  private let extensions: ProviderExtensions
  private let jobs: Jobs
  /// Providers whose folders are looked at or changed now, and the tasks that wait for their turn.
  private var busy: [String: [Wait<Void>]] = [:]
  /// Providers whose folders are going to be looked at.
  private var marked: Set<String> = []
  /// Providers that are being disabled: nothing is sent to them any more.
  var leaving: Set<String> = []

  /// Told how far the transfer of a document has come, in bytes; `nil`: it is over.
  let transfers = ContentTransfers()

  /// The provider has got a change.
  var onSent: (_ path: String) -> Void = { _ in }

  init(_ files: ProviderFiles, _ extensions: ProviderExtensions, _ jobs: Jobs) {
    (self.files, self.extensions, self.jobs) = (files, extensions, jobs)
  }

  // MARK: Contents

  /// Paths that a coordinated access has written.
  func wrote(_ paths: [PathKey]) {
    for path in Set(paths) {
      guard path.text.path(within: files.root) != nil else { continue }
      guard let (provider, found) = try? files.known(path.text), files.isThere(found, of: provider) else {
        changed(around: path.text)
        continue
      }
      var file = found
      (file.isHere, file.isChanged) = (true, true)
      do { try files.store()?.put([file]) } catch { complain("\(error)") }
      deliver(file, provider)
    }
  }

  /// Looks whether a program that coordinates nothing has changed a document: the provider gets that too.
  func notice(_ file: ProvidedFile, _ provider: EnabledProvider) -> Bool {
    guard isMadeByHand(file, provider) else { return false }
    var changed = file
    changed.isChanged = true
    do { try files.store()?.put([changed]) } catch { complain("\(error)") }
    deliver(changed, provider)
    return true
  }

  func isMadeByHand(_ file: ProvidedFile, _ provider: EnabledProvider) -> Bool {
    file.isHere && !file.item.isFolder && !file.isChanged
      && (try? files.folder(of: provider).isChanged(file.item, file.path)) == true
  }

  /// - Parameter isAgain: it was written while it was sent.
  func deliver(_ file: ProvidedFile, _ provider: EnabledProvider, isAgain: Bool = false) {
    #if AMBIT_MUTANTS
      if Mutant.writeNotSent.isActive { return }
    #endif
    // Not a part of the request that wrote.
    BrokerLoop.begin(Cancellation()) { await self.attempt(file, provider, isAgain) }
  }

  private func attempt(_ file: ProvidedFile, _ provider: EnabledProvider, _ isAgain: Bool) async {
    guard !leaving.contains(provider.identifier) else { return }
    do {
      let isWhole = try await send(file, to: provider)
      files.note("sent", file, provider)
      // One that is written all the time is sent again when the location is refreshed.
      if !isWhole, !isAgain { deliver(file, provider, isAgain: true) }
      onSent(files.folder(of: provider).path.path(of: file.path))
    } catch {
      files.note("sent", file, provider, error as? ProviderFault ?? ProviderFault(description: "\(error)"))
      // It stays changed, and is tried again when the location is refreshed.
      complain("\(provider.name) has not got “\(file.item.filename)” yet: \(error)")
    }
  }

  /// - Returns: whether the provider has what is there now.
  private func send(_ file: ProvidedFile, to provider: EnabledProvider) async throws -> Bool {
    let folder = files.folder(of: provider)
    let shown = folder.path.path(of: file.path)
    defer { transfers.end(shown) }
    let size = Int(clamping: try folder.place(file.path).status().size)
    #if AMBIT_MUTANTS
      if !Mutant.uploadUntold.isActive { transfers.note(shown, 0, of: size) }
    #else
      transfers.note(shown, 0, of: size)
    #endif
    let (place, status) = try await store(
      file.path, as: file.item.identifier, named: file.item.filename, of: provider)
    let answer = try await extensions.ask(provider, .changed, file.item.identifier, path: place, bytes: size) {
      self.transfers.note(shown, $0, of: $1)
    }
    guard var now = try files.store()?.file(of: provider.identifier, item: file.item.identifier) else { return true }
    if let item = answer.items?.first.map(ProviderItem.init), item.fault == nil { now.item.version = item.version }
    (now.item.size, now.item.modified) = (Int(clamping: status.size), Int(clamping: status.modified))
    // Written again meanwhile: that is delivered on its own.
    let present = try? folder.place(now.path).status()
    now.isChanged = present?.modified != status.modified || present?.size != status.size
    try files.store()?.put([now])
    return !now.isChanged
  }

  /// Puts a copy of a document into the extension's storage.
  ///
  /// - Returns: its place there, as the extension has it, and the document's status at that time.
  private func store(
    _ path: String, as identifier: String, named filename: String, of provider: EnabledProvider
  ) async throws -> (String, FileStatus) {
    let folder = files.folder(of: provider)
    return try await store(as: identifier, named: filename, of: provider) { () throws(KernelError) in
      let place = try folder.place(path)
      // Of a placeholder, a privileged broker would send zeros.
      guard try place.status().mode & 0o777 != 0 else { throw KernelError("open", path, errno: .permissionDenied) }
      return try place.reopened([.read, .nonBlocking])
    }
  }

  /// Puts a copy of a file into the extension's storage.
  private func store(
    as identifier: String, named filename: String, of provider: EnabledProvider,
    _ open: @escaping @Sendable () throws(KernelError) -> Descriptor
  ) async throws -> (String, FileStatus) {
    // Starts the extension, whose files these are to be.
    _ = try? await extensions.ask(provider, .item, identifier)
    let inner = ProviderStorage.path(identifier: identifier, filename: filename)
    let (container, owner) = (try files.container(of: provider), extensions.hostID(of: provider.identifier))
    let copied = try await jobs.run(owner: "provider \(provider.identifier)", subject: identifier) { beat in
      Result { () throws(KernelError) -> FileStatus in
        let source = try open()
        // Before: what is written during the copy is another change.
        let status = try source.status()
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
        return status
      }
    }
    guard let status = try copied?.get() else { throw ProviderFault(description: "the copy made no progress") }
    return ("/home/user".path(of: inner), status)
  }

  /// Removes a new document's copy from the extension's storage, when the extension has answered (`importDocument`).
  private func takeBack(_ identifier: String, named filename: String, of provider: EnabledProvider) {
    guard let container = try? files.container(of: provider) else { return }
    let names = ProviderStorage.path(identifier: identifier, filename: filename).pathNames
    let owner = extensions.hostID(of: provider.identifier)
    jobs.start(owner: "provider \(provider.identifier)", subject: identifier) { _ in
      try? withFileSystemIdentity(owner) { () throws(KernelError) in
        let storage = try Descriptor.open(names[0], below: container, flags: [.read, .directory, .noFollow])
        let folder = try Descriptor.open(names[1], below: storage, flags: [.read, .directory, .noFollow])
        for name in [names[2], ProviderStorage.note] { try? folder.removeFile(name) }
        try storage.removeDirectory(names[1])
      }
    } then: { _ in
    }
  }

  /// A provider takes changes again: those that wait go to it (`PRV-14`).
  func deliverWaiting(_ provider: EnabledProvider) {
    for file in (try? files.store()?.files(of: provider.identifier, here: true)) ?? [] where file.isChanged {
      deliver(file, provider)
    }
    lookSoon(provider)
  }

  /// The identifier, for the storage, of documents that a provider's author has made.
  private static let validators = "validator"

  /// Asks for a change as it is asked for an item of the user's, for authors of a provider. The user's items stay as they are.
  func ask(_ request: LocationsInterface.AskCall, _ provider: EnabledProvider) async throws -> [ProviderItemMessage] {
    let id = request.identifier
    var (place, copy): (String?, String?)
    defer { if let copy { takeBack(Self.validators, named: copy, of: provider) } }
    if let text = request.text {
      guard text.utf8.count <= 65_536 else { throw ErrorReply.invalidParameter("text") }
      let bytes = Array(text.utf8)
      let item = try? await extensions.ask(provider, .item, id).items?.first.map(ProviderItem.init)
      let name = request.filename ?? item?.filename ?? "document"
      guard ProviderItem(identifier: "new", filename: name).fault == nil else {
        throw ErrorReply.invalidParameter("filename")
      }
      if request.kind == .create { copy = name }
      place = try await store(as: request.kind == .create ? Self.validators : id, named: name, of: provider) {
        () throws(KernelError) in
        let file = try MemoryFile.sealed("document", bytes)
        try file.rewind()
        return file
      }.0
    }
    let kind: ProviderInterface.Request.Kind =
      switch request.kind {
      case .create: .create
      case .write: .changed
      case .move: .move
      case .trash: .trash
      case .untrash: .untrash
      default: .delete
      }
    return try await extensions.ask(
      provider, kind, id, path: place, named: request.filename, parent: request.parent
    ).items ?? []
  }

  // MARK: Items

  /// Something was made, moved or removed at a path, or beside it.
  func changed(around path: String) {
    guard let inner = path.path(within: files.root), let identifier = inner.pathNames.first,
      let provider = try? files.store()?.providers().first(where: { $0.identifier == identifier })
    else { return }
    lookSoon(provider)
  }

  private func lookSoon(_ provider: EnabledProvider) {
    guard marked.insert(provider.identifier).inserted else { return }
    BrokerLoop.begin(Cancellation()) { await self.lookInTurn(provider) }
  }

  private func lookInTurn(_ provider: EnabledProvider) async {
    do {
      try await alone(provider) {
        marked.remove(provider.identifier)
        try await look(provider)
      }
    } catch { complain("\(provider.name): \(error)") }
  }

  /// One at a time looks at a provider's folder, or changes it.
  func alone<Value>(_ provider: EnabledProvider, _ body: () async throws -> Value) async throws -> Value {
    let id = provider.identifier
    while busy[id] != nil {
      let wait = Wait<Void>()
      busy[id]?.append(wait)
      try await wait.get()
    }
    busy[id] = []
    defer { for wait in busy.removeValue(forKey: id) ?? [] { wait.finish(()) } }
    return try await body()
  }

  /// Looks for items that were made, moved or removed here, and tells the provider.
  ///
  /// - Returns: for the user, what it did not take.
  @discardableResult
  func look(_ provider: EnabledProvider) async throws -> [String] {
    guard let store = try files.store(), try isEnabled(provider) else { return [] }
    let folder = files.folder(of: provider)
    let changes = try await jobs.run(owner: "location", subject: provider.identifier) { heartbeat in
      Result {
        let found = try folder.find { heartbeat.beat() }
        return FoundChange.changes(from: try store.files(of: provider.identifier), to: found)
      }
    }
    var untaken: [String] = []
    for change in try changes?.get() ?? [] {
      guard try isEnabled(provider) else { break }
      do { try await tell(provider, change) } catch let error where !(error is CancellationError) {
        // One that cannot be told keeps no other back.
        let fault = error as? ProviderFault ?? ProviderFault(description: "\(error)")
        files.note("sent", change, provider, fault)
        complain("\(provider.name): \(fault)")
        let fate = fault.isPassing ? "is tried again later" : "was not taken"
        untaken.append("the change of “\(change.path)” \(fate): \(fault)")
      }
    }
    return untaken
  }

  /// The user has not disabled it, and is not about to.
  private func isEnabled(_ provider: EnabledProvider) throws -> Bool {
    try !leaving.contains(provider.identifier)
      && files.store()?.providers().contains { $0.identifier == provider.identifier } == true
  }

  private func tell(_ provider: EnabledProvider, _ change: FoundChange) async throws {
    switch change {
    case .made(let file): try await create(file, provider)
    case .moved(let file, let path): try await move(file, to: path, provider)
    case .removed(let file): try await remove(file, provider)
    case .replaced(let file, let other):
      var now = file
      // A placeholder in its place may be a copy of one.
      (now.node, now.isHere, now.isChanged) = (other.node, !other.isShut, !other.isShut && !file.item.isFolder)
      try files.store()?.put([now])
      if now.isChanged { deliver(now, provider) }
    }
  }

  private func create(_ file: FoundFile, _ provider: EnabledProvider) async throws {
    var file = file
    for proposal in NameProposals(file.path.lastPathName).prefix(20) {
      let parent = try files.folder(containing: file.path, of: provider, for: .addingSubItems)
      let identifier = "new \(file.node)"
      let stored = file.isFolder ? nil : try await store(file.path, as: identifier, named: proposal, of: provider)
      defer { if stored != nil { takeBack(identifier, named: proposal, of: provider) } }
      do {
        let answer = try await extensions.ask(
          provider, .create, parent, path: stored?.0, named: proposal)
        guard let item = answer.items?.first.map(ProviderItem.init), item.fault == nil, item.isFolder == file.isFolder
        else { throw ProviderFault(description: "\(provider.name) answers no item for “\(proposal)”") }
        if file.path.lastPathName != proposal {
          let path = file.path.parentPath.map { $0.isEmpty ? proposal : "\($0)/\(proposal)" } ?? proposal
          try files.folder(of: provider).move(file.path, to: path)
          file = .init(path: path, node: file.node, isFolder: file.isFolder)
        }
        var made = ProvidedFile(
          provider: provider.identifier, item: item, path: file.path, isHere: true, node: file.node)
        made.item.filename = file.path.lastPathName
        if let status = stored?.1 {
          (made.item.size, made.item.modified) = (Int(clamping: status.size), Int(clamping: status.modified))
        }
        try files.store()?.put([made])
        return files.note("created", made, provider)
      } catch let fault as ProviderFault where fault.word == "filenameCollision" {
        // Another item that is not shown here yet has the name (`PRV-12`).
        continue
      }
    }
    throw ProviderFault(word: "filenameCollision", description: "\(provider.name) takes no name like “\(file.path)”")
  }

  private func move(_ file: ProvidedFile, to path: String, _ provider: EnabledProvider) async throws {
    var now = file
    let isRenamed = file.path.lastPathName != path.lastPathName
    do {
      let parent = try files.folder(containing: path, of: provider, for: .addingSubItems)
      if isRenamed { try files.require(.renaming, of: file, provider) }
      if parent != file.item.parent { try files.require(.reparenting, of: file, provider) }
      let answer = try await extensions.ask(
        provider, .move, file.item.identifier, named: path.lastPathName, parent: parent)
      if let item = answer.items?.first.map(ProviderItem.init), item.fault == nil { now.item.version = item.version }
      (now.item.filename, now.item.parent, now.path) = (path.lastPathName, parent, path)
      try files.move(file, to: now, of: provider)
      files.note("moved", now, provider)
    } catch let fault as ProviderFault {
      // It goes back, since the provider has it there.
      if !fault.isPassing { try? files.folder(of: provider).move(path, to: file.path) }
      throw fault
    }
  }

  private func remove(_ file: ProvidedFile, _ provider: EnabledProvider) async throws {
    do {
      try files.require(.deleting, of: file, provider)
      _ = try await extensions.ask(provider, .delete, file.item.identifier)
    } catch let fault as ProviderFault where fault.word != "noSuchItem" {
      // It comes back (`PRV-15`).
      #if AMBIT_MUTANTS
        if Mutant.deletionNotRejected.isActive { return }
      #endif
      if !fault.isPassing { try files.showAgain(file, of: provider) }
      throw fault
    }
    try files.store()?.remove([file.item.identifier], of: provider.identifier)
    files.note("deleted", file, provider)
  }
}
