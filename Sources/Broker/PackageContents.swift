internal import Audit
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage

/// Grants of files in a package that another folder has come in the place of: the file at the same place in it is what the user
/// meant, under the same rule as for any other file that was saved anew.
extension Broker {
  /// What an app has saved is the document for everybody (``succeed(_:by:of:isSettled:)``), and so is what it has saved in it.
  ///
  /// - Parameter old: still whole, out of every app's reach.
  func carryOver(from old: FoundDocument, at path: String, to new: FoundDocument) {
    for (grant, inside) in grantsInside(path) {
      guard let former = Self.file(inside, in: old), former.identity == grant.identity else {
        // Moved there meanwhile, or away: then it is found by its identity, or by its place.
        movePlace(of: grant, to: inside, in: new)
        continue
      }
      let instance = instances.values.first { $0.shown[grant.id] != nil }
      do {
        guard let present = Self.file(inside, in: new), (try? present.descriptor.status().links) == 1,
          rules.refusal(of: grant.kind, at: present.path) == nil
        else {
          record(
            AuditEvent(
              .replaced, .failed, app: grant.bundleIdentifier, instance: instance?.id, pid: instance?.pid,
              grant: grant.id, document: Self.describe(former), how: "app", rule: "BMK-12",
              reason: "the package that it was in was saved anew, and no file of its own stands at \(inside) in it"))
          continue
        }
        try decide([
          AuditEvent(
            .replaced, app: grant.bundleIdentifier, instance: instance?.id, pid: instance?.pid, grant: grant.id,
            document: Self.describe(present), how: "app", rule: "BMK-12",
            reason: "the package that it was in was saved anew, and this file stands in its place",
            detail: Self.facts(former.identity, present.identity).merging([AuditEvent.Fact.matchedBy: "path"]) { $1 })
        ])
        try succeed(former.identity, by: present, of: grant.bundleIdentifier)
      } catch {
        record(AuditEvent(.replaced, .failed, app: grant.bundleIdentifier, grant: grant.id, reason: "\(error)"))
      }
      movePlace(of: grant, to: inside, in: new)
    }
  }

  /// What the host has replaced is found by its place, when it is gone and its app's policy says so: the place is in the new package.
  func carryPlaces(from path: String, to new: FoundDocument) {
    for (grant, inside) in grantsInside(path) {
      movePlace(of: grant, to: inside, in: new)
      examine(grant.id)
    }
  }

  /// The files that were granted where a package stood, by themselves, with their places in it.
  private func grantsInside(_ path: String) -> [(grant: Grant, inside: String)] {
    let all = (try? grants.grants(inside: path)) ?? []
    return all.filter { $0.kind == .file }.map {
      ($0, String(decoding: $0.path.utf8.dropFirst(path.utf8.count + 1), as: UTF8.self))
    }
  }

  /// A file in a package. No link is followed, and nothing that is mounted there.
  private static func file(_ inside: String, in package: FoundDocument) -> FoundDocument? {
    let file = try? Descriptor.open(
      inside, below: package.descriptor, flags: .place, resolve: [.beneath, .noSymlinks, .sameMount])
    return file.flatMap { try? FoundDocument($0) }.flatMap { $0.kind == .file ? $0 : nil }
  }

  private func movePlace(of grant: Grant, to inside: String, in package: FoundDocument) {
    guard let path = package.path else { return }
    let parent = inside.parentPath ?? ""
    let name = inside.lastPathName
    guard
      let folder = parent.isEmpty
        ? package.descriptor
        : try? Descriptor.open(
          parent, below: package.descriptor, flags: [.path, .directory],
          resolve: [.beneath, .noSymlinks, .sameMount]),
      let identity = try? FileIdentity(of: folder)
    else { return }
    grants.move(grant.id, to: "\(path)/\(inside)", place: Place(folder: identity, name: String(name)))
    files.moved(grant.id, to: DocumentPlace(folder, String(name)))
  }
}
