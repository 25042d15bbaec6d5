internal import Cryptography
internal import Kernel
internal import SystemPackage

/// The two contents of a document that is being saved in place. The next broker tells by it how far the save has come.
struct RecoveryRecord: Equatable {
  struct Content: Equatable {
    /// Bytes.
    let size: UInt64
    /// SHA-256.
    let digest: [UInt8]

    /// Whether a file has this content, through its own descriptor.
    func isContent(of file: Descriptor) throws(KernelError) -> Bool {
      guard try file.status().size == size else { return false }
      return try FileDigest.content(through: file, while: { true }) == digest
    }
  }

  let identity: FileIdentity
  /// Where the document stood.
  let path: String
  let old: Content
  let new: Content

  private static let heading = "ambit recovery 1"

  init(identity: FileIdentity, path: String, old: Content, new: Content) {
    (self.identity, self.path, self.old, self.new) = (identity, path, old, new)
  }

  /// With their own digest at the end: a record that is not whole is none.
  var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.write(Self.heading)
    writer.write(identity)
    writer.write(path)
    for content in [old, new] {
      writer.write(content.size)
      writer.write(content.digest)
    }
    return writer.bytes + SHA256.digest(writer.bytes)
  }

  init?(bytes: [UInt8]) {
    guard bytes.count > SHA256.size,
      SHA256.digest(Array(bytes.dropLast(SHA256.size))) == Array(bytes.suffix(SHA256.size))
    else { return nil }
    var reader = BinaryReader(bytes.dropLast(SHA256.size))
    do throws(BinaryReader.Malformed) {
      guard try reader.text() == Self.heading else { return nil }
      identity = try reader.identity()
      path = try reader.text()
      old = Content(size: try reader.number(), digest: try reader.content())
      new = Content(size: try reader.number(), digest: try reader.content())
      try reader.end()
    } catch { return nil }
  }
}

/// The old content of a document in the recovery folder: `ID.content`, and `ID.record` beside it. Without a whole record nothing has
/// been written to the document yet.
struct KeptContent {
  let folder: Descriptor
  let id: String

  init(in folder: Descriptor, _ id: String) { (self.folder, self.id) = (folder, id) }

  /// Every one that lies in a folder.
  static func all(in folder: Descriptor) throws(KernelError) -> [KeptContent] {
    let names = try DirectoryReader.entries(of: folder).map(\.name)
    let ids = names.compactMap { name in
      [Self.content, Self.record].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) }
    }
    return Set(ids).sorted().map { KeptContent(in: folder, $0) }
  }

  private static let content = ".content"
  private static let record = ".record"
  /// Bytes of a record: a path, an identity, two digests.
  private static let mostBytes = 64 << 10

  func make(from file: Descriptor, while isWanted: () -> Bool) throws(KernelError) -> Descriptor {
    let copy = try create(id + Self.content)
    try file.rewind()
    try file.copyContent(to: copy, while: isWanted)
    try copy.synchronizeFully()
    return copy
  }

  /// From here on the document may be written.
  func note(_ record: RecoveryRecord) throws(KernelError) {
    let file = try create(id + Self.record)
    try file.writeAll(record.bytes)
    try file.synchronizeFully()
    try folder.synchronizeFully()
  }

  func open() throws(KernelError) -> Descriptor {
    try Descriptor.open(id + Self.content, below: folder, flags: [.read, .noFollow])
  }

  /// - Returns: `nil` if the record is not whole, or not there.
  /// - Throws: where it cannot be read now.
  func readRecord() throws(KernelError) -> RecoveryRecord? {
    let file: Descriptor
    do throws(KernelError) {
      file = try Descriptor.open(id + Self.record, below: folder, flags: [.read, .noFollow])
    } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
    return RecoveryRecord(bytes: try file.readAll(limit: Self.mostBytes))
  }

  /// Keeps a content that is about to be replaced by the old one: `ID.found`.
  ///
  /// - Returns: its name.
  func setAside(_ file: Descriptor) throws(KernelError) -> String {
    let name = "\(id).found"
    try? folder.removeFile(name)
    let copy = try create(name)
    try file.rewind()
    try file.copyContent(to: copy)
    try copy.synchronizeFully()
    return name
  }

  /// The record first: without it the content says nothing.
  func remove() {
    try? folder.removeFile(id + Self.record)
    FaultPoint.recordRemoved.pass()
    try? folder.removeFile(id + Self.content)
    try? folder.synchronizeFully()
  }

  private func create(_ name: String) throws(KernelError) -> Descriptor {
    try Descriptor.open(name, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
  }
}
