internal import Foundation
internal import Paths

/// The app's own container, as the app sees it.
enum Container {
  static var folder: URL {
    // Foundation asks the user database first; in a sandbox only the environment counts.
    let home = unsafe getenv("HOME").map { unsafe String(cString: $0) } ?? NSHomeDirectory()
    return URL(fileURLWithPath: home, isDirectory: true)
  }

  /// A file URL's path from the container on; nil for a place elsewhere, and for the container itself.
  static func path(of url: URL) -> String? {
    let home = folder.standardizedFileURL.path
    let path = url.standardizedFileURL.path
    guard let inside = path.path(within: home), !inside.isEmpty else { return nil }
    return inside
  }
}
