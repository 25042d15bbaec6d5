internal import Foundation
internal import Kernel

/// A property list with a dictionary at its top, read from a file, that knows the file's name for its errors.
package struct PropertyListFile: Equatable, Sendable {
  package let path: String
  package let entries: [PropertyListEntry]
  /// Whether it was taken out of a signature, header and all.
  package let isBlob: Bool

  /// The dictionary's keys, sorted.
  var keys: [String] { entries.map(\.key).sorted() }

  /// Reads a property list: XML, binary, or as `codesign` prints entitlements.
  ///
  /// - Parameter name: its name in errors; its path, if none is given.
  /// - Returns: `nil` when there is nothing at the path.
  package init?(path: String, name: String? = nil) throws(AppBundleError) {
    let name = name ?? path
    guard let kind = try FileKind(path: path) else { return nil }
    // Only regular files: a pipe would be waited for, and a link could name a file outside the bundle.
    guard kind == .regular else {
      throw AppBundleError.unreadable(path: name, reason: "expected a regular file, found \(kind.description)")
    }
    let bytes: [UInt8]
    do throws(KernelError) {
      // Something else may have come into its place since.
      bytes = try Descriptor.regularFile(path, followsLink: false).readAll(limit: PropertyListBounds.size + 1)
    } catch {
      throw AppBundleError.unreadable(path: name, reason: error.fileFault)
    }
    try self.init(bytes: bytes, path: name)
  }

  init(path: String, entries: [PropertyListEntry]) { (self.path, self.entries, isBlob) = (path, entries, false) }

  /// - Parameter path: its name in errors.
  package init(bytes: [UInt8], path: String) throws(AppBundleError) {
    if bytes.count > PropertyListBounds.size {
      throw AppBundleError.unreadable(path: path, reason: "it is larger than 1 MiB, which no manifest is")
    }
    let top: PropertyListNode
    do throws(PropertyListFault) { top = try PropertyList.parse(bytes) } catch {
      throw .notAPropertyList(path: path, reason: error.description)
    }
    guard let entries = top.dictionary else {
      throw .notAPropertyList(path: path, reason: "at its top is \(top.kind)")
    }
    (self.path, self.entries, isBlob) = (path, entries, PropertyList.isBlob(bytes))
  }

  /// A reader's or Foundation's own words, without the full stop.
  static func reason(_ error: any Error) -> String {
    let error = error as NSError
    let debug = error.userInfo["NSDebugDescription"] as? String
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
    var text = debug ?? underlying?.localizedDescription ?? error.localizedDescription
    while text.hasSuffix(".") { text.removeLast() }
    return text
  }

  package subscript(key: String) -> PropertyListNode? { entries.first { $0.key == key }?.node }

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

  /// An entitlement. It claims rights, so nothing is taken for one that only looks like it: readers on macOS differ there (for
  /// its kernel every value but false is on, and the App Store refuses all but booleans).
  func flag(_ key: String) throws(AppBundleError) -> Bool? {
    guard let entry = entries.first(where: { $0.key == key }) else { return nil }
    guard let flag = entry.node.boolean else {
      throw .wrongEntitlement(path: path, line: entry.line, key: key, found: entry.node.kind)
    }
    return flag
  }

  /// A boolean of a manifest, in any of its forms (``PropertyListNode/looseBoolean``).
  func looseFlag(_ key: String) throws(AppBundleError) -> Bool? {
    guard let value = self[key] else { return nil }
    guard let flag = value.looseBoolean else {
      let found = value.string.map { "the string \($0.quoted)" } ?? value.kind
      throw .wrongType(path: path, key: key, expected: KeyShape.looseBoolean.expected, found: found)
    }
    return flag
  }

  /// The dictionaries of a list; none where there is something else.
  func dictionaries(_ key: String) -> [PropertyListNode] {
    (self[key]?.array ?? []).filter { $0.dictionary != nil }
  }

  private func string(_ key: String) throws(AppBundleError) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.string else {
      throw .wrongType(path: path, key: key, expected: "a string", found: value.kind)
    }
    return text
  }
}
