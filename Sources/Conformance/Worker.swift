internal import Foundation
internal import Kernel
package import Scenario
package import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// One process of a run: takes scenarios from its standard input, a path a line, and answers each with its outcome.
///
/// A process of its own, because a run plays scenarios as another user than its own, and several at once.
package struct Worker {
  package var options: ScenarioRunner.Options
  package var user: String
  /// The adapter's name and program; nil: Ambit.
  package var adapter: (name: String, program: String)?
  /// The policy of a modelled column, for scenarios that name none.
  package var policy: String?

  package init(options: ScenarioRunner.Options, user: String) {
    self.options = options
    self.user = user
  }

  /// - Throws: ``Interrupted``.
  package func run(_ answer: (JSONObject) -> Void) throws {
    var connection: Adapter?
    if let adapter {
      do {
        connection = try Adapter(
          name: adapter.name, program: adapter.program, environment: ProcessInfo.processInfo.environment,
          folder: FileManager.default.temporaryDirectory.path)
      } catch let absence as NotApplicable {
        return answer(["absent": .string(absence.reason)])
      } catch let failure as CheckFailure {
        return answer(["absent": .string("the adapter does not work: \(failure.seen)")])
      }
    }
    defer { connection?.end() }
    answer(["ready": .string(connection?.version ?? "")])
    while let path = readLine() { answer(try play(path, connection).json) }
  }

  private func play(_ path: String, _ adapter: Adapter?) throws -> ScenarioOutcome {
    let item = try Suite.item(path)
    if let lack = Features.lack(of: item.scenario.features) {
      return ScenarioOutcome(notApplicable: item, user: user, "needs \(lack)")
    }
    let runner = ScenarioRunner(options: options, adapter: adapter, reporter: Silent())
    do {
      var results: [ScenarioResult] = []
      for variant in item.scenario.variants {
        var scenario = variant
        if scenario.policy == nil, let policy { scenario.policy = Template(text: policy) }
        results.append(try runner.run(scenario))
        if results.last?.isPassed == false { break }
      }
      return ScenarioOutcome(item, user: user, results: results)
    } catch let interruption as Interrupted {
      throw interruption
    } catch let failure as CheckFailure {
      return ScenarioOutcome(fault: item, user: user, failure.seen)
    } catch {
      return ScenarioOutcome(fault: item, user: user, "\(error)")
    }
  }

  private final class Silent: ScenarioReporter {}
}

/// Features of the machine that a scenario may need.
enum Features {
  /// The first feature that is not here.
  static func lack(of features: [String]) -> String? { features.first { !isHere($0) } }

  /// `program:NAME`, `fs:NAME`, `loop-devices`.
  private static func isHere(_ feature: String) -> Bool {
    let parts = feature.split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count > 1 ? parts[1] : nil) {
    case ("program", let name?):
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    case ("fs", let name?):
      let known = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
      return known.split { $0.isWhitespace }.contains { $0 == name }
    case ("loop-devices", nil): return FileManager.default.fileExists(atPath: "/dev/loop-control")
    default: return false
    }
  }
}
