internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

/// Places besides this machine (`io.ambit.Locations`): switches providers on and off, and shows their items.
@BrokerLoop
final class LocationService {
  private let files: ProviderFiles
  private let contents: ProvidedContents
  private let changes: ProvidedChanges
  private let extensions: ProviderExtensions
  private let items: ProvidedItems
  private let forms: ProviderForms
  private let pickers: ProviderPickers
  private let jobs: Jobs
  private let trail: AuditTrail

  init(
    _ files: ProviderFiles, _ contents: ProvidedContents, _ changes: ProvidedChanges, _ extensions: ProviderExtensions,
    _ items: ProvidedItems, _ forms: ProviderForms, _ jobs: Jobs, _ trail: AuditTrail
  ) {
    (self.items, self.forms) = (items, forms)
    pickers = ProviderPickers(items, extensions)
    (self.files, self.contents, self.changes) = (files, contents, changes)
    (self.extensions, self.jobs, self.trail) = (extensions, jobs, trail)
    items.refresh = { [unowned self] in _ = try await self.refresh($0) }
    forms.onTaken = { changes.deliverWaiting($0) }
    extensions.onEvict = { try await items.evict($1, of: $0) }
    extensions.onSignal = { [unowned self] in self.signalled($0) }
  }

  /// Told of each folder, before a placeholder is in it.
  var onFolder: (LocationFolder) -> Void = { _ in }

  /// The folders of providers that were enabled before this broker.
  func tellFolders() {
    for provider in (try? files.store()?.providers()) ?? [] { onFolder(files.folder(of: provider)) }
  }

  /// For the picker.
  var places: [LauncherInterface.Place] {
    let providers = (try? files.store()?.providers()) ?? []
    return providers.map {
      .init(name: $0.name, path: files.folder(of: $0).path, provider: $0.pickerModes.isEmpty ? nil : $0.identifier)
    }
  }

  // MARK: The user's side

  func serve(_ call: CheckedCall, on connection: WireConnection) async throws -> Answer {
    do { return try await answer(call, on: connection) } catch let fault as ProviderFault {
      throw LocationsInterface.Failure.notProvided(
        fault.description, provider: fault.provider, error: fault.provider == nil ? nil : fault.word)
    }
  }

  private func answer(_ call: CheckedCall, on connection: WireConnection) async throws -> Answer {
    switch call.member {
    case "Enable":
      let request = try LocationsInterface.EnableCall(json: call.parameters)
      return Answer(LocationsInterface.EnableReply(location: try enable(request)).json)
    case "Disable":
      let provider = try provider(LocationsInterface.DisableCall(json: call.parameters).provider)
      return Answer(LocationsInterface.DisableReply(kept: try await disable(provider)).json)
    case "List":
      let all = try files.store()?.providers().map { try location($0) } ?? []
      return Answer(LocationsInterface.ListReply(locations: all).json)
    case "Refresh":
      let provider = try provider(LocationsInterface.RefreshCall(json: call.parameters).provider)
      let faults = try await refresh(provider)
      return Answer(LocationsInterface.RefreshReply(location: try location(provider), faults: faults).json)
    case "Fetch":
      let path = try LocationsInterface.FetchCall(json: call.parameters).path
      guard let (_, file) = try files.known(path) else {
        throw LocationsInterface.Failure.notFound("\(path) is no document of an enabled provider")
      }
      let news = Subscription<LocationsInterface.FetchReply>(connection, capacity: 16, lost: nil)
      try await contents.bring(path) { news.send(.init(bytes: $0, total: $1)) }
      return Answer(LocationsInterface.FetchReply(bytes: file.item.size, total: file.item.size).json)
    case "Evict":
      let request = try LocationsInterface.EvictCall(json: call.parameters)
      guard let keep = request.keep else {
        return Answer(LocationsInterface.EvictReply(bytes: try await contents.evictAll(request.path)).json)
      }
      let (bytes, left) = try await contents.evictLeastUsed(in: request.path, keep: keep)
      return Answer(LocationsInterface.EvictReply(bytes: bytes, left: left).json)
    case "Identify":
      return Answer(try items.identify(LocationsInterface.IdentifyCall(json: call.parameters).path).json)
    case "Locate":
      return Answer(
        LocationsInterface.LocateReply(path: try await items.locate(.init(json: call.parameters))).json)
    case "WorkingSet":
      let name = try LocationsInterface.WorkingSetCall(json: call.parameters).provider
      let set = try await items.content(of: ProviderItem.workingSet, name)
      return Answer(LocationsInterface.WorkingSetReply(items: set).json)
    case "Trash":
      let name = try LocationsInterface.TrashCall(json: call.parameters).provider
      return Answer(LocationsInterface.TrashReply(items: try await items.content(of: ProviderItem.trash, name)).json)
    case "Discard":
      try await items.discard(LocationsInterface.DiscardCall(json: call.parameters).path)
      return Answer([:])
    case "Restore":
      return Answer(LocationsInterface.RestoreReply(path: try await items.restore(.init(json: call.parameters))).json)
    case "FormFor":
      let request = try LocationsInterface.FormForCall(json: call.parameters)
      let form = try await forms.form(try items.provider(request.provider), for: request.error)
      return Answer(LocationsInterface.FormForReply(form: form).json)
    case "Submit":
      let request = try LocationsInterface.SubmitCall(json: call.parameters)
      do {
        let next = try await forms.submit(request.reply, to: try items.provider(request.provider))
        return Answer(LocationsInterface.SubmitReply(form: next).json)
      } catch let fault as ProviderFault {
        return Answer(LocationsInterface.SubmitReply(refused: fault.description).json)
      }
    case "Pick":
      return Answer(try await pickers.begin(try LocationsInterface.PickCall(json: call.parameters)).json)
    case "Choose":
      return Answer(try await pickers.take(try LocationsInterface.ChooseCall(json: call.parameters)).json)
    case "Thumbnail":
      let request = try LocationsInterface.ThumbnailCall(json: call.parameters)
      guard (1...1024).contains(request.size) else { throw ErrorReply.invalidParameter("size") }
      let (picture, version) = try await contents.picture(request.path, pixels: request.size)
      return Answer(LocationsInterface.ThumbnailReply(version: version).json, descriptors: [picture])
    default:
      return Answer(try await ask(try LocationsInterface.AskCall(json: call.parameters)).json)
    }
  }

