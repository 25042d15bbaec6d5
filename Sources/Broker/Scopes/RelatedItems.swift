internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// A file that appears beside a started document, while it has presenters.
struct RelatedItem {
  let document: FoundDocument
  let rights: AccessRights
  var presenters: Set<Int>
}

/// Related items (`COO-25`): the sibling of a started document, of the same name but for an extension that the app declares
/// (`NSIsRelatedItemType`). It appears beside the document while a presenter of it is registered, with no more rights than the
/// document has. The user has chosen the document alone, so everything else about the sibling is checked as for a pick.
@BrokerLoop
final class RelatedItems {
  private let grants: GrantStore
  private let trail: AuditTrail
  private let places: OfferedPlaces
  private let mounts: MountState
  private let leaks: LeakDetector
  private let clock: any LoopClock
  /// The item of each presenter.
  private var presented: [Int: Presented] = [:]

  private struct Presented {
    let instance: Instance
    let grant: String
    let name: PathKey
  }

  /// The reason why an item is not shown; the user reads it in the log.
  private struct Reason: Error { let sentence: String }

  init(
    _ grants: GrantStore, _ trail: AuditTrail, _ places: OfferedPlaces, _ mounts: MountState, _ leaks: LeakDetector,
    _ clock: any LoopClock
  ) {
    (self.grants, self.trail, self.places, self.mounts) = (grants, trail, places, mounts)
    (self.leaks, self.clock) = (leaks, clock)
  }

  // MARK: Beginning

  /// - Parameters:
  ///   - path: of the item, as the app sees it: `/documents/<grant>/<name>`.
  ///   - primary: of the started document that it belongs to.
  /// - Throws: `NotKnown`; an entry has the reason.
  func show(_ path: String, beside primary: String, to presenter: Int, of instance: Instance) throws {
    let (names, documents) = (path.pathNames, primary.pathNames)
    var grant: Grant?
    if documents.count == 3, documents[0].isSamePath(as: "documents") {
      grant = (try? grants.grant(documents[1])) ?? nil
    }
    do {
      guard let grant, names.count == 3, zip(names, documents).prefix(2).allSatisfy({ $0.isSamePath(as: $1) }) else {
        throw Reason(sentence: "it is not in the folder of a document that the app has been given")
      }
      let name = PathKey(names[2])
      if instance.scopes.related[grant.id]?[name] != nil {
        instance.scopes.related[grant.id]?[name]?.presenters.insert(presenter)
      } else {
        let item = try item(names[2], beside: documents[2], of: grant, for: instance, presenter)
        try trail.decide([event(.allowed, how: "shown", item, grant, instance)])
        do throws(KernelError) {
          try instance.sandbox.mounts.showRelated(
            item.document, grant: grant.id, name: names[2], rights: item.rights,
            in: instance.sandbox.staging.folder(of: grant.id))
        } catch {
          end(instance, because: error)
          throw Reason(sentence: "\(error)")
        }
        instance.scopes.related[grant.id, default: [:]][name] = item
      }
      presented[presenter] = Presented(instance: instance, grant: grant.id, name: name)
    } catch let reason as Reason {
      trail.record(
        AuditEvent(
          .related, .refused, app: instance.app.bundleIdentifier, instance: instance.id, pid: instance.pid,
          grant: grant?.id, document: .init(path: path), rule: "COO-25", reason: reason.sentence))
      throw CoordinationInterface.Failure.notKnown(path: path)
    }
  }

