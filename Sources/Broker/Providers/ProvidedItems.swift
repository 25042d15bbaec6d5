internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Kernel
internal import Paths
internal import Wire

/// Items of providers by their identifiers: documents and identifiers lead to each other (`PRV-3`), the working set (`PRV-11`), the trash.
@BrokerLoop
final class ProvidedItems {
  private let files: ProviderFiles
  private let contents: ProvidedContents
  private let changes: ProvidedChanges
  private let extensions: ProviderExtensions
  /// Asks a provider for all items, and shows them.
  var refresh: (EnabledProvider) async throws -> Void = { _ in }

  init(
    _ files: ProviderFiles, _ contents: ProvidedContents, _ changes: ProvidedChanges, _ extensions: ProviderExtensions
  ) { (self.files, self.contents, self.changes, self.extensions) = (files, contents, changes, extensions) }

  func provider(_ name: String) throws -> EnabledProvider {
    let all = try files.store()?.providers() ?? []
    guard let provider = all.first(where: { $0.identifier == name || $0.name == name }) else {
      throw LocationsInterface.Failure.notFound(
        "no provider \(name) is enabled; “ambit provider list” lists those that are")
    }
    return provider
  }

  private func document(_ path: String) throws -> (EnabledProvider, ProvidedFile) {
    guard let found = try files.known(path) else {
      throw LocationsInterface.Failure.notFound("\(path) is no document of an enabled provider")
    }
    return found
  }

  // MARK: Identifiers

  /// The provider and the item that a path stands for, if any.
  func item(at path: String) -> (provider: String, item: String)? {
    guard path.path(within: files.root) != nil, let (provider, file) = try? files.known(path) else { return nil }
    return (provider.identifier, file.item.identifier)
  }

  func identify(_ path: String) throws -> LocationsInterface.IdentifyReply {
    let (provider, file) = try document(path)
    return .init(
      provider: provider.identifier, identifier: file.item.identifier, acrossDevices: provider.acrossDevices,
      version: file.item.version)
  }

  /// The path of an item's document. An item that is not shown is asked for, within the patience for providers (`BMK-16`).
  ///
  /// - Returns: `nil`: there is none.
  func path(of item: String, by name: String) async throws -> String? {
    guard let provider = try files.store()?.providers().first(where: { $0.identifier == name }) else { return nil }
    func shown() throws -> String? {
      guard let file = try files.store()?.file(of: name, item: item), !file.item.isFolder,
        files.isThere(file, of: provider)
      else { return nil }
      return files.folder(of: provider).path.path(of: file.path)
    }
    if let path = try shown() { return path }
    do { _ = try await extensions.ask(provider, .locate, item) } catch let fault as ProviderFault
      where fault.word == "noSuchItem"
    {
      return nil
    }
    try await refresh(provider)
    return try shown()
  }

  func locate(_ call: LocationsInterface.LocateCall) async throws -> String {
    let provider = try provider(call.provider)
    guard let path = try await path(of: call.identifier, by: provider.identifier) else {
      throw LocationsInterface.Failure.notFound(
        "\(provider.name) has no document “\(call.identifier.cut(toBytes: 80))”")
    }
    return path
  }

  // MARK: Working set and trash

  func content(of folder: String, _ name: String) async throws -> [ProviderItemMessage] {
    let listing = ProviderListing(try provider(name), extensions)
    do {
      return try await listing.content(of: folder).filter { $0.fault == nil }.map(\.message)
    } catch let fault as ProviderFault where fault.word == "noSuchItem" { return [] }
  }

  /// Puts a document into its provider's trash.
  func discard(_ path: String) async throws {
    let (provider, _) = try document(path)
    try await changes.alone(provider) {
      let (_, file) = try document(path)
      try files.require(.trashing, of: file, provider)
      guard !file.isChanged, !changes.notice(file, provider) else {
        throw ProviderFault(description: "\(provider.name) has not got the last changes yet")
      }
      let item = try await extensions.ask(provider, .trash, file.item.identifier).items?.first.map(ProviderItem.init)
      guard item?.identifier == file.item.identifier, item?.parent == ProviderItem.trash else {
        throw ProviderFault(description: "\(provider.name) has not put “\(file.item.filename)” into its trash")
      }
      guard let (_, present) = try files.known(path) else { return }
      do throws(KernelError) { _ = try files.folder(of: provider).carryOut(.remove(present)) } catch {
        throw ProviderFault(
          description: "“\(file.item.filename)” is in the trash, and stays here: \(error.errno.symbol)")
      }
      try files.store()?.remove([file.item.identifier], of: provider.identifier)
      try files.store()?.noteDiscarded(file.item.identifier, from: file.item.parent, of: provider.identifier)
      files.note("discarded", file, provider)
    }
  }

  /// Takes an item from its provider's trash.
  ///
  /// - Returns: the path of its document.
  func restore(_ call: LocationsInterface.RestoreCall) async throws -> String {
    let (provider, id) = (try provider(call.provider), call.identifier)
    return try await changes.alone(provider) {
      let former = try files.store()?.takeDiscarded(id, of: provider.identifier)
      let answer = try await extensions.ask(provider, .untrash, id, parent: former)
      guard let item = answer.items?.first.map(ProviderItem.init), item.identifier == id, item.fault == nil,
        item.parent != ProviderItem.trash
      else { throw ProviderFault(description: "\(provider.name) has not taken the item from its trash") }
      let folder =
        item.parent == ProviderItem.root
        ? "" : try files.store()?.file(of: provider.identifier, item: item.parent)?.path
      guard let folder, !item.isFolder else {
        // Its content comes with the next look.
        return files.folder(of: provider).path
      }
      let placed = ProviderTree.Placed(
        item: item, path: folder.isEmpty ? item.filename : folder.path(of: item.filename))
      let node: String?
      do throws(KernelError) { node = try files.folder(of: provider).carryOut(.add(placed)) } catch {
        throw ProviderFault(description: "“\(placed.path)” cannot be shown: \(error.errno.symbol)")
      }
      let file = ProvidedFile(provider: provider.identifier, item: item, path: placed.path, node: node ?? "")
      try files.store()?.put([file])
      files.note("restored", file, provider)
      return files.folder(of: provider).path.path(of: placed.path)
    }
  }

  // MARK: The extension's own wishes

  func evict(_ item: String, of name: String) async throws {
    guard let path = try await path(of: item, by: name) else {
      throw LocationsInterface.Failure.notFound("there is no such document")
    }
    _ = try await contents.evict(path)
  }
}
