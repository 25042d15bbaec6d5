package import AppModel
package import Folders
internal import Foundation
package import Kernel
internal import Paths
package import Policy
package import Wire

/// An app's identity and its rights: decided by the broker from the user's own policies, not from the launcher's reading. The same
/// rules answer beforehand, when nothing is run.
package struct LaunchRules {
  private let folders: AmbitFolders
  private let rules: GrantRules

  package init(_ folders: AmbitFolders) {
    self.folders = folders
    rules = folders.grantRules
  }

  /// Where an app lies: its bundle, or the program, in its folder as the kernel has it. The last link of a program's path is not
  /// followed: `python3` stays the same app when it leads to a newer one.
  ///
  /// - Parameter folder: the bundle, or the program's folder.
  package func place(of request: LauncherInterface.PrepareCall, folder: Descriptor?) throws -> String {
    let program = request.script ?? request.program
    guard let path = folder?.currentPath else {
      throw LauncherInterface.Failure.failed("\(program): its folder has no place in the file system any more.")
    }
    return request.manifest == nil ? path.path(of: program.lastPathName) : path
  }

  /// The identifier that an app claims.
  ///
  /// - Parameter place: where it lies (``place(of:folder:)``).
  package func identifier(of request: LauncherInterface.PrepareCall, at place: String) throws -> String {
    if let container = request.container {
      guard let fault = BundleIdentifier.check(container) else { return container }
      throw LauncherInterface.Failure.failed("--container \(container): cannot be a container's name: \(fault).")
    }
    let identifier = request.manifest?.identifier ?? BundleIdentifier.forProgram(place)
    let reserved = [BundleIdentifier.programPrefix, BundleIdentifier.anotherPrefix]
    if request.manifest != nil, let prefix = reserved.first(where: identifier.hasPrefix) {
      throw LauncherInterface.Failure.failed(
        "the bundle identifier “\(identifier)” is of no use: those that begin with “\(prefix)” are kept for Ambit's own use"
      )
    }
    if let fault = BundleIdentifier.check(identifier) {
      throw LauncherInterface.Failure.failed("the bundle identifier “\(identifier)” is of no use: \(fault)")
    }
    return identifier
  }

  package func name(of request: LauncherInterface.PrepareCall) -> String {
    request.manifest?.name ?? (request.script ?? request.program).lastPathName
  }

  /// The policy that a launch is under, after its command line and machine-wide policies.
  package func policy(for request: LauncherInterface.PrepareCall) throws -> Policy {
    let library = PolicyLibrary(directories: [URL(fileURLWithPath: folders.policies, isDirectory: true)])
    let loaded: Policy
    do throws(PolicyError) { loaded = try library.load(request.policy).limited(by: request.limits) } catch {
      throw LauncherInterface.Failure.failed("\(error)")
    }
    let policy = try narrowed(loaded, request)
    try check(policy.settings.readOnlyPaths, policy: policy.name)
    return policy
  }

  /// The entitlements that a command line allows.
  package static func allowed(by request: LauncherInterface.PrepareCall) throws -> Set<WideningEntitlement> {
    Set(
      try request.allowEntitlements.map { name in
        guard let entitlement = WideningEntitlement(named: name) else {
          throw LauncherInterface.Failure.failed(
            "--allow-entitlement \(name): there is no such entitlement\(WideningEntitlement.hint(for: name))")
        }
        return entitlement
      })
  }

  /// A policy with the command line's replacements, and behind that, since nothing may replace them, the limits
  /// of machine-wide policies.
  private func narrowed(_ policy: Policy, _ request: LauncherInterface.PrepareCall) throws -> Policy {
    var settings = policy.settings
    if request.observe { settings.observe = true }
    if let profile = request.seccomp {
      settings.seccompProfile = profile == SeccompFile.none ? nil : profile
      settings.furtherSeccompProfiles = []
    }
    return policy.with(settings).narrowed(by: try machinePolicies(), memory: MachineMemory.total)
  }

  package func machinePolicies() throws -> [MachinePolicy] {
    do { return try MachinePolicyFile.all(folders).map { try MachinePolicy($0.bytes, file: $0.path) } } catch {
      throw LauncherInterface.Failure.failed("\(error)")
    }
  }

  /// The word of the app's policy and its manifest on its grants.
  package func grantRules(
    for request: LauncherInterface.PrepareCall, _ capabilities: Capabilities
  ) -> LauncherInterface.GrantRules {
    var rules = LauncherInterface.GrantRules(capabilities)
    let declared = PackageTypes(declared: request.manifest?.packageTypes ?? []).extensions
    rules.packages = declared.subtracting(PackageTypes.known).sorted()
    let related = (request.manifest?.relatedTypes ?? []).prefix(PackageTypes.mostDeclared)
    rules.opensInPlace = request.manifest?.opensInPlace ?? true
    rules.inbox = request.manifest?.opensDocuments == true && !rules.opensInPlace && request.container == nil
    rules.related = Set(related.map { $0.lowercased() }.filter(PackageTypes.isExtension)).sorted()
    return rules
  }

  package func container(of identifier: String) -> String { "\(folders.containers)/\(identifier)" }

  private func check(_ paths: [String], policy: String) throws {
    guard let fault = faults(of: paths, policy: policy).first else { return }
    throw LauncherInterface.Failure.failed(fault)
  }

  /// A folder that a policy shows read-only has to be there, and must not be one in which other apps' secrets lie.
  ///
  /// - Returns: why nothing can be launched under it here, for each path of which that is so.
  package func faults(of paths: [String], policy: String) -> [String] {
    paths.compactMap { path in
      guard let found = try? Descriptor.open(path, flags: .path) else {
        return "The policy \(policy) shows \(path) read-only, and there is nothing there. Mend the policy."
      }
      // By where it really is: a link may lead there as well.
      guard rules.holdsOwn(found.currentPath ?? path) else { return nil }
      return "The policy \(policy) shows \(path), which holds Ambit's own files. Choose another folder."
    }
  }
}

