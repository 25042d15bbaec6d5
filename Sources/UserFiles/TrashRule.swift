internal import Paths

/// Whether a path lies in a trash, as the XDG trash specification has them (`BMK-11`): `$XDG_DATA_HOME/Trash`, and at
/// the top of each volume `.Trash-UID` and `.Trash/UID`. Deleted files lie in its `files`.
package struct TrashRule: Equatable, Sendable {
  private let homes: [String]
  private let user: UInt32

  /// - Parameters:
  ///   - dataHomes: the value of `XDG_DATA_HOME`, and the default where it is not set. Absolute.
  package init(dataHomes: [String], user: UInt32) {
    homes = dataHomes
    self.user = user
  }

  /// - Parameter isMountPoint: whether something is mounted at a folder; asked only for paths that look like a trash.
  package func holds(_ path: String, isMountPoint: (String) -> Bool) -> Bool {
    if homes.contains(where: { path.lies(below: "\($0)/Trash/files") }) { return true }
    let components = path.pathNames
    for (index, name) in components.enumerated() {
      let rest = Array(components[(index + 1)...])
      let isTrash =
        name == ".Trash-\(user)" && rest.count > 1 && rest[0] == "files"
        || name == ".Trash" && rest.count > 2 && rest[0] == "\(user)" && rest[1] == "files"
      if isTrash, isMountPoint("/" + components[..<index].joined(separator: "/")) { return true }
    }
    return false
  }
}
