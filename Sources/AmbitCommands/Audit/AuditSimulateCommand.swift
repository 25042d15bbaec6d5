internal import ArgumentParser
internal import Audit
internal import Folders
internal import Kernel
internal import Launcher
internal import Policy
internal import Review
internal import Terminal

extension AuditCommand {
  /// `ambit audit simulate`: the decisions of another policy.
  struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "simulate",
      abstract: "Replay a log under another policy, and list each decision that would have come out differently.",
      discussion: """
        Every launch in the log is put under the policy that you name, or only those of one app. What follows is followed: a \
        document that would not have been granted cannot be started, and a scope that would have been refused leaves its slot \
        to the next one. ✗ would have been refused, ✓ allowed, ◐ allowed for reading only, ■ ended, ▶ not ended.

        The policy is taken as it would hold here: under the machine-wide ones of today, unless --without-machine leaves them out.

        Files, sockets and connections that a sandbox refused are judged where they were recorded: whether the other policy \
        would have shown the folder, or given the network. What was read and connected is in no log, so that a policy which \
        shows less is judged by what the broker decided alone; the launches that this is about are counted.

        What a log says too little of is not judged, and named at the end: what a seccomp profile or a limit on memory \
        would have stopped, what a user would have chosen who was never asked, what an app would have done next.

        Exit status: 0, or 1 if no launch of the app that you name is in the log; 2 if the log or the policy cannot be read.

        EXAMPLES
          What would have broken if the strict policy had held for everybody?
            ambit audit simulate --policy strict

          What would another limit have refused the editor, in a log that was copied?
            ambit audit simulate copied.sqlite --policy ./eight.toml \\
              --app io.ambit.TextEdit
        """)

    @OptionGroup var log: LogArgument

    @Option(help: ArgumentHelp("A policy by its name, or the path of its file.", valueName: "policy"))
    var policy: String

    @Option(help: ArgumentHelp("Only launches of this app are put under it.", valueName: "bundle-id"))
    var app: String?

    @Flag(help: "Leave out what this machine's owner takes away from every policy: for a log of another machine.")
    var withoutMachine = false

    @Option(help: "table, for people; json, one object a line, and one more at the end, for programs.")
    var format: OutputFormat = .table

    func run() throws {
      let policies = try UserPolicies()
      var policy: Policy
      do throws(PolicyError) { policy = try policies.library.load(self.policy) } catch {
        throw Launcher.Failure(printable("\(error)"), status: 2)
      }
      if !withoutMachine {
        policy = policy.narrowed(by: try policies.machinePolicies(), memory: MachineMemory.total)
      }
      var simulation = Simulation(policy: policy, app: app, isUnderMachinePolicies: !withoutMachine)
      var lines = SimulationLines(format: format, output: .standard)
      do {
        var isLaunched = false
        let recorded = RecordedLog(
          path: log.path ?? policies.folders.auditLog, isNamed: log.path != nil, showsProgress: format == .table)
        try recorded.forEach { event in
          isLaunched = isLaunched || Self.isLaunch(event) && event.app == app
          try lines.write(simulation.take(event))
          return true
        }
        if let app, !isLaunched {
          throw Launcher.Failure(
            "no launch of \(printable(app)) is in the log, so nothing was judged. “ambit audit log --kind launch” lists those "
              + "that are.", status: 1)
        }
        try lines.finish(simulation, policy.name)
      } catch let error as KernelError where error.isHangUp {
        // The reader has read enough.
      }
    }

    /// Of a log that was cut, the launches that went on are in its first entries.
    private static func isLaunch(_ event: AuditEvent) -> Bool {
      event.result == .allowed && event.kind == .launch
        || event.kind == .carried && event.detail[AuditEvent.Fact.carries] == "launch"
    }
  }
}
