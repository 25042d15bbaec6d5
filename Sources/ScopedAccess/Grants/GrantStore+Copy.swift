internal import Folders
internal import Foundation
internal import GRDB
internal import Kernel

extension GrantStore {
  /// Reads a copy of a store that a broker may have open, with the records that stand in its journal alone.
  ///
  /// - Parameter path: the store's. Where there is none, nothing was granted.
  package static func copy<Value: RangeReplaceableCollection>(
    of path: String, _ body: (GrantStore) throws -> Value
  ) throws -> Value {
    let files = FileManager.default
    guard files.fileExists(atPath: path) else { return Value() }
    let folder = files.temporaryDirectory.appendingPathComponent("ambit-\(UUID().uuidString)").path
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? files.removeItem(atPath: folder) }
    let copy = "\(folder)/grants.sqlite"
    // The journal first: records that a broker moves to the database meanwhile are in that, and do
    // not count here any more.
    let journal = GrantFile.journal(of: path)
    if files.fileExists(atPath: journal) { try files.copyItem(atPath: journal, toPath: GrantFile.journal(of: copy)) }
    do {
      try GrantFile.connect(path, writing: false).backup(to: DatabaseQueue(path: copy))
    } catch {
      throw GrantFile.explain(error, path: path)
    }
    return try body(GrantStore(path: copy))
  }
}
