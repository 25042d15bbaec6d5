internal import AppModel
internal import Policy
internal import Sandbox

/// An app under a policy: requests that the policy does not grant, and grants that the app has not asked for.
extension Lint {
  static func under(
    _ policy: LintedPolicy, manifest: PropertyListFile?, entitlements: PropertyListFile?
  ) -> [LintFinding] {
    let settings = policy.policy.settings
    let name = policy.policy.name
    var findings: [LintFinding] = []
    func because(_ field: String) -> String {
      let place = policy.place(field)
      let value = PolicyField.all.first { $0.name == field }?.text(in: settings) ?? ""
      return "\(field) = \(value) in \(place.file)\(place.line.map { ":\($0)" } ?? "")"
    }
    func asks(_ rule: LintRule, _ keys: [String], _ field: String, _ what: String) {
      guard let entitlements, let key = keys.first(where: entitlements.isOn) else { return }
      findings.append(
        LintFinding(
          rule, at: entitlements.place(key),
          "It asks for \(what), and the policy \(name) does not give it: \(because(field)).",
          "Run it under another policy, or take the entitlement out."))
    }
    let network = ["com.apple.security.network.client", "com.apple.security.network.server"]
    if settings.requiredLayers.contains(.network), settings.network == .entitlement, settings.entitledNetwork == .host,
      settings.entitlementTrust != .none, let entitlements, let key = network.first(where: entitlements.isOn)
    {
      findings.append(
        LintFinding(
          .notLaunchable, at: entitlements.place(key),
          "It asks for the network, which opens the host's, and the policy \(name) requires the layer network: "
            + "\(because("require.layers")).",
          "Run it with --allow-degraded network, under another policy, or take the entitlement out."))
    }
    switch settings.network {
    case .none: asks(.forbiddenNetwork, network, "network.access", "the network")
    case .loopback: asks(.forbiddenNetwork, network, "network.access", "the network beyond its own processes")
    case .entitlement where settings.entitlementTrust == .none:
      asks(.forbiddenNetwork, network, "entitlements.trust", "the network")
    case .entitlement where settings.entitledNetwork == .loopback:
      asks(.forbiddenNetwork, network, "network.entitled", "the network beyond its own processes")
    case .host where entitlements.map({ list in !network.contains(where: list.isOn) }) ?? (manifest != nil):
      let file = entitlements?.path ?? manifest?.path ?? ""
      findings.append(
        LintFinding(
          .unaskedNetwork, at: .init(file: file),
          "It does not ask for the network, and the policy \(name) gives it the host's: \(because("network.access")).",
          "Run it under a policy with access = \"entitlement\"."))
    case .host, .entitlement: break
    }
    if let field = settings.field(against: settings.executing, "grants.execute") {
      asks(
        .forbiddenExecution, ["com.apple.security.files.user-selected.executable"], field,
        "programs in what the user picks to be run")
    }
    if let field = settings.field(against: settings.passing, "grants.pass") {
      asks(.forbiddenPassing, ["io.ambit.pass-grants"], field, "rights to pass on")
    }
    if settings.access == .readOnly {
      asks(
        .forbiddenWriting, ["com.apple.security.files.user-selected.read-write"], "grants.access",
        "documents to write")
    }
    if !settings.bookmarks.create {
      asks(
        .forbiddenBookmarks,
        ["com.apple.security.files.bookmarks.app-scope", "com.apple.security.files.bookmarks.document-scope"],
        "bookmarks.create", "bookmarks")
    } else if !settings.bookmarks.documentScoped {
      asks(
        .forbiddenBookmarks, ["com.apple.security.files.bookmarks.document-scope"], "bookmarks.document_scoped",
        "bookmarks that belong to a document")
    }
    if !settings.picker.modes.contains(where: { $0 == .open || $0 == .import }) {
      // If no document can be picked, the types need no finding.
      return findings + unpicked(manifest, entitlements, name, because("picker.modes"))
    }
    if let manifest { findings += documents(of: manifest, under: policy, because) }
    return findings
  }

