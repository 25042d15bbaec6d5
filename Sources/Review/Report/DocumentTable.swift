internal import Audit
internal import Foundation

/// The documents that a log names, each under one number, however often it was renamed or moved.
struct DocumentTable: Sendable {
  /// Where each was last seen.
  private(set) var paths: [String] = []
  private var byGrant: [String: Int] = [:]
  private var byIdentity: [Identity: Int] = [:]

  /// The file where the log says which it is, else the name. Names are their bytes: to Swift two spellings of a letter are equal.
  private enum Identity: Hashable {
    case file(volume: String?, inode: UInt64, birth: Date?)
    case name([UInt8])

    init(_ document: AuditEvent.Document) {
      self =
        document.inode.map { .file(volume: document.volume, inode: $0, birth: document.birth) }
        ?? .name(Array(document.path.utf8))
    }
  }

  /// The number of the document that an entry is about; nil when it is about none.
  mutating func index(of event: AuditEvent) -> Int? {
    if let grant = event.grant, let known = byGrant[grant] {
      // The grant follows the document to whichever file it is by now.
      if let document = event.document {
        byIdentity[Identity(document)] = known
        if !document.path.isEmpty { paths[known] = document.path }
      }
      return known
    }
    guard let document = event.document, !document.path.isEmpty else { return nil }
    let identity = Identity(document)
    let index = byIdentity[identity] ?? paths.count
    if index == paths.count { paths.append(document.path) } else { paths[index] = document.path }
    byIdentity[identity] = index
    if let grant = event.grant { byGrant[grant] = index }
    return index
  }

  func index(ofGrant grant: String) -> Int? { byGrant[grant] }
}
