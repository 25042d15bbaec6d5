extension String {
  /// The text in quotes, with control characters escaped and long text cut: a text from a file is shown on a
  /// terminal, and must not be able to write to it.
  package var quoted: String {
    let limit = 80
    let cut = unicodeScalars.count > limit
    var result = "\""
    for scalar in unicodeScalars.prefix(limit) {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.changesTerminal {
          result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + (cut ? "…\"" : "\"")
  }
}

extension Unicode.Scalar {
  /// Whether showing it does more than draw a glyph: control characters, line separators, and the marks that change
  /// the direction of the text after them.
  package var changesTerminal: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default:
      (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F
    }
  }
}
