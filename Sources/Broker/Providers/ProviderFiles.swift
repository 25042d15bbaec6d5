internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

/// The enabled providers and the files that show their items: the table, and the folders.
@BrokerLoop
final class ProviderFiles {
  private let host: BrokerHost
  private let trail: AuditTrail
  private let path: String
  private var opened: ProviderStore?

  /// Of the guard, if there is one.
  var group: () -> GuardGroup? = { nil }

  init(_ host: BrokerHost, _ trail: AuditTrail) {
    (self.host, self.trail) = (host, trail)
    path = host.folders.providers
  }

  /// The folder in which all providers' folders are.
  var root: String { host.rules.home.path(of: "CloudStorage") }

  /// Opened when it is used for the first time. Without the file, no provider was ever enabled.
  func store(making: Bool = false) throws -> ProviderStore? {
    if let opened { return opened }
    guard making || FileManager.default.fileExists(atPath: path) else { return nil }
    let made = try ProviderStore(path: path)
    opened = made
    return made
  }

  func folder(of provider: EnabledProvider) -> LocationFolder {
    LocationFolder(path: root.path(of: provider.identifier), group: group())
  }

  /// The container of a provider's extension.
  func container(of provider: EnabledProvider) throws(KernelError) -> Descriptor {
    guard let container = host.openContainer(ProviderExtensions.container(of: provider.identifier)) else {
      throw KernelError("open", "the container of \(provider.identifier)", errno: .noSuchFileOrDirectory)
    }
    return container
  }

  /// The document of a provider's at a path of the host's.
  func known(_ path: String) throws -> (EnabledProvider, ProvidedFile)? {
    guard let inner = path.path(within: root), let identifier = inner.pathNames.first, let store = try store(),
      let provider = try store.providers().first(where: { $0.identifier == identifier }),
      let rest = inner.path(within: identifier), let file = try store.file(of: identifier, path: rest),
      !file.item.isFolder
    else { return nil }
    return (provider, file)
  }

  /// The user's rights to a provider's document; `nil`: it is no provider's.
  func capabilities(_ path: String) -> ProviderItem.Capabilities? {
    guard path.path(within: root) != nil, let (_, file) = try? known(path) else { return nil }
    return file.item.capabilities
  }

  // MARK: The files

  /// Whether the item's own file is at its place.
  func isThere(_ file: ProvidedFile, of provider: EnabledProvider) -> Bool {
    guard let status = try? folder(of: provider).place(file.path).status() else { return false }
    return file.node.isEmpty || status.node == file.node
  }

  /// The identifier of the folder that a path lies in.
  ///
  /// - Throws: `ProviderFault`, where the provider does not have the folder, or does not let it be used so.
  func folder(
    containing path: String, of provider: EnabledProvider, for capability: ProviderItem.Capabilities
  ) throws -> String {
    guard let parent = path.parentPath, !parent.isEmpty else { return ProviderItem.root }
    guard let folder = try store()?.file(of: provider.identifier, path: parent), folder.item.isFolder else {
      throw ProviderFault(word: "noSuchItem", description: "\(provider.name) has no folder “\(parent)”")
    }
    try require(capability, of: folder, provider)
    return folder.item.identifier
  }

  func require(_ capability: ProviderItem.Capabilities, of file: ProvidedFile, _ provider: EnabledProvider) throws {
    guard file.item.capabilities.contains(capability) else {
      throw ProviderFault(
        word: "notPermitted",
        description: "\(provider.name) does not allow it for “\(file.item.filename)” (\(capability))")
    }
  }

  /// An item is at another place, and with a folder all that is in it.
  func move(_ file: ProvidedFile, to now: ProvidedFile, of provider: EnabledProvider) throws {
    var moved = [now]
    if file.item.isFolder {
      for inner in try store()?.files(of: provider.identifier) ?? [] {
        guard let rest = inner.path.path(within: file.path), !rest.isEmpty else { continue }
        var inner = inner
        inner.path = now.path.path(of: rest)
        moved.append(inner)
      }
    }
    try store()?.put(moved)
  }

  /// The provider keeps an item that was removed here (`PRV-15`).
  func showAgain(_ file: ProvidedFile, of provider: EnabledProvider) throws {
    var file = file
    file.isHere = false
    file.node = try folder(of: provider).carryOut(.add(.init(item: file.item, path: file.path))) ?? ""
    try store()?.put([file])
  }

  // MARK: The log

  func note(_ how: String, _ change: FoundChange, _ provider: EnabledProvider, _ fault: ProviderFault) {
    trail.record(
      AuditEvent(
        .provider, .failed, app: provider.identifier,
        document: .init(path: folder(of: provider).path.path(of: change.path)), how: how, reason: fault.description))
  }

  func note(
    _ how: String, _ file: ProvidedFile, _ provider: EnabledProvider, _ fault: ProviderFault? = nil
  ) {
    trail.record(
      AuditEvent(
        .provider, fault == nil ? .allowed : .failed, app: provider.identifier,
        document: .init(path: folder(of: provider).path.path(of: file.path)), how: how,
        rule: how == "sent" ? "PRV-4" : how == "brought" ? "PRV-1" : nil, reason: fault?.description,
        detail: fault == nil ? ["bytes": "\(file.item.size)"] : [:]))
  }
}
