internal import Kernel
internal import Sandbox
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Connects in an app's place, and only to permitted addresses.
///
/// A filter cannot see where a connection goes, and the app can change the memory that the filter looked at before the kernel
/// looks. So no checked value is left to the app: the address is copied once, the socket is taken as an open file, and the path is
/// followed to an open file inside the app's root. These are connected. Changes that the app makes meanwhile have no effect.
final class Connector: Sendable {
  private let listener: SeccompListener
  private let rules: AccessRules
  /// The app's identity on the host, where it has one of its own.
  private let hostID: UInt32?
  private let observer: Observer?
  /// The mounts of the sandbox's own places, once they have been looked for.
  private let ownMounts = Mutex<Set<UInt64>?>(nil)

  /// - Parameter observer: explains paths at which there is nothing; `nil`: the kernel's answer will do.
  init(_ listener: SeccompListener, plan: SandboxPlan, observer: Observer?) {
    self.listener = listener
    rules = AccessRules(plan)
    hostID = plan.hostID
    self.observer = observer
  }

  enum Decision {
    /// The app's socket, the address for the kernel, and the open file through which that address leads.
    case connect(Descriptor, to: [UInt8], through: Descriptor?)
    case fail(Errno)
    case refuse(Refusal)
    /// The caller has gone.
    case none
  }

  func decide(_ call: SeccompListener.Notification) -> Decision {
    do throws(KernelError) {
      let socket = try listener.descriptor(Int32(truncatingIfNeeded: call.arguments[0]), of: call)
      let kind = try SocketKind(of: socket)
      let length = Int(Int32(truncatingIfNeeded: call.arguments[2]))
      guard (0...Self.longestAddress).contains(length) else { return .fail(.invalidArgument) }
      var address: [UInt8] = []
      if length > 0 {
        guard let bytes = listener.bytes(at: call.arguments[1], count: length, of: call), bytes.count == length else {
          return .fail(.badAddress)
        }
        address = bytes
      }
      // A number may have passed to another process meanwhile, and with it the memory.
      guard listener.isWaiting(call) else { return .none }
      return try decide(call, socket, kind, address)
    } catch {
      switch error.errno {
      case .noSuchProcess: return .none
      // Ambit's own limits, and not the app's.
      case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: return .fail(.resourceTemporarilyUnavailable)
      default: return .fail(error.errno)
      }
    }
  }

  /// Does it. It may take as long as the other side likes.
  func connect(
    _ socket: Descriptor, to address: [UInt8], through: Descriptor?, for call: SeccompListener.Notification
  ) {
    // The other side sees the connecting process (`SO_PEERCRED`), and the kernel checks its permission.
    let result = Result { () throws(KernelError) in
      try ThreadIdentity.acting(as: hostID) { listener.connect(socket, to: address, for: call) }
    }
    if case .failure(let error) = result { listener.finish(call, error.errno) }
    withExtendedLifetime(through) {}
  }

  /// `struct sockaddr_storage`, and `struct sockaddr_un`.
  private static let longestAddress = 128
  private static let longestUnixAddress = 110

  private func decide(
    _ call: SeccompListener.Notification, _ socket: Descriptor, _ kind: SocketKind, _ address: [UInt8]
  ) throws(KernelError) -> Decision {
    switch kind.family {
    case .other(let number):
      let name = SocketFamily.name(UInt32(bitPattern: number))
      return refuse(name, rules.denial(ofSocketFamily: name))
    case .internet:
      if let denial = rules.denialOfInternet { return refuse("an internet address", denial) }
      return .connect(socket, to: address, through: nil)
    case .unix:
      guard address.count > 2, address[..<2].elementsEqual(Self.unixFamily) else {
        // No name of a socket: the kernel reports the error.
        return .connect(socket, to: address, through: nil)
      }
      guard address.count <= Self.longestUnixAddress else { return .fail(.invalidArgument) }
      guard address[2] != 0 else {
        let name = "@" + String(decoding: address[3...], as: UTF8.self)
        if let denial = rules.denialOfAbstractSockets { return refuse(name, denial) }
        return .connect(socket, to: address, through: nil)
      }
      return try follow(Array(address[2...].prefix { $0 != 0 }), call, socket)
    }
  }

  private static let unixFamily = unsafe withUnsafeBytes(of: UInt16(AF_UNIX)) { unsafe Array($0) }

  private func refuse(_ subject: String, _ denial: Denial) -> Decision {
    .refuse(Refusal(operation: AccessOperation.connect.rawValue, subject: subject, denial: denial))
  }

  // MARK: Paths

  private func follow(
    _ path: [UInt8], _ call: SeccompListener.Notification, _ socket: Descriptor
  ) throws(KernelError) -> Decision {
    let root = try Descriptor.open("/proc/\(call.thread)/root", flags: [.path, .directory])
    let whole = try AppPath.whole(path, call.thread)
    // Only this check tells to which process the root belongs.
    guard listener.isWaiting(call) else { return .none }
    guard whole.count < Int(PATH_MAX) else { return .fail(.fileNameTooLong) }
    let found: Descriptor
    do throws(KernelError) {
      found = try ThreadIdentity.acting(as: hostID) { () throws(KernelError) in
        try Descriptor.open(bytes: whole, below: root, flags: .path, resolve: [.inRoot, .noMagicLinks])
      }
    } catch {
      if let refusal = observer?.refusal(.connect, path: path, from: nil, of: call) { return .refuse(refusal) }
      return .fail(error.errno)
    }
    guard try found.status().isSocket else { return .fail(.connectionRefused) }
    guard let mount = found.mount, own(below: root).contains(mount) else {
      let place = String(kernel: try Descriptor.linkBytes("/proc/self/fd/\(found.rawValue)"))
      return refuse(place, rules.denial(ofSocketAt: place))
    }
    // By the open file, and no path of the app's.
    let address = Self.unixFamily + Array("/proc/self/fd/\(found.rawValue)".utf8) + [0]
    return .connect(socket, to: address, through: found)
  }

  /// An app cannot mount, nor change its root: the result stays valid.
  private func own(below root: Descriptor) -> Set<UInt64> {
    ownMounts.withLock { known in
      if let known { return known }
      let mounts = rules.ownPlaces.compactMap { place in
        try? Descriptor.open(place, below: root, flags: .path, resolve: [.inRoot, .noSymlinks]).mount
      }
      known = Set(mounts)
      return Set(mounts)
    }
  }
}
