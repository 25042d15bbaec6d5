package import Foundation
internal import Paths

/// An app: a folder `Name.app` with an `Info.plist`, an optional `Entitlements.plist`, and an executable; on macOS these lie in a
/// folder `Contents` in it, and the executable in `MacOS` there.
///
/// Reading one checks everything that can be known without running it; see ``AppBundleError`` for the possible faults.
package struct AppBundle: Equatable, Sendable {
  /// The folder, absolute and with symbolic links resolved.
  package let url: URL
  package let manifest: AppManifest
  package let entitlements: Entitlements
  /// The keys of the two that ask for something, and their places.
  package let keys: DeclaredKeys

  /// The folder's own name, `Name.app`.
  package var name: String { url.lastPathComponent }

  /// The program to run, a regular file: its path from the folder on.
  package let executable: String
  package var executableURL: URL { url.appendingPathComponent(executable, isDirectory: false) }

  /// Reads and checks the bundle.
  ///
  /// - Parameter location: the folder; a relative one is taken from the current directory.
  package init(contentsOf location: URL) throws(AppBundleError) {
    let folder = URL(fileURLWithPath: location.absoluteURL.resolvingSymlinksInPath().path, isDirectory: true)
    guard let kind = try FileKind(path: folder.path) else { throw .bundleMissing(path: folder.path) }
    guard kind == .folder else { throw .notABundle(path: folder.path, found: kind.description) }
    guard Self.isBundleName(folder.lastPathComponent) else {
      throw .notABundle(path: folder.path, found: "a folder called \(folder.lastPathComponent.quoted)")
    }

    let contents = try DeclaredFiles.contents(of: folder.path)
    guard let information = try PropertyListFile(path: "\(contents)/Info.plist") else {
      throw .manifestMissing(path: "\(contents)/Info.plist")
    }
    url = folder
    manifest = try AppManifest(information, folderName: String(folder.lastPathComponent.dropLast(".app".count)))
    let claims = try DeclaredFiles.entitlements(in: contents).first
    entitlements = try claims.map { list throws(AppBundleError) in try Entitlements(list) } ?? .none
    keys = DeclaredKeys(manifest: information, entitlements: claims)
    executable = contents == folder.path ? manifest.executable : "Contents/MacOS/\(manifest.executable)"
    try Self.checkExecutable(folder.path.path(of: executable))
  }

  /// The bundle identifier that a plain program (`ambit run /usr/bin/foo`) runs under (``BundleIdentifier/forProgram(_:)``).
  package static func identifier(forProgram path: String) -> String { BundleIdentifier.forProgram(path) }

  /// Whether a path looks like a bundle's rather than a program's: its last component ends in `.app`.
  package static func isBundlePath(_ path: String) -> Bool {
    path.pathNames.last.map(isBundleName) ?? false
  }

  private static func isBundleName(_ name: String) -> Bool {
    name.hasSuffix(".app") && name != ".app" && !name.unicodeScalars.contains(where: \.changesTerminal)
  }

  /// A link is refused too: only the bundle is shown inside the sandbox, so a link out of it would lead nowhere.
  private static func checkExecutable(_ path: String) throws(AppBundleError) {
    guard let kind = try FileKind(path: path) else {
      throw .executableMissing(path: path, key: "CFBundleExecutable")
    }
    guard kind == .regular else { throw .executableNotAFile(path: path, found: kind.description) }
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
    guard mode & 0o111 != 0 else { throw .notExecutable(path: path, mode: mode) }
  }
}
