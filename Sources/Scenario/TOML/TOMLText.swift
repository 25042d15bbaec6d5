internal import Policy

/// Text as a TOML file has it.
package enum TOMLText {
  /// A basic string: quoted, with everything escaped that must be, or that would steer a terminal or leave no trace.
  package static func quoted(_ text: String) -> String { text.quotedTOML }
}
