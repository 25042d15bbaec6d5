internal import BrokerCore
package import Folders
internal import Foundation
package import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The broker as a process: taking its place, saying when it is ready, and going away.
package enum BrokerProcess {
  /// Runs the user's broker until it is told to stop or has been idle for a while.
  ///
  /// Must be called while the process has a single thread: an unprivileged broker moves into namespaces of its own,
  /// which are the parents of every app's.
  /// - Parameters:
  ///   - ready: told an empty line when the socket can be connected to, or a sentence when the broker cannot run.
  ///   - idleLimit: `nil`: for ever.
  package static func run(folders: AmbitFolders, idleLimit: Duration?, ready: Descriptor?) -> Int32 {
    do {
      // Before any thread: signals that are held back here are held back in all of them.
      let signals = try SignalQueue([SIGTERM, SIGINT, SIGHUP, SIGQUIT])
      umask(0o077)
      let privileged = Namespaces.isHostRoot
      try folders.make()
      guard let lock = try takePlace(folders) else {
        // Another broker was faster; it serves as well.
        try? ready?.writeAll(Array("\n".utf8))
        return 0
      }
      let host = privileged ? nil : try enterNamespaces(folders)
      raiseDescriptorLimit()
      let home = try Namespaces.own("mnt")
      let namespaces = privileged ? [] : [try Namespaces.own("user"), home]
      // It alone has the socket, and so it alone decides when no client can connect any more.
      let listener = try listen(folders)
      BrokerLoop.adoptThread()
      try BrokerLoop.assumeIsolated {
        let broker = try Broker(
          try BrokerHost(folders: folders, home: home, namespaces: namespaces, privileged: privileged),
          listener: listener, signals: signals, idleLimit: idleLimit, hostMounts: host)
        try? ready?.writeAll(Array("\n".utf8))
        try broker.run()
        // Before its connections are closed: a client that is told so finds the place free.
        lock.giveBack()
        withExtendedLifetime(broker) {}
      }
      return 0
    } catch {
      let sentence = "\(error)"
      try? ready?.writeAll(Array("\(sentence)\n".utf8))
      complain("the broker cannot run: \(sentence)")
      return 125
    }
  }

  /// Where apps' sandboxes are made: in the namespaces of a broker that died, while apps of it are running (nowhere
  /// else can their mounts be changed), otherwise in new ones.
  ///
  /// - Returns: the mounts that the host had before; `nil` if this process has never been outside of those namespaces.
  private static func enterNamespaces(_ folders: AmbitFolders) throws -> HostMounts? {
    var host: HostMounts?
    // Else it was started by a launcher inside them, with the launcher's rights there.
    if !Namespaces.mayMount {
      host = try? HostMounts()
      if try !LauncherRecords(folders).joinNamespaces() { try becomeMountOwner() }
    }
    try Namespaces.ownProcEntries()
    return host
  }

  private static func becomeMountOwner() throws {
    do throws(KernelError) { try Namespaces.becomeMountOwner() } catch {
      throw StateError(
        "this system does not let an ordinary user make namespaces (\(error)); run “ambit doctor” to see why and what to do"
      )
    }
  }

  /// One broker a user: the holder of the lock. The kernel gives the lock back when the holder dies, in any way.
  ///
  /// - Returns: `nil` if another broker serves.
  private static func takePlace(_ folders: AmbitFolders) throws(KernelError) -> FileLock? {
    let file = try Descriptor.open(
      "\(folders.runtime)/\(AmbitFolders.lockName)", flags: [.readWrite, .create, .noFollow], mode: 0o600)
    let due = Clock.monotonic() + patience
    while true {
      if let lock = try FileLock(of: file) { return lock }
      // One that leaves takes no calls any more, and one that begins does not yet.
      if isServed(folders) || Clock.monotonic() > due { return nil }
      usleep(2_000)
    }
  }

  /// Nanoseconds that a broker takes at most which leaves.
  private static let patience: Int64 = 3_000_000_000

  private static func isServed(_ folders: AmbitFolders) -> Bool {
    do throws(KernelError) {
      let folder = try Descriptor.open(folders.runtime, flags: [.path, .directory])
      _ = try UnixSocket.connect(in: folder, name: AmbitFolders.socketName)
      return true
    } catch { return ![.noSuchFileOrDirectory, .connectionRefused].contains(error.errno) }
  }

  private static func listen(_ folders: AmbitFolders) throws(KernelError) -> Descriptor {
    let folder = try Descriptor.open(folders.runtime, flags: [.read, .directory])
    // Left by a broker that died; the lock says that none is alive.
    do throws(KernelError) { try folder.removeFile(AmbitFolders.socketName) } catch {
      if error.errno != .noSuchFileOrDirectory { throw error }
    }
    return try UnixSocket.listen(in: folder, name: AmbitFolders.socketName)
  }

  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    // RLIMIT_NOFILE
    guard unsafe getrlimit(7, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(7, &limit)
  }
}

/// Says something in the broker's log, in one line. Its file may be on a disk that is full, which is no reason to end.
func complain(_ sentence: String) {
  try? FileHandle.standardError.write(contentsOf: Data("ambit: \(sentence.withoutControls)\n".utf8))
}
