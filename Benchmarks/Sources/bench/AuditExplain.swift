import Foundation
import Measure

extension Bench {
  /// Explaining, linting and comparing one app, each as a whole process, and explaining hundreds at once.
  func auditExplain(rounds: Int = 40, bundles: Int = 400) -> [Row] {
    do {
      let apps = try manifests(bundles)
      let one = apps[bundles / 2]
      let commands: [(name: String, words: [String])] = [
        ("explain one app", ["explain", one]),
        ("compare one app under two policies", ["diff", "--fail-on", "never", one, "strict"]),
        ("lint one app", ["lint", one]),
      ]
      var rows = commands.map { command in
        Row(
          "audit-explain", command.name, unit: "ms", ambit: median(of: ["audit"] + command.words, rounds),
          aim: .valueAtMost(50), note: nil)
      }
      for index in rows.indices where rows[index].ambit == nil {
        rows[index].note = "this build has no such command, or it failed"
      }
      let folder = (apps[0] as NSString).deletingLastPathComponent
      let elapsed = median(of: ["audit", "explain", "--bulk", folder], max(5, rounds / 4))
      rows.append(
        Row(
          "audit-explain", "explain \(bundles) apps at once", unit: "apps/s",
          ambit: elapsed.map { Double(bundles) / $0 * 1000 }, aim: .valueAtLeast(200)))
      return rows
    } catch {
      return [Row("audit-explain", "explain one app", unit: "ms", ambit: nil, note: "\(error)")]
    }
  }

  /// Milliseconds from start to end of `ambit`; `nil` when it fails.
  private func median(of words: [String], _ rounds: Int) -> Double? {
    var samples: [Double] = []
    for round in 0..<rounds + 2 {
      // Lint has findings, and says so by its status.
      let start = nanoseconds()
      guard let status = try? Child([ambit] + words, environment: environment).wait(), [0, 1, 2].contains(status) else {
        return nil
      }
      let elapsed = Double(nanoseconds() - start) / 1_000_000
      if round >= 2 { samples.append(elapsed) }
    }
    return samples.median
  }

  /// Bundles in the shapes of real ones: a few keys, dozens of declared types, long lists of entitlements.
  private func manifests(_ count: Int) throws -> [String] {
    let folder = try folder("Applications")
    return try (0..<count).map { number in
      let bundle = "\(folder)/App\(number).app"
      try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
      try write(Self.manifest(number), "\(bundle)/Info.plist", binary: number % 3 == 0)
      if number % 4 != 0 {
        try write(Self.entitlements(number), "\(bundle)/Entitlements.plist", binary: number % 5 == 0)
      }
      let isMade = FileManager.default.createFile(
        atPath: "\(bundle)/main", contents: Data("#!/bin/sh\n".utf8), attributes: [.posixPermissions: 0o755])
      guard isMade else { throw Unavailable("cannot write into \(bundle)") }
      return bundle
    }
  }

  private func write(_ values: [String: Any], _ path: String, binary: Bool) throws {
    let data = try PropertyListSerialization.data(fromPropertyList: values, format: binary ? .binary : .xml, options: 0)
    try data.write(to: URL(fileURLWithPath: path))
  }

  private static func manifest(_ number: Int) -> [String: Any] {
    let types = (0..<number % 30).map { type -> [String: Any] in
      [
        "UTTypeIdentifier": "org.example.app\(number).type\(type)",
        "UTTypeConformsTo": ["public.data", "public.content"],
        "UTTypeTagSpecification": [
          "public.filename-extension": ["x\(type)"], "public.mime-type": "application/x-\(type)",
        ],
      ]
    }
    let documents = (0..<number % 12).map { type -> [String: Any] in
      [
        "CFBundleTypeName": "Type \(type)", "CFBundleTypeRole": "Editor", "LSHandlerRank": "Owner",
        "LSItemContentTypes": ["org.example.app\(number).type\(type)", "public.text"],
      ]
    }
    var manifest: [String: Any] = [
      "CFBundleIdentifier": "org.example.app\(number)", "CFBundleExecutable": "main", "CFBundleName": "App \(number)",
      "CFBundleVersion": "\(number).1", "LSMinimumSystemVersion": "12.0", "NSHighResolutionCapable": true,
      "UTExportedTypeDeclarations": types, "CFBundleDocumentTypes": documents,
    ]
    if number % 2 == 0 { manifest["UISupportsDocumentBrowser"] = true }
    if number % 7 == 0 {
      manifest["NSUbiquitousContainers"] = [
        "iCloud.org.example.app\(number)": [
          "NSUbiquitousContainerIsDocumentScopePublic": true, "NSUbiquitousContainerName": "App \(number)",
        ]
      ]
    }
    return manifest
  }

  private static func entitlements(_ number: Int) -> [String: Any] {
    var entitlements: [String: Any] = ["com.apple.security.app-sandbox": true]
    let optional = [
      "com.apple.security.network.client", "com.apple.security.network.server",
      "com.apple.security.files.user-selected.read-write", "com.apple.security.files.bookmarks.app-scope",
      "com.apple.security.files.user-selected.executable", "com.apple.security.print",
    ]
    for (place, key) in optional.enumerated() where number >> place & 1 == 1 { entitlements[key] = true }
    if number % 9 == 0 {
      entitlements["com.apple.security.temporary-exception.files.absolute-path.read-only"] = [
        "/Library/Fonts/", "/opt/",
      ]
    }
    return entitlements
  }
}
