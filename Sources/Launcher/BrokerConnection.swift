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
      default: throw Failure("the broker cannot be reached: \(error)")
      }
    }
  }

  /// The running instances; none, if no broker is running. A broker that is leaving at this moment may hang up: then the
  /// next one is asked, which takes its apps over.
  package static func instances(_ folders: AmbitFolders) throws -> [LauncherInterface.Instance] {
    for attempt in 1... {
      guard let client = try existing(folders) else { return [] }
      do {
        return try LauncherInterface.InstancesReply(json: client.call(LauncherInterface.instances).parameters).instances
      } catch WireError.closed where attempt < 20 {
        usleep(50_000)
      }
    }
    return []
  }

  /// Connects, and starts a broker if none is running.
  package static func connect(_ folders: AmbitFolders) throws -> WireClient {
    if let client = try existing(folders) { return client }
    // A broker that another launcher started at the same moment may need a little longer than ours took to step back;
    // and one that is dying may still have held the place when ours wanted it, so it is tried again.
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

    // What the broker has to know, and nothing of what this terminal happens to have set.
    let names =
      [
        "AMBIT_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "HOME",
        "AMBIT_BROKER_IDLE",
      ] + FaultPoint.environment
    var environment = ThisProcess.environment.filter { names.contains($0.key) }
    environment["PATH"] = "/usr/bin:/bin"
    // A launcher that replaces a broker which died lives in that broker's namespaces, and so do the apps; the new broker
    // has to be able to mount there.
    try Namespaces.passCapabilitiesOn()
    _ = try Service.start(
      program, arguments: ["ambit", "broker", "serve", "--ready-descriptor", "3"],
      environment: environment, log: log, ready: writing ?? log)
    // Only the broker's copy is left: the end of what it says is also the end of a broker that dies early.
    writing = nil
    let said = String(decoding: try reading.readLine(), as: UTF8.self).split(separator: "\n")
    if let sentence = said.first { throw Failure(String(sentence)) }
  }
}
