internal import Audit
internal import BrokerCore
internal import Coordination
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Versions of documents (`io.ambit.Versions`): for apps and for the user's side.
@BrokerLoop
final class VersionService {
  private let items: CoordinatedItems
  private let keeper: VersionKeeper
  private let grants: GrantStore
  private let locator: DocumentLocator
  private let trail: AuditTrail

  init(
    _ items: CoordinatedItems, _ keeper: VersionKeeper, _ grants: GrantStore, _ locator: DocumentLocator,
    _ trail: AuditTrail
  ) {
    (self.items, self.keeper, self.grants, self.locator, self.trail) = (items, keeper, grants, locator, trail)
  }

  /// - Parameter instance: `nil`: the user's side.
  func serve(_ call: CheckedCall, for instance: Instance?) async throws -> Answer {
    switch call.member {
    case "List":
      let item = try await item(try VersionsInterface.ListCall(json: call.parameters).path, instance)
      return Answer(
        VersionsInterface.ListReply(versions: try versions(of: item, instance).map(VersionsInterface.Version.init)))
    case "Keep": return Answer(try await keep(try VersionsInterface.KeepCall(json: call.parameters), instance))
    case "Contents":
      return Answer(try await contents(try VersionsInterface.ContentsCall(json: call.parameters), instance))
    case "Open": return try open(try VersionsInterface.OpenCall(json: call.parameters), instance)
    case "Remove":
      let id = try VersionsInterface.RemoveCall(json: call.parameters).version
      let found = try writable(id, instance)
      try record(found, "removed", instance)
      try keeper.store.remove(id)
      keeper.onChange(found.path, id, .versionLost)
      try await synchronize(instance)
    default:
      let id = try VersionsInterface.ResolveCall(json: call.parameters).version
      let found = try writable(id, instance)
      try record(found, "resolved", instance)
      try keeper.store.resolve(id)
      keeper.onChange(found.path, id, .conflictResolved)
      try await synchronize(instance)
    }
    return Answer([:])
  }

  // MARK: Documents

  /// A document that a client names.
  private struct NamedDocument {
    let document: FoundDocument
    let path: String
    let mayWrite: Bool
    let grant: Grant?
    /// Nanoseconds since 1970: older versions are not told to this client.
    let since: Int64
  }

  /// A version that a client may use.
  private struct Found {
    let version: KeptVersion
    let path: String
    let grant: Grant?
  }

  private func item(_ path: String, _ instance: Instance?) async throws -> NamedDocument {
    guard let (named, document) = try await items.document(path, for: instance, by: locator) else {
      throw VersionsInterface.Failure.notKnown(path: path)
    }
    let place = named.item.path.text
    let grant = try named.grant.flatMap { try grants.grant($0) }
    // A container has contents of its own app alone.
    if instance != nil, grant == nil { try keeper.store.follow(document.identity, at: place) }
    return NamedDocument(
      document: document, path: place, mayWrite: named.mayWrite, grant: grant, since: grant?.created ?? 0)
  }

  private func versions(of item: NamedDocument, _ instance: Instance?) throws -> [KeptVersion] {
    let versions = try keeper.store.versions(of: item.document.identity).filter { version in
      guard let instance, item.grant == nil else { return version.kept >= item.since }
      return isOwn(version, of: instance)
    }
    // The user is shown those of an earlier file at the path as well.
    return versions.isEmpty && instance == nil ? try keeper.store.versions(at: item.path) : versions
  }

  /// A version by its identifier; of an app only one of a document that it has now.
  private func version(
    _ id: String, _ instance: Instance?
  ) throws -> Found {
    guard let found = try keeper.store.version(id) else { throw VersionsInterface.Failure.noSuchVersion(version: id) }
    guard let instance else { return Found(version: found.version, path: found.path, grant: nil) }
    for grant in instance.scopes.shown.keys.compactMap({ try? grants.grant($0) })
    where grant.revoked == nil && grant.identity == found.document && found.version.kept >= grant.created {
      return Found(version: found.version, path: found.path, grant: grant)
    }
    guard isOwn(found.version, of: instance), isInContainer(found.path, of: instance) else {
      throw VersionsInterface.Failure.noSuchVersion(version: id)
    }
    return Found(version: found.version, path: found.path, grant: nil)
  }

