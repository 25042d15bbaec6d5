import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// What every part needs: where Ambit is, and a place for the files.
///
/// The files are in /var/tmp and not in the checkout: the path to a document is then about as long outside a sandbox
/// as inside, so that nobody is measured for the folders on the way.
struct Bench {
  /// The programs that were built: ambit and inside.
  let ambit: String
  let inside: String
  let scratch: String
  var environment: [String: String]

  init(ambit: String, inside: String) throws {
    self.ambit = ambit
    self.inside = inside
    let parent = ProcessInfo.processInfo.environment["AMBIT_BENCH_DIR"] ?? "/var/tmp"
    var template = Array("\(parent)/ambit-bench-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Unavailable("cannot make a folder in \(parent)") }
    scratch = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    environment = ProcessInfo.processInfo.environment
    // The user's own grants and log have no part in this.
    environment["AMBIT_HOME"] = scratch + "/home"
  }

  /// Runs `inside` in a sandbox, with these documents to be picked in this order, and answers the lines that it wrote.
  func insideSandbox(_ arguments: [String], picks: [String]) throws -> [String] {
    try Child.lines(
      sandboxed(arguments, picks: picks), environment: environment, errors: scratch + "/errors")
  }

  func sandboxed(_ arguments: [String], picks: [String]) -> [String] {
    [ambit, "run"] + picks.flatMap { ["--pick", $0] } + [inside] + arguments
  }

  func folder(_ name: String) throws -> String {
    let path = "\(scratch)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// Stops the broker that was used, and removes the files. A mount that is still there would hand the documents behind it over to the removal.
  func clear() {
    _ = try? Child([ambit, "broker", "stop"], environment: environment).wait()
    let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    guard !mounts.contains(" \(scratch)/") else {
      progress("something is still mounted in \(scratch), so it is left there")
      return
    }
    try? FileManager.default.removeItem(atPath: scratch)
  }
}