extension Policy {
  /// Why no app can be launched under it on this machine, by the field that says so: profiles that cannot be loaded, and folders that
  /// are not there.
  package func faults(_ folders: AmbitFolders) -> [(field: String, what: String)] {
    let profiles = seccompFault.map { [(field: "seccomp.profile", what: $0)] } ?? []
    return profiles
      + LaunchRules(folders).faults(of: settings.readOnlyPaths, policy: name).map { ("system.read_only", $0) }
  }
}

extension LauncherInterface.Manifest {
  /// Those that decide anything.
  package var entitlements: Entitlements {
    Entitlements(
      networkClient: networkClient, networkServer: networkServer, passGrants: passGrants, executePicked: executePicked,
      sandbox: sandbox)
  }

  /// An unknown selection selects nothing.
  private var sandbox: AppSandbox? {
    selection.map { word in
      AppSandbox(
        selection: AppSandbox.Selection(rawValue: word) ?? .nothing, appBookmarks: appBookmarks,
        documentBookmarks: documentBookmarks)
    }
  }
}

extension LauncherInterface.Limits {
  /// A share of memory becomes a number: of the memory that this machine has.
  init(_ limits: Capabilities.Limits) {
    let memory: Int? =
      switch limits.memory {
      case .bytes(let bytes): bytes
      case .percent(let share): MachineMemory.total / 100 * share
      case nil: nil
      }
    self.init(
      processes: limits.processes, openFiles: limits.openFiles, fileSize: limits.fileSize, memory: memory,
      cpuTime: limits.cpuTime, wallTime: limits.wallTime, processors: limits.processors, container: limits.container,
      containerFiles: limits.containerFiles, cgroup: limits.cgroup)
  }
}

extension LauncherInterface.Capabilities {
  /// - Parameter variables: the names in the launcher's environment.
  package init(_ capabilities: Capabilities, variables: [String]) {
    self.init(
      policy: capabilities.policyName, scopeLimit: capabilities.scopeLimit, references: capabilities.references,
      replaced: capabilities.replacedDocuments.rawValue,
      readOnlyPaths: capabilities.readOnlyPaths, variables: variables.filter(capabilities.passes),
      environment: capabilities.environmentSet, network: capabilities.networkName, execute: capabilities.execute,
      observe: capabilities.observe, landlockFiles: capabilities.landlockFiles,
      requiredLayers: capabilities.namesOfRequiredLayers, requiredBy: capabilities.requiringMachine,
      limits: .init(capabilities.limits),
      grants: .init(capabilities))
  }
}

extension LauncherInterface.GrantRules {
  init(_ capabilities: Capabilities) {
    self.init(
      mayPass: capabilities.mayPass, endsOutlived: capabilities.endsOutlived, quota: capabilities.persisted.quota,
      recent: capabilities.persisted.recent, releasesOldest: capabilities.persisted.releasesOldest,
      startsPicked: capabilities.startsPicked,
      executesPicked: capabilities.executesPicked, tellsHostPaths: capabilities.tellsHostPaths,
      readOnly: capabilities.access == .readOnly, modes: capabilities.picker.modes.map(\.rawValue),
      types: capabilities.picker.types.extensions, folders: capabilities.picker.folders,
      lifetime: capabilities.lifetime.seconds, endsWithLaunch: capabilities.lifetime.withLaunch,
      makesBookmarks: capabilities.bookmarks.create, documentBookmarks: capabilities.bookmarks.documentScoped,
      implicitBookmarks: capabilities.bookmarks.implicit, missingBookmarks: capabilities.missingBookmarks,
      missingSelections: capabilities.missingSelections,
      bookmarkLifetime: capabilities.bookmarks.lifetime, patience: capabilities.patience,
      passesSilent: capabilities.silentPresenters == .proceed, syncsFully: capabilities.sync == .full,
      profile: capabilities.persisted.name)
  }
}
