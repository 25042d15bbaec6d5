/// The bounds of a provider's form, and of the answers to it: both sides look at them, since neither trusts the other.
extension ProviderFormMessage {
  package static let mostFields = 16
  package static let mostButtons = 4
  /// Also of rows.
  package static let mostChoices = 256
  /// Bytes of a label, a key or a choice.
  package static let longestLabel = 200
  /// Bytes of a text or an answer.
  package static let longestText = 2000

  /// Why it cannot be shown, as a sentence without its full stop; `nil`: it can.
  package var fault: String? {
    if title.isEmpty || title.utf8.count > Self.longestLabel {
      return "a title has 1 to \(Self.longestLabel) bytes"
    }
    if let text, text.utf8.count > Self.longestText { return "a text has \(Self.longestText) bytes at most" }
    if fields.count > Self.mostFields { return "a form has \(Self.mostFields) fields at most" }
    guard (1...Self.mostButtons).contains(buttons.count) else { return "a form has 1 to \(Self.mostButtons) buttons" }
    let keys = fields.map(\.key)
    if Set(keys).count < keys.count { return "two fields have one key" }
    if Set(buttons.map(\.key)).count < buttons.count { return "two buttons have one key" }
    for (key, label) in fields.map({ ($0.key, $0.label) }) + buttons.map({ ($0.key, $0.label) }) {
      if key.isEmpty || key.utf8.count > Self.longestLabel || label.utf8.count > Self.longestLabel {
        return "a key has 1 to \(Self.longestLabel) bytes, and a label no more"
      }
    }
    for field in fields {
      if let value = field.value, value.utf8.count > Self.longestText {
        return "a value has \(Self.longestText) bytes at most"
      }
      if field.kind == .secret, field.value != nil { return "a secret has no value beforehand" }
      if field.kind == .rows, let fault = Self.fault(rows: field.rows ?? []) { return fault }
      guard field.kind == .choice else { continue }
      let choices = field.choices ?? []
      if choices.isEmpty || choices.count > Self.mostChoices || choices.contains(where: { $0.utf8.count > 200 }) {
        return "a choice has 1 to \(Self.mostChoices) of \(Self.longestLabel) bytes at most"
      }
    }
    return nil
  }

  private static func fault(rows: [ProviderFormRow]) -> String? {
    if rows.count > mostChoices { return "a list has \(mostChoices) rows at most" }
    if Set(rows.map(\.key)).count < rows.count { return "two rows have one key" }
    let isSound = rows.allSatisfy { row in
      !row.key.isEmpty && !row.key.utf8.contains(UInt8(ascii: "\n"))
        && [row.key, row.title, row.detail ?? ""].allSatisfy { $0.utf8.count <= longestLabel }
    }
    return isSound ? nil : "a row has a key of one line, and no text of more than \(longestLabel) bytes"
  }

  /// The answers that this form asks for, and no others; `nil`: they are none to it.
  package func accepted(_ reply: ProviderFormReply) -> ProviderFormReply? {
    guard buttons.contains(where: { $0.key == reply.button }) else { return nil }
    var values: [String: String] = [:]
    for field in fields where field.kind != .note {
      let value = reply.values[field.key] ?? ""
      switch field.kind {
      case .rows:
        let (chosen, rows) = (value.split(separator: "\n").map(String.init), Set((field.rows ?? []).map(\.key)))
        guard chosen.allSatisfy(rows.contains), Set(chosen).count == chosen.count,
          chosen.count < 2 || field.several == true
        else { return nil }
      case .choice: guard field.choices?.contains(value) == true else { return nil }
      default: guard value.utf8.count <= Self.longestText else { return nil }
      }
      values[field.key] = value
    }
    return ProviderFormReply(button: reply.button, values: values)
  }
}
