internal import AppModel
internal import Folders
internal import Foundation
internal import Kernel
internal import Policy
internal import Wire

/// Who an app is and what it may do: decided here, from the user's own policies, whatever its launcher read.
extension Broker {
  func identifier(of request: LauncherInterface.PrepareCall) throws -> String {
    if let container = request.container {
      guard let fault = BundleIdentifier.check(container) else { return container }
      throw LauncherInterface.Failure.failed("--container \(container): cannot be a container's name: \(fault).")
    }
    let identifier = request.manifest?.identifier ?? BundleIdentifier.forProgram(request.program)
    if let fault = BundleIdentifier.check(identifier) {
      throw LauncherInterface.Failure.failed("the bundle identifier “\(identifier)” is of no use: \(fault)")
    }
    return identifier
  }

  func capabilities(for request: LauncherInterface.PrepareCall) throws -> Capabilities {
    let library = PolicyLibrary(directories: [URL(fileURLWithPath: folders.policies, isDirectory: true)])
    let policy: Policy
    do throws(PolicyError) { policy = try library.load(request.policy) } catch {
      throw LauncherInterface.Failure.failed("\(error)")
    }
    let entitlements = Entitlements(
      networkClient: request.manifest?.networkClient ?? false, networkServer: request.manifest?.networkServer ?? false)
    let capabilities = Capabilities(policy: policy, entitlements: entitlements)
    try check(capabilities.readOnlyPaths, policy: capabilities.policyName)
    return capabilities
  }

  /// What a policy shows read-only has to be there, and must not be what other apps' secrets lie in.
  private func check(_ paths: [String], policy: String) throws {
    for path in paths {
      guard let found = try? Descriptor.open(path, flags: .path) else {
        throw LauncherInterface.Failure.failed(
          "The policy \(policy) shows \(path) read-only, and there is nothing there. Mend the policy.")
      }
      // By where it really is: a link may lead there as well.
      if rules.holdsOwn(found.currentPath ?? path) {
        throw LauncherInterface.Failure.failed(
          "The policy \(policy) shows \(path), which holds Ambit's own files. Choose another folder.")
      }
    }
  }
}

extension LauncherInterface.Capabilities {
  /// - Parameter variables: the names in the launcher's environment.
  init(_ capabilities: Capabilities, variables: [String]) {
    self.init(
      policy: capabilities.policyName, scopeLimit: capabilities.scopeLimit, references: capabilities.references,
      readOnlyPaths: capabilities.readOnlyPaths, variables: variables.filter(capabilities.passes),
      environment: capabilities.environmentSet, network: capabilities.network == .host, execute: capabilities.execute,
      observe: capabilities.observe,
      processes: capabilities.limits.processes, openFiles: capabilities.limits.openFiles,
      fileSize: capabilities.limits.fileSize)
  }
}
