internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit coordination`: the arbiter's state, and its past.
struct CoordinationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coordination",
    abstract: "Show which files are used in turn: who has them, who waits, and for what.",
    discussion: """
      Apps that coordinate their files take turns: many readers, or one writer. Before a turn begins, apps that present the \
      file (editors, say) are asked to save and to let go. This shows the turns, and the answers that are still waited for.

        ambit coordination               now
        ambit coordination --follow      again at each change, until Ctrl-C
        ambit coordination cancel 12     end the wait of access 12
        ambit coordination replay        decide again what the log has, and draw it

      NOW says why an access waits: for a presenter that has not answered, for another access that is under way, or for one \
      that is ahead in the queue. Presenters with unsaved changes are marked. LEASE tells which other programs wait in open(2) \
      until the presenter has saved or let go, or why none does.
      """,
    subcommands: [Show.self, Cancel.self, Replay.self], defaultSubcommand: Show.self)
}

extension CoordinationCommand {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "List accesses and presenters (the default).")

    @Flag(help: "Draw it again at each change, until interrupted.") var follow = false
    @Option(help: "table, for people; json, one object, for programs; with --follow one more for each change.")
    var format: OutputFormat = .table

    func run() throws {
      guard follow else { return try CoordinationView(try Self.now()).write(format, to: .standard) }
      var watch = CoordinationWatch(format: format, output: .standard)
      do { try watch.run(Self.now) } catch let error as KernelError where error.isHangUp {
        // The reader has read enough.
      }
    }

    /// Without a broker nothing is coordinated.
    static func now() throws -> InspectorInterface.CoordinationReply {
      try BrokerConnection.askRunning(UserSide.folders) {
        try $0.call(InspectorInterface.coordination, answer: InspectorInterface.CoordinationReply.self)
      } ?? .init(accesses: [], presenters: [])
    }
  }

  struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "End the wait of an access.",
      discussion: """
        Its app gets the error that it gets when it cancels by itself (NSUserCancelledError), and the log says that it was you. \
        An access that is under way cannot be cancelled: its app may be writing. It ends when the app lets go, or ends.

        Exit status: 0 done; 1 there is no such access, or it does not wait.
        """)

    @Argument(help: ArgumentHelp("Accesses, by the numbers that “ambit coordination” shows.", valueName: "id"))
    var accesses: [Int]

    func run() throws {
      for access in accesses { try Self.cancel(access) }
    }

    private static func cancel(_ access: Int) throws {
      do {
        let isDone: Void? = try BrokerConnection.askRunning(UserSide.folders) {
          _ = try $0.call(
            InspectorInterface.cancelCoordination, InspectorInterface.CancelCoordinationCall(access: access).json)
        }
        guard isDone != nil else { throw noAccess(access) }
      } catch WireError.remote(InspectorInterface.Failure.noAccessName, _) {
        throw noAccess(access)
      } catch WireError.remote(InspectorInterface.Failure.notWaitingName, let parameters) {
        let party = try? InspectorInterface.Party(json: parameters.object("party"))
        throw Failure(
          "access \(access) is under way\(party.map { ", by \(CoordinationWords.name($0))" } ?? ""): it ends when that "
            + "lets go. Only waits can be cancelled.", status: 1)
      }
      try Output.standard.write("Access \(access) does not wait any more.\n")
    }

    private static func noAccess(_ access: Int) -> Failure {
      Failure("there is no access \(access); “ambit coordination” lists those that there are.", status: 1)
    }
  }
}
