internal import Folders
internal import Foundation

/// How a bookmark is written: a byte with the form's version, and the fields in a fixed order.
extension Bookmark {
  private static let version: UInt8 = 1

  /// The bytes that go under the seal.
  package var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.write(Self.version)
    writer.write(bundleIdentifier)
    writer.write(grant)
    writer.write(UInt8(rights == .readOnly ? 0 : 1))
    writer.write(path)
    writer.write(identity) { $0.write($1) }
    writer.write(place) { $0.write($1) }
    writer.write(created) { $0.write($1) }
    switch scope {
    case .app: writer.write(UInt8(0))
    case .implicit(let boot):
      writer.write(UInt8(1))
      writer.write(boot)
    case .document(let anchor):
      writer.write(UInt8(2))
      writer.write(anchor.grant)
      writer.write(anchor.identity)
    }
    writer.write(values) { writer, values in
      writer.write(UInt64(values.keys.count))
      for key in values.keys { writer.write(key) }
      writer.write(UInt8(Self.kinds.firstIndex(of: values.kind) ?? 0))
      writer.write(values.size)
      writer.write(values.birth)
      writer.write(values.modified)
      writer.write(values.volumeName)
    }
    writer.write(inside) { writer, inside in
      writer.write(inside.path)
      writer.write(inside.identity)
    }
    // Only where there is one: others are as they always were.
    if let provided {
      writer.write(provided.provider)
      writer.write(provided.item)
    }
    return writer.bytes
  }

  /// `nil` for bytes that are no bookmark.
  package init?(bytes: [UInt8]) {
    do throws(BinaryReader.Malformed) { self = try Self.read(bytes) } catch { return nil }
  }

  private static func read(_ bytes: [UInt8]) throws(BinaryReader.Malformed) -> Bookmark {
    var reader = BinaryReader(bytes)
    guard try reader.byte() == version else { throw .init() }
    let bookmark = Bookmark(
      bundleIdentifier: try reader.text(), grant: try reader.text(),
      rights: try choice(&reader, [.readOnly, .readWrite]), path: try reader.text(),
      identity: try reader.optional { reader throws(BinaryReader.Malformed) in try reader.identity() },
      place: try reader.optional { reader throws(BinaryReader.Malformed) in try reader.place() },
      created: try reader.optional { reader throws(BinaryReader.Malformed) in try reader.signed() },
      scope: try scope(&reader),
      values: try reader.optional { reader throws(BinaryReader.Malformed) in try values(&reader) },
      inside: try reader.optional { reader throws(BinaryReader.Malformed) in
        Inside(path: try reader.text(), identity: try reader.identity())
      }, provided: reader.isAtEnd ? nil : Provided(provider: try reader.text(), item: try reader.text()))
    try reader.end()
    return bookmark
  }

  /// By their numbers in the form: new ones at the end.
  private static let kinds: [DocumentKind] = [.file, .folder, .package]

  private static func choice<Value>(
    _ reader: inout BinaryReader, _ values: [Value]
  ) throws(BinaryReader.Malformed) -> Value {
    let index = Int(try reader.byte())
    guard values.indices.contains(index) else { throw .init() }
    return values[index]
  }

  private static func scope(_ reader: inout BinaryReader) throws(BinaryReader.Malformed) -> Scope {
    switch try reader.byte() {
    case 0: return .app
    case 1: return .implicit(boot: try reader.text())
    case 2: return .document(Anchor(grant: try reader.text(), identity: try reader.identity()))
    default: throw .init()
    }
  }

  private static func values(_ reader: inout BinaryReader) throws(BinaryReader.Malformed) -> Values {
    let count = try reader.number()
    var keys: [String] = []
    // The end of the bytes ends it, even if the count is larger.
    for _ in 0..<min(count, 4096) { keys.append(try reader.text()) }
    return Values(
      keys: keys, kind: try choice(&reader, kinds), size: try reader.number(), birth: try reader.signed(),
      modified: try reader.signed(), volumeName: try reader.text())
  }
}
