internal import Kernel
internal import Paths

extension SandboxPlan {
  /// Landlock's rules for such a root. Reading is permitted below the root: a file that is not shown cannot be read. Changing and
  /// executing are permitted where the plan means them to be, and nowhere else, even if a mount permits them.
  static func landlock(
    for entries: [Entry], network: Bool, execute: Bool, executePicked: Bool
  ) -> LandlockRules {
    var writable: LandlockRights = [.read, .change]
    if execute { writable.insert(.execute) }
    var documents: LandlockRights = [.read, .change]
    if executePicked { documents.insert(.execute) }
    var rules = [LandlockRules.Rule("/", .read), .init(InsidePath.documents, documents)]
    var devices = false
    for entry in entries {
      switch entry {
      case .bind(InsidePath.home, _, _, _): rules.append(.init(InsidePath.home, writable))
      case .bind(let path, _, _, _) where path.lies(below: "/dev"): devices = true
      case .bind(let path, _, _, let attributes) where !attributes.contains(.noExecute):
        rules.append(.init(path, [.read, .execute]))
      case .temporary(let path, _, _, _, _): rules.append(.init(path, writable))
      // A program's own settings: its name, its score for the time when memory is short.
      case .processes(let path): rules.append(.init(path, [.read, .writeFile, .truncate]))
      case .terminals: devices = true
      default: break
      }
    }
    if devices { rules.append(.init("/dev", [.read, .writeFile, .truncate, .deviceControl])) }
    return LandlockRules(rules, network: network)
  }
}
