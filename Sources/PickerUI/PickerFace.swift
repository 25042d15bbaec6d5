/// The forms that the one picker has. All of them follow the same rules.
package enum PickerFace: String, Sendable {
  /// A whole screen of the terminal.
  case screen
  /// Numbered lines, for screen readers and terminals that cannot repaint.
  case plain
  /// A page in the user's web browser.
  case web

  /// The face that the user asks for with `AMBIT_PICKER`; else the one that the terminal can show.
  package init(environment: [String: String]) {
    self = environment["AMBIT_PICKER"].flatMap(PickerFace.init) ?? (environment["TERM"] == "dumb" ? .plain : .screen)
  }
}
