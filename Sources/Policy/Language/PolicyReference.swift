/// The reference of the policy language, made from the descriptions of its fields.
package enum PolicyReference {
  package static let markdown: String = {
    var lines = [introduction]
    for table in [nil] + PolicyField.tables.map(Optional.some) {
      lines += ["## \(table.map { "`[\($0)]`" } ?? "At the top of the file")", ""]
      for field in PolicyField.all where field.table == table { lines += section(field) }
    }
    lines += [types]
    return lines.joined(separator: "\n")
  }()

  private static let introduction = """
    # The policy language

    <!-- Made by `make docs` from Sources/Policy/Language. Edit that. -->

    A policy is a TOML file. It says what an app may do, whatever the app asks for. `ambit run --policy NAME|FILE APP` runs an app \
    under one; `ambit policy show NAME|FILE` prints it with everything that it inherits, and says which file and line each value comes \
    from; `ambit policy check FILE…` looks for mistakes. A key that is not in this list, a value of another type or out of range, and \
    a contradiction are errors, each with its place: nothing in a policy is ever passed over.

    Policies are found by name in `$XDG_CONFIG_HOME/ambit/policies/` (`NAME.toml`; where Ambit's folders are put elsewhere, in \
    `$AMBIT_HOME/config/policies/`), then among the built-in ones, which are the files in `Policies/`.

    An editor that knows JSON Schema for TOML completes and checks with [policy.schema.json](policy.schema.json): put \
    `#:schema policy.schema.json` at the top of the file.

    ## Machine-wide policies

    `/etc/ambit/policy.toml`, which has to belong to root and be writable by nobody else, is laid against every user's policy, after the \
    command line has had its say: of each field the stricter value holds, and nothing is ever widened. A field that it does not have is \
    not narrowed. It may inherit built-in policies. Where Ambit's folders are put elsewhere with `AMBIT_HOME`, \
    `$AMBIT_HOME/machine-policy.toml` does the same, in addition. While one of the two cannot be read or is wrong, no app is launched. \
    `ambit plan`, `ambit policy show` and the event of each launch say what was narrowed.

    """

  private static func section(_ field: PolicyField) -> [String] {
    var lines = ["### `\(field.name)`", "", field.meaning, ""]
    lines.append("* Value: \(field.forms.map(words).joined(separator: ", or ")).")
    if let closed = closed(field) {
      let usual = BuiltinPolicies.defaultSettings.flatMap { field.text(in: $0) }
      lines.append(
        "* Where no file says anything: `\(closed)`." + (usual != closed ? " In `default`: `\(usual ?? "")`." : ""))
    } else if field.table != nil {
      let usual = BuiltinPolicies.defaultSettings.flatMap { field.text(in: $0) }
      lines.append("* Where no file says anything: the kernel's own." + (usual.map { " In `default`: `\($0)`." } ?? ""))
    }
    lines.append("* Under a machine-wide policy: \(field.narrowing).")
    if let rule = field.rule { lines.append("* Rule: \(rule).") }
    lines.append("* Example: `\(field.name) = \(field.example)`")
    return lines + [""]
  }

  /// The value without any file.
  static func closed(_ field: PolicyField) -> String? { field.text(in: .closed) }

  private static func words(_ form: PolicyForm) -> String {
    switch form {
    case .boolean: "`true` or `false`"
    case .integer(let range):
      range.upperBound == Int.max
        ? "an integer from \(range.lowerBound) on" : "an integer from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
    case .words(let words):
      words.map { word in "`\"\(word.name)\"`" + (word.meaning.map { " (\($0))" } ?? "") }.joined(separator: ", ")
    case .text(let what, _): what
    case .list(let of): "an array of: \(of.map(self.words).joined(separator: "; or "))"
    case .table(let of, _): "a table with \(self.words(of)) by name"
    }
  }

  private static var types: String {
    var lines = [
      "## Content types", "",
      "`picker.types` takes extensions and content types. These are the system's own types, with the extensions that they have everywhere.",
      "The machine's MIME database adds to them: `ambit types tree TYPE` shows all.", "",
      "| type | extensions |", "| --- | --- |",
    ]
    for (identifier, extensions) in PickableTypes.standard {
      lines.append("| `\(identifier)` | \(extensions.isEmpty ? "any" : extensions.joined(separator: ", ")) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension BuiltinPolicies {
  static let defaultSettings = try? PolicyLibrary(directories: []).load("default").settings
}
