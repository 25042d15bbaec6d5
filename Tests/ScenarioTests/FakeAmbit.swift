import Foundation
import Scenario

/// A folder with a small shell script that stands for `ambit`, so that the runner's own logic can be tested without a
/// sandbox: `run` starts the program unconfined, `audit log` prints a prepared file, `broker stop` leaves a mark.
final class FakeAmbit {
  let folder: URL
  var ambit: String { folder.appendingPathComponent("ambit").path }
  var apps: String { folder.appendingPathComponent("apps").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("apps"), withIntermediateDirectories: true)
    try script(
      "ambit",
      """
      here=$(dirname "$0")
      echo "$*" >> "$here/calls"
      case "$1 $2" in
      "audit log") cat "$here/log" 2>/dev/null; exit 0 ;;
      "broker stop") echo stopped > "$here/broker"; exit 0 ;;
      "ps "*) printf '{"instances":[{"instance":"i7","pid":%s}]}\\n' "$(cat "$here/pid")"; exit 0 ;;
      "suspend "* | "resume "*) exit 0 ;;
      "say "*) shift; printf '%s\\n' "$*"; exit 0 ;;
      "fail "*) echo "ambit: this failed" >&2; exit 125 ;;
      esac
      test "$1" = run || exit 64
      shift
      while :; do
        case "$1" in
        --policy | --container) shift 2 ;;
        --answers) cat "$2" > "$here/answers"; shift 2 ;;
        *) break ;;
        esac
      done
      echo $$ > "$here/pid"
      exec "$@"
      """)
    try app("echo", "echo ok ready; while read -r line; do echo \"ok $line\"; done")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func app(_ name: String, _ body: String) throws { try script("apps/\(name)", body) }

  func write(_ name: String, _ text: String) throws {
    try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
  }

  func read(_ name: String) -> String? {
    try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  /// Written by another process: if this one had the file open for writing while some other test starts a program,
  /// that program would hold it open for a moment too, and running the script would fail with ETXTBSY.
  func script(_ name: String, _ body: String) throws {
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: "/bin/sh")
    writer.arguments = [
      "-c", "printf '%s' \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh", folder.appendingPathComponent(name).path,
      "#!/bin/sh\n\(body)\n",
    ]
    try writer.run()
    writer.waitUntilExit()
    guard writer.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Runs a scenario of one step with these actions, one a line.
  func run(_ actions: String, timeout: Double = 10, keep: Bool = false) throws -> ScenarioResult {
    try run(text: "title = \"t\"\ntimeout = \(timeout)\n[[step]]\nsay = \"s\"\ndo = [\n\(actions)\n]\n", keep: keep)
  }

  func run(text: String, keep: Bool = false, reporter: any ScenarioReporter = Silent()) throws -> ScenarioResult {
    let scenario = try ScenarioReader.read(text: text, file: "test.toml")
    let options = ScenarioRunner.Options(ambit: ambit, apps: apps, keepsScratch: keep)
    return try ScenarioRunner(options: options, reporter: reporter).run(scenario)
  }
}

final class Silent: ScenarioReporter {}

extension ScenarioResult {
  var checks: [Check] { steps.flatMap(\.checks) }
  var failure: CheckFailure? { checks.compactMap(\.failure).first }
  var evidence: [[String]] { checks.map(\.evidence) }
}
