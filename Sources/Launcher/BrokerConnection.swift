package import Folders
internal import Kernel
internal import SystemPackage
package import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The way to the user's broker.
package enum BrokerConnection {
  /// Connects, if a broker is running.
  package static func existing(_ folders: AmbitFolders) throws -> WireClient? {
    do throws(KernelError) {
      let folder = try Descriptor.open(folders.runtime, flags: [.path, .directory])
      return WireClient(socket: try UnixSocket.connect(in: folder, name: AmbitFolders.socketName))
    } catch {
      switch error.errno {
      case .noSuchFileOrDirectory, .connectionRefused: return nil
      case .resourceTemporarilyUnavailable:
        throw Failure("the broker does not answer: as many as may are waiting for it already")
      default: throw Failure("the broker cannot be reached: \(error)")
      }
    }
  }

  /// The broker did not answer in the time that it was given.
  package struct Silence: CustomStringConvertible {
    private let process: Int32
    private let state: ProcessState?

    package init(_ process: Int32) { (self.process, state) = (process, ProcessState.of(process)) }

    package var description: String {
      let name = "the broker (process \(process))"
      switch state {
      case .stopped: return "\(name) does not answer: it is stopped. “kill -CONT \(process)” lets it go on."
      case .waitingForDevice: return "\(name) does not answer: it waits for a disk or another device."
      case .ended: return "\(name) does not answer: it has ended."
      case .running: return "\(name) does not answer yet: it is at work."
      case .sleeping, nil: return "\(name) does not answer yet."
      }
    }
  }

  /// A silence that does not surprise users.
  private static let patience = Duration.seconds(5)

  /// If this broker has not answered for a while, tells the user on standard error the reason of the wait. The wait goes on, since
  /// the request may still be done. For a caller that has the terminal to itself.
  package static func tellSilence(of client: WireClient) {
    guard let process = try? UnixSocket.peer(of: client.socket).pid else { return }
    client.setPatience(
      .init(patience) { () throws(WireError) in
        Failure.say("\(Silence(process)) Waiting for it; Ctrl-C ends that.")
        return nil
      })
  }

  /// Asks the broker, which is started if none runs; and the next one if that one left before it had read the call.
  ///
  /// - Parameter body: the call. Another connection's if it is made again.
  package static func ask<Answer>(_ folders: AmbitFolders, _ body: (WireClient) throws -> Answer) throws -> Answer {
    try whileUnread { try told(try connect(folders), body) }
  }

  /// Asks the broker if one runs; `nil`: none does.
  package static func askRunning<Answer>(
    _ folders: AmbitFolders, _ body: (WireClient) throws -> Answer
  ) throws -> Answer? {
    try whileUnread { try existing(folders).map { try told($0, body) } }
  }

  private static func told<Answer>(_ client: WireClient, _ body: (WireClient) throws -> Answer) rethrows -> Answer {
    tellSilence(of: client)
    return try body(client)
  }

  /// A broker takes a few seconds at most to leave.
  private static func whileUnread<Answer>(_ body: () throws -> Answer) throws -> Answer {
    let due = Clock.monotonic() + departure
    while true {
      do { return try body() } catch WireError.unread where Clock.monotonic() < due { usleep(2_000) }
    }
  }

  /// Nanoseconds after which a peer that hangs up is not taken for a leaving broker.
  private static let departure: Int64 = 15_000_000_000

  /// Begins a launch with the broker, which is started if none runs. One that leaves begins no more; the next one does.
  ///
  /// - Parameter call: asks for it, and waits for the answer.
  package static func beginLaunch<Answer>(
    _ folders: AmbitFolders, _ call: (WireClient) throws -> Answer
  ) throws -> Answer {
    let due = Clock.monotonic() + departure
    var deaths = 0
    while true {
      do {
        return try ask(folders, call)
      } catch WireError.remote(LauncherInterface.Failure.leavingName, _) where Clock.monotonic() < due {
        usleep(10_000)
      } catch WireError.closed where deaths < mostDeaths {
        // The preparation went with it.
        deaths += 1
      } catch WireError.closed {
        throw Failure("the broker hangs up; \(folders.brokerLog) may say why")
      }
    }
  }

  /// Brokers that read a call and die of it, one after the other.
  private static let mostDeaths = 4

  /// Ends the broker, if one is running; returns when another one can begin.
  package static func stop(_ folders: AmbitFolders) throws {
    guard let client = try existing(folders) else { return }
    tellSilence(of: client)
    do {
      _ = try client.call(LauncherInterface.shutdown)
    } catch WireError.unread {
      // It was leaving already.
    } catch WireError.closed {
    }
    // It has given its place back when it closes the connection.
    while (try? client.receive(wait: true)) != nil {}
  }

  /// The running apps: instances that the broker knows, and launches that no broker answers for yet.
  package struct Running: Sendable {
    package let instances: [LauncherInterface.Instance]
    /// Their launchers have handed them over to no broker, or to one that is gone.
    package let awaited: [LauncherRecords.Record]
  }

  /// A launcher hands its app over to a new broker at once. So launches that are only recorded are waited for, for a moment.
  package static func running(_ folders: AmbitFolders) throws -> Running {
    let due = Clock.monotonic() + handingOver
    let records = LauncherRecords(folders)
    let namespace = (try? Namespaces.own("pid").status())?.inode
    while true {
      // Before the broker is asked: it need not know launches that have begun since.
      let recorded = records.all().filter { $0.namespace == namespace }
      let instances =
        try askRunning(folders) {
          try LauncherInterface.InstancesReply(json: $0.call(LauncherInterface.instances).parameters).instances
        } ?? []
      let known = Set(instances.map(\.instance))
      let awaited = recorded.filter { record in
        !known.contains(record.instance) && !record.initProcess.hasEnded && !record.launcher.hasEnded
      }
      guard !awaited.isEmpty, Clock.monotonic() < due else { return Running(instances: instances, awaited: awaited) }
      usleep(10_000)
    }
  }

  /// Nanoseconds.
  private static let handingOver: Int64 = 2_000_000_000

  /// Connects, and starts a broker if none is running.
  package static func connect(_ folders: AmbitFolders) throws -> WireClient {
    if let client = try existing(folders) { return client }
    // A broker that another launcher started at the same moment may need a little longer than ours took to step back; and one that
    // is dying may still have held the place when ours wanted it. So it is tried again.
    for attempt in 0..<200 {
      if attempt % 20 == 0 { try start(folders) }
      if let client = try existing(folders) { return client }
      usleep(20_000)
    }
    throw Failure("the broker was started and cannot be reached; \(folders.brokerLog) may say why")
  }

  private static func start(_ folders: AmbitFolders) throws {
    try folders.make()
    let log: Descriptor
    do throws(KernelError) {
      log = try Descriptor.open(folders.brokerLog, flags: [.write, .create, .append, .noFollow], mode: 0o600)
    } catch {
      throw Failure(
        "\(folders.brokerLog): cannot be written: \(error.errno) (\(error.errno.symbol)). "
          + "Make the folder writable for you, or set AMBIT_HOME to another one.")
    }
    var (reading, writing): (Descriptor, Descriptor?) = try UnixSocket.pair()
    guard let program = Programs.tools.path else {
      throw Failure("\(Programs.tools.rawValue) is not where this program is; install Ambit again, whole.")
    }

    // The broker's own variables, and none that this terminal happens to have set.
    let names =
      [
        "AMBIT_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "HOME",
        "AMBIT_BROKER_IDLE", "AMBIT_PROVIDER_IDLE",
      ] + FaultPoint.environment
    var environment = ThisProcess.environment.filter { names.contains($0.key) }
    #if AMBIT_MUTANTS
      environment[Mutant.variable] = ThisProcess.environment[Mutant.variable]
    #endif
    environment["PATH"] = "/usr/bin:/bin"
    // A launcher that replaces a broker which died lives in that broker's namespaces, and so do the apps; the new broker
    // has to be able to mount there.
    try Namespaces.passCapabilitiesOn()
    _ = try Service.start(
      program, arguments: ["ambit", "broker", "serve", "--ready-descriptor", "3"],
      environment: environment, log: log, ready: writing ?? log)
    // Only the broker's copy is left: the end of its output is also the end of a broker that dies early.
    writing = nil
    let said = String(decoding: try reading.readLine(), as: UTF8.self).split(separator: "\n")
    if let sentence = said.first { throw Failure(String(sentence)) }
  }
}
