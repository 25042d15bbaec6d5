internal import Foundation
package import PickerUI

/// A file provider's form as a page: plain HTML, in a frame that names the provider.
package struct FormPage {
  private let form: ProviderForm
  private let base: String

  package init(_ form: ProviderForm, base: String) { (self.form, self.base) = (form, base) }

  package func html(fault: String? = nil) -> String {
    func escaped(_ text: String) -> String { PickerPage.escaped(ProviderForm.harmless(text)) }
    var body = "<h1>\(escaped(form.heading))</h1>\n"
    for said in [form.refused.map { "It was not taken: \($0)." }, fault].compactMap(\.self) {
      body += "<p role=\"alert\">\(escaped(said))</p>\n"
    }
    body +=
      "<form method=\"post\" action=\"\(base)fill\" autocomplete=\"off\"><fieldset><legend>\(escaped(form.title))</legend>\n"
    if let text = form.text { body += "<p>\(escaped(text))</p>\n" }
    for (index, field) in form.fields.enumerated() { body += html(of: field, "f\(index)", escaped) }
    body += "</fieldset>\n<p><small>\(escaped(form.footing))</small></p>\n<p>"
    for (index, button) in form.buttons.enumerated() {
      body += "<button name=\"button\" value=\"\(index)\">\(escaped(button.label))</button> "
    }
    body += "<button name=\"button\" value=\"cancel\" formnovalidate>Cancel</button></p></form>\n"
    return PickerPage.page(form.heading, body)
  }

  private func html(of field: ProviderForm.Field, _ name: String, _ escaped: (String) -> String) -> String {
    let label = escaped(field.label)
    switch field.kind {
    case .note: return "<p>\(label)</p>\n"
    case .text:
      return "<p><label>\(label) <input name=\"\(name)\" value=\"\(PickerPage.escaped(field.value))\"></label></p>\n"
    case .secret:
      return "<p><label>\(label) <input type=\"password\" name=\"\(name)\" autocomplete=\"off\"></label></p>\n"
    case .choice:
      let options = field.choices.enumerated().map { index, choice in
        "<option value=\"\(index)\"\(choice == field.value ? " selected" : "")>\(escaped(choice))</option>"
      }
      return "<p><label>\(label) <select name=\"\(name)\">\(options.joined())</select></label></p>\n"
    case .rows:
      guard !field.rows.isEmpty else { return "<p>\(label): there are none.</p>\n" }
      let control = field.several ? "checkbox" : "radio"
      let rows = field.rows.enumerated().map { index, row in
        let detail = row.detail.map { " <small>\(escaped($0))</small>" } ?? ""
        return
          "<li><label><input type=\"\(control)\" name=\"\(name)\" value=\"\(index)\"> \(escaped(row.title))</label>\(detail)</li>\n"
      }
      return "<fieldset><legend>\(label)</legend><ul>\(rows.joined())</ul></fieldset>\n"
    }
  }

  /// The answers, as a browser sends them; `nil`: they fit no form of these fields.
  package func reply(_ fields: FormFields) -> ProviderForm.Reply? {
    guard let button = fields.first("button").flatMap(Int.init), form.buttons.indices.contains(button) else {
      return nil
    }
    var values: [String: String] = [:]
    for (index, field) in form.fields.enumerated() where field.kind != .note {
      let sent = fields.all("f\(index)")
      switch field.kind {
      case .choice:
        guard let number = sent.first.flatMap(Int.init), field.choices.indices.contains(number) else { return nil }
        values[field.key] = field.choices[number]
      case .rows:
        let numbers = sent.compactMap(Int.init)
        guard numbers.count == sent.count, numbers.allSatisfy(field.rows.indices.contains),
          numbers.count < 2 || field.several
        else { return nil }
        values[field.key] = numbers.map { field.rows[$0].key }.joined(separator: "\n")
      default: values[field.key] = sent.first ?? ""
      }
    }
    return .init(button: form.buttons[button].key, values: values)
  }
}
