internal import AppModel
internal import Paths

extension Lint {
  private static let exception = "com.apple.security.temporary-exception."

  /// Each exception to Apple's sandbox, with its effect.
  static func exceptions(_ list: PropertyListFile) -> [LintFinding] {
    list.entries.filter { $0.key.hasPrefix(exception) && $0.node.boolean != false }.flatMap { entry in
      let kind = String(entry.key.dropFirst(exception.count))
      if kind.hasPrefix("files.") { return paths(list, entry, kind) }
      let (severity, why) = risk(of: kind)
      return values(list, entry).map { place, value in
        let worse = kind == "apple-events" && value.map(commanding.contains) == true
        return LintFinding(
          .riskyException, worse ? .error : severity, at: place,
          "\(value.map { "\($0.quoted): " } ?? "")\(why)\(worse ? ", and this one does whatever it is told" : "").",
          "Do without; Ambit gives no such exception, so nothing is lost here.")
      }
    }
  }

  /// Apps that act for others on all that the user has.
  private static let commanding: Set<String> = [
    "com.apple.finder", "com.apple.systemevents", "com.apple.Terminal", "com.apple.terminal", "com.apple.automator",
  ]

  private static func risk(of kind: String) -> (LintFinding.Severity, String) {
    switch kind {
    case "sbpl":
      (.error, "rules in the sandbox's own language can open anything, and no reader of the entitlements sees what")
    case "apple-events": (.warning, "it has another app act for it, outside of the sandbox and with that app's rights")
    case "mach-lookup.global-name", "mach-lookup.local-name":
      (.warning, "it talks to a service outside of the sandbox, which acts with rights of its own")
    case "mach-register.global-name": (.warning, "it takes a name that others look for a service under")
    case "mach-issue-extension": (.warning, "it hands out extensions of sandboxes to others")
    case "shared-preference.read-write": (.warning, "it changes how another app behaves")
    case "shared-preference.read-only": (.note, "it reads what another app keeps")
    case "iokit-user-client-class": (.warning, "it talks to a driver in the kernel, where an error is everybody's")
    case "audio-unit-host": (.warning, "it runs others' code in its own sandbox, with all that it was granted")
    default: (.warning, "it is let out of a part of the sandbox")
    }
  }

  /// Each text of a list with its place, or the value itself. A list item that is no text gets a finding.
  private static func values(
    _ list: PropertyListFile, _ entry: PropertyListEntry
  ) -> [(place: LintFinding.Place, value: String?)] {
    let path = KeyPath().key(entry.key)
    guard let members = entry.node.array, !members.isEmpty else {
      return [(list.place(path, entry.line), entry.node.string)]
    }
    return members.enumerated().filter { $0.element.string != nil }.map {
      (list.place(path.index($0.offset), $0.element.line), $0.element.string)
    }
  }

  private static func paths(_ list: PropertyListFile, _ entry: PropertyListEntry, _ kind: String) -> [LintFinding] {
    let isInHome = kind.hasPrefix("files.home-relative-path")
    let isWritten = kind.hasSuffix("read-write")
    return values(list, entry).compactMap { place, value in
      guard let path = value else { return nil }
      let does = isWritten ? "reads and changes" : "reads"
      if let what = PathClaim.broad(path, isInHome: isInHome) {
        return LintFinding(
          .overBroadPath, isWritten ? .error : .warning, at: place,
          "It \(does) \(what), without any choice of the user's.",
          "Name the one folder that is needed, or let the user select it.")
      }
      if let what = PathClaim.secret(path) {
        return LintFinding(
          .secretPath, at: place, "It \(does) \(path.quoted), where \(what).",
          "Do without, or let the user select the file.")
      }
      return LintFinding(
        .riskyException, isWritten ? .warning : .note, at: place,
        "It \(does) \(path.quoted)\(isInHome ? " in the user's home" : ""), without any choice of the user's.",
        "Let the user select it, and keep a bookmark; Ambit opens no path by an app's own word.")
    }
  }
}

/// The reach of a path in an exception or in a policy.
enum PathClaim {
  /// The excess, as the object of a sentence; `nil` if the path is one folder.
  static func broad(_ path: String, isInHome: Bool) -> String? {
    let parts = path.pathNames
    if isInHome {
      if parts.isEmpty { return "the whole home folder" }
      let folders: Set = [
        "Desktop", "Documents", "Downloads", "Library", "Pictures", "Music", "Movies", ".config", ".local",
      ]
      return parts.count == 1 && folders.contains(parts[0]) ? "all of the user's \(parts[0])" : nil
    }
    guard let first = parts.first else { return "the whole file system" }
    if ["Users", "home"].contains(first) {
      return parts.count == 1 ? "all homes" : parts.count == 2 ? "a whole home folder" : nil
    }
    let whole: Set = [
      "Volumes", "mnt", "media", "private", "private/var", "private/etc", "etc", "var", "root", "System", "Library",
      "Applications", "opt", "srv", "usr", "usr/local", "dev", "tmp", "private/tmp", "var/lib", "run",
    ]
    let joined = parts.joined(separator: "/")
    return whole.contains(joined) ? "all of /\(joined)" : nil
  }

  /// The contents of that place, as the end of a sentence.
  static func secret(_ path: String) -> String? {
    let parts = path.pathNames.map { $0.lowercased() }
    let joined = parts.joined(separator: "/")
    for (name, what) in secrets
    where parts.contains(name) || joined.hasSuffix(name) || joined.contains("/\(name)/") || joined.hasPrefix("\(name)/")
    {
      return what
    }
    return nil
  }

  private static let secrets: [(String, String)] = [
    (".ssh", "keys to other machines lie"), (".gnupg", "the user's private keys lie"),
    (".aws", "keys to cloud accounts lie"), (".kube", "keys to clusters lie"), (".docker", "keys to registries lie"),
    (".azure", "keys to cloud accounts lie"), (".netrc", "passwords lie"), (".pgpass", "passwords lie"),
    (".git-credentials", "passwords lie"), (".password-store", "passwords lie"), ("library/keychains", "passwords lie"),
    ("keyrings", "passwords lie"), (".mozilla", "the browser's sessions and passwords lie"),
    ("library/safari", "the browser's history lies"), ("library/mail", "the user's mail lies"),
    ("library/messages", "the user's messages lie"), ("library/cookies", "the browser's sessions lie"),
    ("google-chrome", "the browser's sessions and passwords lie"), ("etc/shadow", "the passwords of all users lie"),
    ("ssl/private", "the machine's private keys lie"), (".bash_history", "what the user has typed lies"),
  ]
}
