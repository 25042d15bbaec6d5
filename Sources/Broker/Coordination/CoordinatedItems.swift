internal import BrokerCore
internal import Coordination
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// How a client's paths lie on the host: a document of its, its container, or, for the user's side, everything.
struct PathMapping {
  /// The document or the container, as the client sees it.
  let inside: String
  /// The same on the host. Changes when it is moved.
  var outside: PathKey

  func host(_ path: String) -> PathKey? {
    path.path(within: inside).map { $0.isEmpty ? outside : PathKey(outside.text.path(of: $0)) }
  }

  /// The client's path of a place on the host; `nil`: it sees nothing of that place.
  func client(_ path: PathKey) -> String? {
    path.text.path(within: outside.text).map { $0.isEmpty ? inside : inside.path(of: $0) }
  }

  /// The whole file system, for the user's side.
  static let host = PathMapping(inside: "/", outside: PathKey("/"))
}

/// An item that a client names, and how its paths are told to that client.
struct NamedItem {
  var item: Item
  var mapping: PathMapping
  /// The grant of a document; `nil`: the container, or the user's side.
  var grant: String?
  var mayWrite = true
  /// Other programs that open it are held up for its presenter. What lies in a container is saved there, and not by the broker; and so
  /// is a related item.
  var isLeased = false
}

/// Finds the items that clients name. An app names only what it was given.
@BrokerLoop
struct CoordinatedItems {
  let host: BrokerHost
  let grants: GrantStore
  let sessions: SessionTable

  /// - Throws: `NotKnown` for what the client cannot name.
  func item(_ path: String, for instance: Instance?) throws -> NamedItem {
    let names = path.pathNames
    guard path.utf8.first == UInt8(ascii: "/"), !names.contains("."), !names.contains(".."),
      path.utf8.count <= 4096
    else { throw CoordinationInterface.Failure.notKnown(path: path) }
    let path = path.withoutTrailingSlashes
    guard let instance else {
      return NamedItem(item: Item(path, package: package(around: path)), mapping: .host)
    }
    if let document = document(names, instance), let place = document.mapping.host(path) {
      var document = document
      document.item = Item(place.text, package: package(around: place.text))
      return document
    }
    let container = PathMapping(
      inside: ScopeMounts.home, outside: PathKey(host.realContainer(of: instance.app.bundleIdentifier)))
    guard let place = container.host(path) else { throw CoordinationInterface.Failure.notKnown(path: path) }
    return NamedItem(item: Item(place.text, package: package(around: place.text)), mapping: container)
  }

  /// The document of a path such as `/documents/<grant>/<name>/…`.
  private func document(_ names: [String], _ instance: Instance) -> NamedItem? {
    guard names.count >= 3, names[0] == "documents", let exposure = instance.scopes.exposed[names[1]] else {
      return nil
    }
    if names.count == 3, let item = instance.scopes.related[names[1]]?[PathKey(names[2])],
      let place = item.document.descriptor.currentPath
    {
      let mapping = PathMapping(inside: "/documents/\(names[1])/\(names[2])", outside: PathKey(place))
      return NamedItem(item: Item(place), mapping: mapping, grant: names[1], mayWrite: item.rights == .readWrite)
    }
    guard exposure.has(names[2]), let grant = try? grants.grant(names[1]), grant.revoked == nil,
      let place = instance.scopes.shown[grant.id]?.descriptor.currentPath ?? (grant.path.isEmpty ? nil : grant.path)
    else { return nil }
    let mapping = PathMapping(inside: "/documents/\(names[1])/\(names[2])", outside: PathKey(place))
    return NamedItem(
      item: Item(place), mapping: mapping, grant: grant.id, mayWrite: instance.rights(of: grant) == .readWrite,
      isLeased: true)
  }

  /// The item that a client names, and its document. An app changes names in its container as it likes: no link is followed.
  ///
  /// - Returns: `nil`: the client cannot name it, or there is none.
  /// - Throws: `StateError` where the file system does not answer.
  func document(
    _ path: String, for instance: Instance?, by locator: DocumentLocator
  ) async throws -> (item: NamedItem, found: FoundDocument)? {
    guard let place = try? item(path, for: instance).item.path else { return nil }
    let found = try await locator.ask(about: place.text, for: instance?.id ?? "") {
      try? FoundDocument(Descriptor.open(place.text, flags: .place, resolve: .noSymlinks))
    }
    // It may have been withdrawn or moved meanwhile.
    guard let found, let named = try? item(path, for: instance), named.item.path == place else { return nil }
    return (named, found)
  }

  /// When a grant was given, in nanoseconds since 1970; 0: there is none.
  func created(_ grant: String?) throws -> Int64 { try grant.flatMap { try grants.grant($0) }?.created ?? 0 }

  /// The outermost package around a path, or the path itself: by the packages that everybody knows, and those of running apps.
  private func package(around path: String) -> String? {
    // Most paths have no extension at all.
    guard path.utf8.contains(UInt8(ascii: ".")) else { return nil }
    let names = path.pathNames
    for (index, name) in names.enumerated() where sessions.packages.isPackage(name) {
      return "/" + names[...index].joined(separator: "/")
    }
    return nil
  }
}