  /// Whether the document was in the app's container when this was kept. The user may have moved it there since.
  private func isOwn(_ version: KeptVersion, of instance: Instance) -> Bool {
    isInContainer(version.place, of: instance)
  }

  private func isInContainer(_ path: String, of instance: Instance) -> Bool {
    path.path(within: items.host.realContainer(of: instance.app.bundleIdentifier)) != nil
  }

  private func writable(
    _ id: String, _ instance: Instance?
  ) throws -> Found {
    let found = try version(id, instance)
    if let instance, let grant = found.grant, instance.rights(of: grant) != .readWrite {
      throw VersionsInterface.Failure.readOnly(path: found.version.name)
    }
    return found
  }

  // MARK: Acts

  private func keep(
    _ call: VersionsInterface.KeepCall, _ instance: Instance?
  ) async throws -> VersionsInterface.KeepReply {
    let item = try await item(call.path, instance)
    guard item.mayWrite else { throw VersionsInterface.Failure.readOnly(path: call.path) }
    let cause: KeptVersion.Cause = call.conflict ? .conflict : .saved
    do {
      let kept = try await keeper.keep(
        item.document, at: item.path, cause, by: instance, grant: item.grant,
        of: instance == nil ? call.device?.cut(toBytes: 100) : nil)
      return .init(version: .init(kept))
    } catch let error as KernelError { throw VersionsInterface.Failure.notKept("\(error)") } catch let error
      as StateError
    { throw VersionsInterface.Failure.notKept("\(error)") }
  }

  /// A change is answered when no power failure takes it back.
  private func synchronize(_ instance: Instance?) async throws {
    do { try await keeper.synchronize(for: instance?.app.bundleIdentifier) } catch let error as KernelError {
      throw Self.unavailable(error)
    }
  }

  private func contents(
    _ call: VersionsInterface.ContentsCall, _ instance: Instance?
  ) async throws -> VersionsInterface.ContentsReply {
    let version = try version(call.version, instance).version
    guard version.isPackage else { return .init(paths: [version.name]) }
    let paths: [String]
    do { paths = try await keeper.paths(in: version, for: instance?.app.bundleIdentifier) } catch let error
      as KernelError
    { throw Self.unavailable(error) }
    // The document may have been withdrawn meanwhile.
    _ = try self.version(call.version, instance)
    return .init(paths: paths)
  }

  private func open(_ call: VersionsInterface.OpenCall, _ instance: Instance?) throws -> Answer {
    let found = try version(call.version, instance)
    let opened = try Self.unavailable { () throws(KernelError) -> Descriptor in
      let content = try keeper.store.open(found.version)
      guard found.version.isPackage else {
        guard call.path == nil else { throw KernelError("open", call.path ?? "", errno: .notDirectory) }
        return content
      }
      let file = try Descriptor.open(
        call.path ?? "", below: content, flags: [.read, .noFollow, .nonBlocking],
        resolve: [.beneath, .noSymlinks, .sameMount])
      guard try file.status().kind == .regular else {
        throw KernelError("open", call.path ?? "", errno: .isDirectory)
      }
      return file
    }
    try record(found, "read", instance)
    return Answer([:], descriptors: [opened])
  }

  private func record(
    _ found: Found, _ act: String, _ instance: Instance?
  ) throws {
    try trail.decide([keeper.event(act, found.version, at: nil, instance, grant: found.grant)])
  }

  private static func unavailable<Value>(_ body: () throws(KernelError) -> Value) throws -> Value {
    do { return try body() } catch { throw unavailable(error) }
  }

  private static func unavailable(_ error: KernelError) -> any Error {
    VersionsInterface.Failure.unavailable("\(error.errno) (\(error.errno.symbol))")
  }
}

extension VersionsInterface.Version {
  init(_ version: KeptVersion) {
    self.init(
      id: version.id, name: version.name, modified: Instance.rfc3339(version.modified),
      kept: Instance.rfc3339(version.kept), app: version.app, device: version.device, size: Int(clamping: version.size),
      kind: version.isPackage ? .package : .file,
      cause: Cause(rawValue: version.cause.rawValue) ?? .saved, unresolved: version.isUnresolved)
  }
}
