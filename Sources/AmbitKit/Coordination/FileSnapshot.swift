internal import Foundation

/// A copy of an item as it was during a coordinated access; of a folder a zip archive (`COO-18`).
final class FileSnapshot: Sendable {
  let url: URL
  private let folder: URL

  init(of item: URL) throws {
    let manager = FileManager.default
    folder = manager.temporaryDirectory.appendingPathComponent("snapshot-\(UUID().uuidString)", isDirectory: true)
    try manager.createDirectory(at: folder, withIntermediateDirectories: true)
    var isFolder = ObjCBool(false)
    do {
      guard unsafe manager.fileExists(atPath: item.path, isDirectory: &isFolder) else {
        throw CocoaError.make(.fileReadNoSuchFile, .ENOENT, item, "There is nothing at \(item.path).")
      }
      if isFolder.boolValue {
        url = folder.appendingPathComponent("\(item.lastPathComponent).zip")
        try ZipArchive.write(item, to: url)
      } else {
        url = folder.appendingPathComponent(item.lastPathComponent)
        try manager.copyItem(at: URL(fileURLWithPath: item.path), to: url)
      }
    } catch {
      try? manager.removeItem(at: folder)
      throw error
    }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// A save for another program that waits in `open(2)` (`COO-27`). Until it is done the document cannot be opened, by this app neither: the
/// accessor gets an empty file, whose content replaces the document's.
final class StagedSave {
  let url: URL
  private let document: URL
  private let folder: URL

  init(of document: URL) throws {
    self.document = document
    let manager = FileManager.default
    folder = manager.temporaryDirectory.appendingPathComponent("\(Self.prefix)\(UUID().uuidString)", isDirectory: true)
    try manager.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent(document.lastPathComponent)
  }

  private static let prefix = "save-"

  /// Whether an accessor for this document was given the place of such a save.
  static func isPlace(_ place: URL, of document: URL) -> Bool {
    func isStaged(_ url: URL) -> Bool {
      let folder = url.deletingLastPathComponent()
      return folder.lastPathComponent.hasPrefix(prefix)
        && folder.deletingLastPathComponent().path == FileManager.default.temporaryDirectory.standardizedFileURL.path
    }
    return isStaged(place) && !isStaged(document)
  }

  /// An accessor that wrote nothing has saved nothing.
  func carryOut() throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try FileManager.default.replaceDocument(at: document, withItemAt: url)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// A zip archive with the files of a folder as they are: no compression, no encryption, up to 4 GiB and 65,535 entries (APPNOTE 6.3).
enum ZipArchive {
  private struct Entry {
    let name: [UInt8]
    let crc: UInt32
    let size: UInt32
    let offset: UInt32
    let isFolder: Bool
  }

  static func write(_ item: URL, to archive: URL) throws {
    guard FileManager.default.createFile(atPath: archive.path, contents: nil) else {
      throw CocoaError.make(.fileWriteUnknown, nil, archive, "The archive cannot be made.")
    }
    let file = try FileHandle(forWritingTo: archive)
    defer { try? file.close() }
    let root = item.lastPathComponent
    var entries: [Entry] = []
    var offset: UInt64 = 0
    let inside = (FileManager.default.enumerator(atPath: item.path)?.compactMap { $0 as? String } ?? []).sorted()
    for path in [""] + inside {
      let place = path.isEmpty ? item.path : "\(item.path)/\(path)"
      let type = try FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType
      guard type == .typeDirectory || type == .typeRegular else { continue }
      let isFolder = type == .typeDirectory
      let content = isFolder ? Data() : try Data(contentsOf: URL(fileURLWithPath: place))
      let name = Array((path.isEmpty ? root : "\(root)/\(path)").utf8) + (isFolder ? [UInt8(ascii: "/")] : [])
      guard entries.count < 65_535, offset + UInt64(content.count) + 1 << 20 < 1 << 32, name.count < 65_536 else {
        throw CocoaError.make(.fileWriteUnknown, .EFBIG, item, "The folder is too large for an archive.")
      }
      let entry = Entry(
        name: name, crc: CRC32.of(content), size: UInt32(content.count), offset: UInt32(offset), isFolder: isFolder)
      entries.append(entry)
      let header = Self.header(entry)
      try file.write(contentsOf: header)
      try file.write(contentsOf: content)
      offset += UInt64(header.count + content.count)
    }
    var directory = Data()
    for entry in entries { directory.append(Self.directoryEntry(entry)) }
    var end = Data()
    end.append(little: UInt32(0x0605_4b50))
    for value in [0, 0, UInt16(entries.count), UInt16(entries.count)] { end.append(little: value) }
    end.append(little: UInt32(directory.count))
    end.append(little: UInt32(offset))
    end.append(little: UInt16(0))
    try file.write(contentsOf: directory + end)
  }

  private static func header(_ entry: Entry) -> Data {
    var data = Data()
    data.append(little: UInt32(0x0403_4b50))
    data.append(common(entry))
    data.append(contentsOf: entry.name)
    return data
  }

  private static func directoryEntry(_ entry: Entry) -> Data {
    var data = Data()
    data.append(little: UInt32(0x0201_4b50))
    // Made on Unix.
    data.append(little: UInt16(0x031e))
    data.append(common(entry))
    for value in [UInt16(0), 0, 0] { data.append(little: value) }
    data.append(little: UInt32(entry.isFolder ? 0o040755 : 0o100644) << 16)
    data.append(little: entry.offset)
    data.append(contentsOf: entry.name)
    return data
  }

  /// Version 2.0, names in UTF-8, stored, 1 January 1980.
  private static func common(_ entry: Entry) -> Data {
    var data = Data()
    for value in [UInt16(20), 0x0800, 0, 0, 0x0021] { data.append(little: value) }
    for value in [entry.crc, entry.size, entry.size] { data.append(little: value) }
    for value in [UInt16(entry.name.count), 0] { data.append(little: value) }
    return data
  }
}

extension Data {
  fileprivate mutating func append(little value: some FixedWidthInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

/// The checksum of zip archives (ISO 3309).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
  }

  static func of(_ data: Data) -> UInt32 {
    ~data.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xff)] ^ ($0 >> 8) }
  }
}
