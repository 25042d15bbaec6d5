internal import Paths

/// The rules for host folders that a policy shows to apps.
///
/// They look at the path alone. The code that mounts the folder must refuse symbolic links on the way. Otherwise these rules say
/// nothing about the folder that is shown.
package enum HostFolder {
  /// The kernel's and the sandbox's own trees: nothing in them can be shown.
  private static let closedTrees = ["/proc", "/sys", "/dev", "/run", "/var/run", "/documents"]

  /// Folders of which no whole is shown, while a folder inside may be.
  private static let closedFolders = ["/home", "/root", "/tmp", "/var/tmp", "/etc"]

  /// Why a folder cannot be shown, as the end of a sentence; `nil` when it can.
  package static func check(_ path: String) -> String? {
    if path.isEmpty { return "the path is empty" }
    guard path.isAbsolutePath else { return "the path must be absolute" }
    if path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "a path cannot have control characters in it"
    }
    if path == "/" { return "the whole file system is too much; name a folder in it" }
    let parts = Array(path.pathParts.dropFirst())
    if parts.contains("..") || parts.contains(".") { return "the path cannot have '.' or '..' in it" }
    if parts.contains("") { return "the path cannot have '//' in it or end in '/'" }

    for tree in closedTrees where path.lies(within: tree) {
      return "\(tree) belongs to the kernel or to the sandbox"
    }
    for folder in closedFolders where path == folder {
      return "\(folder) as a whole is too much; name a folder in it"
    }
    if parts.count == 2 && parts[0] == "home" {
      return "a home folder as a whole is too much; let the user pick what the app may see, or name a folder in it"
    }
    for inner in closedTrees + closedFolders where inner.lies(below: path) {
      return "it has \(inner) in it; name a folder further in"
    }
    // `~/.local/share/ambit`, `~/.local/state/ambit`, `~/.config/ambit`: keys, grants and other apps' containers.
    if parts.dropFirst().contains("ambit"), parts.contains(where: { $0.hasPrefix(".") }) {
      return "that is where Ambit keeps its own state and the containers of apps"
    }
    if let last = parts.last,
      [".local", ".config"].contains(last) || parts.suffix(2).elementsEqual([".local", "share"])
        || parts.suffix(2).elementsEqual([".local", "state"])
    {
      return "it has Ambit's own state and the containers of apps in it; name a folder further in"
    }
    return nil
  }
}