  private func provider(_ identifier: String) throws -> EnabledProvider { try items.provider(identifier) }

  /// Providers that have said that they have changes.
  private var signals: Set<String> = []

  /// A provider has changes: one look for however many words of it.
  private func signalled(_ name: String) {
    guard let provider = try? provider(name), signals.insert(provider.identifier).inserted else { return }
    BrokerLoop.begin(Cancellation()) {
      do {
        _ = try await self.changes.alone(provider) {
          // Signals that come from now on are for another look.
          self.signals.remove(provider.identifier)
          return try await self.renew(provider)
        }
      } catch {
        self.signals.remove(provider.identifier)
        complain("\(provider.name): \(error)")
      }
    }
  }

  private func location(_ provider: EnabledProvider) throws -> LocationsInterface.Location {
    let (items, here) = try files.store()?.counts(of: provider.identifier) ?? (0, 0)
    return .init(
      provider: provider.identifier, name: provider.name, app: provider.app, folder: files.folder(of: provider).path,
      items: items, here: here,
      running: extensions.isRunning(provider.identifier), acrossDevices: provider.acrossDevices,
      pickerModes: provider.pickerModes)
  }

  private func enable(_ request: LocationsInterface.EnableCall) throws -> LocationsInterface.Location {
    let provider = EnabledProvider(
      identifier: request.provider, name: request.name, app: request.app, program: request.program,
      acrossDevices: request.acrossDevices,
      pickerModes: ["open", "import"].filter { request.pickerModes.contains($0) })
    guard !provider.identifier.isEmpty, !provider.identifier.hasSlash, !provider.identifier.isHiddenName,
      provider.identifier.utf8.count <= 200
    else { throw ErrorReply.invalidParameter("provider") }
    try trail.decide([AuditEvent(.provider, app: provider.identifier, how: "enabled", rule: "PRV-19")])
    try files.folder(of: provider).make()
    onFolder(files.folder(of: provider))
    try files.store(making: true)?.enable(provider)
    return try location(provider)
  }

  /// - Returns: documents that stay, since the provider has not got their content.
  private func disable(_ provider: EnabledProvider) async throws -> [String] {
    guard let store = try files.store() else { return [] }
    let (id, folder) = (provider.identifier, files.folder(of: provider))
    try trail.decide([AuditEvent(.provider, app: id, how: "disabled", rule: "PRV-19")])
    // What is under way ends soon, and nothing is sent from here on.
    changes.leaving.insert(id)
    defer { changes.leaving.remove(id) }
    extensions.stop(id)
    return try await changes.alone(provider) { try await disable(provider, store, folder) }
  }

