internal import AppModel
internal import Review
internal import Terminal
internal import Wire

/// Many apps, one line each.
struct SurveyReport {
  let survey: AppSurvey
  let policy: String

  /// - Parameter width: columns of the terminal; `nil`: nothing is cut.
  func text(_ style: Style, width: Int?) -> String {
    let table = Table(
      [
        .init("exposure", alignment: .trailing, minWidth: 8), .init("", minWidth: 4),
        .init("app", minWidth: 12, maxWidth: 32), .init("identifier", minWidth: 12, maxWidth: 40, keeping: .end),
        .init("mostly because it can", minWidth: 20),
      ], style: style, width: width)
    var text = table.render(
      survey.apps.map { app in
        let (word, colour) = ExplanationReport.level(app.exposure.level)
        return [
          Table.Cell(Exposure.text(app.exposure.tenths), colour), Table.Cell(word, colour), Table.Cell(app.app.name),
          Table.Cell(app.app.identifier, .dim), Table.Cell(Self.reasons(app.exposure), .dim),
        ]
      })
    if !survey.problems.isEmpty {
      text += "\n" + style.bold("Not readable") + "\n"
      for problem in survey.problems { text += "  " + style.red("!") + " " + printable(problem.sentence) + "\n" }
    }
    return text + "\n" + summary + "\n"
  }

  /// How many, and how they are spread.
  private var summary: String {
    let done = survey.apps.count + survey.problems.count
    var text = "\(survey.apps.count) \(survey.apps.count == 1 ? "app" : "apps") under the policy \(policy)"
    let levels = Exposure.Level.allCases.reversed().compactMap { level -> String? in
      let count = survey.apps.count { $0.exposure.level == level }
      return count > 0 ? "\(count) \(ExplanationReport.level(level).0)" : nil
    }
    if !levels.isEmpty { text += ": " + levels.joined(separator: ", ") }
    if !survey.problems.isEmpty { text += "; \(survey.problems.count) not readable" }
    if done < survey.count { text += "; interrupted, \(survey.count - done) not looked at" }
    return printable(text)
  }

  private static func reasons(_ exposure: Exposure) -> String {
    exposure.parts.filter { $0.tenths > 0 }.prefix(3).map { "\($0.verb.phrase(of: [])) (\(Exposure.text($0.tenths)))" }
      .joined(separator: ", ")
  }

  /// One object a line.
  var jsonLines: String {
    survey.apps.map { app in
      let json: JSONObject = [
        "path": .string(app.path), "name": .string(app.app.name), "identifier": .string(app.app.identifier),
        "policy": .string(policy), "exposure": .object(ExplanationReport.json(app.exposure)),
      ]
      return json.text + "\n"
    }
    .joined()
      + survey.problems.map { problem in
        ((["path": .string(problem.path), "problem": .string(problem.sentence)] as JSONObject).text) + "\n"
      }
      .joined()
  }
}
