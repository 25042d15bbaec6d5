extension JSONValue {
  /// Appends the document in its shortest form, without white space. Never contains a zero byte, which ends a message.
  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    case .int(let value): bytes.append(contentsOf: String(value).utf8)
    case .unsigned(let value): bytes.append(contentsOf: String(value).utf8)
    // JSON has no infinity and no NaN. The parser makes none, and no message of Ambit's holds a fraction.
    case .double(let value): bytes.append(contentsOf: value.isFinite ? String(value).utf8 : "null".utf8)
    case .string(let value): Self.write(value, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      let values = values.span
      for index in values.indices {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        values[index].write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object): object.write(to: &bytes)
    }
  }

  fileprivate static func write(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { text in
      // Most texts have nothing to be escaped, and are appended as a whole.
      var written = 0
      for index in text.indices {
        let byte = unsafe text[index]
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
        unsafe bytes.append(contentsOf: text[written..<index])
        written = index + 1
        writeEscape(byte, to: &bytes)
      }
      unsafe bytes.append(contentsOf: text[written...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func writeEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x0D: bytes.append(contentsOf: "\\r".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    default:
      bytes.append(contentsOf: "\\u00".utf8)
      bytes.append(hexDigit(byte >> 4))
      bytes.append(hexDigit(byte & 0xF))
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension JSONObject {
  package func write(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    let fields = fields.span
    for index in fields.indices {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONValue.write(fields[index].name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      fields[index].value.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// The object as one line of JSON.
  package var text: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