  private func disable(
    _ provider: EnabledProvider, _ store: ProviderStore, _ folder: LocationFolder
  ) async throws -> [String] {
    let id = provider.identifier
    let kept = try store.files(of: id, here: true).filter { $0.isChanged || changes.isMadeByHand($0, provider) }
    let own = Set(kept.map(\.item.identifier))
    extensions.stop(id)
    try await inThread(provider) { heartbeat in
      var folders = folder.openFolders()
      // The deepest first.
      for file in try store.files(of: id).reversed() where heartbeat.beat() && !own.contains(file.item.identifier) {
        _ = try? folder.carryOut(.remove(file), &folders)
      }
      folder.removeIfEmpty()
      try store.disable(id)
    }
    return kept.map { folder.path.path(of: $0.path) }
  }

  // MARK: Items

  /// Asks for all items, and shows them.
  ///
  /// - Returns: for the user, what the provider did not take, and what of it cannot be shown.
  private func refresh(_ provider: EnabledProvider) async throws -> [String] {
    try await changes.alone(provider) {
      // First the provider hears of the changes here.
      return try await changes.look(provider) + renew(provider)
    }
  }

  private func renew(_ provider: EnabledProvider) async throws -> [String] {
    guard let store = try files.store() else { return [] }
    let id = provider.identifier
    let (before, known) = try await inThread(provider) { _ in
      let reading = try store.reading(of: id)
      return (reading, ListedItems(reading.files.map(\.item)))
    }
    var listing = ProviderListing(provider, extensions, known: known, jobs: jobs)
    try await listing.list(after: store.anchors(of: id))
    var waiting: [ProvidedFile] = []
    for file in try store.files(of: id, here: true) {
      if file.isChanged { waiting.append(file) } else { _ = changes.notice(file, provider) }
    }
    let renewal = LocationRenewal(
      before: before, folder: files.folder(of: provider), store: store, items: listing.items, anchors: listing.anchors)
    let faults = try await inThread(provider) { heartbeat in try renewal.carryOut { heartbeat.beat() } }
    // Changes that waited for the provider.
    for file in waiting { changes.deliver(file, provider) }
    return faults
  }

  /// Has work with a provider's folder done by a thread.
  private func inThread<Value: Sendable>(
    _ provider: EnabledProvider, _ work: @escaping @Sendable (Jobs.Heartbeat) throws -> Value
  ) async throws -> Value {
    let result = try await jobs.run(owner: "location", subject: provider.identifier) { heartbeat in
      Result { try work(heartbeat) }
    }
    guard let result else { throw ProviderFault(description: "the folder of \(provider.name) made no progress") }
    return try result.get()
  }

  private func ask(_ request: LocationsInterface.AskCall) async throws -> LocationsInterface.AskReply {
    let provider = try provider(request.provider)
    do {
      switch request.kind {
      case .enumerate, .item:
        let kind: ProviderInterface.Request.Kind = request.kind == .item ? .item : .enumerate
        let answer = try await extensions.ask(provider, kind, request.identifier, page: request.page)
        return .init(items: answer.items ?? [], next: answer.next)
      case .locate, .identify, .changes, .anchor:
        let kinds: [LocationsInterface.AskCall.Kind: ProviderInterface.Request.Kind] = [
          .locate: .locate, .identify: .identify, .changes: .changes,
        ]
        let answer = try await extensions.ask(
          provider, kinds[request.kind] ?? .anchor, request.identifier, page: request.page)
        return .init(
          items: answer.items ?? [], next: answer.next, deleted: answer.deleted, more: answer.more, path: answer.path,
          identifier: answer.identifier)
      case .create, .write, .move, .delete, .trash, .untrash:
        return .init(items: try await changes.ask(request, provider))
      case .provide:
        let found = try await extensions.ask(provider, .item, request.identifier).items?.first.map(ProviderItem.init)
        guard let item = found, item.fault == nil else {
          return .init(items: [], error: "noSuchItem", reason: "there is no such item")
        }
        let content = try await contents.provided(item, by: provider)
        return .init(items: [], size: Int(clamping: try content.status().size))
      }
    } catch let fault as ProviderFault { return .init(items: [], error: fault.word, reason: fault.description) }
  }
}
