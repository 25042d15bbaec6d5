public import Foundation
internal import Paths

/// A file, a folder or a link in memory: the content of a document that is a package. As Foundation's on Apple's systems; Foundation on
/// Linux has none.
///
/// A child that was read and not changed is not written again: the new package gets a hard link of the old file where the file system
/// allows it, and a copy elsewhere.
open class FileWrapper: NSObject {
  /// Options for reading.
  public struct ReadingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// All content is read at once. Without it a file is read when its content is asked for.
    public static let immediate = ReadingOptions(rawValue: 1 << 0)
    /// Content may be mapped and not read.
    public static let withoutMapping = ReadingOptions(rawValue: 1 << 1)
  }

  /// Options for writing.
  public struct WritingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Written beside the place, and put there in one step.
    public static let atomic = WritingOptions(rawValue: 1 << 0)
    /// Wrappers take the names under which they were written.
    public static let withNameUpdating = WritingOptions(rawValue: 1 << 1)
  }

  private enum Content {
    case file(Data)
    /// Not read yet, with the file's facts when it was looked at.
    case unread(URL, size: Int, date: Date)
    case folder([String: FileWrapper])
    case link(URL)
  }

  private var content: Content
  /// The name at its place; `nil` before it was written or read.
  open var filename: String?
  /// The name that it is to have in a folder. There may be another one in the end, if that is taken.
  open var preferredFilename: String?
  /// As `FileManager.attributesOfItem(atPath:)`; permissions and the date of modification are written.
  open var fileAttributes: [String: Any] = [:]

  /// Nesting that is read or written at most.
  static let deepest = 64
  /// Items that one package may have at most.
  static let most = 100_000

  // MARK: Making

  /// A file with that content.
  public init(regularFileWithContents contents: Data) { content = .file(contents) }

  /// A folder with children, by their names.
  public init(directoryWithFileWrappers childrenByPreferredName: [String: FileWrapper]) {
    content = .folder([:])
    super.init()
    for (name, child) in childrenByPreferredName.sorted(by: { $0.key < $1.key }) {
      if child.preferredFilename == nil { child.preferredFilename = name }
      insert(child, as: name)
    }
  }

  /// A symbolic link.
  public init(symbolicLinkWithDestinationURL url: URL) { content = .link(url) }

  /// Reads what is at a URL.
  ///
  /// - Throws: `CocoaError` with the POSIX error underneath; `fileReadTooLarge` for a package with more than 100,000 items, or 64
  ///   levels of folders.
  public init(url: URL, options: ReadingOptions = []) throws {
    content = .file(Data())
    super.init()
    try read(from: url, options: options)
  }

  // MARK: Kinds

  /// It is a folder.
  open var isDirectory: Bool { if case .folder = content { true } else { false } }
  /// It is a file.
  open var isRegularFile: Bool {
    switch content {
    case .file, .unread: true
    case .folder, .link: false
    }
  }
  /// It is a symbolic link.
  open var isSymbolicLink: Bool { if case .link = content { true } else { false } }

  /// A file's content, read now if it was not yet. `nil` for other kinds, and where the file has changed or gone since.
  open var regularFileContents: Data? {
    switch content {
    case .file(let data): return data
    case .unread(let url, _, _):
      guard isUnchanged, let data = try? Data(contentsOf: url) else { return nil }
      content = .file(data)
      return data
    case .folder, .link: return nil
    }
  }

  /// A link's destination.
  open var symbolicLinkDestinationURL: URL? { if case .link(let url) = content { url } else { nil } }

  // MARK: Children

  /// A folder's children by their keys: the names under which they are written.
  open var fileWrappers: [String: FileWrapper]? { if case .folder(let children) = content { children } else { nil } }

  /// Adds a child.
  ///
  /// - Returns: its key: the preferred name, or one like it that is free.
  @discardableResult open func addFileWrapper(_ child: FileWrapper) -> String {
    guard let name = child.preferredFilename, !name.isEmpty else {
      preconditionFailure("addFileWrapper: a child has a preferredFilename")
    }
    return insert(child, as: name)
  }

  /// Adds a file.
  @discardableResult open func addRegularFile(withContents data: Data, preferredFilename fileName: String) -> String {
    let child = FileWrapper(regularFileWithContents: data)
    child.preferredFilename = fileName
    return addFileWrapper(child)
  }

  /// Removes a child.
  open func removeFileWrapper(_ child: FileWrapper) {
    guard let key = keyForChildFileWrapper(child) else { return }
    change { $0.removeValue(forKey: key) }
  }

  /// A child's key; `nil` if it is none of this folder's.
  open func keyForChildFileWrapper(_ child: FileWrapper) -> String? {
    fileWrappers?.first { $0.value === child }?.key
  }

  @discardableResult private func insert(_ child: FileWrapper, as name: String) -> String {
    guard case .folder(let children) = content else { preconditionFailure("addFileWrapper: this is no folder") }
    var key = name
    var number = 2
    while children[key] != nil {
      key = "\(number)__#$!@%!#__\(name)"
      number += 1
    }
    child.filename = key
    change { $0[key] = child }
    return key
  }

  private func change(_ body: (inout [String: FileWrapper]) -> Void) {
    guard case .folder(var children) = content else { return }
    body(&children)
    content = .folder(children)
  }

  // MARK: Reading

  /// Reads again what is at a URL; what was changed in memory is lost.
  open func read(from url: URL, options: ReadingOptions = []) throws {
    var count = 0
    try read(url, options, depth: 0, &count)
    if preferredFilename == nil { preferredFilename = url.lastPathComponent }
  }

  private func read(_ url: URL, _ options: ReadingOptions, depth: Int, _ count: inout Int) throws {
    count += 1
    guard depth <= Self.deepest, count <= Self.most else {
      throw CocoaError.make(
        .fileReadTooLarge, .EFBIG, url,
        "The package has more than \(Self.most) items, or more than \(Self.deepest) levels of folders.")
    }
    let manager = FileManager.default
    let attributes = try manager.attributesOfItem(atPath: url.path)
    fileAttributes = Dictionary(uniqueKeysWithValues: attributes.map { ($0.key.rawValue, $0.value) })
    filename = url.lastPathComponent
    switch attributes[.type] as? FileAttributeType {
    case FileAttributeType.typeSymbolicLink:
      content = .link(URL(fileURLWithPath: try manager.destinationOfSymbolicLink(atPath: url.path), relativeTo: nil))
    case FileAttributeType.typeDirectory:
      let known = fileWrappers ?? [:]
      var children: [String: FileWrapper] = [:]
      for name in try manager.contentsOfDirectory(atPath: url.path).sorted() {
        let place = url.appendingPathComponent(name)
        // A child that stands for the same file keeps its identity.
        let child = known[name] ?? FileWrapper(regularFileWithContents: Data())
        if case .unread(place, _, _) = child.content, child.isUnchanged {
          count += 1
        } else {
          try child.read(place, options, depth: depth + 1, &count)
        }
        if child.preferredFilename == nil { child.preferredFilename = name }
        children[name] = child
      }
      content = .folder(children)
    case FileAttributeType.typeRegular:
      let (size, date) = Self.facts(attributes)
      if options.contains(.immediate) {
        content = .file(try Data(contentsOf: url))
      } else {
        content = .unread(url, size: size, date: date)
      }
    default:
      throw CocoaError.make(
        .fileReadUnknown, .EINVAL, url, "\(url.lastPathComponent) is neither a file, a folder nor a link.")
    }
  }

  private static func facts(_ attributes: [FileAttributeKey: Any]) -> (Int, Date) {
    ((attributes[.size] as? NSNumber)?.intValue ?? 0, attributes[.modificationDate] as? Date ?? .distantPast)
  }

  /// The file that was looked at is still the same.
  private var isUnchanged: Bool {
    guard case .unread(let url, let size, let date) = content,
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    else { return false }
    return Self.facts(attributes) == (size, date)
  }

  /// Whether the item at a URL is the one that this wrapper was read from: names, sizes and dates agree.
  open func matchesContents(of url: URL) -> Bool {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return false }
    switch (content, attributes[.type] as? FileAttributeType) {
    case (.link(let target), FileAttributeType.typeSymbolicLink):
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) == target.relativePath
    case (.folder(let children), FileAttributeType.typeDirectory):
      let names = try? FileManager.default.contentsOfDirectory(atPath: url.path)
      return names.map(Set.init) == Set(children.keys)
        && children.allSatisfy { $0.value.matchesContents(of: url.appendingPathComponent($0.key)) }
    case (.unread(_, let size, let date), FileAttributeType.typeRegular):
      return Self.facts(attributes) == (size, date)
    case (.file(let data), FileAttributeType.typeRegular):
      return (try? Data(contentsOf: url)) == data
    default: return false
    }
  }

  // MARK: Writing

  /// Writes it, with everything in it.
  ///
  /// - Parameter originalContentsURL: the same package as it was read or written last: files that were not changed are taken from it.
  open func write(to url: URL, options: WritingOptions = [], originalContentsURL: URL?) throws {
    guard options.contains(.atomic) else {
      return try write(url, originalContentsURL, options, depth: 0)
    }
    let temporary = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString)")
    do {
      try write(temporary, originalContentsURL, options, depth: 0)
      try FileManager.default.replaceDocument(at: url, withItemAt: temporary)
    } catch {
      try? FileManager.default.removeItem(at: temporary)
      throw error
    }
  }

  private func write(_ url: URL, _ original: URL?, _ options: WritingOptions, depth: Int) throws {
    guard depth <= Self.deepest else {
      throw CocoaError.make(
        .fileWriteUnknown, .EFBIG, url, "The package has more than \(Self.deepest) levels of folders.")
    }
    let manager = FileManager.default
    switch content {
    case .file(let data):
      try data.write(to: url)
      try apply(to: url)
    case .unread(let source, _, _):
      // Written elsewhere meanwhile, it is no longer what this wrapper stands for.
      let former = isUnchanged ? source : original.flatMap { matchesContents(of: $0) ? $0 : nil }
      guard let former else {
        throw CocoaError.make(
          .fileReadNoSuchFile, .ESTALE, source, "\(source.lastPathComponent) was changed or removed before it was read."
        )
      }
      do { try manager.linkItem(at: former, to: url) } catch { try manager.copyItem(at: former, to: url) }
    case .link(let target):
      try manager.createSymbolicLink(atPath: url.path, withDestinationPath: target.relativePath)
    case .folder(let children):
      try manager.createDirectory(at: url, withIntermediateDirectories: false)
      for (key, child) in children.sorted(by: { $0.key < $1.key }) {
        guard !key.isEmpty, !key.hasSlash, key != ".", key != ".." else {
          throw CocoaError.make(.fileWriteInvalidFileName, .EINVAL, url, "“\(key)” is no name for a file.")
        }
        try child.write(
          url.appendingPathComponent(key), original?.appendingPathComponent(key), options, depth: depth + 1)
      }
      try apply(to: url)
    }
    if options.contains(.withNameUpdating) { filename = url.lastPathComponent }
  }

  private func apply(to url: URL) throws {
    guard let permissions = fileAttributes[FileAttributeKey.posixPermissions.rawValue] as? NSNumber else { return }
    // The owner can always change it again.
    let mode = NSNumber(value: permissions.intValue | (isDirectory ? 0o700 : 0o600))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
  }
}
