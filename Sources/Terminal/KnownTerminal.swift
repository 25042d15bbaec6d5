/// A terminal in a known state, independent of the program before: the text that is written then is seen as it is meant, and keys
/// come as they are pressed.
///
/// For everything that Ambit draws on the user's terminal while an app has it. An app may have moved the place that lines are
/// counted from, have letters drawn as lines, or have the mouse and the keys reported in other ways (ECMA-48, DEC VT510, xterm's
/// `ctlseqs`, kitty's keyboard protocol).
package enum KnownTerminal {
  /// Takes the terminal: a screen of one's own, empty, with the cursor hidden, lines that do not wrap, and pastes marked.
  ///
  /// Lines do not wrap: where a program and the terminal disagree about a character's width, one line is wrong, and not the
  /// whole screen.
  package static let take =
    // First a half-written sequence or text: an unfinished sequence would swallow the next one. CAN ends it, and ST an open text.
    "\u{18}\(escape)\\"
    // VT52 mode knows no sequence but its own.
    + "\(escape)<"
    // The app's settings are kept, where the terminal can (XTSAVE), before any of them is changed.
    + modes("s")
    // A screen of one's own. The cursor's place, character sets and origin mode are kept with the other one (DECSC).
    + "\(control)?1049h"
    // DECSTR, and the same one by one: not every terminal has it, and none resets all of it.
    + "\(control)!p"
    + ansiModes + privateModes
    // The scroll region is the whole screen.
    + "\(control)r"
    // G0 to G3 are ASCII, and G0 is in use; UTF-8; answers and keys in 7 bits.
    + "\(escape)(B\(escape))B\(escape)*B\(escape)+B\u{F}\(escape)%G\(escape) F"
    // Keypad and cursor keys send the characters that are on them.
    + "\(escape)>"
    // Keys as ever: kitty's flags are put aside, xterm's modifyOtherKeys is off.
    + "\(control)>0u\(control)>4;0m"
    // A link that the app has not closed.
    + "\(escape)]8;;\(escape)\\"
    + "\(control)?25l\(control)?7l\(control)?2004h\(control)0m\(control)2J\(control)H"

  /// Gives the terminal back: the screen that was there before, usual text, lines that wrap, a cursor, and the private modes that
  /// were kept.
  ///
  /// Terminals without XTSAVE (tmux, screen, the console) leave mouse reports, focus events, marked pastes and application keys
  /// off. No terminal can be asked to bring back a scroll region, modifyOtherKeys, insert mode and the other modes of ECMA-48.
  package static let giveBack =
    "\(control)0m\(control)?2004l\(control)<1u\(control)?7h\(control)?25h\(control)?1049l" + modes("r")

  private static let escape = "\u{1B}"
  private static let control = "\u{1B}["

  /// KAM (keyboard locked), CRM (controls shown), IRM (insert) and LNM (Enter sends two characters) off; SRM (no local echo) on.
  private static let ansiModes = "\(control)2;3;4;20l\(control)12h"

  /// Cursor keys, reverse video, origin, reverse wrap, numeric keypad, backarrow, side margins, focus events, held-back output,
  /// Windows' keys; then mouse reports and their encodings.
  private static let privateModes =
    "\(control)?1;5;6;45;66;67;69;1004;2026;9001l\(control)?9;1000;1001;1002;1003;1005;1006;1015;1016l"

  /// XTSAVE (`s`) or XTRESTORE (`r`). In two, for terminals that take no more than 16 numbers at a time.
  private static func modes(_ final: String) -> String {
    "\(control)?1;5;6;7;9;25;45;66;67;69;1004;1049;2004\(final)\(control)?1000;1001;1002;1003;1005;1006;1015;1016\(final)"
  }
}
