internal import AppModel
internal import Foundation
internal import Kernel
internal import Paths
internal import Thumbnails

/// The programs of this machine that draw thumbnails: extensions of apps, then the system's.
enum KnownThumbnailers {
  static func all(_ apps: [KnownAppTypes], environment: [String: String]) -> [Thumbnailer] {
    apps.flatMap { extensions(of: $0) } + system(environment)
  }

  // MARK: Apps

  /// The thumbnail extensions in an app's `PlugIns`, as on Apple's systems: bundles whose manifests name the extension point.
  private static func extensions(of app: KnownAppTypes) -> [Thumbnailer] {
    ["PlugIns", "Contents/PlugIns"].flatMap { folder -> [Thumbnailer] in
      let path = app.path.path(of: folder)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.filter { $0.hasSuffix(".appex") }.sorted().compactMap {
        thumbnailer(path.path(of: $0), of: app.identifier)
      }
    }
  }

  private static func thumbnailer(_ bundle: String, of app: String) -> Thumbnailer? {
    guard let manifest = try? DeclaredFiles(at: bundle).lists.first,
      let point = manifest["NSExtension"]?.dictionary, let executable = manifest["CFBundleExecutable"]?.string,
      !executable.hasSlash, executable != ".", executable != ".."
    else { return nil }
    func value(_ key: String, _ entries: [PropertyListEntry]) -> PropertyListNode? {
      entries.first { $0.key == key }?.node
    }
    guard value("NSExtensionPointIdentifier", point)?.string == "com.apple.quicklook.thumbnail" else { return nil }
    let attributes = value("NSExtensionAttributes", point)?.dictionary ?? []
    let types = value("QLSupportedContentTypes", attributes)?.array?.compactMap(\.string) ?? []
    let smallest = value("QLThumbnailMinimumDimension", attributes)?.number ?? 0
    return Thumbnailer(
      kind: .app(app), program: bundle.path(of: executable),
      arguments: ["--thumbnail", "--document", "%i", "--size", "%s", "--output", "%o"], types: types,
      smallest: smallest)
  }

  // MARK: The system

  /// The first file of a name counts, as with all of a desktop's data.
  private static func system(_ environment: [String: String]) -> [Thumbnailer] {
    let home = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? "/").path(of: ".local/share")
    let others = (environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    var seen: Set<String> = []
    return ([home] + others).filter(\.isAbsolutePath).flatMap { folder -> [Thumbnailer] in
      let path = folder.path(of: "thumbnailers")
      let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
      return names.filter { $0.hasSuffix(".thumbnailer") && seen.insert($0).inserted }.compactMap { name in
        guard let bytes = try? Descriptor.content(ofFile: path.path(of: name), limit: 1 << 20),
          let file = ThumbnailerFile(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        if let tried = file.tryExec, program(tried, environment) == nil { return nil }
        guard let program = program(file.words[0], environment) else { return nil }
        return Thumbnailer(
          kind: .system(name), program: program, arguments: Array(file.words.dropFirst()), types: file.mimeTypes)
      }
    }
  }

  private static func program(_ name: String, _ environment: [String: String]) -> String? {
    let candidates =
      name.hasSlash
      ? [name] : (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { String($0).path(of: name) }
    return candidates.first { $0.isAbsolutePath && FileManager.default.isExecutableFile(atPath: $0) }
  }
}
