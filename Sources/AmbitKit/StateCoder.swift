internal import Foundation

/// A keyed coder for property list values: texts, data, dates, numbers, and arrays and dictionaries of those.
///
/// Foundation's own keyed archiver writes nothing in a program that is linked statically (Swift 6.3.1 on Linux), as apps are that need no
/// toolchain in their sandbox.
final class StateCoder: NSCoder {
  private(set) var values: [String: Any] = [:]
  /// The first value that is none of those.
  private(set) var failure: CocoaError?

  override init() { super.init() }

  init?(_ data: Data) {
    guard let state = try? PropertyListDecoder().decode([String: StateValue].self, from: data) else { return nil }
    values = state.mapValues(\.any)
    super.init()
  }

  func data() throws -> Data {
    if let failure { throw failure }
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return try encoder.encode(values.compactMapValues(StateValue.init))
  }

  override var allowsKeyedCoding: Bool { true }
  override var requiresSecureCoding: Bool { true }
  override func containsValue(forKey key: String) -> Bool { values[key] != nil }

  override func encode(_ object: Any?, forKey key: String) {
    guard let object else { return }
    guard StateValue(object) != nil else {
      failure =
        failure
        ?? CocoaError.make(
          .coderInvalidValue, nil, nil,
          "The state has a \(type(of: object)) under “\(key)”; it holds texts, data, dates, numbers, arrays and dictionaries."
        )
      return
    }
    values[key] = object
  }

  override func encode(_ value: Bool, forKey key: String) { values[key] = value }
  override func encode(_ value: Int32, forKey key: String) { values[key] = Int(value) }
  override func encode(_ value: Int64, forKey key: String) { values[key] = Int(value) }
  override func encode(_ value: Int, forKey key: String) { values[key] = value }
  override func encode(_ value: Float, forKey key: String) { values[key] = Double(value) }
  override func encode(_ value: Double, forKey key: String) { values[key] = value }

  override func decodeObject(forKey key: String) -> Any? { values[key] }
  override func decodeObject<Decoded: NSObject & NSCoding>(of cls: Decoded.Type, forKey key: String) -> Decoded? {
    switch values[key] {
    case let text as String: NSString(string: text) as? Decoded
    case let data as Data: NSData(data: data) as? Decoded
    case let date as Date: NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate) as? Decoded
    case let flag as Bool: NSNumber(value: flag) as? Decoded
    case let number as Int: NSNumber(value: number) as? Decoded
    case let number as Double: NSNumber(value: number) as? Decoded
    case let value: value as? Decoded
    }
  }
  override func decodeBool(forKey key: String) -> Bool { values[key] as? Bool ?? false }
  override func decodeInt32(forKey key: String) -> Int32 { Int32(clamping: decodeInteger(forKey: key)) }
  override func decodeInt64(forKey key: String) -> Int64 { Int64(decodeInteger(forKey: key)) }
  override func decodeInteger(forKey key: String) -> Int { values[key] as? Int ?? 0 }
  override func decodeFloat(forKey key: String) -> Float { Float(decodeDouble(forKey: key)) }
  override func decodeDouble(forKey key: String) -> Double {
    values[key] as? Double ?? (values[key] as? Int).map(Double.init) ?? 0
  }
}

/// A property list value.
private enum StateValue: Codable {
  case bool(Bool)
  case int(Int)
  case double(Double)
  case text(String)
  case data(Data)
  case date(Date)
  case array([StateValue])
  case dictionary([String: StateValue])

  init?(_ value: Any) {
    switch value {
    case let value as Bool: self = .bool(value)
    case let value as Int: self = .int(value)
    case let value as Double: self = .double(value)
    case let value as String: self = .text(value)
    case let value as NSString: self = .text(String(describing: value))
    case let value as Data: self = .data(value)
    case let value as NSData: self = .data(Data(referencing: value))
    case let value as Date: self = .date(value)
    case let value as NSNumber:
      self = value.doubleValue == Double(value.intValue) ? .int(value.intValue) : .double(value.doubleValue)
    case let value as [Any]:
      let items = value.compactMap(StateValue.init)
      guard items.count == value.count else { return nil }
      self = .array(items)
    case let value as [String: Any]:
      let items = value.compactMapValues(StateValue.init)
      guard items.count == value.count else { return nil }
      self = .dictionary(items)
    default: return nil
    }
  }

  var any: Any {
    switch self {
    case .bool(let value): value
    case .int(let value): value
    case .double(let value): value
    case .text(let value): value
    case .data(let value): value
    case .date(let value): value
    case .array(let values): values.map(\.any)
    case .dictionary(let values): values.mapValues(\.any)
    }
  }
}
