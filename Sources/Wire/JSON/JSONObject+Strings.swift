extension JSONObject {
  /// An object of strings alone, in the order of their names.
  package init(_ strings: [String: String]) {
    self.init(unique: strings.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: .string($0.value)) })
  }

  /// An object of strings with any names, as `[string]string` in an interface.
  package func strings(by name: String) throws(FieldError) -> [String: String] {
    let object = try object(name)
    var strings: [String: String] = [:]
    for field in object.fields { strings[field.name] = try object.string(field.name) }
    return strings
  }
}
