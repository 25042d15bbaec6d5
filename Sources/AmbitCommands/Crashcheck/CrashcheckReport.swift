internal import CrashRecorder
internal import CrashStates
internal import Foundation
internal import Kernel
internal import Paths
internal import Terminal
internal import Wire

/// The result of `ambit crashcheck`, for people and for programs.
struct CrashcheckReport {
  let result: CrashcheckResult
  let program: [String]

  /// Rows of a story that are shown.
  private static let mostRows = 16

  // MARK: - For people

  func pretty(_ style: Style, width: Int) -> String {
    var text = style.bold(printable(program.joined(separator: " "))) + "\n"
    text += style.dim("\(ending); \(recording.trace.steps.count) steps, \(acknowledged)") + "\n"
    text += style.dim(coverage) + "\n\n"
    text += verdicts(style, width)
    for verdict in [Verdict.torn, .lost, .missing] {
      guard let (state, observation) = result.worst[verdict] else { continue }
      text += "\n" + story(verdict, state, observation, style, width)
    }
    if let kills = result.kills {
      let all = kills.values.reduce(0, +)
      text += "\nKilled before each of its \(all) calls: "
      text +=
        Verdict.allCases.filter { kills[$0] ?? 0 > 0 }.map { paint($0, "\(kills[$0] ?? 0) \($0.rawValue)", style) }
        .joined(separator: ", ") + "\n"
      if let kill = result.harmfulKill {
        text += "The first harm is done before call \(kill.call): \(kill.verdict.rawValue).\n"
      }
    }
    for remark in recording.remarks {
      for line in wrapped("note: \(printable(remark))", to: width) { text += style.dim(line) + "\n" }
    }
    for gap in result.gaps {
      for line in wrapped("incomplete: \(printable(gap))", to: width) { text += style.yellow(line) + "\n" }
    }
    return text
  }

  private var recording: Recording { result.recording }

  private var ending: String {
    switch recording.ending {
    case .exit(0): "ended with 0, which acknowledges the save"
    case .exit(let status): "ended with \(status), which acknowledges nothing"
    case .signal(let signal): "ended by signal \(signal), which acknowledges nothing"
    case .killed: "was killed"
    }
  }

  private var acknowledged: String {
    let count = recording.trace.acknowledgements
    return count == 1 ? "1 acknowledgement" : "\(count) acknowledgements"
  }

  private var coverage: String {
    let states = "\(result.states.formatted()) states at \(result.moments.formatted()) moments"
    return result.isExhaustive
      ? "\(states): all that the model allows" : "\(states), chosen from \(Self.large(result.possible)) possibilities"
  }

  private static func large(_ number: Double) -> String {
    number < 1e7 ? Int(number).formatted() : "about 10^\(Int(log10(number)))"
  }

  private func paint(_ verdict: Verdict, _ text: String, _ style: Style) -> String {
    verdict.isHarmful ? style.red(text) : style.green(text)
  }

  private func verdicts(_ style: Style, _ width: Int) -> String {
    let table = Table(
      [Table.Column("VERDICT"), Table.Column("STATES", alignment: .trailing), Table.Column("MEANING")], style: style,
      width: width)
    return table.render(
      Verdict.allCases.map { verdict in
        let count = result.counts[verdict] ?? 0
        let color: Style.Attribute = count == 0 ? .dim : verdict.isHarmful ? .red : .green
        return [
          Table.Cell(verdict.rawValue, color), Table.Cell(count.formatted(), color), Table.Cell(verdict.meaning, .dim),
        ]
      })
  }

