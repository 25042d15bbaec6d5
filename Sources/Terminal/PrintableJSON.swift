/// A JSON text with nothing in it that a terminal would obey or that would hide the text's meaning, and the same value.
///
/// JSON has escapes of its own for characters that ``printable(_:)`` would replace: `\u202e`, and two of them for a scalar
/// beyond the first plane (RFC 8259). Between strings there is only white space, which stays as it is.
package func printableJSON(_ text: String) -> String {
  // The ASCII characters that JSON leaves as they are, DEL apart, are harmless: nearly every text ends here.
  guard text.utf8.contains(where: { $0 >= 0x7F }), text.unicodeScalars.contains(where: needsEscape) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    guard needsEscape(scalar) else {
      result.append(scalar)
      continue
    }
    for unit in String(scalar).utf16 {
      let number = String(unit, radix: 16)
      result.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - number.count) + number).unicodeScalars)
    }
  }
  return String(result)
}

private func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
  isHazardous(scalar) && scalar != "\n" && scalar != "\t" && scalar != "\r"
}
