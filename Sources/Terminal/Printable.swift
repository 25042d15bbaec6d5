internal import Kernel

/// Text with nothing in it that a terminal would obey or that would hide the text's meaning.
///
/// A file's name, an app's name and every word an app says may hold any character. An escape code among them could
/// move the cursor over an earlier line, rename the window or answer on the user's behalf; a bidirectional override
/// could make `fdp.exe` look like `exe.pdf`. Such characters are replaced by a visible escape: `\n`, `\t`, `\r`, or
/// `\u{1b}` with the character's number; a byte of a name that is not UTF-8 as `\xE9`. The answer is for eyes: it cannot be turned back into the text.
package func printable(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: isHazardous) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if isHazardous(scalar) {
      result.append(contentsOf: visibleEscape(scalar).unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}

private func visibleEscape(_ scalar: Unicode.Scalar) -> String {
  switch scalar {
  case "\n": return "\\n"
  case "\r": return "\\r"
  case "\t": return "\\t"
  default:
    if String.byte(escapedAs: scalar) != nil { return String(scalar).shown }
    let number = String(scalar.value, radix: 16)
    return "\\u{\(number.count < 2 ? "0" + number : number)}"
  }
}

/// Bytes that are no text, controls (Cc), line and paragraph separators, bidirectional controls, and format characters that leave no trace.
///
/// The joiners U+200C and U+200D stay: words in Persian and the Indian scripts, and emoji, are spelt with them.
package func isHazardous(_ scalar: Unicode.Scalar) -> Bool {
  // The common case first: printing ASCII.
  if scalar.value >= 0x20 && scalar.value < 0x7F { return false }
  if String.byte(escapedAs: scalar) != nil { return true }
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
  case .format: return scalar.value != 0x200C && scalar.value != 0x200D && !isVisibleFormat(scalar)
  default: return false
  }
}

/// Format characters that are drawn: the signs that enclose numbers in Arabic, Syriac, Kaithi.
func isVisibleFormat(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD: return true
  default: return false
  }
}
