/// Why an interface description cannot be used.
package struct InterfaceError: Error, Equatable, Sendable, CustomStringConvertible {
  package let line: Int
  package let reason: String
  package var description: String { "line \(line): \(reason)" }
}

extension Interface {
  /// Reads an interface description (https://varlink.org/Interface-Definition).
  package init(parsing description: String) throws(InterfaceError) {
    var parser = InterfaceParser(Array(description.utf8))
    let members = try parser.parse()
    self.init(name: parser.name, description: description) { members }
  }

  /// A description that was compiled in. It is Ambit's own text, tested to be well formed, and no input reaches it.
  init(embedded bytes: [UInt8]) {
    var parser = InterfaceParser(bytes)
    parser.insist { parser throws(InterfaceError) in try parser.parseName() }
    self.init(name: parser.name, description: String(decoding: bytes, as: UTF8.self)) {
      var parser = InterfaceParser(bytes)
      return parser.insist { parser throws(InterfaceError) in try parser.parse() }
    }
  }
}

private struct InterfaceParser {
  let bytes: [UInt8]
  var position = 0
  var line = 1
  var name = ""
  var types: [String: VarlinkType] = [:]
  var methods: [String: Interface.Method] = [:]
  var errors: [String: VarlinkStructure] = [:]
  /// Names of types that were used, and where first.
  var used: [(name: String, line: Int)] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func error(_ reason: String) -> InterfaceError { InterfaceError(line: line, reason: reason) }

  mutating func insist<Value>(_ read: (inout Self) throws(InterfaceError) -> Value) -> Value {
    do throws(InterfaceError) { return try read(&self) } catch {
      preconditionFailure("an interface description that was compiled in is broken: \(error)")
    }
  }

  mutating func parseName() throws(InterfaceError) {
    guard try word() == "interface" else { throw error("a description begins with “interface”") }
    name = try word { $0.isLetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    guard name.contains("."), !name.hasPrefix("."), !name.hasSuffix(".") else {
      throw error("“\(name)” is not the name of an interface")
    }
  }

  mutating func parse() throws(InterfaceError) -> Interface.Members {
    try parseName()
    while peek() != nil {
      let keyword = try word()
      let member = try memberName()
      guard types[member] == nil, methods[member] == nil, errors[member] == nil else {
        throw error("“\(member)” is described twice")
      }
      switch keyword {
      case "type": types[member] = try structureOrEnumeration(depth: 0)
      case "error": errors[member] = try structure(depth: 0)
      case "method":
        let parameters = try structure(depth: 0)
        guard take("->") else { throw error("“->” was expected") }
        methods[member] = Interface.Method(parameters: parameters, reply: try structure(depth: 0))
      default: throw error("“type”, “method” or “error” was expected, not “\(keyword)”")
      }
    }
    for use in used where types[use.name] == nil {
      throw InterfaceError(line: use.line, reason: "there is no type “\(use.name)”")
    }
    return Interface.Members(types: types, methods: methods, errors: errors)
  }

  /// The next byte that is neither white space nor comment.
  mutating func peek() -> UInt8? {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      case UInt8(ascii: "#"):
        while position + 1 < bytes.count, bytes[position + 1] != UInt8(ascii: "\n") { position += 1 }
      default: return bytes[position]
      }
      position += 1
    }
    return nil
  }

  mutating func take(_ text: String) -> Bool {
    guard peek() != nil, bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  mutating func word(
    _ belongs: (UInt8) -> Bool = { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
  ) throws(InterfaceError) -> String {
    _ = peek()
    let start = position
    while position < bytes.count, belongs(bytes[position]) { position += 1 }
    guard position > start, bytes[start].isLetter else { throw error("a name was expected") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  mutating func memberName() throws(InterfaceError) -> String {
    let name = try word { $0.isLetterOrDigit }
    guard name.first?.isUppercase == true else { throw error("“\(name)” does not begin with a capital") }
    return name
  }

  mutating func structure(depth: Int) throws(InterfaceError) -> VarlinkStructure {
    guard case .structure(let structure) = try structureOrEnumeration(depth: depth) else {
      throw error("fields have types here")
    }
    return structure
  }

  /// `(name: type, …)` or `(word, …)`; `()` is a structure without fields.
  mutating func structureOrEnumeration(depth: Int) throws(InterfaceError) -> VarlinkType {
    guard take("(") else { throw error("an opening parenthesis was expected") }
    if take(")") { return .structure(VarlinkStructure(fields: [])) }
    var fields: [VarlinkStructure.Field] = []
    var words: [String] = []
    repeat {
      let name = try word()
      guard !words.contains(name), !fields.contains(where: { $0.name == name }) else {
        throw error("“\(name)” occurs twice")
      }
      if take(":") {
        fields.append(VarlinkStructure.Field(name: name, type: try type(depth: depth + 1)))
      } else {
        words.append(name)
      }
    } while take(",")
    guard take(")") else { throw error("a comma or a closing parenthesis was expected") }
    guard fields.isEmpty || words.isEmpty else { throw error("“\(words[0])” has no type") }
    return fields.isEmpty ? .enumeration(words) : .structure(VarlinkStructure(fields: fields))
  }

  mutating func type(depth: Int) throws(InterfaceError) -> VarlinkType {
    guard depth < 32 else { throw error("types are nested too deeply") }
    if take("?") {
      let wrapped = try type(depth: depth + 1)
      if case .optional = wrapped { throw error("a type is optional twice") }
      return .optional(wrapped)
    }
    if take("[]") { return .array(try type(depth: depth + 1)) }
    if take("[") {
      guard try word() == "string", take("]") else { throw error("“[string]” was expected") }
      return .map(try type(depth: depth + 1))
    }
    if peek() == UInt8(ascii: "(") { return try structureOrEnumeration(depth: depth) }
    let name = try word()
    switch name {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    default:
      used.append((name, line))
      return .named(name)
    }
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
  }
  fileprivate var isLetterOrDigit: Bool { isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
