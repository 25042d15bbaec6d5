/// One field of the policy language: all that is known of it, in one place.
///
/// The decoder knows these keys and no others. The reference (`docs/reference/policy.md`), the JSON Schema, the output of
/// `ambit policy show` and the effect of a machine-wide policy are made from them as well.
package struct PolicyField: Sendable {
  /// The table that it stands in; `nil`: the top of the file.
  package let table: String?
  package let key: String
  /// The ways in which its value may be written.
  package let forms: [PolicyForm]
  /// The subject of its decision, in sentences.
  package let meaning: String
  /// The rule of the catalogue that it is about, such as `LIM-1`; `nil`: it is Ambit's own.
  package let rule: String?
  /// A value as TOML has it.
  package let example: String
  /// The effect of a machine-wide policy's value on a user's, as the end of a sentence.
  package let narrowing: String

  let access: FieldAccess

  /// `scopes.limit`, as messages have it.
  package var name: String { table.map { "\($0).\(key)" } ?? key }

  init(
    _ table: String?, _ key: String, _ forms: [PolicyForm], rule: String? = nil, example: String, narrowing: String,
    _ access: FieldAccess, _ meaning: String
  ) {
    self.table = table
    self.key = key
    self.forms = forms
    self.rule = rule
    self.example = example
    self.narrowing = narrowing
    self.access = access
    self.meaning = meaning
  }

  /// The value that settings have, as TOML has it; `nil` where they have none, or it is no setting (`description`).
  package func text(in settings: PolicySettings) -> String? { access.text(settings) }
}

/// The place of a value in a file's settings, and in resolved settings.
typealias FilePlace<Value> = any WritableKeyPath<PolicyOverrides, Value?> & Sendable
typealias SettingsPlace<Value> = any WritableKeyPath<PolicySettings, Value> & Sendable

/// How a field is read, laid over another's, narrowed, and written.
struct FieldAccess: Sendable {
  /// From the table that it stands in.
  let decode: @Sendable (TOMLReader, inout PolicyOverrides) throws(SourceError) -> Void
  let isSet: @Sendable (PolicyOverrides) -> Bool
  /// Copies the first file's value to the second.
  let copy: @Sendable (PolicyOverrides, inout PolicyOverrides) -> Void
  /// Replaces the settings' value by a file's.
  let apply: @Sendable (PolicyOverrides, inout PolicySettings) -> Void
  /// The settings' value, as a file would write it.
  let lift: @Sendable (PolicySettings, inout PolicyOverrides) -> Void
  /// The value that two files both permit; a file without a value permits everything.
  let narrow: @Sendable (inout PolicyOverrides, PolicyOverrides, Machine) -> Void
  let text: @Sendable (PolicySettings) -> String?

  /// The facts about the machine that narrowing needs.
  struct Machine: Sendable {
    /// Bytes.
    let memory: Int
  }
}

/// A way in which a field's value may be written.
package indirect enum PolicyForm: Equatable, Sendable {
  case boolean
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  /// A string that is one of these, each with its meaning if the name does not say it.
  case words([Word])
  /// Any other string: its kind, and a regular expression that all such strings match.
  case text(String, pattern: String? = nil)
  /// An array.
  case list(of: [PolicyForm])
  /// A table with free keys.
  case table(of: PolicyForm, keys: String)

  package struct Word: Equatable, Sendable, ExpressibleByStringLiteral {
    package let name: String
    package let meaning: String?

    package init(_ name: String, _ meaning: String? = nil) {
      self.name = name
      self.meaning = meaning
    }

    package init(stringLiteral name: String) { self.init(name) }
  }

  static func words<Choice: CaseIterable & RawRepresentable<String>>(of _: Choice.Type) -> PolicyForm {
    .words(Choice.allCases.map { Word($0.rawValue) })
  }

  static let noCeiling = PolicyForm.words([Word("none", "no ceiling")])
  static let duration = PolicyForm.text("a duration such as \"90s\", \"8h\" or \"30d\"", pattern: durationPattern)
  static let durationPattern = "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
  static let size = PolicyForm.text(
    "an amount such as \"512 MiB\" or \"10 GB\"", pattern: "^[0-9]+(\\.[0-9]{1,3})? ?(B|kB|KiB|MB|MiB|GB|GiB|TB|TiB)$")
}

extension FieldAccess {
  /// A field with a place of its own in a file's settings and in resolved settings.
  ///
  /// - Parameters:
  ///   - text: the value as TOML has it.
  ///   - meet: the value that two values both permit.
  init<Value: Sendable>(
    _ file: FilePlace<Value>,
    _ settings: SettingsPlace<Value>,
    decode: @escaping @Sendable (TOMLReader) throws(SourceError) -> Value?,
    meet: @escaping @Sendable (Value, Value, Machine) -> Value,
    text: @escaping @Sendable (Value) -> String?
  ) {
    self.init(
      decode: { (reader, overrides) throws(SourceError) in overrides[keyPath: file] = try decode(reader) },
      isSet: { $0[keyPath: file] != nil }, copy: { $1[keyPath: file] = $0[keyPath: file] },
      apply: { overrides, result in
        if let value = overrides[keyPath: file] { result[keyPath: settings] = value }
      },
      lift: { result, overrides in overrides[keyPath: file] = result[keyPath: settings] },
      narrow: { mine, other, machine in mine.meet(file, other) { meet($0, $1, machine) } },
      text: { text($0[keyPath: settings]) })
  }

