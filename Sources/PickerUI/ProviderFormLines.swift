internal import Terminal

/// A provider's form as lines that are said once and answered one after the other: for screen readers, and for terminals that cannot
/// repaint. Knows no terminal.
package struct ProviderFormLines: Sendable {
  private let form: ProviderForm
  /// Fields that want an answer.
  private let asked: [ProviderForm.Field]
  private var values: [String: String] = [:]

  package init(_ form: ProviderForm) {
    self.form = form
    asked = form.fields.filter { $0.kind != .note }
  }

  /// The user's next line is not shown.
  package var isSecret: Bool { current?.kind == .secret }

  private var current: ProviderForm.Field? { values.count < asked.count ? asked[values.count] : nil }

  /// The form, and the first question.
  package var opening: String {
    var text = Self.edge + Self.said(form.heading, "")
    if let refused = form.refused { text += Self.said("It was not taken: \(refused).", "") }
    text += Self.said(form.title, "| ")
    if let words = form.text { text += Self.said(words, "| ") }
    for field in form.fields where field.kind == .note { text += Self.said(field.label, "| ") }
    return text + Self.said(form.footing, "") + Self.edge + question
  }

  private static let edge = String(repeating: "-", count: 60) + "\n"

  /// Harmless, with the mark of a stranger's words before each line.
  private static func said(_ text: String, _ mark: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).prefix(20)
      .map { "\(mark)\(printable(String($0)))\n" }.joined()
  }

  private var question: String {
    guard let field = current else {
      guard form.buttons.count > 1 else { return "\(printable(form.buttons[0].label)): press Enter, or q to cancel: " }
      let rows = form.buttons.enumerated().map { "  \($0 + 1). \(printable($1.label))\n" }.joined()
      return rows + "Number, Enter for the first one, or q to cancel: "
    }
    let label = printable(field.label)
    switch field.kind {
    case .choice:
      let rows = field.choices.enumerated().map { "  \($0 + 1). \(printable($1))\n" }.joined()
      return "\(label):\n\(rows)Number: "
    case .rows:
      if field.rows.isEmpty { return "\(label): there are none. Press Enter: " }
      let rows = field.rows.enumerated().map { index, row in
        "  \(index + 1). \(printable(row.title))\(row.detail.map { ", \(printable($0))" } ?? "")\n"
      }.joined()
      return "\(label):\n\(rows)\(field.several ? "Numbers with commas between" : "Number"), or Enter for none: "
    case .secret: return "\(label) (it is not shown): "
    default: return field.value.isEmpty ? "\(label): " : "\(label) [\(printable(field.value))]: "
    }
  }

  package enum Outcome: Sendable, Equatable {
    case filled(ProviderForm.Reply)
    case cancelled
  }

  /// Takes a line of the user's.
  ///
  /// - Returns: the next lines to say, and the end, if it is that.
  package mutating func take(_ line: String) -> (String, Outcome?) {
    guard let field = current else {
      if line == "q" { return ("Cancelled.\n", .cancelled) }
      let index = line.isEmpty ? 0 : (Int(line) ?? 0) - 1
      guard form.buttons.indices.contains(index) else { return ("That is none of them.\n" + question, nil) }
      return ("", .filled(.init(button: form.buttons[index].key, values: values)))
    }
    guard let answer = form.answer(line, to: field) else { return ("That is none of them.\n" + question, nil) }
    values[field.key] = answer
    return (question, nil)
  }
}
