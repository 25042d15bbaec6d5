internal import Paths

/// Text with variables: `${home}/Essay.txt`. `$${` stands for the two characters `${` themselves.
package struct Template: Equatable, Sendable {
  package enum Part: Equatable, Sendable {
    case text(String)
    case variable(String)
  }

  package var parts: [Part]

  /// Text without variables.
  package init(text: String) { parts = [.text(text)] }

  /// - Throws: a message about the part that is not a variable.
  package init(parsing source: String) throws(Problem) {
    var parts: [Part] = []
    var text = ""
    var rest = Substring(source)
    while !rest.isEmpty {
      if rest.hasPrefix("$${") {
        text += "${"
        rest.removeFirst(3)
      } else if rest.hasPrefix("${") {
        guard let end = rest.firstIndex(of: "}") else {
          throw Problem(message: "`\(rest)` has no closing brace; write `$${` for the characters themselves")
        }
        let name = String(rest[rest.index(rest.startIndex, offsetBy: 2)..<end])
        guard !name.isEmpty else { throw Problem(message: "`${}` names no variable") }
        if !text.isEmpty { parts.append(.text(text)) }
        text = ""
        parts.append(.variable(name))
        rest = rest[rest.index(after: end)...]
      } else {
        text.append(rest.removeFirst())
      }
    }
    if !text.isEmpty || parts.isEmpty { parts.append(.text(text)) }
    self.parts = parts
  }

  package struct Problem: Error, Equatable {
    package var message: String
  }

  /// The variables named, in order.
  package var variables: [String] {
    parts.compactMap { if case .variable(let name) = $0 { name } else { nil } }
  }

  /// The text with each variable replaced by the answer of `value`.
  package func expanded<Failure: Error>(_ value: (String) throws(Failure) -> String) throws(Failure) -> String {
    var result = ""
    for part in parts {
      switch part {
      case .text(let text): result += text
      case .variable(let name): result += try value(name)
      }
    }
    return result
  }
}

/// The values of variables while a scenario runs.
package struct Variables: Equatable, Sendable {
  private var values: [String: String] = [:]
  /// Folder that holds the apps' containers, for `${container:ID}`.
  private let containers: String

  /// Names that every scenario can use. `container:` is followed by a bundle identifier.
  package static let given = ["home", "here", "apps", "scratch", "ambit", "agent", "ambitctl"]
  package static let containerPrefix = "container:"

  /// - Parameters:
  ///   - home: the scratch home folder. here: the folder that the scenario's file is in.
  ///   - apps: folder of the demo apps. scratch: the folder that home is in. ambit: the executable.
  ///   - agent: the agent's program.
  package init(
    home: String, here: String, apps: String, scratch: String, ambit: String, agent: String, containers: String
  ) {
    values = ["home": home, "here": here, "apps": apps, "scratch": scratch, "ambit": ambit, "agent": agent]
    values["ambitctl"] = "\(ambit.parentPath ?? "")/ambitctl"
    self.containers = containers
  }

  package subscript(name: String) -> String? {
    get {
      if name.hasPrefix(Self.containerPrefix) { return "\(containers)/\(name.dropFirst(Self.containerPrefix.count))" }
      return values[name]
    }
    set { values[name] = newValue }
  }

  /// - Throws: ``Undefined``. The reader has checked names, so this happens only when a `save` was passed over.
  package func expand(_ template: Template) throws(Undefined) -> String {
    try template.expanded { (name) throws(Undefined) in
      guard let value = self[name] else { throw Undefined(name: name) }
      return value
    }
  }

  package struct Undefined: Error, Equatable, CustomStringConvertible {
    package var name: String
    package var description: String { "the variable ${\(name)} has no value yet" }
  }
}
