internal import Terminal

/// A form of a file provider's, such as one to sign in (`PRV-14`). The picker draws it under a frame that names the provider: its words are
/// a stranger's, and the answers go to that provider alone.
package struct ProviderForm: Sendable, Equatable {
  package struct Field: Sendable, Equatable {
    package enum Kind: String, Sendable { case text, secret, choice, rows, note }

    package let key: String
    package let label: String
    package let kind: Kind
    /// The answer that stands there first.
    package let value: String
    package let choices: [String]
    package let rows: [Row]
    /// More than one row can be chosen.
    package let several: Bool

    package init(
      key: String, label: String, kind: Kind, value: String = "", choices: [String] = [], rows: [Row] = [],
      several: Bool = false
    ) {
      (self.key, self.label, self.kind, self.value, self.choices) = (key, label, kind, value, choices)
      (self.rows, self.several) = (rows, several)
    }
  }

  /// One row of a list.
  package struct Row: Sendable, Equatable {
    package let key: String
    package let title: String
    package let detail: String?

    package init(key: String, title: String, detail: String? = nil) {
      (self.key, self.title, self.detail) = (key, title, detail)
    }
  }

  package struct Button: Sendable, Equatable {
    package let key: String
    package let label: String
    package init(key: String, label: String) { (self.key, self.label) = (key, label) }
  }

  package struct Reply: Sendable, Equatable {
    package let button: String
    package let values: [String: String]
    package init(button: String, values: [String: String]) { (self.button, self.values) = (button, values) }
  }

  package let provider: String
  /// The app that waits; `nil`: the user has asked for the form.
  package let appName: String?
  package let title: String
  package let text: String?
  package let fields: [Field]
  package let buttons: [Button]
  /// Why the last answers were not taken.
  package let refused: String?

  package init(
    provider: String, appName: String? = nil, title: String, text: String? = nil, fields: [Field], buttons: [Button],
    refused: String? = nil
  ) {
    (self.provider, self.appName, self.title, self.text) = (provider, appName, title, text)
    (self.fields, self.buttons, self.refused) = (fields, buttons, refused)
  }

  /// A provider's words without control characters.
  package static func harmless(_ text: String) -> String { DisplayText(text).plain }

  // MARK: The frame

  /// The first words of the frame. They are Ambit's own.
  package var heading: String {
    let waiting = appName.map { " \(DisplayText.quoted($0)) waits for a document of it." } ?? ""
    return "\(DisplayText.quoted(provider)) asks you something.\(waiting)"
  }

  /// The last words of the frame.
  package var footing: String {
    "This form is the provider's. Your answers go to \(DisplayText.quoted(provider)) alone, and no app sees them."
  }

  /// The answer, if a field can have this one; a choice is named by its number or its words, rows with commas between them.
  func answer(_ typed: String, to field: Field) -> String? {
    if field.kind == .rows { return Self.rows(typed, of: field) }
    guard field.kind == .choice else { return typed.isEmpty && field.kind == .text ? field.value : typed }
    if typed.isEmpty { return field.choices.contains(field.value) ? field.value : field.choices.first }
    if field.choices.contains(typed) { return typed }
    return Int(typed).flatMap { field.choices.indices.contains($0 - 1) ? field.choices[$0 - 1] : nil }
  }

  private static func rows(_ typed: String, of field: Field) -> String? {
    var keys: [String] = []
    for word in typed.split(whereSeparator: { $0 == "," || $0 == "\n" }).map({ trimmed($0) }) where !word.isEmpty {
      let named = field.rows.first { $0.key == word } ?? field.rows.first { $0.title == word }
      let counted = Int(word).flatMap { field.rows.indices.contains($0 - 1) ? field.rows[$0 - 1] : nil }
      guard let row = named ?? counted else { return nil }
      if !keys.contains(row.key) { keys.append(row.key) }
    }
    return keys.count > 1 && !field.several ? nil : keys.joined(separator: "\n")
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text = text.dropFirst() }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }

  /// An answer for the script of a test or of a scenario: fields that it does not name keep theirs.
  ///
  /// - Returns: `nil`: it names a field, a choice or a button that is not there.
  package func filled(_ values: [String: String], button: String?) -> Reply? {
    guard let button = button ?? buttons.first?.key, buttons.contains(where: { $0.key == button }),
      values.keys.allSatisfy({ key in fields.contains { $0.key == key && $0.kind != .note } })
    else { return nil }
    var all: [String: String] = [:]
    for field in fields where field.kind != .note {
      guard let answer = answer(values[field.key] ?? "", to: field) else { return nil }
      all[field.key] = answer
    }
    return Reply(button: button, values: all)
  }
}
