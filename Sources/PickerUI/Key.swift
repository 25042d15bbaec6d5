/// A key that the user pressed, regardless of the bytes that the terminal sends for it.
enum Key: Sendable, Equatable {
  case up, down, left, right, home, end, pageUp, pageDown
  case enter, escape, backspace, delete, tab, backTab
  /// A control letter without a key of its own, in lower case: `control("u")`.
  case control(Unicode.Scalar)
  /// A character with Alt (Meta) held.
  case alt(Unicode.Scalar)
  case text(Unicode.Scalar)
  /// A button of the mouse was pressed, or its wheel turned, at a place counted from 0.
  case mouse(MouseAction, column: Int, row: Int)
  /// A character out of a paste. Pastes never hold Enter: copied text must not choose.
  case pasted(Unicode.Scalar)
}

enum MouseAction: Sendable, Equatable {
  case press, wheelUp, wheelDown
}
