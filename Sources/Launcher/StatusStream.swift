internal import Kernel
internal import Sandbox
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `--json-status-fd`: the events of a launch, for the programs that started it. One JSON object a line, each written whole.
///
/// | event | fields |
/// | --- | --- |
/// | `degraded` | `layers`: `layer`, `enforcement`, `reason`, `allowed` (by the user) of each that holds less than it should |
/// | `started` | `instance`, `pid` (of the sandbox's init, on the host), `namespaces` (kind to inode; `mnt` always) |
/// | `failed` | `reason`, `status`: the app could not be started |
/// | `granted` | `how`, `documents` (host paths) |
/// | `copying` | `how`, `mode` (`import`, `export`, `move`), `documents`: the originals, or the folder for the copies |
/// | `cancelled` | `how` |
/// | `denied` | `operation`, `path` or `call`, `errno`, `rule`, `reason`, `remedy`, `suppressed` |
/// | `limit` | `limit` (the policy's key), `value`, `ceiling` (bytes, seconds or files), `reason`: what ended the app |
/// | `ended` | `reason`: why the broker ended the app, or what became of its init |
/// | `leaked` | `document` (host path), `count`, `since`, `caller`: a scope that was still started when the app ended, or before, when a process of it did; `process`: its number inside |
/// | `exited` | `status` |
/// | `signalled` | `signal`, `status` |
final class StatusStream: Sendable {
  private let descriptor: Descriptor

  /// - Parameter number: an open descriptor of the caller's; the app does not get it.
  init(number: Int32) throws(Failure) {
    do throws(KernelError) {
      // A copy that no program inside inherits; and a reader that has gone is not the app's business.
      descriptor = Descriptor(
        owning: try KernelError.check("fcntl", "F_DUPFD_CLOEXEC, \(number)") { fcntl(number, F_DUPFD_CLOEXEC, 10) })
      try KernelError.check("fcntl", "F_SETFD, \(number)") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    } catch {
      throw Failure(
        "--json-status-fd \(number): is not an open descriptor (\(error.errno)). Open it first, as in 3>status.json.")
    }
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, nil)
  }

  func send(_ event: String, _ fields: JSONObject = [:]) {
    var json: JSONObject = ["event": .string(event)]
    for field in fields.fields { json[field.name] = field.value }
    try? descriptor.writeAll(Array((printableJSON(json.text) + "\n").utf8))
  }

  /// - Parameter mountNamespace: as the sandbox's init handed it over. The others are told where this process may see them: the
  ///   init lets no ordinary user look into it.
  func started(instance: String, pid: Int32, mountNamespace: Descriptor?) {
    var namespaces = JSONObject()
    if let status = try? mountNamespace?.status() { namespaces["mnt"] = .int(Int64(bitPattern: status.inode)) }
    for kind in ["user", "mnt", "pid", "ipc", "uts", "cgroup", "net"] {
      guard let status = try? Descriptor.open("/proc/\(pid)/ns/\(kind)", flags: .path).status() else { continue }
      namespaces[kind] = .int(Int64(bitPattern: status.inode))
    }
    send("started", ["instance": .string(instance), "pid": JSONValue(Int(pid)), "namespaces": .object(namespaces)])
  }

  func degraded(_ layers: [LauncherInterface.DegradedLayer]) {
    send("degraded", ["layers": .array(layers.map { .object($0.json) })])
  }

  /// - Parameter name: of the system call.
  func denied(_ message: LauncherInterface.DeniedCall, name: String?) {
    var fields: JSONObject = [
      "operation": .string(message.operation), "errno": .string(message.error), "rule": .string(message.rule),
      "reason": .string(message.reason), "remedy": .string(message.remedy), "suppressed": JSONValue(message.suppressed),
    ]
    fields.set("path", message.path)
    fields.set("call", name)
    send("denied", fields)
  }

  func leaked(_ scope: LauncherInterface.Scope) {
    var fields: JSONObject = [
      "document": .string(scope.host), "process": JSONValue(scope.process), "count": JSONValue(scope.count),
      "since": .string(scope.since),
    ]
    fields.set("caller", scope.caller)
    send("leaked", fields)
  }

  func ended(status: Int32, signal: Int32) {
    if signal == 0 {
      send("exited", ["status": JSONValue(Int(status))])
    } else {
      send("signalled", ["signal": JSONValue(Int(signal)), "status": JSONValue(Int(128 + signal))])
    }
  }
}
