import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// The app bundles around the agent: one for each app that a scenario names.
extension Play {
  /// The identifier of an app's bundle.
  static func identifier(of app: String) -> String { "test.\(app.replacing("_", with: "-"))" }

  /// Makes `NAME.app` around the agent, or gives it other properties.
  ///
  /// - Returns: its path.
  func bundle(for launch: Launch) throws -> String {
    let name = launch.app ?? launch.name
    let folder = "\(stage.folder)/Applications/\(name).app"
    if launch.app != nil, FileManager.default.fileExists(atPath: folder) { return folder }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var manifest: [Property] = [
      Property(key: "CFBundleIdentifier", value: .string(Self.identifier(of: name))),
      Property(key: "CFBundleExecutable", value: .string("main")),
      Property(key: "CFBundleName", value: .string(name)), Property(key: "CFBundleVersion", value: .string("1")),
    ]
    for property in launch.manifest {
      manifest.removeAll { $0.key == property.key }
      manifest.append(property)
    }
    try write(Self.propertyList(manifest), "\(folder)/Info.plist")
    if !launch.entitlements.isEmpty {
      try write(Self.propertyList(launch.entitlements), "\(folder)/Entitlements.plist")
    }
    // The executable's digest is the app's identity. A small one is computed at once, whatever the agent's size.
    let main = "\(folder)/main"
    if !FileManager.default.fileExists(atPath: main) {
      try write("#!/bin/sh\nexec \"${0%/*}/agent\"\n", main)
      _ = unsafe chmod(main, 0o755)
      if unsafe Glibc.link(options.agent, "\(folder)/agent") != 0 {
        try FileManager.default.copyItem(atPath: options.agent, toPath: "\(folder)/agent")
      }
    }
    return folder
  }

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  static func propertyList(_ properties: [Property]) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\n\(entries(properties))</dict></plist>\n"
  }

  private static func entries(_ properties: [Property]) -> String {
    properties.map { "  <key>\(escaped($0.key))</key>\(element($0.value))\n" }.joined()
  }

  private static func element(_ value: Property.Value) -> String {
    switch value {
    case .bool(let flag): flag ? "<true/>" : "<false/>"
    case .integer(let number): "<integer>\(number)</integer>"
    case .string(let text): "<string>\(escaped(text))</string>"
    case .strings(let texts): "<array>\(texts.map { "<string>\(escaped($0))</string>" }.joined())</array>"
    case .dictionaries(let members): "<array>\(members.map { "<dict>\(entries($0))</dict>" }.joined())</array>"
    }
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  }
}