  private func story(
    _ verdict: Verdict, _ state: CrashState, _ observation: Observation, _ style: Style, _ width: Int
  ) -> String {
    let story = Story(state)
    var text = "\(style.red("✘")) \(style.bold(verdict.headline)) \(style.dim("state \(state.digest.short)"))\n"
    let table = Table(
      [
        Table.Column("STEP", alignment: .trailing), Table.Column("OPERATION", keeping: .start),
        Table.Column("ON THE DISK"),
      ], style: style, width: width)
    var rows = story.rows
    var hidden = 0
    // Steps that are there are the least telling, the first ones first.
    while rows.count > Self.mostRows, let place = rows.firstIndex(where: { !$0.isLoss }) {
      hidden += rows[place].count
      rows.remove(at: place)
    }
    if rows.count > Self.mostRows { rows = Array(rows.suffix(Self.mostRows)) }
    text += table.render(
      rows.map { row in
        [
          Table.Cell("\(row.step + 1)"), Table.Cell(row.count > 1 ? "\(row.text) (\(row.count) times)" : row.text),
          row.isLoss ? Table.Cell(row.fate.words, .red) : Table.Cell(row.fate.words, .green),
        ]
      })
    if hidden > 0 { text += style.dim("      and \(hidden) earlier steps that are on the disk") + "\n" }
    text += style.yellow("   ⚡ crash") + " " + style.dim(found(state, observation)) + "\n"
    return text
  }

  private func found(_ state: CrashState, _ observation: Observation) -> String {
    switch observation {
    case .absent: "there is no document"
    case .unreadable(let reason): printable(reason)
    case .content:
      if let document = result.document, case .node(let id) = state.tree.find(document), let size = state.size(of: id) {
        "the document has \(size.formatted()) bytes"
      } else {
        "the document can be read"
      }
    }
  }

  // MARK: - For programs

  var json: JSONObject {
    var verdicts = JSONObject()
    for verdict in Verdict.allCases { verdicts[verdict.rawValue] = .int(Int64(result.counts[verdict] ?? 0)) }
    var object: JSONObject = [
      "program": .array(program.map { .string($0.repaired) }), "ending": .string(ending),
      "steps": .int(Int64(recording.trace.steps.count)), "calls": .int(Int64(recording.calls)),
      "acknowledgements": .int(Int64(recording.trace.acknowledgements)),
      "moments": .int(Int64(result.moments)), "states": .int(Int64(result.states)),
      "possible": .double(result.possible), "exhaustive": .bool(result.isExhaustive), "verdicts": .object(verdicts),
      "versions": .int(Int64(result.versions.all.count)),
      "incomplete": .array(result.gaps.map { .string($0.repaired) }),
      "remarks": .array(recording.remarks.map { .string($0.repaired) }),
      "stories": .array(stories),
    ]
    if let kills = result.kills {
      var counts = JSONObject()
      for verdict in Verdict.allCases { counts[verdict.rawValue] = .int(Int64(kills[verdict] ?? 0)) }
      object["kills"] = .object(counts)
    }
    return object
  }

  private var stories: [JSONValue] {
    [Verdict.torn, .lost, .missing].compactMap { verdict in
      guard let (state, observation) = result.worst[verdict] else { return nil }
      let rows = Story(state).rows.map { row -> JSONValue in
        [
          "step": .int(Int64(row.step + 1)), "count": .int(Int64(row.count)),
          "operation": .string(row.text.repaired), "onDisk": .string(row.fate.words),
        ]
      }
      return [
        "verdict": .string(verdict.rawValue), "state": .string(state.digest.short),
        "found": .string(found(state, observation).repaired), "rows": .array(rows),
      ]
    }
  }
}

extension Verdict {
  var meaning: String {
    switch self {
    case .wholeOld: "the document as it was before the save"
    case .wholeNew: "the document as it was saved"
    case .torn: "the document is no content that was ever whole"
    case .lost: "a save that was acknowledged is gone"
    case .missing: "there is no document"
    }
  }

  var headline: String {
    switch self {
    case .torn: "The shortest way to a torn document"
    case .lost: "The shortest way to a lost save"
    case .missing: "The shortest way to no document"
    case .wholeOld, .wholeNew: rawValue
    }
  }
}

extension StepFate {
  var words: String {
    switch self {
    case .kept: "yes"
    case .safe: "yes, synced"
    case .lost: "no"
    case .contentLost: "its size alone: zeros"
    case .sizeLost: "no, its size is not"
    case .torn(let count, let all): "\(count) of its \(all) bytes"
    case .none: ""
    }
  }
}
