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

  /// Writes a reference into the container's Documents, unless one of this grant is there, and answers the event.
  ///
  /// The app owns that folder and may have put anything there: every step is by descriptor and follows no link. An app
  /// that keeps a reference from being written harms only itself, so that is noted and the grant stands.
  func reference(to grant: Grant, isNew: Bool, _ document: FoundDocument, _ instance: Instance) -> AuditEvent {
    do throws(KernelError) {
      let container = try Descriptor.open(
        container(of: instance.app.bundleIdentifier), flags: [.path, .directory, .noFollow])
      let folder = try Descriptor.open("Documents", below: container, flags: [.read, .directory, .noFollow])
      // A grant that was made just now has none; looking costs more the more documents the app has.
      if !isNew, let name = existingReference(to: grant, in: folder, instance) {
        return event(
          .reference, .allowed, instance, grant: grant, document: document, detail: ["name": name, "kept": "true"])
      }
      let content = Bookmark(
        bundleIdentifier: grant.bundleIdentifier, grant: grant.id, rights: grant.rights,
        path: document.path ?? grant.path
      ).sealed(with: key, for: .reference)
      let name = try withFileSystemIdentity(instance.hostID) { () throws(KernelError) in
        try write(content, named: grant.name, in: folder)
      }
      return event(.reference, .allowed, instance, grant: grant, document: document, detail: ["name": name])
    } catch {
      return event(.reference, .failed, instance, grant: grant, document: document, reason: "\(error)")
    }
  }

  func container(of bundleIdentifier: String) -> String { launchRules.container(of: bundleIdentifier) }

  private func existingReference(to grant: Grant, in folder: Descriptor, _ instance: Instance) -> String? {
    guard let entries = try? DirectoryReader.entries(of: folder) else { return nil }
    for entry in entries where entry.name.hasSuffix(".\(Self.referenceExtension)") && entry.kind == .regular {
      guard
        let file = try? Descriptor.open(entry.name, below: folder, flags: [.read, .noFollow, .nonBlocking]),
        let sealed = try? file.readAll(limit: 8192),
        let found = try? Bookmark.open(sealed, with: key, for: .reference, app: instance.app.bundleIdentifier)
      else { continue }
      if found.grant == grant.id { return entry.name }
    }
    return nil
  }

  /// Whole or not at all: the content is written under another name first.
  private func write(_ content: [UInt8], named name: String, in folder: Descriptor) throws(KernelError) -> String {
    let unfinished = ".\(Grant.makeID()).\(Self.referenceExtension)"
    let file = try Descriptor.open(
      unfinished, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    do throws(KernelError) {
      try file.writeAll(content)
      // A file name has 255 bytes; leave room for the number and the extension.
      var stem = name
      while stem.utf8.count > 230 { stem.removeLast() }
      for number in 1...999 {
        let final = "\(stem)\(number == 1 ? "" : " \(number)").\(Self.referenceExtension)"
        do throws(KernelError) {
          try folder.rename(unfinished, to: final)
          return final
        } catch { if error.errno != .fileExists { throw error } }
      }
      throw KernelError("renameat2", name, errno: .fileExists)
    } catch {
      try? folder.removeFile(unfinished)
      throw error
    }
  }
}
