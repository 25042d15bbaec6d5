package import Folders
internal import GRDB
package import Kernel
internal import SystemPackage

/// The documents that the broker has copied into apps' Inboxes. What an app puts there itself is none of them.
extension GrantStore {
  /// Of one app; older ones are forgotten.
  private static let mostInInbox = 1000

  /// - Parameter changed: ``ScopedAccess/InboxDocument/lastChange(of:)`` when it was there.
  package func noteInInbox(_ document: FileIdentity, changed: Int64, of app: String) throws(StateError) {
    try access { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO inboxDocument (bundleIdentifier, identity, changed) VALUES (?, ?, ?)",
        arguments: [app, document.stored, changed])
      try db.execute(
        sql: """
          DELETE FROM inboxDocument WHERE bundleIdentifier = ?1 AND changed < (
            SELECT changed FROM inboxDocument WHERE bundleIdentifier = ?1 ORDER BY changed DESC LIMIT 1 OFFSET ?2)
          """, arguments: [app, Self.mostInInbox - 1])
    }
  }

  /// Its app has made a document of it.
  package func forgetInInbox(_ document: FileIdentity, of app: String) throws(StateError) {
    try access { db in
      try db.execute(
        sql: "DELETE FROM inboxDocument WHERE bundleIdentifier = ? AND identity = ?", arguments: [app, document.stored])
    }
  }

  /// The last change of a document when it came into the app's Inbox; `nil`: it is none of these.
  package func changeInInbox(of document: FileIdentity, _ app: String) throws(StateError) -> Int64? {
    try read { db in
      try Int64.fetchOne(
        db, sql: "SELECT changed FROM inboxDocument WHERE bundleIdentifier = ? AND identity = ?",
        arguments: [app, document.stored])
    }
  }
}

package enum InboxDocument {
  /// Files and folders that are looked at.
  package static let most = 4096
  /// As deep as a copy may be (``PackageCopy``).
  private static let deepest = 64

  /// When a file, or something in a folder, was changed last (`st_ctime`, nanoseconds since 1970). No program can set that back.
  ///
  /// - Throws: `E2BIG`: there is too much in it.
  package static func lastChange(of item: Descriptor, most: Int = most) throws(KernelError) -> Int64 {
    var left = most
    return try lastChange(of: item, &left, depth: 0)
  }

  private static func lastChange(of item: Descriptor, _ left: inout Int, depth: Int) throws(KernelError) -> Int64 {
    left -= 1
    guard left > 0, depth < deepest else { throw KernelError("open", "the document", errno: .argListTooLong) }
    let status = try item.status()
    guard status.kind == .directory else { return status.changed }
    var last = status.changed
    for entry in try DirectoryReader.entries(of: try item.reopened([.read, .directory]), limit: left + 1) {
      let inner = try Descriptor.open(entry.name, below: item, flags: .place)
      last = max(last, try lastChange(of: inner, &left, depth: depth + 1))
    }
    return last
  }
}
