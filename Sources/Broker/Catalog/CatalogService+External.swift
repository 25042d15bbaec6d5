internal import BrokerCore
internal import Catalog
internal import Folders
internal import Kernel
internal import Paths
internal import Query
internal import ScopedAccess

/// The documents of an app's grants, wherever they are.
extension CatalogService {
  /// Looks at grants that something has happened to.
  func lookAtGrants(of catalog: AppCatalog, most: Int) {
    var left = most
    while left > 0, let grant = catalog.nextGrant() {
      left -= 1
      look(at: grant, in: catalog)
    }
  }

  private func live(_ id: String, _ catalog: AppCatalog) -> Grant? {
    guard let grant = try? grants.grant(id), grant.revoked == nil, grant.bundleIdentifier == catalog.app else {
      return nil
    }
    return grant
  }

  /// How the app's policy has it when another file is in a document's place.
  private func setting(_ catalog: AppCatalog) -> ReplacementRule.Setting {
    sessions.running(catalog.app).first?.app.replaced ?? .follow
  }

  private func look(at id: String, in catalog: AppCatalog) {
    guard let grant = live(id, catalog) else { return drop(id, catalog) }
    if let quick = documents.lookQuickly(for: grant, under: setting(catalog)) {
      return settle(grant, quick.document, catalog)
    }
    guard catalog.searching.insert(id).inserted else { return }
    let setting = setting(catalog)
    BrokerLoop.begin(Cancellation()) {
      let found = try? await self.documents.look(for: grant, under: setting, owner: "queries of \(catalog.app)")
      catalog.searching.remove(id)
      guard self.apps[catalog.app] === catalog else { return }
      if let live = self.live(id, catalog) {
        self.settle(live, found.flatMap { GrantLocator.Sighting($0).document }, catalog)
      } else {
        self.drop(id, catalog)
      }
      catalog.settleWaits()
      BrokerLoop.wake()
    }
  }

  /// The app has the grant no more.
  private func drop(_ id: String, _ catalog: AppCatalog) {
    guard let former = catalog.externals[id] else { return }
    catalog.setFound(id, nil)
    catalog.externals[id] = nil
    leave(former.watches, catalog)
    if let path = former.listed { remove([path], catalog) }
    if let identity = former.found?.identity { list(identity, catalog) }
  }

  private func settle(_ grant: Grant, _ document: FoundDocument?, _ catalog: AppCatalog) {
    var found = document.flatMap { ExternalDocument(grant, $0) }
    if let document, documents.isInTrash(document) { found = nil }
    let former = catalog.externals[grant.id] ?? .init()
    catalog.externals[grant.id] = former
    catalog.setFound(grant.id, found)
    watch(grant.id, found, former.watches, catalog)
    // It was looked at before it was watched.
    if let watched = catalog.externals[grant.id]?.watches, watched.contains(where: { !former.watches.contains($0) }) {
      catalog.lookAt([grant.id])
    }
    if let document, found != nil { locator.pin(document, for: grant.id) }
    let identities = [former.found?.identity, found?.identity].compactMap(\.self)
    for identity in Set(identities) { list(identity, catalog) }
    if found == nil, let path = catalog.externals[grant.id]?.listed {
      catalog.externals[grant.id]?.listed = nil
      remove([path], catalog)
    }
  }

  /// Of all grants of one document, one stands for it (`MDQ-2`).
  private func list(_ identity: FileIdentity, _ catalog: AppCatalog) {
    let all = catalog.all(of: identity)
    guard let first = all.min(by: { $0.goesBefore($1) }) else { return }
    for other in all where other.grant.id != first.grant.id {
      if let path = catalog.externals[other.grant.id]?.listed {
        catalog.externals[other.grant.id]?.listed = nil
        remove([path], catalog)
      }
    }
    let path = first.path.text
    let item = first.item(
      container: owner(of: path), reference: catalog.reference(to: first.grant.id), isHere: isHere(path))
    let former = catalog.externals[first.grant.id]?.listed
    catalog.externals[first.grant.id]?.listed = item.record.path
    do throws(StateError) {
      if let former {
        post(try catalog.table.move(from: former, to: item), in: catalog)
      } else {
        post(try catalog.table.put([item]).map(\.id), in: catalog)
      }
    } catch {
      complain("\(error)")
      startAnew()
    }
  }

  private func remove(_ paths: [String], _ catalog: AppCatalog) {
    do throws(StateError) { post(try catalog.table.remove(paths), in: catalog) } catch {
      complain("\(error)")
      startAnew()
    }
  }

  /// A document's content has come, or was taken away.
  func contentChanged(_ path: String) {
    let place = PathKey(path)
    for catalog in apps.values {
      catalog.lookAt(catalog.externals.filter { $0.value.found?.path == place }.keys.sorted())
    }
    BrokerLoop.wake()
  }

  /// The name of the app whose container a document lies in (`MDQ-6`).
  private func owner(of path: String) -> String? {
    guard let app = path.path(within: host.folders.containers)?.pathNames.first else { return nil }
    if let running = sessions.running(app).first { return running.app.name }
    return (try? grants.knownApps())?.first { $0.bundleIdentifier == app }?.name
  }

  // MARK: Watching

  private func watch(
    _ id: String, _ found: ExternalDocument?, _ former: [CatalogWatches.Role], _ catalog: AppCatalog
  ) {
    var roles: [CatalogWatches.Role] = []
    if let found, !locator.mayWait(found.path.text) {
      var places = [found.path.text.parentPath].compactMap(\.self)
      if found.grant.kind.isFolder { places.append(found.path.text) }
      for place in places {
        let role = CatalogWatches.Role.external(app: catalog.app, PathKey(place))
        guard
          let folder = try? Descriptor.open(place, flags: [.path, .directory], resolve: .noSymlinks),
          watches.watch(folder, as: role)
        else { continue }
        roles.append(role)
      }
    } else if found == nil {
      // It may come back to where it was.
      roles = former
    }
    catalog.externals[id, default: .init()].watches = roles
    leave(former.filter { !roles.contains($0) }, catalog)
  }

  private func leave(_ roles: [CatalogWatches.Role], _ catalog: AppCatalog) {
    for role in roles where !catalog.externals.values.contains(where: { $0.watches.contains(role) }) {
      watches.leave(role)
    }
  }

  /// Something has happened in a folder with granted documents, or in a granted folder.
  func noticed(_ event: ChangeWatcher.Event, in folder: PathKey, _ catalog: AppCatalog) {
    let role = CatalogWatches.Role.external(app: catalog.app, folder)
    let place = PathKey(folder.text.path(of: event.name))
    catalog.lookAt(
      catalog.externals.filter { _, external in
        guard external.watches.contains(role) else { return false }
        // One that is gone may be any file that comes.
        guard let found = external.found else { return event.kind != .content }
        return found.path == place || found.path == folder
      }.keys.sorted())
  }
}
