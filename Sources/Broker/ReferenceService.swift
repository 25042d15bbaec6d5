internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Document references: the small sealed files that stand for external documents in an app's container (`REF-1`).
extension Broker {
  static let referenceExtension = "ambitref"
  private static let unfinishedPrefix = ".unfinished-ambitref-"

  /// Writes a reference into the container's Documents, unless one of this grant is there, and answers the event.
  ///
  /// The app owns that folder and may have put anything there: every step is by descriptor and follows no link. An app
  /// that keeps a reference from being written harms only itself, so that is noted and the grant stands.
  /// - Parameter document: where it was seen just now, if it was.
  func reference(to grant: Grant, isNew: Bool, _ document: FoundDocument?, _ instance: Instance) -> AuditEvent {
    do throws(KernelError) {
      let container = try Descriptor.open(
        container(of: instance.app.bundleIdentifier), flags: [.path, .directory, .noFollow])
      let folder = try Descriptor.open("Documents", below: container, flags: [.read, .directory, .noFollow])
      // A grant that was made just now has none.
      if !isNew, let name = existingReference(to: grant, in: folder, instance) {
        return event(
          .reference, .allowed, instance, grant: grant, document: document, detail: ["name": name, "kept": "true"])
      }
      let content = Bookmark(
        bundleIdentifier: grant.bundleIdentifier, grant: grant.id, rights: grant.rights,
        path: document?.path ?? grant.path, identity: grant.identity, place: grant.place, created: grant.created
      ).sealed(with: key, for: .reference)
      let (name, inode) = try withFileSystemIdentity(instance.hostID) { () throws(KernelError) in
        try write(content, named: grant.name, in: folder)
      }
      instance.references[grant.id] = name
      // Without the note the grant merely outlives its last reference.
      try? grants.noteReference(grant.id, inode: inode)
      return event(.reference, .allowed, instance, grant: grant, document: document, detail: ["name": name])
    } catch {
      return event(.reference, .failed, instance, grant: grant, document: document, reason: "\(error)")
    }
  }

  func container(of bundleIdentifier: String) -> String { launchRules.container(of: bundleIdentifier) }

  /// The name of a reference to a grant, if there is one where it was, or where all of them are looked at.
  private func existingReference(to grant: Grant, in folder: Descriptor, _ instance: Instance) -> String? {
    func known() -> String? {
      guard let name = instance.references[grant.id],
        self.grant(ofReference: name, in: folder, app: instance.app.bundleIdentifier) == grant.id
      else { return nil }
      return name
    }
    if let name = known() { return name }
    // It takes the longer the more there are, and an app can see to it that none is where it was: others wait meanwhile.
    let now = Clock.monotonic()
    if let last = instance.referencesRead, now - last < 1_000_000_000 { return nil }
    instance.referencesRead = now
    guard let entries = try? DirectoryReader.entries(of: folder, limit: Self.mostEntries) else { return nil }
    // Nobody but this broker writes references: what is unfinished is of one that died.
    for entry in entries where entry.name.hasPrefix(Self.unfinishedPrefix) { try? folder.removeFile(entry.name) }
    let candidates = entries.filter(Self.mayBeReference)
    // By the file that each was written to; what an app has copied, or put back from a copy, has to be read.
    let names = Dictionary(candidates.map { ($0.inode, $0.name) }) { first, _ in first }
    let written = (try? grants.references(of: instance.app.bundleIdentifier)) ?? [:]
    for (id, inodes) in written { instance.references[id] = inodes.lazy.compactMap { names[$0] }.first }
    let files = Set(written.values.joined())
    for entry in candidates.lazy.filter({ !files.contains($0.inode) }).prefix(Self.mostRead) {
      if let id = self.grant(ofReference: entry.name, in: folder, app: instance.app.bundleIdentifier) {
        instance.references[id] = instance.references[id] ?? entry.name
      }
    }
    if let name = known() { return name }
    // The number of one that was deleted may be another file's by now.
    for name in (written[grant.id] ?? []).compactMap({ names[$0] }) {
      instance.references[grant.id] = name
      if let name = known() { return name }
    }
    return nil
  }

  /// More than these are not looked at for a reference that may be there already, nor more read: then there is another one.
  private static let mostEntries = 20_000
  private static let mostRead = 256

  static func mayBeReference(_ entry: DirectoryReader.Entry) -> Bool {
    entry.kind == .regular && entry.name.hasSuffix(".\(referenceExtension)")
  }

  /// The grant that a file refers to; `nil` if it is no reference of this app's.
  func grant(ofReference name: String, in folder: Descriptor, app: String) -> String? {
    Self.grant(ofReference: name, in: folder, app: app, key)
  }

  static func grant(ofReference name: String, in folder: Descriptor, app: String, _ key: SealingKey) -> String? {
    guard let file = try? Descriptor.open(name, below: folder, flags: [.read, .noFollow, .nonBlocking]),
      let sealed = try? file.readAll(limit: 8192),
      let found = try? Bookmark.open(sealed, with: key, for: .reference, app: app)
    else { return nil }
    return found.grant
  }

  /// Whole or not at all: the content is written under another name first.
  private func write(
    _ content: [UInt8], named name: String, in folder: Descriptor
  ) throws(KernelError) -> (name: String, inode: UInt64) {
    let unfinished = "\(Self.unfinishedPrefix)\(Grant.makeID())"
    let file = try Descriptor.open(
      unfinished, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    do throws(KernelError) {
      try file.writeAll(content)
      FaultPoint.referenceBegun.pass()
      // A file name has 255 bytes; leave room for the number and the extension.
      var stem = name
      while stem.utf8.count > 230 { stem.removeLast() }
      // An app may have files of all these names; then the name is by chance.
      for attempt in 1...40 {
        let number = attempt < 20 ? attempt : Int.random(in: 20...999_999)
        let final = "\(stem)\(number == 1 ? "" : " \(number)").\(Self.referenceExtension)"
        do throws(KernelError) {
          try folder.rename(unfinished, to: final)
          FaultPoint.referenceWritten.pass()
          return (final, try file.status().inode)
        } catch { if error.errno != .fileExists { throw error } }
      }
      throw KernelError("renameat2", name, errno: .fileExists)
    } catch {
      try? folder.removeFile(unfinished)
      throw error
    }
  }
}
