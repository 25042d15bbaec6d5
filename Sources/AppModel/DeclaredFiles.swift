internal import Foundation

/// What an app says of itself: the property lists at a place, whether or not it could be launched.
package struct DeclaredFiles: Equatable, Sendable {
  package let path: String
  /// The manifest first, where there is one.
  package let lists: [PropertyListFile]

  /// - Parameter path: a bundle of Ambit's, iOS's or macOS's shape, or one property list.
  package init(at path: String) throws(AppBundleError) {
    self.path = path
    guard let kind = try FileKind(path: Self.target(path)) else { throw .bundleMissing(path: path) }
    guard kind == .folder else {
      lists = [try PropertyListFile(path: Self.target(path))].compactMap(\.self)
      return
    }
    // On macOS everything of a bundle is in one folder within it.
    let contents = "\(path)/Contents"
    let folder = try FileKind(path: contents) == .folder ? contents : path
    guard let manifest = try PropertyListFile(path: "\(folder)/Info.plist") else {
      throw .manifestMissing(path: "\(folder)/Info.plist")
    }
    var lists = [manifest]
    // The second is what Xcode left in bundles for devices.
    for name in ["Entitlements.plist", "archived-expanded-entitlements.xcent"] {
      if let list = try PropertyListFile(path: "\(folder)/\(name)") { lists.append(list) }
    }
    self.lists = lists
  }

  /// - Parameter bytes: one property list; `name` is what errors call it.
  package init(bytes: [UInt8], name: String) throws(AppBundleError) {
    path = name
    lists = [try PropertyListFile(bytes: bytes, path: name)]
  }

  package var listings: [ManifestListing] { lists.map { ManifestListing($0) } }

  /// What a link leads to: here it is the user who names the file, and not an app.
  private static func target(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }
}
