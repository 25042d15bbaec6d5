package import Kernel
internal import Paths

/// A document or folder that the user likes to find again: by its identity, and by the path that it was last seen at, as a bookmark has
/// it. So it is found after a move.
package struct Favourite: Sendable, Equatable {
  package var path: String
  package let volume: [UInt8]
  package let handle: FileHandle
  package let inode: UInt64
  package let birth: Int64

  package init(path: String, volume: [UInt8], handle: FileHandle, inode: UInt64, birth: Int64) {
    (self.path, self.volume, self.handle, self.inode, self.birth) = (path, volume, handle, inode, birth)
  }

  package func isSameFile(as other: Favourite) -> Bool {
    volume == other.volume && handle == other.handle && inode == other.inode && birth == other.birth
  }
}

/// The user's favourites, in their order: a line for each (`docs/reference/state-files.md`).
package struct Favourites: Sendable, Equatable {
  package private(set) var all: [Favourite] = []

  package static let most = 500
  /// Bytes of the file.
  package static let limit = 4 << 20
  private static let header = "ambit-favourites 1"

  package init() {}

  /// - Returns: `nil` where the text is none of this form. A line that is damaged is left out.
  package init?(_ text: String) {
    let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: true).map { String(Substring($0)) }
    guard lines.first == Self.header else { return nil }
    all = lines.dropFirst().prefix(Self.most).compactMap(Self.favourite)
  }

  package var text: String {
    all.reduce(into: Self.header + "\n") { text, each in
      let fields = [
        Self.hex(each.volume), "\(each.handle.type):\(Self.hex(each.handle.bytes))", "\(each.inode)", "\(each.birth)",
        TrashInfo.escape.escaped(each.path.kernelBytes),
      ]
      text += fields.joined(separator: " ") + "\n"
    }
  }

  /// - Returns: false if there are as many as may be. A file that is one already gets its present path.
  package mutating func add(_ favourite: Favourite) -> Bool {
    if let known = all.firstIndex(where: favourite.isSameFile) {
      all[known] = favourite
      return true
    }
    guard all.count < Self.most else { return false }
    all.append(favourite)
    return true
  }

  /// - Returns: false if it is none.
  package mutating func remove(where isMeant: (Favourite) -> Bool) -> Bool {
    let before = all.count
    all.removeAll(where: isMeant)
    return all.count < before
  }

  package func contains(_ favourite: Favourite) -> Bool { all.contains(where: favourite.isSameFile) }

  private static func favourite(_ line: String) -> Favourite? {
    let fields = line.split(separator: " ").map(String.init)
    guard fields.count == 5, let volume = bytes(fields[0]), let inode = UInt64(fields[2]),
      let birth = Int64(fields[3]), let path = TrashInfo.escape.bytes(of: fields[4].utf8).map({ String(kernel: $0) })
    else { return nil }
    let handle = fields[1].split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard handle.count == 2, let type = Int32(handle[0]), let handleBytes = bytes(handle[1]), handleBytes.count <= 128,
      volume.count == 16, path.isAbsolutePath, !path.utf8.contains(0)
    else { return nil }
    return Favourite(
      path: path, volume: volume, handle: FileHandle(type: type, bytes: handleBytes), inode: inode, birth: birth)
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.reduce(into: "") { $0 += String($1 >> 4, radix: 16) + String($1 & 15, radix: 16) }
  }

  private static func bytes(_ hex: String) -> [UInt8]? {
    let letters = Array(hex.utf8)
    guard letters.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: letters.count, by: 2) {
      guard let byte = UInt8(String(decoding: letters[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
