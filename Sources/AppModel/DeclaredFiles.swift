internal import Foundation

/// An app's statements about itself: the property lists at a place, whether or not it could be launched.
package struct DeclaredFiles: Equatable, Sendable {
  package let path: String
  /// The manifest first, where there is one.
  package let lists: [PropertyListFile]

  /// - Parameter path: a bundle of Ambit's, iOS's or macOS's shape, or one property list.
  package init(at path: String) throws(AppBundleError) {
    self.path = path
    guard let kind = try FileKind(path: Self.target(path)) else { throw .bundleMissing(path: path) }
    guard kind == .folder else {
      lists = [try PropertyListFile(path: Self.target(path), name: path)].compactMap(\.self)
      return
    }
    let folder = try Self.contents(of: path)
    guard let manifest = try PropertyListFile(path: "\(folder)/Info.plist") else {
      throw .manifestMissing(path: "\(folder)/Info.plist")
    }
    lists = [manifest] + (try Self.entitlements(in: folder))
  }

  /// Where the lists of a bundle lie: on macOS everything of one is in a folder within it.
  static func contents(of bundle: String) throws(AppBundleError) -> String {
    let contents = "\(bundle)/Contents"
    return try FileKind(path: contents) == .folder ? contents : bundle
  }

  /// The first counts.
  static func entitlements(in folder: String) throws(AppBundleError) -> [PropertyListFile] {
    var lists: [PropertyListFile] = []
    // The second is the one that Xcode left in bundles for devices.
    for name in ["Entitlements.plist", "archived-expanded-entitlements.xcent"] {
      if let list = try PropertyListFile(path: "\(folder)/\(name)") { lists.append(list) }
    }
    return lists
  }

  /// - Parameter bytes: one property list; `name` is its name in errors.
  package init(bytes: [UInt8], name: String) throws(AppBundleError) {
    path = name
    lists = [try PropertyListFile(bytes: bytes, path: name)]
  }

  package var listings: [ManifestListing] { lists.map { ManifestListing($0) } }

  /// The target of a link: here the user names the file, and not an app.
  private static func target(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }
}
