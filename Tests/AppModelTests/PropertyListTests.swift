import Foundation
import TestSupport
import Testing

@testable import AppModel

@Suite struct `Property lists are read as Foundation reads them` {
  private static func same(_ node: PropertyListNode, _ value: Any) -> Bool {
    switch node.value {
    case .string(let text): return text == value as? String
    case .boolean(let flag): return type(of: value) == Bool.self && flag == value as? Bool
    case .integer(let number): return number == (value as? NSNumber)?.int64Value
    case .unsigned(let number): return number == (value as? NSNumber)?.uint64Value
    case .real(let number): return number == (value as? NSNumber)?.doubleValue
    case .date(let seconds): return seconds == (value as? Date)?.timeIntervalSinceReferenceDate
    case .data(let bytes): return Data(bytes) == value as? Data
    case .reference: return false
    case .array(let members):
      guard let values = value as? [Any] else { return false }
      return members.count == values.count && zip(members, values).allSatisfy(same)
    case .dictionary(let entries):
      guard let values = value as? [String: Any] else { return false }
      return entries.count == values.count
        && entries.allSatisfy { entry in values[entry.key].map { same(entry.node, $0) } ?? false }
    }
  }

  @Test(arguments: try ManifestFixtures.names())
  func `every value of a manifest`(name: String) throws {
    let bytes = try ManifestFixtures.bytes(name)
    let node = try PropertyList.parse(bytes)
    let plain = PropertyList.isBlob(bytes) ? Array(bytes.dropFirst(8)) : bytes
    let top = try unsafe PropertyListSerialization.propertyList(from: Data(plain), format: nil)
    #expect(Self.same(node, top))
    // And both forms that Foundation writes of it.
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let written = try PropertyListSerialization.data(fromPropertyList: top, format: format, options: 0)
      #expect(Self.same(try PropertyList.parse(Array(written)), top))
    }
  }
}