  /// An app that is for documents, under a policy that has no picker for it.
  private static func unpicked(
    _ manifest: PropertyListFile?, _ entitlements: PropertyListFile?, _ name: String, _ reason: String
  ) -> [LintFinding] {
    let remedy =
      "Run it under a policy with modes = [\"open\"]; without a picker it has what you hand it (ambit grant)."
    if let manifest, let index = manifest["CFBundleDocumentTypes"]?.array?.firstIndex(where: { $0.dictionary != nil }) {
      let types = manifest["CFBundleDocumentTypes"]?.array ?? []
      return [
        LintFinding(
          .forbiddenPicking, at: manifest.place(KeyPath().key("CFBundleDocumentTypes"), types[index].line),
          "It opens documents, and under the policy \(name) none can be picked: \(reason).", remedy)
      ]
    }
    let selects = ["read-write", "read-only"].map { "com.apple.security.files.user-selected.\($0)" }
    guard let entitlements, let key = selects.first(where: entitlements.isOn) else { return [] }
    return [
      LintFinding(
        .forbiddenPicking, at: entitlements.place(key),
        "It asks for what the user selects, and under the policy \(name) nothing can be picked: \(reason).", remedy)
    ]
  }

  private static func documents(
    of manifest: PropertyListFile, under policy: LintedPolicy, _ because: (String) -> String
  ) -> [LintFinding] {
    let settings = policy.policy.settings
    var findings: [LintFinding] = []
    let declarations = TypeDeclarations(manifest)
    let path = KeyPath().key("CFBundleDocumentTypes")
    for (index, type) in (manifest["CFBundleDocumentTypes"]?.array ?? []).enumerated() where type.dictionary != nil {
      let place = manifest.place(path.index(index), type.line)
      if settings.access == .readOnly, type["CFBundleTypeRole"]?.string == "Editor" {
        findings.append(
          LintFinding(
            .forbiddenWriting, .note, at: place,
            "It is an editor of this type, and under the policy \(policy.policy.name) it can never save: "
              + "\(because("grants.access")).",
            "Run it under a policy with access = \"read-write\" if it is to write."))
      }
      guard let extensions = extensions(of: type, declarations), !extensions.isEmpty,
        !extensions.contains(where: { settings.picker.types.allows("a.\($0)") })
      else { continue }
      findings.append(
        LintFinding(
          .forbiddenTypes, at: place,
          "It opens \(list(extensions)), and under the policy \(policy.policy.name) none of them can be picked: "
            + "\(because("picker.types")).",
          "Add one of them to picker.types, or run it under another policy."))
    }
    return findings
  }

  /// Lower-case extensions of a document type; `nil` where some of its types are not known, or are any.
  private static func extensions(of type: PropertyListNode, _ declarations: TypeDeclarations) -> [String]? {
    var extensions = (type["CFBundleTypeExtensions"]?.strings ?? []).map { $0.lowercased() }
    guard !extensions.contains("*") else { return nil }
    for name in type["LSItemContentTypes"]?.strings ?? [] {
      let declared = declarations.all.filter { $0.identifier == name }.flatMap(\.extensions)
      let known = declared.isEmpty ? PickableTypes.extensions(of: name)?.sorted() : declared.map { $0.lowercased() }
      guard let known, !known.isEmpty else { return nil }
      extensions += known
    }
    return extensions
  }

  private static func list(_ extensions: [String]) -> String {
    let shown = extensions.prefix(4).map { ".\($0)" }.joined(separator: ", ")
    return extensions.count > 4 ? shown + " and others" : shown
  }
}

extension PolicySettings {
  /// The field that keeps a permission from an app that has the entitlement for it; `nil`: none does.
  fileprivate func field(against permission: AppPermission, _ field: String) -> String? {
    switch permission {
    case .none: field
    case .entitlement: entitlementTrust == .none ? "entitlements.trust" : nil
    case .any: nil
    }
  }
}
