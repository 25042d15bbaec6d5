internal import Foundation

/// A property list with a dictionary at its top, read from a file, that knows the file's name for its errors.
struct PropertyListFile {
  let path: String
  private let values: [String: Any]

  /// A manifest is a few kilobytes; more is another file under its name.
  static let maximumSize = 1 << 20

  /// The dictionary's keys, sorted.
  var keys: [String] { values.keys.sorted() }

  /// Reads an XML or binary property list.
  ///
  /// - Returns: `nil` when there is nothing at the path.
  init?(path: String) throws(AppBundleError) {
    self.path = path
    guard let kind = try FileKind(path: path) else { return nil }
    // Only regular files: a pipe would be waited for, and a link could name a file outside the bundle.
    guard kind == .regular else {
      throw AppBundleError.unreadable(path: path, reason: "expected a regular file, found \(kind.description)")
    }
    let data: Data
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      data = try handle.read(upToCount: Self.maximumSize + 1) ?? Data()
    } catch {
      throw AppBundleError.unreadable(path: path, reason: Self.reason(error))
    }
    if data.count > Self.maximumSize {
      throw AppBundleError.unreadable(path: path, reason: "it is larger than 1 MiB, which no manifest is")
    }
    values = try Self.dictionary(data, path: path)
  }

  /// The parser also takes the format that came before XML, in which nearly any text is a string or a list; so what
  /// the file is gets decided by its first bytes, and the parser must come to the same result.
  private static func dictionary(_ data: Data, path: String) throws(AppBundleError) -> [String: Any] {
    func refuse(_ reason: String) -> AppBundleError { .notAPropertyList(path: path, reason: reason) }

    let expected: PropertyListSerialization.PropertyListFormat
    if data.isEmpty { throw refuse("it is empty") }
    if data.starts(with: Data("bplist".utf8)) {
      expected = .binary
    } else {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let text = data.starts(with: mark) ? data.dropFirst(mark.count) : data
      let first = text.first { !" \t\r\n".utf8.contains($0) }
      guard first == UInt8(ascii: "<") else { throw refuse("it begins with neither \"bplist\" nor \"<\"") }
      expected = .xml
    }
    var format = PropertyListSerialization.PropertyListFormat.xml
    let top: Any
    do {
      top = try unsafe PropertyListSerialization.propertyList(from: data, options: [], format: &format)
    } catch {
      throw refuse(reason(error))
    }
    guard format == expected else {
      throw refuse(expected == .binary ? "it begins as a binary one and is damaged" : "it is not XML")
    }
    guard let values = top as? [String: Any] else { throw refuse("at its top is \(kind(of: top))") }
    return values
  }

  /// A parser's or Foundation's own words, without the full stop.
  static func reason(_ error: any Error) -> String {
    let error = error as NSError
    let debug = error.userInfo["NSDebugDescription"] as? String
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
    var text = debug ?? underlying?.localizedDescription ?? error.localizedDescription
    while text.hasSuffix(".") { text.removeLast() }
    return text
  }

  // MARK: - Values

  func badValue(_ key: String, _ value: String, _ problem: String) -> AppBundleError {
    .badValue(path: path, key: key, value: value, problem: problem)
  }

  func required(_ key: String, example: String) throws(AppBundleError) -> String {
    guard let value = try string(key) else { throw .keyMissing(path: path, key: key, example: example) }
    return value
  }

  /// A text that is shown to people: not empty, of one line, and nothing that steers a terminal.
  func optionalText(_ key: String) throws(AppBundleError) -> String? {
    guard let value = try string(key) else { return nil }
    if value.isEmpty { throw badValue(key, value, "it is empty; leave the key out or give it a value") }
    if value.utf8.count > 255 {
      throw badValue(key, value, "it is \(value.utf8.count) bytes long, and 255 are allowed")
    }
    if value.unicodeScalars.contains(where: \.changesTerminal) {
      throw badValue(key, value, "it has control characters")
    }
    return value
  }

  func flag(_ key: String) throws(AppBundleError) -> Bool? {
    guard let value = values[key] else { return nil }
    guard let flag = Self.boolean(value) else {
      throw .wrongType(path: path, key: key, expected: "a boolean", found: Self.kind(of: value))
    }
    return flag
  }

  /// By exact type: a cast would let the numbers 0 and 1 through as well.
  static func boolean(_ value: Any?) -> Bool? {
    guard let value, type(of: value) == Bool.self else { return nil }
    return value as? Bool
  }

  /// The dictionaries of a list; none where there is something else.
  func dictionaries(_ key: String) -> [[String: Any]] {
    (values[key] as? [Any] ?? []).compactMap { $0 as? [String: Any] }
  }

  /// A dictionary; empty where there is something else.
  func dictionary(_ key: String) -> [String: Any] { values[key] as? [String: Any] ?? [:] }

  private func string(_ key: String) throws(AppBundleError) -> String? {
    guard let value = values[key] else { return nil }
    guard let text = value as? String else {
      throw .wrongType(path: path, key: key, expected: "a string", found: Self.kind(of: value))
    }
    return text
  }

  private static func kind(of value: Any) -> String {
    switch value {
    case is String: "a string"
    case is [String: Any]: "a dictionary"
    case is [Any]: "an array"
    case is Date: "a date"
    case is Data: "data"
    case let value where type(of: value) == Bool.self: "a boolean"
    case is NSNumber: "a number"
    default: "a value of another type"
    }
  }
}
