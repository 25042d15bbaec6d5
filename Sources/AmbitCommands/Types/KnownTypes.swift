internal import AppModel
internal import ArgumentParser
internal import ContentTypes
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// The apps whose declarations count: those that the user has run, and those in folders that they name.
struct AppFolders: ParsableArguments {
  @Option(
    name: .customLong("apps"),
    help: ArgumentHelp(
      "Also the apps in this folder, or this bundle; repeatable. The apps that you have run count always.",
      valueName: "dir"))
  var folders: [String] = []

  func read() throws -> [KnownAppTypes] {
    let reply = try? UserSide.call(
      GrantsInterface.apps, GrantsInterface.ListCall(), answer: GrantsInterface.AppsReply.self)
    var paths = (reply?.apps ?? []).compactMap(\.path)
    for folder in folders {
      let path = try HostPath.resolved(folder)
      guard !AppBundle.isBundlePath(path) else {
        paths.append(path)
        continue
      }
      guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
        throw Failure("\(printable(folder)) is no folder of apps.", status: 1)
      }
      paths += names.filter { $0.hasSuffix(".app") }.sorted().map { path.path(of: $0) }
    }
    var seen: Set<String> = []
    return paths.filter { AppBundle.isBundlePath($0) && seen.insert($0).inserted }.compactMap { KnownAppTypes($0) }
  }
}

struct KnownAppTypes {
  let path: String
  let identifier: String
  let name: String
  /// It gets originals and no copies (`OIP-1`).
  let opensInPlace: Bool
  let declarations: DocumentDeclarations

  /// - Returns: `nil` for what cannot be read, or has no identifier.
  init?(_ path: String) {
    guard let manifest = try? DeclaredFiles(at: path).lists.first,
      let identifier = manifest["CFBundleIdentifier"]?.string
    else { return nil }
    (self.path, self.identifier) = (path, identifier)
    name = manifest["CFBundleName"]?.string ?? String(path.lastPathName.dropLast(4))
    opensInPlace = ["LSSupportsOpeningDocumentsInPlace", "UISupportsDocumentBrowser"].contains {
      manifest[$0]?.looseBoolean == true
    }
    declarations = DocumentDeclarations(manifest)
  }
}

extension TypeDecider {
  /// This user's types, with the declarations of apps.
  static func ofUser(_ apps: [KnownAppTypes]) -> TypeDecider {
    TypeDecider(environment: ThisProcess.environment).adding(apps.flatMap(\.declarations.types))
  }

  /// The app that exports a type.
  func exporter(of identifier: String) -> String? {
    guard case .exported(let app)? = tree[identifier]?.origin else { return nil }
    return app
  }

  /// What people call a type.
  func words(_ identifier: String) -> String {
    guard let type = tree[identifier] else { return "" }
    if let description = type.description { return description }
    if let mime = type.mimeTypes.first, let comment = comment(ofMimeType: mime) { return comment }
    return type.origin == .dynamic ? "a type of its own, for its extension" : ""
  }
}
