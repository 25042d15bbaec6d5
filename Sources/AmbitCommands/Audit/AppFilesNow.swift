internal import AppModel
internal import Broker
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Wire

/// An app's path and the digest of its files, as a launch would find them.
struct AppFilesNow {
  let path: String
  let digest: AppDigest

  /// - Parameter app: a bundle or a program, as a command line names it.
  /// - Returns: `nil` for an app that could not be launched.
  init?(_ app: String) {
    do {
      let request = try LaunchRequest(
        app: app, arguments: [], container: nil, policy: "default", answers: nil, trace: false, statusDescriptor: nil,
        seccomp: nil, limits: [], path: ThisProcess.environment["PATH"])
      let files = try LaunchedFiles(request)
      let call = request.prepareCall([:], files)
      path = try LaunchRules(UserSide.folders).place(of: call, folder: files.descriptors.first)
      guard let digest = try AppDigest(of: files.files, files.descriptors) else { return nil }
      self.digest = digest
    } catch { return nil }
  }
}
