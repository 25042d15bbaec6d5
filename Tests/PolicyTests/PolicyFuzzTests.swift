import TestSupport
import Testing

@testable import Policy

@Suite struct PolicyFuzzTests {
  /// Pieces that mean something in TOML, so that mutations reach further than the first byte that is wrong.
  private static let pieces: [[UInt8]] =
    [
      "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\"", "'", "\"\"\"", "'''", "#", "\n", "\r\n", "\\", "\\u0000",
      "\\u00e9", "\\U0001F600", "true", "1", "-0x1F", "1e400", "nan", "inf", "1979-05-27T07:32:00Z", "07:32:00",
      "a.b.c = 1\n",
      "[scopes]\n", "[[scopes]]\n", "[a.'b c'.\"d\"]\n", "limit", "x = { y = [1, {z = 2}] }\n", "é", "\u{FEFF}",
      "\u{2028}",
      "\u{7F}", "\t", "\u{B}", "\u{C}", "\u{A0}", " ", "_", "+",
    ].map { Array($0.utf8) } + [[0], [0xFF], [0xC3], [0xE2, 0x80]]

  private static func mutated(_ text: [UInt8], _ random: inout Seeded) -> [UInt8] {
    var bytes = text
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let at = Int.random(in: 0...bytes.count, using: &random)
      let length = Int.random(in: 0...8, using: &random)
      let end = min(bytes.count, at + length)
      switch Int.random(in: 0..<7, using: &random) {
      case 0: if at < bytes.count { bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
      case 1: bytes.removeSubrange(at..<end)
      case 2: bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
      case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
      case 4: bytes = Array(bytes[..<at])
      default: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: at)
      }
    }
    return bytes
  }

  /// The places of all keys and values, and whether each lies behind that of the table or array that it is in.
  private static func check(_ node: TOMLNode, _ visit: (SourcePosition) -> Void) {
    visit(node.position)
    switch node.value {
    case .table(let entries):
      for entry in entries {
        visit(entry.position)
        check(entry.node, visit)
      }
    case .array(let elements):
      for element in elements { check(element, visit) }
    default: break
    }
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `any damage to a policy gives a value or an error with a place in the file`(seed: UInt64) {
    var random = Seeded(seed: seed)
    let good = Array(PolicyDecodingTests.full.utf8)
    var values = 0
    var mistakes = 0
    for _ in 0..<Rounds.few(400, of: 1500) {
      let bytes = Self.mutated(good, &random)
      let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
      do {
        let top = try StrictTOML.parse(bytes, file: "x.toml")
        Self.check(top.node) { #expect((1...lines).contains($0.line) && $0.column >= 1) }
        _ = try PolicyOverrides(top)
        values += 1
      } catch {
        #expect((1...lines).contains(error.position.line), "\(error)")
        #expect(error.position.column >= 1, "\(error)")
        #expect(error.description.hasPrefix("x.toml:\(error.position.line):\(error.position.column): "))
        mistakes += 1
      }
    }
    #expect(values > 0 && mistakes > 0, "one of the two never happened: \(values), \(mistakes)")
  }
}