  /// The same where settings may have none.
  init<Value: Sendable>(
    _ file: FilePlace<Value>,
    optional settings: SettingsPlace<Value?>,
    decode: @escaping @Sendable (TOMLReader) throws(SourceError) -> Value?,
    meet: @escaping @Sendable (Value, Value) -> Value,
    text: @escaping @Sendable (Value) -> String?
  ) {
    self.init(
      decode: { (reader, overrides) throws(SourceError) in overrides[keyPath: file] = try decode(reader) },
      isSet: { $0[keyPath: file] != nil }, copy: { $1[keyPath: file] = $0[keyPath: file] },
      apply: { overrides, result in
        if let value = overrides[keyPath: file] { result[keyPath: settings] = value }
      },
      lift: { result, overrides in overrides[keyPath: file] = result[keyPath: settings] },
      narrow: { mine, other, _ in mine.meet(file, other, meet) },
      text: { $0[keyPath: settings].flatMap(text) })
  }

  /// A ceiling that a file may also take away.
  ///
  /// - Parameter without: the word for no ceiling.
  init<Value: Equatable & Sendable>(
    _ file: FilePlace<Ceiling<Value>>,
    ceiling settings: SettingsPlace<Value?>,
    decode: @escaping @Sendable (TOMLReader) throws(SourceError) -> Ceiling<Value>?,
    without: String = "none", meet: @escaping @Sendable (Value, Value, Machine) -> Value,
    text: @escaping @Sendable (Value) -> String
  ) {
    self.init(
      decode: { (reader, overrides) throws(SourceError) in overrides[keyPath: file] = try decode(reader) },
      isSet: { $0[keyPath: file] != nil }, copy: { $1[keyPath: file] = $0[keyPath: file] },
      apply: { overrides, result in
        if let value = overrides[keyPath: file] { result[keyPath: settings] = value.value }
      },
      lift: { result, overrides in
        overrides[keyPath: file] = result[keyPath: settings].map { .at($0) } ?? Ceiling.none
      },
      narrow: { mine, other, machine in
        mine.meet(file, other) { ours, theirs in
          switch (ours, theirs) {
          case (.at(let ours), .at(let theirs)): .at(meet(ours, theirs, machine))
          case (.none, let one), (let one, .none): one
          }
        }
      },
      text: { $0[keyPath: settings].map(text) ?? without.quotedTOML })
  }

  /// True or false. `true` permits where `permits`, and demands otherwise.
  static func flag(
    _ key: String, _ file: FilePlace<Bool>,
    _ settings: SettingsPlace<Bool>, permits: Bool
  ) -> FieldAccess {
    FieldAccess(
      file, settings, decode: { (table) throws(SourceError) in try table.boolean(key) },
      meet: { ours, theirs, _ in permits ? ours && theirs : ours || theirs }, text: { "\($0)" })
  }

  /// One of a few words, of which the earlier permit less.
  static func choice<Choice: CaseIterable & RawRepresentable<String> & Sendable>(
    _ key: String, _ file: FilePlace<Choice>,
    _ settings: SettingsPlace<Choice>, strictestFirst order: [Choice]
  ) -> FieldAccess {
    FieldAccess(
      file, settings,
      decode: { (table) throws(SourceError) in
        try table.choice(key, of: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
      },
      meet: { ours, theirs, _ in order.first { [ours.rawValue, theirs.rawValue].contains($0.rawValue) } ?? ours },
      text: { $0.rawValue.quotedTOML })
  }
}

extension PolicyOverrides {
  fileprivate mutating func meet<Value>(
    _ field: WritableKeyPath<PolicyOverrides, Value?>, _ other: PolicyOverrides, _ both: (Value, Value) -> Value
  ) {
    guard let theirs = other[keyPath: field] else { return }
    self[keyPath: field] = self[keyPath: field].map { both($0, theirs) } ?? theirs
  }
}

extension String {
  /// A TOML basic string, in which nothing steers a terminal or leaves no trace.
  package var quotedTOML: String {
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\u{200c}", "\u{200d}": text.unicodeScalars.append(scalar)
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
          let digits = String(scalar.value, radix: 16)
          let width = digits.count > 4 ? 8 : 4
          text += (width == 4 ? "\\u" : "\\U") + String(repeating: "0", count: width - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
      }
    }
    return text + "\""
  }
}

extension [String] {
  /// A TOML array of strings.
  var quotedTOML: String { "[" + map(\.quotedTOML).joined(separator: ", ") + "]" }
}
