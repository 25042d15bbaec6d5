/// Something in a manifest, in entitlements or in a policy that deserves a look.
package struct LintFinding: Equatable, Sendable {
  package enum Severity: String, CaseIterable, Comparable, Sendable {
    /// A flaw that does no harm.
    case note
    /// It opens more than is needed, or does not do the thing that it seems to do.
    case warning
    /// It cannot work, or opens nearly everything.
    case error

    package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }
    private var rank: Int { self == .note ? 0 : self == .warning ? 1 : 2 }
  }

  /// Where it stands.
  package struct Place: Equatable, Sendable, CustomStringConvertible {
    package let file: String
    /// From 1; `nil` in a binary property list.
    package let line: Int?
    /// In a property list the way to the value; in a policy a field's name.
    package let key: String?

    package init(file: String, line: Int? = nil, key: String? = nil) {
      (self.file, self.line, self.key) = (file, line, key)
    }

    /// `Info.plist:12: CFBundleDocumentTypes[0]`, as compilers write places.
    package var description: String {
      file + (line.map { ":\($0)" } ?? "") + (key.map { ": \($0)" } ?? "")
    }
  }

  package let rule: LintRule
  package let severity: Severity
  package let place: Place
  /// The finding, as a sentence.
  package let what: String
  /// The remedy, as a sentence.
  package let remedy: String

  package init(_ rule: LintRule, _ severity: Severity? = nil, at place: Place, _ what: String, _ remedy: String) {
    self.rule = rule
    self.severity = severity ?? rule.severity
    self.place = place
    self.what = what
    self.remedy = remedy
  }
}

/// The kinds of findings. The names are stable: scripts go by them.
package enum LintRule: String, CaseIterable, Sendable {
  // Files and keys
  case unreadable
  case notLaunchable = "not-launchable"
  case wrongType = "wrong-type"
  case looseBoolean = "loose-boolean"
  case mistypedKey = "mistyped-key"
  case unknownKey = "unknown-key"
  case unexpandedVariable = "unexpanded-variable"
  // Document types
  case overBroadType = "over-broad-type"
  case emptyType = "empty-type"
  case typeWithoutBase = "type-without-base"
  case typeNotInSearch = "type-not-in-search"
  case reservedType = "reserved-type"
  case badTypeIdentifier = "bad-type-identifier"
  case undeclaredType = "undeclared-type"
  case repeatedType = "repeated-type"
  case circularType = "circular-type"
  case inPlaceWithoutTypes = "in-place-without-types"
  case browserWithoutTypes = "browser-without-types"
  case browserWithoutInPlace = "browser-without-in-place"
  case sharingWithoutInPlace = "sharing-without-in-place"
  // Entitlements
  case sandboxNotRequested = "sandbox-not-requested"
  case readOnlyAndReadWrite = "read-only-and-read-write"
  case bookmarksWithoutSelection = "bookmarks-without-user-selected"
  case executableWithoutSelection = "executable-without-user-selected"
  case editorWithoutWriting = "editor-without-writing"
  case documentsWithoutSelection = "types-without-user-selected"
  case inheritWithOthers = "inherit-with-others"
  case riskyException = "risky-exception"
  case riskyEntitlement = "risky-entitlement"
  case overBroadPath = "over-broad-path"
  case secretPath = "secret-path"
  // Policies
  case unusablePolicy = "unusable-policy"
  case pathInVain = "path-in-vain"
  case openNetwork = "open-network"
  case openEntitlements = "open-entitlements"
  case openExecution = "open-execution"
  case openPassing = "open-passing"
  case secretVariable = "secret-variable"
  case overBroadVariable = "over-broad-variable"
  case nothingToPick = "nothing-to-pick"
  case settingInVain = "setting-in-vain"
  case limitOutOfReach = "limit-out-of-reach"
  case noLimit = "no-limit"
  case narrowedByMachine = "narrowed-by-machine"
  // An app under a policy
  case forbiddenNetwork = "forbidden-network"
  case unaskedNetwork = "unasked-network"
  case forbiddenExecution = "forbidden-execution"
  case forbiddenPassing = "forbidden-passing"
  case forbiddenBookmarks = "forbidden-bookmarks"
  case forbiddenWriting = "forbidden-writing"
  case forbiddenTypes = "forbidden-types"
  case forbiddenPicking = "forbidden-picking"

  /// How bad it is where a finding does not say otherwise.
  package var severity: LintFinding.Severity {
    switch self {
    case .unreadable, .notLaunchable, .reservedType, .badTypeIdentifier, .inheritWithOthers, .secretPath,
      .unusablePolicy:
      .error
    case .unknownKey, .looseBoolean, .typeNotInSearch, .undeclaredType, .sharingWithoutInPlace, .sandboxNotRequested,
      .openEntitlements, .pathInVain, .limitOutOfReach, .noLimit, .narrowedByMachine, .riskyEntitlement:
      .note
    default: .warning
    }
  }
}
