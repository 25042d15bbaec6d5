internal import Paths

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The kind of file behind a grant.
package enum DocumentKind: String, Codable, Sendable {
  case file, folder
  /// A folder that is one document (``PackageTypes``).
  case package

  /// Whether the kernel has a folder there.
  package var isFolder: Bool { self != .file }
}

/// The files that may be granted at all (`SBX-15`, `G9`): decided on the kernel's word about an open descriptor, never
/// on a name that was given.
package struct GrantRules: Equatable, Sendable {
  /// The user's home folder.
  package let home: String
  /// Ambit's own folders: containers, state, sockets, settings.
  package let own: [String]
  /// Files and folders with content that is a key to more than itself, by their names in the home folder and by the places
  /// that links there lead to.
  private let sensitive: [String]

  /// - Parameters: absolute, with links resolved.
  ///   - sensitive: places that links under the names of ``sensitiveNames`` lead to.
  package init(home: String, own: [String], sensitive: [String] = []) {
    self.home = home
    self.own = own
    // A link to the home folder itself, or to a folder around it, would make every document a sensitive one.
    let elsewhere = sensitive.filter { !home.lies(within: $0) }
    self.sensitive = Self.sensitiveNames.map(home.path(of:)) + elsewhere
  }

  /// Whether a file or folder is one of Ambit's own, or holds them.
  package func holdsOwn(_ path: String) -> Bool {
    own.contains { path.lies(within: $0) || $0.lies(within: path) }
  }

  /// Folders of the system that no document lies in.
  private static let system = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr",
    "/var/lib", "/var/run",
  ]

  /// Where desktops mount devices that the user plugs in; below a folder of the system, and the user's all the same.
  private static let removableMedia = "/run/media"

  /// Below the home folder: keys, passwords, sessions and settings of programs.
  package static let sensitiveNames = [
    ".ssh", ".gnupg", ".config", ".local/share/keyrings", ".local/share/kwalletd", ".mozilla", ".aws", ".azure",
    ".kube",
    ".docker", ".password-store", ".netrc", ".pgpass", ".git-credentials",
  ]

  /// Why a document may not be granted, or `nil` if it may. A single file in a sensitive place may not either.
  ///
  /// Facts that a path does not tell are unknown here: a hard link to a key, a bind mount of the home folder, and a link to a
  /// single file among the keys.
  ///
  /// - Parameters:
  ///   - path: where the kernel says that the open document is; `nil` if it has no path.
  ///   - shared: folders of Ambit's own with content that may be granted all the same: the Documents of apps
  ///     that show them (`SBX-6`).
  package func refusal(of kind: DocumentKind, at path: String?, shared: [String] = []) -> String? {
    #if AMBIT_MUTANTS
      if Mutant.sensitiveAllowed.isActive { return nil }
    #endif
    guard let path else { return "it has no place in the file system" }
    if path == "/" { return "the whole file system is too much to hand to an app; choose a folder in it" }
    let isShared = shared.contains { path.lies(below: $0) }
    for folder in own where !(isShared && path.lies(within: folder)) {
      if path.lies(within: folder) { return "it belongs to Ambit itself" }
      if kind.isFolder, folder.lies(within: path) { return "it holds Ambit's own files; choose a folder in it" }
    }
    for folder in Self.system where !path.lies(within: Self.removableMedia) {
      if path.lies(within: folder) { return "it belongs to the system" }
      if kind.isFolder, folder.lies(within: path) { return "it holds folders of the system; choose a folder in it" }
    }
    if kind.isFolder {
      if home.lies(within: path) {
        return path == home
          ? "the whole home folder is too much to hand to an app; choose a folder in it"
          : "it holds the whole home folder; choose a folder in that"
      }
    }
    for place in sensitive {
      if path.lies(within: place) {
        return kind.isFolder
          ? "it holds keys and settings of other programs" : "it is one of the keys and settings of other programs"
      }
      if kind.isFolder, place.lies(within: path) { return "it holds keys and settings of other programs" }
    }
    return nil
  }
}
