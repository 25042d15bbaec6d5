import CPeers
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// An xdg-document-portal on a bus of its own, in a runtime folder of its own: nothing of the user's session is touched.
final class Portal {
  private let daemon: Child
  private let bus: Int32
  private let runtime: String
  /// Where its file system is mounted.
  let mountPoint: String

  init(scratch: String, environment: [String: String]) throws {
    let needed = ["dbus-daemon", "fusermount3"]
    let lacking = needed.filter { find($0) == nil }
    let service = ["/usr/libexec", "/usr/lib"].contains { access("\($0)/xdg-document-portal") }
    guard lacking.isEmpty, service, let program = find("dbus-daemon") else {
      throw Unavailable(
        "the document portal is not installed, so nothing is compared with it; where there is apt: apt-get install --yes xdg-desktop-portal dbus fuse3"
      )
    }
    guard unsafe Glibc.access("/dev/fuse", R_OK | W_OK) == 0 else {
      throw Unavailable("the document portal needs /dev/fuse, which this user may not open (or is not there)")
    }
    runtime = "\(scratch)/portal-\(UInt16.random(in: 0...UInt16.max))"
    try FileManager.default.createDirectory(
      atPath: runtime + "/data", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: runtime)

    var environment = environment
    environment["XDG_RUNTIME_DIR"] = runtime
    environment["XDG_DATA_HOME"] = runtime + "/data"
    environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(runtime)/bus"
    daemon = try Child(
      [program, "--session", "--nofork", "--nopidfile", "--address=unix:path=\(runtime)/bus"],
      environment: environment, errors: runtime + "/log")

    var connection: Int32 = -1
    for _ in 0..<200 where connection < 0 {
      connection = unsafe cportal_connect(runtime + "/bus")
      if connection < 0 { usleep(10_000) }
    }
    bus = connection
    var answer = [CChar](repeating: 0, count: 4096)
    let result = connection < 0 ? connection : unsafe cportal_mount_point(connection, &answer, answer.count)
    mountPoint = text(answer)
    if result < 0 {
      close()
      throw Unavailable("the document portal did not start: \(mountPoint.isEmpty ? "no bus" : mountPoint)")
    }
  }

  /// Lets an app read and write the file, for good. Answers the document's id.
  func grant(_ path: String) throws -> String {
    var answer = [CChar](repeating: 0, count: 256)
    let result = unsafe cportal_grant(bus, path, "org.example.Editor", &answer, answer.count)
    if result < 0 { throw Unavailable("the document portal refused \(path): \(text(answer))") }
    return text(answer)
  }

  /// Ends the bus, and with it the portal. Its mount has to be gone before anybody clears the folder: deleting
  /// through it would delete the documents themselves.
  func close() {
    if bus >= 0 { _ = Glibc.close(bus) }
    daemon.stop()
    for _ in 0..<200 where isMounted { usleep(10_000) }
    if isMounted, let program = find("fusermount3") {
      _ = try? Child([program, "-u", "-z", runtime + "/doc"]).wait()
    }
  }

  var isMounted: Bool {
    let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    return mounts.contains(" \(runtime)/doc ")
  }
}

private func text(_ characters: [CChar]) -> String {
  String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Where a program is on PATH, or where systems hide it from users.
func find(_ program: String) -> String? {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
  let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/bin"]
  return folders.map { "\($0)/\(program)" }.first(where: access)
}

private func access(_ path: String) -> Bool { unsafe Glibc.access(path, X_OK) == 0 }
