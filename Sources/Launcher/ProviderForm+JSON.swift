internal import Kernel
package import PickerUI
package import Wire

/// A provider's form as it travels to the program that shows it as a page.
extension ProviderForm {
  package var json: JSONObject {
    var json: JSONObject = ["form": .object(message.json), "provider": .string(provider)]
    json.set("appName", appName)
    json.set("refused", refused)
    return json
  }

  package init(json: JSONObject) throws {
    guard case .object(let form)? = json["form"] else { throw PickerError("The form is not an object.") }
    try self.init(
      ProviderFormMessage(json: form), of: json.string("provider"), appName: json.stringIfPresent("appName"),
      refused: json.stringIfPresent("refused"))
  }

  private var message: ProviderFormMessage {
    .init(
      title: title, text: text,
      fields: fields.map { field in
        .init(
          key: field.key, label: field.label, kind: .init(rawValue: field.kind.rawValue) ?? .note,
          value: field.kind == .secret ? nil : field.value, choices: field.kind == .choice ? field.choices : nil,
          rows: field.kind == .rows
            ? field.rows.map { .init(key: $0.key, title: $0.title, detail: $0.detail) } : nil,
          several: field.kind == .rows ? field.several : nil)
      }, buttons: buttons.map { .init(key: $0.key, label: $0.label) })
  }
}
