internal import BrokerCore
internal import Decisions
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// A document that an app is given with its launch, looked at and not granted yet.
struct PreparedOpening {
  /// Its outcome.
  enum Outcome {
    /// The original, by the grant of this name.
    case original(Chosen, grant: String, rights: AccessRights)
    /// A copy, at this path in the app's container (`OIP-1`).
    case copy(String)
  }

  let how: LauncherInterface.Given.How
  let outcome: Outcome

  /// Inside the sandbox.
  @BrokerLoop var path: String {
    switch outcome {
    case .original(let chosen, let grant, _):
      ScopeMounts.path(grant: grant, name: Grant.name(inside: chosen.document.path ?? "document"))
    case .copy(let path): path
    }
  }
}

/// The app that documents are opened with, before or while it runs.
struct OpeningTarget {
  let app: String
  /// Its bundle or program, which it may not change.
  let place: String
  let rules: LauncherInterface.GrantRules

  var opensInPlace: Bool { rules.opensInPlace }
  var packages: PackageTypes { PackageTypes(declared: rules.packages) }

  /// The part of an asked right that it is given.
  func rights(_ asked: DocumentAccess) -> AccessRights {
    rules.readOnly || asked == .readOnly ? .readOnly : .readWrite
  }
}
