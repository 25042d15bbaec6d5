internal import AppModel

extension Lint {
  private static let security = "com.apple.security."
  private static let readOnly = security + "files.user-selected.read-only"
  private static let readWrite = security + "files.user-selected.read-write"

  /// Entitlements that contradict each other, and those that open much.
  static func sandbox(_ list: PropertyListFile) -> [LintFinding] {
    selection(list) + inheritance(list) + risky(list)
  }

  private static func selection(_ list: PropertyListFile) -> [LintFinding] {
    var findings: [LintFinding] = []
    let selects = list.isOn(readOnly) || list.isOn(readWrite)
    // An app that does not ask for that sandbox is held to none of it.
    let severity: LintFinding.Severity = list.isOn(security + "app-sandbox") ? .warning : .note
    for entry in list.entries where entry.node.boolean == true {
      guard let (stem, what) = places.first(where: { entry.key == "\(security)\($0.key).read-only" }),
        list.isOn("\(security)\(stem).read-write")
      else { continue }
      findings.append(
        LintFinding(
          .readOnlyAndReadWrite, at: list.place(entry.key),
          "It asks for \(what) both to read and to write; writing has reading in it.",
          "Take the one out that is not meant."))
    }
    for key in ["files.bookmarks.app-scope", "files.bookmarks.document-scope"].map({ security + $0 })
    where list.isOn(key) && !selects {
      findings.append(
        LintFinding(
          .bookmarksWithoutSelection, severity, at: list.place(key),
          "It asks to keep bookmarks of what the user selects, and not for anything to be selected.",
          "Add \(readOnly) or \(readWrite), or take it out."))
    }
    let execute = security + "files.user-selected.executable"
    if list.isOn(execute), !selects {
      findings.append(
        LintFinding(
          .executableWithoutSelection, severity, at: list.place(execute),
          "It asks to run or write programs in what the user selects, and not for anything to be selected.",
          "Add \(readOnly) or \(readWrite), or take it out."))
    }
    return findings
  }

  /// Places with one entitlement for reading, and another one for writing as well.
  private static let places = [
    "files.user-selected": "what the user selects", "files.downloads": "the Downloads folder",
    "assets.pictures": "the Pictures folder", "assets.music": "the Music folder", "assets.movies": "the Movies folder",
  ]

  private static func inheritance(_ list: PropertyListFile) -> [LintFinding] {
    let (sandbox, inherit) = (security + "app-sandbox", security + "inherit")
    if list.isOn(inherit) {
      let others = list.entries.map(\.key).filter { $0.hasPrefix(security) && ![sandbox, inherit].contains($0) }
      guard !others.isEmpty else { return [] }
      let keys = others.map { "\(KeyPath().key($0))" }.joined(separator: ", ")
      return [
        LintFinding(
          .inheritWithOthers, at: list.place(inherit),
          "A program that inherits its sandbox has no entitlements of its own besides: macOS ends it at its start. "
            + "This one has \(keys).",
          "Take \(inherit) out, or \(others.count == 1 ? "the other" : "the \(others.count) others").")
      ]
    }
    let asks = list.entries.first { entry in
      ["files.", "network.", "device.", "personal-information.", "assets.", "temporary-exception.", "print"]
        .contains { entry.key.hasPrefix(security + $0) } && entry.node.boolean != false
    }
    guard let asks, !list.isOn(sandbox) else { return [] }
    return [
      LintFinding(
        .sandboxNotRequested, at: list.place(asks.key),
        "It asks for things that a sandbox would open, and not for a sandbox: on macOS it runs without one.",
        "Add \(sandbox). Ambit runs every app in one, and holds it to its other entitlements only with that key.")
    ]
  }

  private static let loose: [String: (LintFinding.Severity, String)] = [
    "com.apple.security.cs.disable-library-validation": (
      .warning, "it loads libraries that others have signed, or nobody"
    ),
    "com.apple.security.cs.allow-dyld-environment-variables": (
      .warning, "whoever sets its environment has it load other code"
    ),
    "com.apple.security.cs.disable-executable-page-protection": (.warning, "its own code can be changed while it runs"),
    "com.apple.security.cs.allow-unsigned-executable-memory": (.note, "it runs code that it has made in memory"),
    "com.apple.security.cs.allow-jit": (.note, "it runs code that it has made in memory"),
    "com.apple.security.cs.debugger": (.warning, "it reads and changes what other programs have in memory"),
    "com.apple.security.get-task-allow": (.warning, "others may read and change what it has in memory"),
    "get-task-allow": (.warning, "others may read and change what it has in memory; released apps do not have it"),
    "com.apple.security.files.all": (.error, "every file of the user's is open to it"),
    "com.apple.security.files.user-selected.executable": (
      .note, "what it writes can be run at once, without the question that downloads get"
    ),
  ]

  private static func risky(_ list: PropertyListFile) -> [LintFinding] {
    list.entries.compactMap { entry in
      if let (severity, why) = loose[entry.key], entry.node.boolean != false {
        return LintFinding(
          .riskyEntitlement, severity, at: list.place(KeyPath().key(entry.key), entry.line),
          "On \(entry.key == "get-task-allow" ? "iOS" : "macOS") \(why).",
          "Take it out unless the app cannot do without.")
      }
      guard entry.key.hasPrefix("com.apple.private.") else { return nil }
      return LintFinding(
        .riskyEntitlement, .warning, at: list.place(KeyPath().key(entry.key), entry.line),
        "Apple gives \(entry.key) to its own programs alone.",
        "Take it out; no other program is started with it.")
    }
  }

  // MARK: - Manifest and entitlements together

  /// The contradictions between the manifest's promises and the entitlements.
  static func together(_ manifest: PropertyListFile, _ entitlements: PropertyListFile) -> [LintFinding] {
    guard entitlements.isOn(security + "app-sandbox"), !entitlements.isOn(security + "inherit") else { return [] }
    let types = (manifest["CFBundleDocumentTypes"]?.array ?? []).enumerated()
    guard let first = types.first(where: { $0.element.dictionary != nil }) else { return [] }
    let path = KeyPath().key("CFBundleDocumentTypes")
    if !entitlements.isOn(readOnly), !entitlements.isOn(readWrite) {
      return [
        LintFinding(
          .documentsWithoutSelection, at: manifest.place(path, first.element.line),
          "It opens documents, and its entitlements do not let the user select any: its open panel stays closed.",
          "Add \(readOnly) or \(readWrite) to its entitlements.")
      ]
    }
    guard !entitlements.isOn(readWrite) else { return [] }
    return types.compactMap { index, type in
      guard type["CFBundleTypeRole"]?.string == "Editor" else { return nil }
      return LintFinding(
        .editorWithoutWriting, at: manifest.place(path.index(index).key("CFBundleTypeRole"), type.line),
        "It is an editor of this type, and its entitlements let it read only what the user selects: it can never save.",
        "Ask for \(readWrite), or say Viewer.")
    }
  }
}
