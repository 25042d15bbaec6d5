internal import Paths
internal import TOMLKit

/// Reads TOML of which every key has to be known.
///
/// ```swift
/// let top = try StrictTOML.parse(text, file: "x.toml")
/// let limit = try top.table("scopes")?.integer("limit", in: 1...100_000)
/// try top.finish()  // complains about what nobody asked for
/// ```
///
/// Every error is a ``SourceError`` with file, line and column.
package enum StrictTOML {
  /// The largest document that is read, in bytes.
  package static let maximumSize = 1 << 20

  /// Parses a document.
  ///
  /// - Parameter file: its name in errors.
  package static func parse(_ text: String, file: String) throws(SourceError) -> TOMLReader {
    try parse(Array(text.utf8), file: file)
  }

  /// Parses a document that should be UTF-8.
  package static func parse(_ bytes: [UInt8], file: String) throws(SourceError) -> TOMLReader {
    if bytes.count > maximumSize {
      throw SourceError(file: file, position: .start, message: "the file is larger than 1 MiB; is it the right one?")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SourceError(
        file: file, position: .firstDamage(in: bytes), message: "the text is not UTF-8; save the file as UTF-8")
    }
    if text.hasLongMarkRow {
      throw SourceError(
        file: file, position: .start,
        message: "the file has more than 128 combining marks in a row; is it the right one?")
    }
    if let zero = bytes.firstIndex(of: 0) {
      throw SourceError(
        file: file, position: .end(of: bytes[..<zero]), message: "the character NUL cannot stand here; take it out")
    }
    var scanner = TOMLScanner(bytes)
    do {
      try scanner.scan()
    } catch {
      throw SourceError(file: file, position: error.position, message: error.message)
    }
    let top: TOMLTable
    do {
      top = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      let begin = error.source.begin
      throw SourceError(
        file: file, position: SourcePosition(line: max(1, begin.line), column: max(1, begin.column)),
        message: "this is not valid TOML: \(sentence(error.description))")
    } catch {
      throw SourceError(file: file, position: .start, message: "this is not valid TOML: \(error)")
    }
    let document = TOMLDocument(scanner: scanner)
    return TOMLReader(document.table(top, at: [], from: .start), path: [], file: file)
  }

  /// The parser's description, begun as the end of a sentence is and without its line breaks.
  private static func sentence(_ text: String) -> String {
    let text = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}

extension SourcePosition {
  package static let start = SourcePosition(line: 1, column: 1)

  /// The position after some text.
  fileprivate static func end(of bytes: some Collection<UInt8>) -> SourcePosition {
    var line = 1
    var column = 1
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return SourcePosition(line: line, column: column)
  }

  /// Where text that is not UTF-8 stops being so.
  fileprivate static func firstDamage(in bytes: [UInt8]) -> SourcePosition {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var line = 1
    var column = 1
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      if scalar == "\n" {
        line += 1
        column = 1
      } else {
        column += 1
      }
    }
    return SourcePosition(line: line, column: column)
  }
}
