internal import AppModel
internal import Foundation
internal import Launcher
internal import PickerUI
internal import Sandbox
internal import Wire

extension LaunchRequest {
  /// The app that the command line names: a bundle, which is read and checked, or a program.
  init(
    app: String, arguments: [String], container: String?, policy: String, answers: [ScriptedPicker.Answer]?,
    trace: Bool, statusDescriptor: Int32?, seccomp: String?, limits: [String], allowDegraded: [Layer] = [],
    trust: Trust? = nil, allowEntitlements: [WideningEntitlement] = [], path: String?
  ) throws(Failure) {
    let program: SandboxRequest.Program
    var manifest: LauncherInterface.Manifest?
    if AppBundle.isBundlePath(app) {
      do throws(AppBundleError) {
        let bundle = try AppBundle(contentsOf: URL(fileURLWithPath: app))
        program = .bundle(path: bundle.url.path, executable: bundle.executable)
        manifest = .init(
          identifier: bundle.manifest.bundleIdentifier, name: bundle.manifest.name, version: bundle.manifest.version,
          networkClient: bundle.entitlements.networkClient, networkServer: bundle.entitlements.networkServer,
          passGrants: bundle.entitlements.passGrants, executePicked: bundle.entitlements.executePicked,
          selection: bundle.entitlements.sandbox?.selection.rawValue,
          appBookmarks: bundle.entitlements.sandbox?.appBookmarks ?? false,
          documentBookmarks: bundle.entitlements.sandbox?.documentBookmarks ?? false,
          packageTypes: bundle.manifest.packageTypes, relatedTypes: bundle.manifest.relatedTypes,
          sharesDocuments: bundle.manifest.sharesDocuments, publicScope: bundle.manifest.hasPublicScope,
          opensDocuments: bundle.manifest.opensDocuments, opensInPlace: bundle.manifest.opensInPlace)
      } catch {
        throw Failure(error.description, status: error.exitStatus)
      }
    } else {
      program = .file(path: try ProgramSearch.find(app, path: path))
    }
    self.init(
      program: program, manifest: manifest, arguments: arguments, container: container, policy: policy,
      answers: answers, trace: trace, statusDescriptor: statusDescriptor,
      seccomp: seccomp, limits: limits, allowDegraded: allowDegraded, trust: trust,
      allowEntitlements: allowEntitlements.map(\.key))
  }
}
