package import AppModel
package import Policy

/// Looks through apps' declarations and policies for contradictions, claims that are too broad, grants that can never be used, and
/// exceptions that are risky. Rules alone: the caller has read the files.
package enum Lint {
  /// An app's own files, and how it stands under a policy.
  ///
  /// - Parameter policy: `nil`: the files alone.
  package static func findings(
    manifest: PropertyListFile?, entitlements: PropertyListFile?, policy: ResolvedPolicy? = nil
  ) -> [LintFinding] {
    var findings: [LintFinding] = []
    if let manifest {
      findings += keys(manifest, as: .manifest) + types(manifest)
    }
    if let entitlements {
      findings += keys(entitlements, as: .entitlements) + sandbox(entitlements) + exceptions(entitlements)
    }
    if let manifest, let entitlements { findings += together(manifest, entitlements) }
    if let policy { findings += under(LintedPolicy(policy), manifest: manifest, entitlements: entitlements) }
    return sorted(findings)
  }

  /// A policy, as it holds under the machine-wide ones that it was narrowed by.
  ///
  /// - Parameter faults: the reasons why nothing can be launched under it here, by field, if the caller has looked.
  package static func findings(
    policy resolved: ResolvedPolicy, faults: [(field: String, what: String)] = []
  ) -> [LintFinding] {
    let policy = LintedPolicy(resolved)
    let unlaunchable = faults.map { fault in
      LintFinding(
        .notLaunchable, at: policy.place(fault.field), fault.what,
        "Until then ambit run refuses every app under it here.")
    }
    return sorted(
      unlaunchable + unmet(policy) + narrowed(policy) + paths(policy) + openings(policy) + documents(policy)
        + limits(policy))
  }

  /// A policy that could not be read: a finding a fault.
  package static func findings(_ error: PolicyError, in file: String) -> [LintFinding] {
    guard case .invalid(let faults) = error else {
      return [LintFinding(.unusablePolicy, at: .init(file: file), "\(error)", "Mend the file, or name another.")]
    }
    return faults.all.map { fault in
      LintFinding(
        .unusablePolicy, at: .init(file: fault.file, line: fault.position.line),
        capitalized(fault.message) + (fault.message.hasSuffix(".") ? "" : "."),
        "Mend the file; no app is run under it as it is.")
    }
  }

  /// A manifest or entitlements that could not be read.
  package static func finding(_ error: AppBundleError, in file: String) -> LintFinding {
    LintFinding(.unreadable, at: .init(file: file), error.description, "Until then nothing more can be said of it.")
  }

  /// By file, then from its top down; findings without a line stand before the others.
  static func sorted(_ findings: [LintFinding]) -> [LintFinding] {
    var files: [String] = []
    for finding in findings where !files.contains(finding.place.file) { files.append(finding.place.file) }
    return files.flatMap { file in
      findings.filter { $0.place.file == file }.enumerated()
        .sorted { ($0.element.place.line ?? 0, $0.offset) < ($1.element.place.line ?? 0, $1.offset) }
        .map(\.element)
    }
  }

  /// A sentence's beginning, unless that is a name of the policy language's, which is written as it is.
  static func capitalized(_ text: String) -> String {
    let word = text.prefix { $0 != " " && $0 != "," && $0 != ":" && $0 != ";" }
    let isName =
      word.contains(".") || PolicyField.all.contains { $0.key == word } || PolicyField.tables.contains(String(word))
    return isName ? text : text.prefix(1).uppercased() + text.dropFirst()
  }
}

extension PropertyListFile {
  /// The place of a key at the top.
  func place(_ key: String) -> LintFinding.Place {
    LintFinding.Place(
      file: path, line: entries.first { $0.key == key }?.line, key: "\(KeyPath().key(key))")
  }

  func place(_ keyPath: KeyPath, _ line: Int?) -> LintFinding.Place {
    LintFinding.Place(file: path, line: line, key: "\(keyPath)")
  }

  /// An entitlement: nothing else than a boolean is on.
  func isOn(_ key: String) -> Bool { self[key]?.boolean == true }

  /// A boolean of a manifest, however it is written.
  func says(_ key: String) -> Bool { self[key]?.looseBoolean == true }
}
