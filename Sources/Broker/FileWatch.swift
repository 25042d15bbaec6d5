internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess

/// Where the documents stand that single-file scopes are active on, and the folders that are watched for it: when another file
/// comes into a document's place and the document is gone, that file is the document (decision 1 of the catalogue).
struct FileWatch {
  fileprivate struct Entry {
    let place: DocumentPlace
    var document: FoundDocument
    /// Scopes that are active on it, in all instances.
    var uses: Int
    var watch: Int32?
  }

  /// Beyond these folders a replacement is seen only when the document is asked for again.
  private static let mostFolders = 1024

  private let watcher: FolderWatcher?
  private var active: [String: Entry] = [:]
  /// How many documents each watch is for.
  private var watches: [Int32: Int] = [:]

  init() { watcher = try? FolderWatcher() }

  /// Becomes readable when something has happened in one of the folders.
  var descriptor: Descriptor? { watcher?.descriptor }

  mutating func add(_ grant: String, _ document: FoundDocument) {
    if active[grant] != nil {
      active[grant]?.uses += 1
      return
    }
    guard let place = DocumentPlace(of: document) else { return }
    active[grant] = Entry(place: place, document: document, uses: 1, watch: watch(place.folder))
  }

  /// One scope on it has ended.
  mutating func remove(_ grant: String) {
    guard let entry = active[grant] else { return }
    active[grant]?.uses -= 1
    guard entry.uses == 1 else { return }
    active[grant] = nil
    if let number = entry.watch { unwatch(number) }
  }

  mutating func replaced(_ grant: String, by document: FoundDocument) {
    active[grant]?.document = document
  }

  private mutating func watch(_ folder: Descriptor) -> Int32? {
    guard let watcher, let number = try? watcher.watch(folder) else { return nil }
    guard watches[number] != nil || watches.count < Self.mostFolders else {
      watcher.unwatch(number)
      return nil
    }
    watches[number, default: 0] += 1
    return number
  }

  private mutating func unwatch(_ number: Int32) {
    guard let count = watches[number] else { return }
    watches[number] = count > 1 ? count - 1 : nil
    if count == 1 { watcher?.unwatch(number) }
  }

  /// The grants whose documents' folders something has happened in.
  func changed() -> [String] {
    guard let events = watcher?.events(), !events.isEmpty else { return [] }
    let folders = Set(events.map(\.watch))
    return active.filter { _, entry in
      entry.watch.map { folders.contains($0) || folders.contains(-1) } ?? false
    }.map(\.key)
  }

  /// The file that has come into the place of a grant's document, if the document is gone for good. One that was only moved away
  /// is still the document, whatever stands where it was.
  func successor(of grant: String) -> (old: FileIdentity, new: FoundDocument)? {
    guard let entry = active[grant], entry.isGone, let present = entry.place.present, present.kind == .file,
      present.identity != entry.document.identity
    else { return nil }
    return (entry.document.identity, present)
  }
}

extension FileWatch.Entry {
  fileprivate var isGone: Bool { (try? document.descriptor.status())?.links == 0 }
}

extension Broker {
  /// Something has happened in folders of documents.
  func examineFiles() {
    for grant in files.changed() { examine(grant) }
  }

  /// Looks whether another file stands in the place of a grant's document, and lets it be the document.
  func examine(_ id: String) {
    guard let (old, new) = files.successor(of: id) else { return }
    do {
      let instance = instances.values.first { $0.shown[id] != nil }
      let refused = instance.map { refusal(of: .file, at: new.path, for: $0) } ?? rules.refusal(of: .file, at: new.path)
      guard let grant = try grants.grant(id), grant.identity == old, refused == nil, instance?.app.replaced != .refuse
      else { return }
      try decide([
        AuditEvent(
          .replaced, app: grant.bundleIdentifier, instance: instance?.id, pid: instance?.pid, grant: id,
          document: Self.describe(new), how: "host", rule: "BMK-12",
          reason: "the document is gone, and this file stands in its place",
          detail: Self.facts(old, new.identity).merging([AuditEvent.Fact.matchedBy: "path"]) { $1 })
      ])
      // Whether that is so its own policy says, for each app.
      try succeed(old, by: new, of: grant.bundleIdentifier)
      files.replaced(id, by: new)
    } catch {
      record(AuditEvent(.replaced, .failed, grant: id, reason: "\(error)"))
    }
  }
}
