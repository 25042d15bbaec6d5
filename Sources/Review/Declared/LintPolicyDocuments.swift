internal import AppModel
internal import Policy

/// The policy's fields about documents and limits, and those among them that can never have an effect.
extension Lint {
  static func documents(_ policy: LintedPolicy) -> [LintFinding] {
    let settings = policy.policy.settings
    var findings: [LintFinding] = []
    func vain(_ field: String, _ what: String, _ remedy: String) {
      findings.append(LintFinding(.settingInVain, at: policy.place(field), what, remedy))
    }
    let asks = !settings.picker.modes.isEmpty
    if !asks, policy.says("picker.types") {
      findings.append(
        LintFinding(
          .settingInVain, .note, at: policy.place("picker.types"),
          "picker.modes lets nothing be picked, so picker.types decides only about what the app is handed (ambit grant), and what "
            + "it was granted before.",
          "It can stay if that is meant; or add \"open\" to picker.modes."))
    }
    if asks, settings.picker.types.extensions?.isEmpty == true {
      findings.append(
        settings.picker.folders
          ? LintFinding(
            .nothingToPick, .note, at: policy.place("picker.types"),
            "No type is named, so no file can ever be picked, and whole folders can be.",
            "Name types, or write folders = false and modes = [] if nothing is to be picked.")
          : LintFinding(
            .nothingToPick, at: policy.place("picker.types"),
            "A picker is allowed, and neither a type nor folders: nothing can ever be picked.",
            "Name types, or write modes = []."))
    }
    if case .only(let names) = settings.picker.types, let broad = names.first(where: { broadTypes[$0] != nil }) {
      findings.append(
        LintFinding(
          .overBroadType, at: policy.place("picker.types"),
          "\(broad.quoted) is \(broadTypes[broad] ?? "every file"): with it in the list all may be picked.",
          "Take it out, or write types = \"any\", which says so."))
    }
    let lifetime = settings.lifetime
    if lifetime.withLaunch, settings.bookmarks.create, policy.says("grants.lifetime") || policy.says("bookmarks.create")
    {
      vain(
        policy.says("grants.lifetime") ? "grants.lifetime" : "bookmarks.create",
        "Grants end with the launch that they were made in, and bookmarks, which are for the next one, may be made.",
        "Write bookmarks.create = false.")
    }
    if lifetime.withLaunch, settings.references, policy.says("grants.lifetime") || policy.says("scopes.references") {
      vain(
        policy.says("grants.lifetime") ? "grants.lifetime" : "scopes.references",
        "Grants end with the launch that they were made in, and references, which are for the next one, are written.",
        "Write scopes.references = false.")
    }
    if let seconds = lifetime.seconds {
      if let kept = settings.bookmarks.lifetime, kept > seconds {
        vain(
          "bookmarks.lifetime",
          "A bookmark can be resolved for \(Amount.text(seconds: kept)), and what it leads to ends after "
            + "\(Amount.text(seconds: seconds)).",
          "Make it shorter, or grants.lifetime longer.")
      }
      if let patience = settings.patience, patience > seconds {
        vain(
          "coordination.patience",
          "An app waits for others up to \(Amount.text(seconds: patience)), and its grant ends after "
            + "\(Amount.text(seconds: seconds)).",
          "Make it shorter, or grants.lifetime longer.")
      }
    }
    if !settings.bookmarks.create {
      for field in ["bookmarks.document_scoped", "bookmarks.implicit", "bookmarks.lifetime"] where policy.says(field) {
        vain(field, "\(field) is about bookmarks that may be made, and none may.", "Take it out, or let them be made.")
      }
    }
    return findings
  }

  static func limits(_ policy: LintedPolicy) -> [LintFinding] {
    let settings = policy.policy.settings
    let limits = settings.limits
    var findings: [LintFinding] = []
    func unreachable(_ fields: [String], _ what: String) {
      guard let field = fields.first(where: policy.says) else { return }
      findings.append(
        LintFinding(.limitOutOfReach, at: policy.place(field), what, "Lower the one, or raise the other."))
    }
    if let size = limits.fileSize, let container = limits.container, size > container {
      unreachable(
        ["limits.file_size", "limits.container"],
        "One file may be larger (\(Amount.text(bytes: size))) than all together (\(Amount.text(bytes: container))).")
    }
    if let processor = limits.cpuTime, let wall = limits.wallTime {
      let busy = (limits.processors ?? 1000 * (limits.processes ?? 1024)) / 1000
      if processor > wall * max(1, busy) {
        unreachable(
          ["limits.cpu_time", "limits.wall_time"],
          "It may use \(Amount.text(seconds: processor)) of processor time, and is ended after \(Amount.text(seconds: wall))."
        )
      }
    }
    if let open = limits.openFiles, settings.scopeLimit > open {
      unreachable(
        ["scopes.limit", "limits.open_files"],
        "A process may have \(settings.scopeLimit) documents started and \(open) files open.")
    }
    if case .refusing(let count) = settings.persisted, settings.scopeLimit > count {
      unreachable(
        ["grants.persisted", "scopes.limit"],
        "A process may have \(settings.scopeLimit) documents started, and an app is given \(count) at most.")
    }
    for (field, isOpen, what) in [
      ("limits.memory", limits.memory == nil, "memory"), ("limits.container", limits.container == nil, "disk"),
      ("limits.processes", limits.processes == nil, "processes"),
    ] where isOpen {
      findings.append(
        LintFinding(
          .noLimit, at: policy.place(field), "No ceiling keeps an app from taking all of the machine's \(what).",
          "Set \(field), or inherit a policy that does."))
    }
    return findings
  }
}
