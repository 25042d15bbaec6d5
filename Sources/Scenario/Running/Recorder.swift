import Foundation
internal import Wire

/// Makes a scenario of acts that are done by hand: each line is an action, which is carried out at once and kept with its result.
package final class Recorder {
  package enum Answer: Equatable, Sendable {
    /// Done and kept: the line as the scenario has it, and the evidence.
    case kept(String, evidence: [String])
    /// Not kept, and why.
    case refused(String)
  }

  private var reader: ScenarioReader
  private let play: Play
  private let title: String
  private let policy: String?
  private var steps: [(say: String, lines: [String])] = []

  private final class Silent: ScenarioReporter {}

  /// - Throws: ``KernelError`` when the scratch folder cannot be made.
  package init(title: String, policy: String?, file: String, options: ScenarioRunner.Options) throws {
    self.title = title
    self.policy = policy
    reader = ScenarioReader(file: file)
    Interruption.ignoreBrokenPipes()
    var scenario = Scenario(file: file, title: title)
    scenario.policy = policy.map { Template(text: $0) }
    play = Play(scenario: scenario, stage: try Stage(), options: options, adapter: nil, reporter: Silent())
  }

  /// Begins a step.
  package func say(_ text: String) { steps.append((text, [])) }

  /// Carries out one action: a line such as `app = "editor", read = "${letter}"`, with braces or without.
  ///
  /// An act that is refused is kept with `fails`, a text that was read with `expect`: what was seen is what is expected from then on.
  ///
  /// - Throws: ``Interrupted``.
  package func perform(_ line: String) throws -> Answer {
    var text = line.trimmingCharacters(in: .whitespaces)
    if text.hasPrefix("{"), text.hasSuffix("}") { text = String(text.dropFirst().dropLast()) }
    text = text.trimmingCharacters(in: .whitespaces)
    let before = reader
    do {
      let action = try read(text)
      var check = try play.check(action)
      if let failure = check.failure {
        guard case .act(let act) = action.verb, act.answer.errors == nil, let error = Self.symbol(failure.seen) else {
          reader = before
          return .refused("expected \(failure.expected); seen \(failure.seen)")
        }
        text += ", fails = \"\(error)\""
        check.evidence = [error]
      } else if case .act(let act) = action.verb, Self.isTold(act), let seen = play.lastText, !seen.isEmpty {
        text += ", expect = \(TOMLText.quoted(seen))"
      }
      if steps.isEmpty { steps.append(("The first step.", [])) }
      steps[steps.count - 1].lines.append("{ \(text) }")
      return .kept("{ \(text) }", evidence: check.evidence)
    } catch let error as ScenarioError {
      reader = before
      return .refused(error.message)
    } catch let error as NotApplicable {
      reader = before
      return .refused(error.reason)
    }
  }

  /// Texts of files, which are the same in every play; paths, numbers and seals are not.
  private static func isTold(_ act: Act) -> Bool {
    act.answer.expect == .anything && ["read", "list", "read_link", "held_read"].contains(act.word.word)
  }

  private static func symbol(_ seen: String) -> String? {
    let word = String(seen.prefix { $0.isUppercase || $0.isNumber })
    return word.count > 1 ? word : nil
  }

  private func read(_ text: String) throws(ScenarioError) -> Action {
    let root = try TOMLFile.parse("do = [{ \(text) }]\n", file: "this line")
    var fields = try Fields(root, file: "this line", what: "a line")
    let actions = try reader.actions(&fields, "do")
    guard let action = actions.first else { throw fields.problem("nothing stands here") }
    return action
  }

  /// The scenario as recorded so far.
  package var text: String {
    var text = "title = \(TOMLText.quoted(title))\n"
    if let policy { text += "policy = \(TOMLText.quoted(policy))\n" }
    for step in steps where !step.lines.isEmpty {
      text += "\n[[step]]\nsay = \(TOMLText.quoted(step.say))\ndo = [\n"
      text += step.lines.map { "  \($0),\n" }.joined() + "]\n"
    }
    return text
  }

  package var isEmpty: Bool { steps.allSatisfy { $0.lines.isEmpty } }

  /// Ends everything that was started.
  package func end() -> [String] { play.cleanUp() }
}
