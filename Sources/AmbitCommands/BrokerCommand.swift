internal import ArgumentParser
internal import Broker
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit broker`: the service behind the other commands. It is started on demand and leaves when idle.
struct BrokerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broker",
    abstract: "Look after the broker, the service that hands documents to apps.",
    discussion: "It is started when an app is run, and goes away some time after the last one has ended.",
    subcommands: [Serve.self, Stop.self, Status.self, Guard.self])

  struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Be the broker, in the foreground.", shouldDisplay: false)

    @Option(help: ArgumentHelp("Write a line here when the broker can be reached.", visibility: .hidden))
    var readyDescriptor: Int32?

    @Option(help: "Leave after this many seconds without anything to do.")
    var idle: Int?

    func run() throws {
      throw try Self.serve(idle: idle, readyDescriptor: readyDescriptor)
    }

    /// As launchers start it. The parser would take longer than the rest of the start.
    ///
    /// - Returns: `nil` for other words, which are the parser's.
    static func serve(_ words: [String]) throws -> ExitCode? {
      guard words.count == 4, words.starts(with: ["broker", "serve", "--ready-descriptor"]),
        let number = Int32(words[3])
      else { return nil }
      return try serve(idle: nil, readyDescriptor: number)
    }

    private static func serve(idle: Int?, readyDescriptor: Int32?) throws -> ExitCode {
      let environment = ProcessInfo.processInfo.environment
      let seconds = idle ?? environment["AMBIT_BROKER_IDLE"].flatMap { Int($0) } ?? 30
      return ExitCode(
        BrokerProcess.run(
          folders: try .current(environment: environment), idleLimit: .seconds(seconds),
          ready: readyDescriptor.map { Descriptor(owning: $0) }))
    }
  }

  /// The process that answers the kernel before programs of root open a placeholder.
  struct Guard: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "guard", abstract: "Be the guard of placeholders, for a broker.", shouldDisplay: false)

    @Option(help: "The broker's process.") var broker: Int32
    @Flag(help: "Another guard has died.") var follows = false

    func run() throws {
      signal(SIGINT, SIG_IGN)
      signal(SIGHUP, SIG_IGN)
      do { try GuardProcess.run(Descriptor(owning: 3), broker: broker, follows: follows) } catch {
        throw Failure("the guard cannot run: \(error)")
      }
    }
  }

  struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "stop", abstract: "Stop the broker.",
      discussion: """
        What apps have started ends. Apps that are running go on; the next broker, which their launchers start at \
        once, takes them over, and they can start again what they were granted.
        """)

    func run() throws {
      let folders = try AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
      try BrokerConnection.stop(folders)
    }
  }

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Say whether the broker is running, as which process, and whether it answers.",
      discussion: "Exit status: 0 it answers, 1 none is running, 2 it has not answered for ten seconds.")

    private static let patience = Duration.seconds(10)

    func run() throws {
      let folders = try AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
      guard try BrokerConnection.askRunning(folders, Self.tell) != nil else {
        print("not running")
        throw ExitCode(1)
      }
    }

    private static func tell(_ client: WireClient) throws {
      let peer = try UnixSocket.peer(of: client.socket)
      client.setPatience(.init(patience) { () throws(WireError) in throw .silent })
      do throws(WireError) {
        let answer = try client.call(LauncherInterface.instances)
        guard let reply = try? LauncherInterface.InstancesReply(json: answer.parameters) else {
          throw .broken("the answer is not what the interface says")
        }
        print("running, process \(peer.pid), \(reply.instances.count) app instances")
      } catch {
        guard case .silent = error else { throw error }
        let state = ProcessState.of(peer.pid)
        print("not answering, process \(peer.pid)\(state.map { ", \($0.word)" } ?? "")")
        throw Failure(BrokerConnection.Silence(peer.pid).description, status: 2)
      }
    }
  }
}
