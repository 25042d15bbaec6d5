internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess
internal import UserFiles

#if canImport(Glibc)
  internal import Glibc
#endif

/// The machine and the user that a broker serves.
struct BrokerHost {
  let folders: AmbitFolders
  let rules: GrantRules
  /// The broker's own mount namespace, to come back to.
  let home: Descriptor
  /// Where apps' sandboxes are made: the broker's own user and mount namespace, if it has them.
  let namespaces: [Descriptor]
  let privileged: Bool
  /// The kernel's name for the time since the machine was started.
  let boot: String
  /// The folder of all instances' staging folders.
  let staging: Descriptor
  let trash: TrashRule
  let kernel: KernelEdge
  let clock: any LoopClock

  init(
    folders: AmbitFolders, home: Descriptor, namespaces: [Descriptor], privileged: Bool,
    kernel: KernelEdge = KernelEdge(), clock: any LoopClock = SystemClock()
  ) throws {
    self.folders = folders
    rules = folders.grantRules
    self.home = home
    self.namespaces = namespaces
    self.privileged = privileged
    boot = String(
      decoding: try Descriptor.open("/proc/sys/kernel/random/boot_id", flags: .read).readLine(), as: UTF8.self)
    staging = try Descriptor.open(folders.staging, flags: [.read, .directory, .noFollow])
    let fallback = "\(rules.home == "/" ? "" : rules.home)/.local/share"
    let named = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
    trash = TrashRule(dataHomes: [named, fallback].compactMap { $0 }, user: getuid())
    self.kernel = kernel
    self.clock = clock
  }

  /// Whether something lies on a volume that stays mounted: the system's, or that of the user's home, as they are mounted now.
  func isStaying(_ descriptor: Descriptor) -> Bool {
    guard let device = try? descriptor.status().device else { return false }
    return ["/", rules.home].contains { place in
      (try? Descriptor.open(place, flags: [.path, .directory]).status().device) == device
    }
  }

  func container(of app: String) -> String { "\(folders.containers)/\(app)" }

  func containers() throws(KernelError) -> Descriptor {
    try Descriptor.open(folders.containers, flags: [.read, .directory, .noFollow])
  }

  /// The container's path as the kernel has it: none of its folders is a link, which the state folder's own path may have.
  func realContainer(of app: String) -> String { openContainer(app)?.currentPath ?? container(of: app) }

  func openContainer(_ app: String) -> Descriptor? {
    try? Descriptor.open(app, below: containers(), flags: [.read, .directory, .noFollow])
  }
}
