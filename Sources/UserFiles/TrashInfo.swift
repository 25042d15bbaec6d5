internal import Kernel
internal import Paths

/// The record of a trashed file: where it was, and since when it is away (freedesktop.org Trash specification 1.0).
package struct TrashInfo: Sendable, Equatable {
  /// Absolute in the home trash; relative to the top of the volume elsewhere.
  package let path: String
  /// Local time, `YYYY-MM-DDThh:mm:ss`.
  package let date: String

  package static let suffix = ".trashinfo"
  /// Bytes: a path has 4096, three letters each.
  package static let limit = 16_384
  private static let header = "[Trash Info]"
  static let escape = ByteEscape.percent(keeping: "-._~/")

  package init(path: String, date: String) { (self.path, self.date) = (path, date) }

  /// - Returns: `nil` for anything but such a record. Of a key that occurs twice the first counts.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.limit else { return nil }
    var (path, date): (String?, String?) = (nil, nil)
    let lines = bytes.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
    guard lines.first.map({ String(decoding: $0, as: UTF8.self) }) == Self.header else { return nil }
    for line in lines.dropFirst() {
      // Another group has other keys.
      if line.first == 0x5B { break }
      guard let equals = line.firstIndex(of: 0x3D) else { continue }
      let value = line[line.index(after: equals)...]
      switch String(decoding: line[..<equals], as: UTF8.self) {
      case "Path" where path == nil:
        guard let decoded = Self.escape.bytes(of: value) else { return nil }
        path = String(kernel: decoded)
      case "DeletionDate" where date == nil:
        let text = String(decoding: value, as: UTF8.self)
        date = Self.isDate(text) ? text : ""
      default: break
      }
    }
    guard let path, !path.isEmpty, !path.utf8.contains(0) else { return nil }
    (self.path, self.date) = (path, date ?? "")
  }

  package var text: String {
    "\(Self.header)\nPath=\(Self.escape.escaped(path.kernelBytes))\nDeletionDate=\(date)\n"
  }

  private static func isDate(_ text: String) -> Bool {
    let form = Array("0000-00-00T00:00:00".utf8)
    let bytes = Array(text.utf8)
    guard bytes.count >= form.count else { return false }
    return zip(bytes, form).allSatisfy { $1 == 0x30 ? (0x30...0x39).contains($0) : $0 == $1 } && bytes.count <= 32
  }
}
