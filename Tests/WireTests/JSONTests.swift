import Foundation
import TestSupport
import Testing

@testable import Wire

@Suite struct `JSON` {
  static let valid: [(String, JSONValue)] = [
    ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-0", 0), ("-12", -12),
    ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
    ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
    ("18446744073709551616", .double(18_446_744_073_709_551_616)), ("1.0", .double(1)), ("1e2", .double(100)),
    ("1E+2", .double(100)), ("-2.5e-1", .double(-0.25)), ("1e-400", .double(0)),
    (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{c}\n\r\t"), (#""\u00e9\uD83D\ude00""#, "é😀"),
    (#""é😀""#, "é😀"), (#""\u0000""#, "\0"), ("[]", []), ("[1,[2] , 3]", [1, [2], 3]), ("{}", [:]),
    (#"{"a":1,"b":{"c":[null]}}"#, ["a": 1, "b": ["c": [.null]]]), ("\t\r\n [ ] ", []),
  ]

  @Test(arguments: valid) func `what RFC 8259 allows is read`(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: Array(text.utf8)) == value)
  }

  static let invalid: [String] = [
    "", " ", "nul", "tru", "True", "+1", "01", "-", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "1e999",
    "\"", "\"a", #""\x""#, #""\u12""#, #""\u12G4""#, #""\uD83D""#, #""\uD83Dx""#, #""\uD83D\u0041""#, #""\uDE00""#,
    "\"\n\"", "\"\u{1}\"", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "{a:1}", #"{"a"}"#, #"{"a":}"#,
    #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "1 2", "[]]", "// a\n1", "'a'",
    "\u{FEFF}1", "\0", "1\0",
  ]

  @Test func `a text that would take seconds to compare is an error, also where it is written with escapes`() {
    let row = String(repeating: "\u{345}", count: 150) + String(repeating: "\u{334}", count: 150)
    let escaped = String(repeating: #"\u0345"#, count: 150)
    for text in [#"{"method":"\#(row).x"}"#, #"{"\#(row)":1}"#, #"["\#(escaped)"]"#] {
      let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
      #expect(error?.reason == "a string has more combining marks in a row than any text")
    }
  }

  @Test(arguments: invalid) func `anything else is an error`(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
  }

  @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]])
  func `strings are UTF-8`(bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    #expect(throws: JSONError(offset: 0, reason: "a string is not UTF-8")) {
      try JSONValue(parsing: [quote] + bytes + [quote])
    }
    // Also where an escape makes the parser copy.
    #expect(throws: JSONError.self) { try JSONValue(parsing: [quote] + Array("\\n".utf8) + bytes + [quote]) }
  }

  @Test func `nesting has a limit, and no more is needed to hold it`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONValue(parsing: nested(32))
    #expect(throws: JSONError(offset: 32, reason: "nested too deeply")) { try JSONValue(parsing: nested(33)) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: Array(String(repeating: #"{"a":"#, count: 33).utf8)) }
  }

  @Test func `a field that occurs twice is found among few and among many`() throws {
    for count in [2, 15, 16, 17, 18, 500] {
      let fields = (0..<count).map { "\"n\($0)\":\($0)" }
      let value = try JSONValue(parsing: Array("{\(fields.joined(separator: ","))}".utf8))
      guard case .object(let object) = value else { throw CocoaError(.coderReadCorrupt) }
      #expect(object.fields.map(\.name) == (0..<count).map { "n\($0)" })
      for twice in [0, count / 2, count - 1] {
        let text = "{\((fields + ["\"n\(twice)\":0"]).joined(separator: ","))}"
        #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
      }
    }
  }

  @Test func `what was written is read back, and Foundation reads the same`() throws {
    var random = Seeded(seed: 1)
    for _ in 0..<2000 {
      let value = JSONValue.random(depth: 4, using: &random)
      var bytes: [UInt8] = []
      value.write(to: &bytes)
      #expect(!bytes.contains(0))
      #expect(try JSONValue(parsing: bytes) == value)
      let theirs = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      #expect(value.isSame(as: theirs), "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test func `what Foundation wrote is read the same`() throws {
    var random = Seeded(seed: 2)
    for _ in 0..<1000 {
      let value = JSONValue.random(depth: 4, using: &random)
      let data = try JSONSerialization.data(
        withJSONObject: value.foundation, options: [.fragmentsAllowed, .prettyPrinted])
      let mine = try JSONValue(parsing: Array(data))
      #expect(mine.isSame(as: value.foundation))
    }
  }

  @Test func `damaged documents are read as Foundation reads them, or refused`() throws {
    var random = Seeded(seed: 3)
    var refused = 0
    var taken = 0
    for _ in 0..<4000 {
      var bytes: [UInt8] = []
      JSONValue.random(depth: 3, using: &random).write(to: &bytes)
      for _ in 0..<Int.random(in: 1...3, using: &random) { bytes.damage(using: &random) }
      guard let mine = try? JSONValue(parsing: bytes) else {
        refused += 1
        continue
      }
      taken += 1
      // What is taken here, Foundation takes too, as the same document. Not the other way round: it is laxer.
      let theirs = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      #expect(mine.isSame(as: theirs), "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(refused > 1000 && taken > 100)
  }

  @Test func `100,000 broken messages are refused or read, and nothing else happens`() {
    var random = Seeded(seed: 4)
    let whole: [[UInt8]] = [
      Array(#"{"method":"io.ambit.Access.Start","parameters":{"scope":"a\u00e9","caller":"E.swift:1"}}"#.utf8),
      Array(#"{"method":"x.y.Z","parameters":{"a":[1,2.5e3,-4,true,null,{"b":"c"}]},"more":false}"#.utf8),
    ]
    let service = WireService(info: ServiceInfo(version: "1", url: "u"), interfaces: Interface.app)
    var (read, calls, passed) = (0, 0, 0)
    for round in 0..<100_000 {
      var bytes = whole[round & 1]
      if round % 4 == 0 {
        bytes = (0..<Int.random(in: 0..<32, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      } else {
        bytes.damage(using: &random)
      }
      guard case .object(let object)? = try? JSONValue(parsing: bytes) else { continue }
      read += 1
      guard let call = try? IncomingCall(message: object, descriptors: []) else { continue }
      calls += 1
      if case .call = service.check(call) { passed += 1 }
    }
    #expect(0 < passed && passed < calls && calls < read && read < 100_000)
  }

  @Test func `a non-finite number is never written`() {
    var bytes: [UInt8] = []
    JSONValue.array([.double(.infinity), .double(.nan)]).write(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "[null,null]")
  }

  @Test func `objects are the same whatever the order, and a field can be set and removed`() {
    let object: JSONObject = ["a": 1, "b": 2]
    #expect(object == ["b": 2, "a": 1])
    #expect(object != ["a": 1])
    #expect(object != ["a": 1, "c": 2])
    var changed = object
    changed["a"] = nil
    changed["c"] = "x"
    #expect(changed.text == #"{"b":2,"c":"x"}"#)
  }
}

extension [UInt8] {
  /// Changes, adds or removes a byte, or cuts the rest off.
  mutating func damage(using random: inout Seeded) {
    guard let index = indices.randomElement(using: &random) else { return }
    let byte =
      Bool.random(using: &random)
      ? UInt8.random(in: 0...255, using: &random)
      : Array("{}[]\",:\\u0123456789.eE+-truefalsn".utf8).randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5: self[index] = byte
    case 5..<7: insert(byte, at: index)
    case 7..<9: remove(at: index)
    default: removeSubrange(index...)
    }
  }
}

extension JSONValue {
  static func random(depth: Int, using random: inout Seeded) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 7), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return .int(.random(in: -1000...1000, using: &random))
    case 3: return .int(.random(in: .min ... .max, using: &random))
    case 4: return .double(Double(Int.random(in: -9999...9999, using: &random)) / 128 + 1 / 256)
    case 5, 6: return .string(randomString(using: &random))
    case 7:
      return .array(
        (0..<Int.random(in: 0..<5, using: &random)).map { _ in
          Self.random(depth: depth - 1, using: &random)
        })
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0..<5, using: &random) {
        object[randomString(using: &random)] = Self.random(depth: depth - 1, using: &random)
      }
      return .object(object)
    }
  }

  private static func randomString(using random: inout Seeded) -> String {
    let alphabet = Array("abcXYZ 019\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}äß€\u{2028}😀中").map(String.init)
    return (0..<Int.random(in: 0..<8, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "" }
      .joined()
  }

  /// As Foundation has it.
  var foundation: Any {
    switch self {
    case .null: NSNull()
    case .bool(let value): NSNumber(value: value)
    case .int(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .string(let value): value
    case .array(let values): values.map(\.foundation)
    case .object(let object): Dictionary(uniqueKeysWithValues: object.fields.map { ($0.name, $0.value.foundation) })
    }
  }

  func isSame(as other: Any) -> Bool {
    switch (self, other) {
    case (.null, is NSNull): true
    case (.string(let mine), let theirs as String): mine == theirs
    case (.array(let mine), let theirs as [Any]):
      mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isSame(as: $1) }
    case (.object(let mine), let theirs as [String: Any]):
      mine.fields.count == theirs.count
        && mine.fields.allSatisfy { field in theirs[field.name].map { field.value.isSame(as: $0) } ?? false }
    case (.bool(let mine), let theirs as NSNumber): mine == theirs.boolValue
    // Foundation keeps many digits as a decimal number, whose own conversion to Double is not exact: compare the text.
    case (.int(let mine), let theirs as NSNumber): theirs.stringValue == String(mine)
    case (.unsigned(let mine), let theirs as NSNumber): theirs.uint64Value == mine
    case (.double(let mine), let theirs as NSNumber): Double(theirs.stringValue) == mine
    default: false
    }
  }
}
