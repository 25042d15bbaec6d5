internal import AppModel
internal import Broker
internal import Foundation
internal import Kernel
internal import Policy
internal import Sandbox
internal import ScopedAccess

/// What is to be launched, read and checked: nothing has been started yet.
struct LaunchSpecification {
  let bundleIdentifier: String
  let name: String
  let version: String?
  let program: SandboxRequest.Program
  let arguments: [String]
  let capabilities: Capabilities
  let environment: [String: String]

  init(
    app: String, arguments: [String], policy: String, container: String?, folders: AmbitFolders,
    environment launcher: [String: String]
  ) throws {
    let entitlements: Entitlements
    let identifier: String
    if AppBundle.isBundlePath(app) {
      do throws(AppBundleError) {
        let bundle = try AppBundle(contentsOf: URL(fileURLWithPath: app))
        program = .bundle(path: bundle.url.path, executable: bundle.manifest.executable)
        identifier = bundle.manifest.bundleIdentifier
        name = bundle.manifest.name
        version = bundle.manifest.version
        entitlements = bundle.entitlements
      } catch {
        throw Failure(error.description, status: error.exitStatus)
      }
    } else {
      let path = try Self.find(app, path: launcher["PATH"])
      program = .file(path: path)
      identifier = AppBundle.identifier(forProgram: path)
      name = (path as NSString).lastPathComponent
      version = nil
      entitlements = .none
    }
    if let container, let fault = BundleIdentifier.check(container) {
      throw Failure("--container \(container): cannot be a container's name: \(fault).")
    }
    bundleIdentifier = container ?? identifier
    self.arguments = arguments
    capabilities = Capabilities(policy: try Self.load(policy, folders), entitlements: entitlements)
    environment = capabilities.environment(from: launcher)
    try Self.check(capabilities.readOnlyPaths, policy: capabilities.policyName, folders)
  }

  private static func load(_ policy: String, _ folders: AmbitFolders) throws -> Policy {
    let library = PolicyLibrary(directories: [URL(fileURLWithPath: folders.policies, isDirectory: true)])
    do { return try library.load(policy) } catch { throw Failure("\(error)") }
  }

  /// What a policy shows read-only has to be there, and must not be what other apps' secrets lie in.
  private static func check(_ paths: [String], policy: String, _ folders: AmbitFolders) throws {
    let rules = folders.grantRules
    for path in paths {
      guard let found = try? Descriptor.open(path, flags: .path) else {
        throw Failure("The policy \(policy) shows \(path) read-only, and there is nothing there. Mend the policy.")
      }
      // By where it really is: a link may lead there as well.
      if rules.holdsOwn(found.currentPath ?? path) {
        throw Failure("The policy \(policy) shows \(path), which holds Ambit's own files. Choose another folder.")
      }
    }
  }

  /// A program as a shell finds it: with a slash where it is, otherwise on the path.
  private static func find(_ program: String, path: String?) throws -> String {
    func check(_ candidate: String) -> Failure? {
      guard let status = try? Descriptor.open(candidate, flags: .path).status() else {
        return Failure("\(candidate): there is no such program.", status: 127)
      }
      if status.kind == .directory {
        return Failure(
          "\(candidate): is a folder. An app's folder is called Name.app; a program is a file.", status: 126)
      }
      guard FileManager.default.isExecutableFile(atPath: candidate) else {
        return Failure("\(candidate): is not executable (chmod +x it if it should be).", status: 126)
      }
      return nil
    }
    if program.contains("/") {
      let absolute = URL(fileURLWithPath: program).standardizedFileURL.path
      if let failure = check(absolute) { throw failure }
      return absolute
    }
    for folder in (path ?? "/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
      let candidate = "\(folder)/\(program)"
      if check(candidate) == nil { return candidate }
    }
    throw Failure("\(program): there is no such program on the PATH.", status: 127)
  }

  func sandboxRequest(container: String, hostID: UInt32?) -> SandboxRequest {
    var limits: [ResourceLimit] = [ResourceLimit(.core, 0)]
    if let value = capabilities.limits.processes { limits.append(ResourceLimit(.processes, UInt64(value))) }
    if let value = capabilities.limits.openFiles { limits.append(ResourceLimit(.openFiles, UInt64(value))) }
    if let value = capabilities.limits.fileSize { limits.append(ResourceLimit(.fileSize, UInt64(value))) }
    return SandboxRequest(
      program: program, arguments: arguments, bundleIdentifier: bundleIdentifier, container: container,
      readOnlyPaths: capabilities.readOnlyPaths, execute: capabilities.execute,
      network: capabilities.network == .host, environment: environment, limits: limits, hostID: hostID,
      controlProgram: Self.controlProgram)
  }

  /// `ambitctl`, beside this program.
  private static let controlProgram: String? = {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let sibling = own.deletingLastPathComponent().appendingPathComponent("ambitctl").path
    return FileManager.default.isExecutableFile(atPath: sibling) ? sibling : nil
  }()
}
