internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Colours and weights for text on a terminal; nothing at all when the output is not one.
///
/// Text that comes from an app or from the file system goes through `printable(_:)` before it is styled:
/// a style adds escape codes around text and takes none away.
package struct Style: Equatable, Sendable {
  /// One property of text, by its number in ECMA-48 (`Select Graphic Rendition`).
  package enum Attribute: Int, CaseIterable, Sendable {
    case bold = 1
    case dim = 2
    case underlined = 4
    case inverse = 7
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36
  }

  /// Whether escape codes are written.
  package let isEnabled: Bool

  package init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// The style for text that is written to a descriptor.
  package init(for descriptor: Int32, environment: [String: String] = ThisProcess.environment) {
    self.init(isEnabled: Style.isWanted(environment: environment, isTerminal: isatty(descriptor) == 1))
  }

  /// The user's wish as the common environment variables have it, the strongest first: `NO_COLOR` (not empty: never),
  /// `CLICOLOR_FORCE` (not `0`: always), `CLICOLOR=0` and `TERM=dumb` or no `TERM` (never); else on a terminal only.
  package static func isWanted(environment: [String: String], isTerminal: Bool) -> Bool {
    if let never = environment["NO_COLOR"], !never.isEmpty { return false }
    if let always = environment["CLICOLOR_FORCE"], !always.isEmpty, always != "0" { return true }
    if environment["CLICOLOR"] == "0" { return false }
    guard let terminal = environment["TERM"], !terminal.isEmpty, terminal != "dumb" else { return false }
    return isTerminal
  }

  /// The text with the attributes switched on before it and everything switched off after it.
  package func apply(_ attributes: [Attribute], to text: String) -> String {
    guard isEnabled, !attributes.isEmpty, !text.isEmpty else { return text }
    return "\u{1b}[\(attributes.map { String($0.rawValue) }.joined(separator: ";"))m\(text)\u{1b}[0m"
  }

  package func bold(_ text: String) -> String { apply([.bold], to: text) }
  package func dim(_ text: String) -> String { apply([.dim], to: text) }
  package func underlined(_ text: String) -> String { apply([.underlined], to: text) }
  package func inverse(_ text: String) -> String { apply([.inverse], to: text) }
  package func red(_ text: String) -> String { apply([.red], to: text) }
  package func green(_ text: String) -> String { apply([.green], to: text) }
  package func yellow(_ text: String) -> String { apply([.yellow], to: text) }
  package func blue(_ text: String) -> String { apply([.blue], to: text) }
  package func magenta(_ text: String) -> String { apply([.magenta], to: text) }
  package func cyan(_ text: String) -> String { apply([.cyan], to: text) }
}
