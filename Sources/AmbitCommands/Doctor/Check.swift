/// One thing that Ambit wants of the kernel or the system, and the finding.
package struct Check: Equatable, Sendable, Encodable {
  package enum Status: String, Sendable, Encodable {
    /// All of it is there.
    case full
    /// It works, with something less.
    case partial
    /// It is not there, or not for this user.
    case missing
  }

  /// A short name that stays the same: tests say `needs NAME` when they have to be skipped without it.
  package var name: String
  package var status: Status
  /// Whether Ambit cannot run an app without it.
  package var required: Bool
  /// The present state, in a few words.
  package var found: String
  /// The cost of its lack, as a sentence; nil when nothing is lacking.
  package var cost: String?
  /// How to mend it, as a sentence; nil when nothing is lacking.
  package var remedy: String?
  /// What it cannot do on any machine, as sentences; nil when nothing has to be known.
  package var limits: String?

  /// A check that found everything.
  package static func full(_ name: String, required: Bool = false, _ found: String) -> Check {
    Check(name: name, status: .full, required: required, found: found, cost: nil, remedy: nil)
  }

  /// A check that found something less.
  package static func partial(
    _ name: String, required: Bool = false, _ found: String, cost: String, remedy: String
  ) -> Check {
    Check(name: name, status: .partial, required: required, found: found, cost: cost, remedy: remedy)
  }

  /// A check that found nothing.
  package static func missing(
    _ name: String, required: Bool = false, _ found: String, cost: String, remedy: String
  ) -> Check {
    Check(name: name, status: .missing, required: required, found: found, cost: cost, remedy: remedy)
  }

  /// Whether an app can be run as far as this check is concerned.
  package var isMet: Bool { status != .missing || !required }
}
