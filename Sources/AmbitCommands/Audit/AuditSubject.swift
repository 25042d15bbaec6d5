internal import AppModel
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Policy
internal import Review
internal import Sandbox
internal import Terminal

/// The subject of a question about access: a policy, an app, or an app under a policy, as a command line names it.
struct AuditSubject {
  let policy: Policy
  let origins: PolicyOrigins
  /// `nil`: any app under the policy.
  let app: DeclaredApp?
  /// Which files the app is; `nil` where there are none that could be launched.
  var files: AppFilesNow?

  /// In a heading, or in a line of a list.
  var title: String {
    guard let app else { return "the policy \(policy.name)" }
    return "\(app.name) under the policy \(policy.name)"
  }

  /// The same policy, about an app.
  func with(_ app: DeclaredApp?) -> AuditSubject { AuditSubject(policy: policy, origins: origins, app: app) }

  /// With the place and the digest of the app that a command line names.
  func lookedAt(_ word: String) -> AuditSubject {
    var subject = self
    if app != nil { subject.files = AppFilesNow(word) }
    return subject
  }

  func explanation(on ground: Ground) -> Explanation {
    Explanation(policy: policy, origins: origins, app: app, on: ground)
  }
}

/// Reads the subjects of command lines; a policy that several name is read once. The answer applies this machine's policies too, as
/// a launch would.
struct AuditSubjects {
  private let library: PolicyLibrary
  private let limits: [String]
  private var machines: [MachinePolicy]?
  private var policies: [String: (policy: Policy, origins: PolicyOrigins)] = [:]

  init(limits: [String] = []) throws(Failure) {
    library = try UserPolicies().library
    self.limits = limits
  }

  /// - Parameters:
  ///   - word: `Editor.app`, `Editor.app@strict`, `/usr/bin/less`, `strict`, `./mine.toml`.
  ///   - standing: the policy of an app that is named without one.
  mutating func subject(_ word: String, policy standing: String) throws(Failure) -> AuditSubject {
    var name = word
    var policyName = standing
    // A path may have an @ in it: the whole word counts if it names something.
    if let at = word.lastIndex(of: "@"), at != word.startIndex, !FileManager.default.fileExists(atPath: word) {
      name = String(word[..<at])
      policyName = String(word[word.index(after: at)...])
      if policyName.isEmpty { throw Failure("“\(printable(word))” names no policy behind the @: APP@POLICY.") }
      guard let app = try app(name) else {
        throw Failure("“\(printable(name))” is no app: before the @ stands a bundle or a program, behind it a policy.")
      }
      let (policy, origins) = try policy(policyName)
      return AuditSubject(policy: policy, origins: origins, app: app).lookedAt(name)
    }
    if let app = try app(name) {
      let (policy, origins) = try policy(standing)
      return AuditSubject(policy: policy, origins: origins, app: app).lookedAt(name)
    }
    let (policy, origins) = try policy(name)
    return AuditSubject(policy: policy, origins: origins, app: nil)
  }

  /// A bundle, a property list or a program by its path; `nil` for a word that names a policy.
  private func app(_ word: String) throws(Failure) -> DeclaredApp? {
    let isList = [".plist", ".entitlements", ".xcent"].contains(where: word.hasSuffix)
    if AppBundle.isBundlePath(word) || isList {
      do throws(AppBundleError) { return try DeclaredApp(at: word) } catch {
        throw Failure(printable(error.description), status: error.exitStatus)
      }
    }
    guard word.hasSlash, !word.hasSuffix(".toml") else { return nil }
    let path = try ProgramSearch.find(word, path: nil)
    return DeclaredApp(program: AppFilesNow(path)?.path ?? path)
  }

  /// Read once, however many policies are asked about.
  private mutating func machinePolicies() throws(Failure) -> [MachinePolicy] {
    if let machines { return machines }
    let found = try UserPolicies().machinePolicies()
    machines = found
    return found
  }

  mutating func policy(_ name: String) throws(Failure) -> (policy: Policy, origins: PolicyOrigins) {
    if let known = policies[name] { return known }
    let machines = try machinePolicies()
    do throws(PolicyError) {
      let resolved = try library.resolve(name)
      // After the command line's options, as at a launch: nothing may replace it.
      let policy = try resolved.policy.limited(by: limits).narrowed(
        by: machines, memory: MachineMemory.total, isLocated: true)
      let found = (policy, PolicyOrigins(of: resolved, limitedBy: limits))
      policies[name] = found
      return found
    } catch {
      var sentence = error.description
      if case .unknownName = error {
        sentence += " An app is named by its path: Editor.app, ./Editor.app, /usr/bin/less."
      }
      throw Failure(printable(sentence))
    }
  }
}

extension DeclaredApp {
  /// A bundle as a launch would read it; otherwise the declarations of its property lists, as for a bundle of macOS's shape, or one
  /// without its program.
  init(at path: String) throws(AppBundleError) {
    let refusal: AppBundleError
    do throws(AppBundleError) {
      self.init(try AppBundle(contentsOf: URL(fileURLWithPath: path)))
      return
    } catch { refusal = error }
    switch refusal {
    case .manifestMissing, .executableMissing, .executableNotAFile, .notExecutable, .notABundle: break
    default: throw refusal
    }
    // The reasons against a launch count only if nothing is declared either.
    guard let declared = try DeclaredFiles(at: path).appIfAny else { throw refusal }
    self = declared
  }
}

extension DeclaredFiles {
  fileprivate var appIfAny: DeclaredApp? {
    get throws(AppBundleError) {
      guard !lists.isEmpty else { return nil }
      let found = try app()
      let name = path.lastPathName
      return DeclaredApp(
        name: name, identifier: found.manifest?.bundleIdentifier ?? name, manifest: found.manifest,
        entitlements: found.entitlements, manifestFile: found.manifestFile, entitlementsFile: found.entitlementsFile,
        keys: found.keys)
    }
  }
}

extension Ground {
  /// This machine, as far as a policy needs to know of it.
  static func current(for policy: Policy) -> Ground {
    var ground = Ground(
      layout: .current(),
      features: SystemFeatures(landlockABI: nil, keyrings: .absent, countsProcessesByNamespace: true),
      memory: MachineMemory.total)
    // Control groups are looked for only if a plan asks for them, and then only for the controllers that it asks for.
    ground.features = .current(for: Capabilities(policy: policy, entitlements: .none).plan(on: ground))
    return ground
  }
}
