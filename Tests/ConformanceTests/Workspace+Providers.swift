import Foundation
import TestSupport
import Testing

/// Apps with file providers.
extension Workspace {
  /// An app with a provider that behaves in this way.
  ///
  /// - Parameter acrossDevices: its identifiers are the same on all devices.
  func providerBundle(_ identifier: String, _ behaviour: String, acrossDevices: Bool = false) throws -> String {
    let bundle = try bundle("Cloud", identifier: identifier, script: "#!/bin/sh\n")
    let folder = "\(bundle)/PlugIns/Provider.appex"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let across = acrossDevices ? "<key>NSFileProviderUsesUniqueItemIdentifiersAcrossDevices</key><true/>" : ""
    try """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>CFBundleExecutable</key><string>provide-\(behaviour)</string>
      \(across)
      <key>NSExtension</key><dict>
        <key>NSExtensionPointIdentifier</key><string>com.apple.fileprovider-nonui</string>
        <key>NSExtensionAttributes</key><dict><key>UIDocumentPickerModes</key><array>
          <string>UIDocumentPickerModeOpen</string><string>UIDocumentPickerModeImport</string>
        </array></dict>
      </dict>
    </dict></plist>
    """.write(toFile: "\(folder)/Info.plist", atomically: false, encoding: .utf8)
    // Its name names its behaviour.
    let product = behaviour == "snippets" ? "Snippets" : "test-provider"
    let (program, own) = (try Products.path(product), "\(folder)/provide-\(behaviour)")
    if unsafe access(own, F_OK) != 0, unsafe link(program, own) != 0 {
      try ChildProcess.whileNothingStarts { try FileManager.default.copyItem(atPath: program, toPath: own) }
    }
    return bundle
  }

  /// - Returns: the folder that shows the documents.
  func enabledProvider(
    _ identifier: String, _ behaviour: String, acrossDevices: Bool = false
  ) throws -> String {
    let app = try providerBundle(identifier, behaviour, acrossDevices: acrossDevices)
    let enabled = try ambit("provider", "enable", app, patience: .seconds(60))
    #expect(enabled.exit == .status(0), "\(enabled.errors)")
    return "\(home)/CloudStorage/\(identifier)"
  }
}
