internal import Folders
internal import Kernel
internal import Sandbox
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Sees what an app is refused, while it runs: says so in the audit log, with what would have granted it, and to the user if
/// they asked for it (`SBX-16`).
///
/// On a thread of its own: the app waits at each of these calls, and must not wait as long as its user looks at a picker.
/// A refusal is in the log before the app hears of it.
final class Observer: Sendable {
  private let listener: SeccompListener
  private let rules: AccessRules
  private let instance: String
  private let folders: AmbitFolders
  private let trace: Bool
  private let status: StatusStream?

  init(
    _ listener: Descriptor, plan: SandboxPlan, instance: String, folders: AmbitFolders, trace: Bool,
    status: StatusStream?
  ) {
    self.listener = SeccompListener(listener)
    rules = AccessRules(plan)
    self.instance = instance
    self.folders = folders
    self.trace = trace
    self.status = status
  }

  /// Answers until the last process of the sandbox is gone.
  func run() {
    var log = DenialLog(now: Clock.monotonic())
    var broker: WireClient?
    while true {
      var entries = [PollEntry(listener.descriptor, .read)]
      guard (try? Poll.wait(&entries)) != nil, entries[0].returned.contains(.read) else { break }
      guard let call = try? listener.next() else { continue }
      guard let refusal = refusal(of: call) else {
        listener.answer(call, nil)
        continue
      }
      // What was read must have been the caller's: a number may have passed to another process meanwhile.
      guard listener.isWaiting(call) else { continue }
      let key = DenialLog.Refusal(operation: refusal.operation, subject: refusal.subject ?? "\(call.number)")
      if let suppressed = log.take(key, now: Clock.monotonic()) {
        report(refusal, call, suppressed: suppressed, &broker)
      }
      listener.answer(call, refusal.denial.errno)
    }
    if log.suppressed > 0 { reportSuppressed(log.suppressed, &broker) }
  }

  private struct Refusal {
    let operation: String
    let subject: String?
    let denial: Denial
  }

  private func refusal(of call: SeccompListener.Notification) -> Refusal? {
    switch call.kind {
    case .open: return open(call, path: 0, from: nil, flags: call.arguments[1])
    case .create: return open(call, path: 0, from: nil, flags: UInt64(O_CREAT | O_WRONLY | O_TRUNC))
    case .openAt:
      let folder = Int32(truncatingIfNeeded: call.arguments[0])
      return open(call, path: 1, from: folder == AT_FDCWD ? nil : folder, flags: call.arguments[2])
    case .connect: return connect(call)
    case .socket:
      let family = SocketFamily.name(UInt32(truncatingIfNeeded: call.arguments[0]))
      return Refusal(operation: "socket", subject: family, denial: rules.denial(ofSocketFamily: family))
    case .other: return Refusal(operation: "call", subject: nil, denial: AccessRules.filtered)
    }
  }

  private func open(_ call: SeccompListener.Notification, path: Int, from folder: Int32?, flags: UInt64) -> Refusal? {
    let operation: AccessOperation =
      flags & UInt64(O_CREAT) != 0
      ? .create
      : flags & UInt64(O_ACCMODE) == UInt64(O_RDONLY) && flags & UInt64(O_TRUNC) == 0
        ? .read : .write
    return refusal(operation, at: call.arguments[path], from: folder, of: call)
  }

  private func connect(_ call: SeccompListener.Notification) -> Refusal? {
    guard call.arguments[2] > 3, call.arguments[2] <= 110,
      let address = listener.bytes(at: call.arguments[1], count: Int(call.arguments[2]), of: call), address.count > 3,
      address[0] == UInt8(AF_UNIX), address[1] == 0, address[2] != 0
    else { return nil }
    return refusal(.connect, path: Array(address[2...].prefix { $0 != 0 }), from: nil, of: call)
  }

  private func refusal(
    _ operation: AccessOperation, at address: UInt64, from folder: Int32?, of call: SeccompListener.Notification
  ) -> Refusal? {
    guard let path = listener.path(at: address, of: call) else { return nil }
    return refusal(operation, path: path, from: folder, of: call)
  }

  private func refusal(
    _ operation: AccessOperation, path: [UInt8], from folder: Int32?, of call: SeccompListener.Notification
  ) -> Refusal? {
    guard let found = ObservedPath(path, from: folder, thread: call.thread),
      let denial = rules.denial(of: operation, at: found.path, found.presence)
    else { return nil }
    return Refusal(operation: operation.rawValue, subject: found.path, denial: denial)
  }

  // MARK: Saying so

  private func report(
    _ refusal: Refusal, _ call: SeccompListener.Notification, suppressed: Int, _ broker: inout WireClient?
  ) {
    let message = LauncherInterface.DeniedCall(
      instance: instance, operation: refusal.operation, path: refusal.subject,
      call: refusal.subject == nil ? Int(call.number) : nil, error: refusal.denial.code.rawValue,
      rule: refusal.denial.rule, reason: refusal.denial.reason, remedy: refusal.denial.remedy, suppressed: suppressed)
    let name = send(message, &broker)
    status?.denied(message, name: name)
    guard trace else { return }
    Trace.show(
      refused: refusal.subject ?? name ?? "call \(call.number)", operation: refusal.operation, refusal.denial)
  }

  private func reportSuppressed(_ count: Int, _ broker: inout WireClient?) {
    let message = LauncherInterface.DeniedCall(
      instance: instance, operation: "more", path: nil, call: nil, error: "", rule: "SBX-16",
      reason: "refused as before, or too often to be noted one by one", remedy: "", suppressed: count)
    _ = send(message, &broker)
    status?.denied(message, name: nil)
    if trace { Trace.show(suppressed: count) }
  }

  /// - Returns: the name of the call, which the broker knows.
  private func send(_ message: LauncherInterface.DeniedCall, _ broker: inout WireClient?) -> String? {
    // The broker may have been replaced since.
    for _ in 1...2 {
      if broker == nil { broker = try? BrokerConnection.existing(folders) }
      guard let client = broker else { return nil }
      do {
        let answer = try client.call(LauncherInterface.denied, message.json)
        return try LauncherInterface.DeniedReply(json: answer.parameters).name
      } catch { broker = nil }
    }
    return nil
  }
}

extension Denial {
  fileprivate var errno: Errno {
    switch code {
    case .notPermitted: .notPermitted
    case .familyNotSupported: .addressFamilyNotSupported
    }
  }
}
