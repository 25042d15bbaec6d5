import Foundation

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Far from those of people and services.
  private static let user: uid_t = 61_234

  /// The same part as an ordinary user measures it, for whom the kernel opens no document by its handle: by this program again, with
  /// a home of its own. Only root can ask for that.
  func asOrdinaryUser(_ part: String) -> [Row] {
    let parent = ProcessInfo.processInfo.environment["AMBIT_BENCH_DIR"] ?? "/var/tmp"
    var template = Array("\(parent)/ambit-user-XXXXXX".utf8CString)
    do {
      guard unsafe mkdtemp(&template) != nil else { throw Unavailable("cannot make a folder in \(parent)") }
      let home = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      defer { try? FileManager.default.removeItem(atPath: home) }
      guard unsafe chown(home, Self.user, Self.user) == 0 else { throw Unavailable("cannot give \(home) to a user") }
      var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("XDG_") }
      environment.merge(["HOME": home, "AMBIT_BENCH_DIR": home, "FORMAT": "json"]) { _, own in own }
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let command = ["/usr/bin/setpriv", "--reuid", "\(Self.user)", "--regid", "\(Self.user)", "--clear-groups"]
      progress("\(part), as an ordinary user")
      return try Child.lines(
        command + [program, ambit, inside, part], environment: environment, errors: scratch + "/errors"
      ).map { line in
        var row = try JSONDecoder().decode(Row.self, from: Data(line.utf8))
        row.measure = "as an ordinary user: \(row.measure)"
        return row
      }
    } catch {
      return [Row(part, "as an ordinary user", unit: "µs", ambit: nil, note: "\(error)")]
    }
  }
}
