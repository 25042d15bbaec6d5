internal import Kernel
internal import Sandbox
internal import SystemPackage
internal import Wire

extension Failure {
  /// A failed launch as a sentence, with the exit status that shells have for it.
  init(_ stage: LaunchStage, _ errno: Errno, step: Int, of plan: SandboxPlan?) {
    let program = plan?.program ?? ""
    switch stage {
    case .exec where errno == .noSuchFileOrDirectory:
      self.init(
        "\(program): cannot be started inside the sandbox: it, or the interpreter that it names, is not there.",
        status: 127)
    case .exec where errno == .staleNFSFileHandle:
      self.init("\(program): was changed while it was being launched. Run it again if that was you.", status: 126)
    case .exec: self.init("\(program): cannot be started inside the sandbox: \(errno).", status: 126)
    case .filter where errno == .resourceBusy:
      self.init(
        "the sandbox cannot be set up: another sandbox around this process has a seccomp listener, and the kernel lets there "
          + "be only one. “ambit doctor” says more.")
    case .steps:
      let path = plan.flatMap { step < $0.root.count ? $0.root[step].path : nil } ?? "?"
      self.init("the sandbox cannot be set up: \(path): \(errno) (\(errno.symbol)). “ambit doctor” may say why.")
    default:
      self.init(
        "the sandbox cannot be set up: \(stage) \(step): \(errno) (\(errno.symbol)). “ambit doctor” may say why.")
    }
  }

  /// The broker's failure, in its own words where it has some.
  init(_ error: WireError) {
    if case .remote(LauncherInterface.Failure.failedName, let parameters) = error,
      let reason = try? parameters.string("reason")
    {
      self.init(reason)
    } else if case .remote(let name, _) = error, name.hasPrefix("org.varlink.service.") {
      self.init(
        "the running broker does not understand this launcher (\(error)); it may be of another version. "
          + "Stop it with “ambit broker stop” and try again.")
    } else {
      self.init("the broker refused: \(error)")
    }
  }
}