  /// The sibling, if the app may have it.
  private func item(
    _ name: String, beside primary: String, of grant: Grant, for instance: Instance, _ presenter: Int
  ) throws -> RelatedItem {
    guard let exposure = instance.scopes.exposed[grant.id], let document = instance.scopes.shown[grant.id],
      exposure.has(primary), document.kind == .file, grant.revoked == nil
    else { throw Reason(sentence: "\(primary) is not a file that the app has started") }
    guard let wanted = RelatedName(name), let own = RelatedName(primary), wanted.stem.isSamePath(as: own.stem),
      instance.app.related.contains(wanted.type.lowercased()),
      !exposure.has(name)
    else {
      throw Reason(
        sentence: "its name is not that of \(primary) with an extension that the app declares by NSIsRelatedItemType")
    }
    // By the document's name on the host, which may be another one by now.
    guard let place = DocumentPlace(of: document), let outside = RelatedName(place.name) else {
      throw Reason(sentence: "the document has no place of its own any more")
    }
    guard place.folder.currentPath.map(mounts.mayWait) == false else {
      throw Reason(sentence: "its file system may keep the broker waiting")
    }
    let sibling = DocumentPlace(place.folder, "\(outside.stem).\(wanted.type)")
    guard let found = sibling.present, found.kind == .file else {
      throw Reason(sentence: "there is no regular file \(sibling.name) beside the document")
    }
    let rights = instance.rights(of: grant)
    let refusal =
      sibling.isOnItsVolume(found)
      ? places.refusal(of: .file, at: found.path, for: instance.app.bundleIdentifier)
        ?? instance.refusal(of: .file, named: sibling.name)?.reason
        ?? instance.refusal(ofUsing: grant, now: clock.realtime)?.reason
        ?? (rights == .readWrite ? instance.refusal(ofWriting: found) : nil)
      : "another file system is mounted over \(sibling.name)"
    if let refusal { throw Reason(sentence: refusal) }
    return RelatedItem(document: found, rights: rights, presenters: [presenter])
  }

  // MARK: Ends

  /// A presenter has left. With the last one the item goes.
  ///
  /// - Parameter time: for the searches of all presenters that leave together.
  func leave(_ presenter: Int, within time: SearchTime = SearchTime()) {
    guard let former = presented.removeValue(forKey: presenter) else { return }
    let (instance, id) = (former.instance, former.grant)
    instance.scopes.related[id]?[former.name]?.presenters.remove(presenter)
    guard let item = instance.scopes.related[id]?[former.name], item.presenters.isEmpty else { return }
    let grant = (try? grants.grant(id)) ?? nil
    do throws(KernelError) {
      let busy = try hide(former.name, item, of: id, instance)
      _ = leaks.outlived(Held(mount: busy), item.document, grant, instance, within: time)
    } catch { end(instance, because: error) }
  }

  /// The document is taken away, and before it the items beside it.
  ///
  /// - Returns: as ``ScopeMounting/hide(grant:name:atOnce:)``, of all of them.
  func hideAll(of grant: String, _ instance: Instance) throws(KernelError) -> BusyMount? {
    var all: BusyMount?
    for (name, item) in instance.scopes.related[grant] ?? [:] {
      all = try hide(name, item, of: grant, instance)?.joined(with: all) ?? all
    }
    return all
  }

  private func hide(
    _ name: PathKey, _ item: RelatedItem, of grant: String, _ instance: Instance
  ) throws(KernelError) -> BusyMount? {
    instance.scopes.related[grant]?[name] = nil
    if instance.scopes.related[grant]?.isEmpty == true { instance.scopes.related[grant] = nil }
    let busy = try instance.sandbox.mounts.hideRelated(
      grant: grant, name: name.text, in: instance.sandbox.staging.folder(of: grant))
    trail.record(event(.allowed, how: "taken away", item, (try? grants.grant(grant)) ?? nil, instance))
    return busy
  }

  /// Nothing weaker than ending it is safe: it would go on using a file that it no longer has by the books.
  private func end(_ instance: Instance, because error: KernelError) {
    // With the sandbox its mounts go.
    guard error.errno == .resourceBusy, !instance.process.processHasEnded else { return }
    instance.ending.reason = "a related item could not be taken away from it: \(error)"
    try? instance.process.signalProcess(9)
  }

  private func event(
    _ result: AuditEvent.Result, how: String, _ item: RelatedItem, _ grant: Grant?, _ instance: Instance
  ) -> AuditEvent {
    AuditEvent(
      .related, result, app: instance.app.bundleIdentifier, instance: instance.id, pid: instance.pid, grant: grant?.id,
      document: .init(item.document), how: how, rule: "COO-25",
      detail: [AuditEvent.Fact.access: item.rights.rawValue])
  }
}

/// The name of a file: the part before its extension, and that.
struct RelatedName {
  let stem: String
  let type: String

  /// - Returns: `nil` where the name has no extension, or nothing before it.
  init?(_ name: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name.utf8.count <= 255, !name.hasSlash else {
      return nil
    }
    (stem, type) = (String(name[..<dot]), String(name[name.index(after: dot)...]))
    guard PackageTypes.isExtension(type) else { return nil }
  }
}
