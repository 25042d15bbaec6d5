public import Foundation
internal import Kernel
internal import Synchronization
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// A content that a document has, or had: the current one, earlier ones, and those that two programs wrote without knowing of each other.
///
/// As Foundation's on Apple's systems. The broker keeps the versions, outside of the app's reach; an app sees those of the documents that
/// it has now, from the time since it was given them.
open class NSFileVersion: NSObject, @unchecked Sendable {
  /// Options for replacing.
  public struct ReplacingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The version is gone afterwards.
    public static let byMoving = ReplacingOptions(rawValue: 1 << 0)
  }

  /// Options for adding.
  public struct AddingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The content is gone from its place afterwards.
    public static let byMoving = AddingOptions(rawValue: 1 << 0)
  }

  private let item: URL
  /// `nil`: the current version.
  private let message: VersionsInterface.Version?
  private let date: Date?
  private let state: Mutex<State>

  private struct State: Sendable {
    var isResolved: Bool
    var copy: URL?
  }

  private init(_ item: URL, _ message: VersionsInterface.Version?, _ date: Date?) {
    (self.item, self.message, self.date) = (item, message, date)
    state = Mutex(State(isResolved: message?.unresolved != true))
  }

  /// The version that a presenter is told of; one that is gone is known by its identifier alone.
  convenience init?(_ message: CoordinationInterface.Message, of url: URL) {
    guard let id = message.version else { return nil }
    let found = Self.otherVersionsOfItem(at: url)?.first { $0.message?.id == id }?.message
    self.init(
      url,
      found
        ?? .init(
          id: id, name: url.lastPathComponent, modified: "", kept: "", device: "", size: 0, kind: .file, cause: .saved,
          unresolved: false), nil)
  }

  // MARK: Finding

  /// The content that the item has now; `nil`: there is none.
  open class func currentVersionOfItem(at url: URL) -> NSFileVersion? {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return nil }
    return NSFileVersion(url, nil, attributes[.modificationDate] as? Date)
  }

  /// The versions of an item but the current one, newest first (`DOC-15`). `nil`: there is no such item, or it is not the app's.
  open class func otherVersionsOfItem(at url: URL) -> [NSFileVersion]? {
    SecurityScope.remembering {
      do throws(WireError) {
        let call = VersionsInterface.ListCall(path: NSFileCoordinator.path(of: url))
        let reply: VersionsInterface.ListReply = try Broker.call(VersionsInterface.list, call)
        return reply.versions.map { NSFileVersion(url, $0, nil) }
      } catch { throw error.version(of: url) }
    }
  }

  /// The versions that two programs wrote without knowing of each other, and of which nobody has said which is right (`DOC-8`).
  open class func unresolvedConflictVersionsOfItem(at url: URL) -> [NSFileVersion]? {
    otherVersionsOfItem(at: url)?.filter { $0.isConflict && !$0.isResolved }
  }

  /// The version with that identifier.
  open class func version(
    itemAt url: URL, forPersistentIdentifier persistentIdentifier: Any
  ) -> NSFileVersion? {
    guard let identifier = persistentIdentifier as? String else { return nil }
    if identifier == current { return currentVersionOfItem(at: url) }
    return otherVersionsOfItem(at: url)?.first { $0.message?.id == identifier }
  }

  private static let current = "current"

  /// Keeps the content that an item has now. The content of another file is not taken in this version of Ambit.
  ///
  /// - Throws: `CocoaError`: `fileWriteOutOfSpace` where there is no room.
  @discardableResult open class func addOfItem(
    at url: URL, withContentsOf contentsURL: URL, options: AddingOptions = []
  ) throws -> NSFileVersion {
    guard NSFileCoordinator.path(of: url) == NSFileCoordinator.path(of: contentsURL) else {
      throw CocoaError.notInThisVersion("a version with the content of another file")
    }
    return try keep(url, isConflict: false)
  }

  /// Keeps content that the app does not know, and is about to write over. The item's presenters hear of the conflict.
  /// Ambit's addition: ``Document`` calls it by itself.
  @discardableResult public class func addConflictOfItem(at url: URL) throws -> NSFileVersion {
    try keep(url, isConflict: true)
  }

  private class func keep(_ url: URL, isConflict: Bool) throws -> NSFileVersion {
    do throws(WireError) {
      let call = VersionsInterface.KeepCall(path: NSFileCoordinator.path(of: url), conflict: isConflict)
      let reply: VersionsInterface.KeepReply = try Broker.call(VersionsInterface.keep, call)
      return NSFileVersion(url, reply.version, nil)
    } catch { throw error.version(of: url) }
  }

  // MARK: Facts

  /// Where the content can be read: of an earlier version a copy in the app's own `tmp`, made when this is asked for first.
  open var url: URL {
    guard let message else { return item }
    return SecurityScope.remembering { try self.content(message) } ?? Self.place(of: message)
  }

  private static func place(of message: VersionsInterface.Version) -> URL {
    folder.appendingPathComponent(message.id, isDirectory: true).appendingPathComponent(message.name)
  }

  /// The whole content, in the app's own `tmp`.
  private func content(_ message: VersionsInterface.Version) throws -> URL {
    if let copy = state.withLock({ $0.copy }) { return copy }
    let copy = Self.place(of: message)
    do { try fetch(message, to: copy) } catch {
      // A part of it is not the content.
      try? FileManager.default.removeItem(at: copy.deletingLastPathComponent())
      throw error
    }
    state.withLock { $0.copy = copy }
    return copy
  }

  private static var folder: URL {
    Container.folder.appendingPathComponent("tmp/io.ambit.versions", isDirectory: true)
  }

  /// The document's name.
  open var localizedName: String? { message?.name ?? item.lastPathComponent }
  /// The machine on which it was kept.
  open var localizedNameOfSavingComputer: String? { message?.device ?? ProcessInfo.processInfo.hostName }
  /// The app that has replaced it; `nil`: the current version, or a program that knows nothing of Ambit. Ambit's addition.
  open var bundleIdentifierOfReplacingApp: String? { message?.app }
  /// When the content was written.
  open var modificationDate: Date? { message.map { Self.date($0.modified) } ?? date }
  /// To find it again (``version(itemAt:forPersistentIdentifier:)``), also in the next launch.
  open var persistentIdentifier: any NSCoding { (message?.id ?? Self.current) as NSString }
  /// Two programs wrote without knowing of each other.
  open var isConflict: Bool { message?.cause == .conflict }
  /// Bytes; `nil`: the current version. Ambit's addition.
  open var size: Int? { message?.size }
  /// The content is on this machine: always, without providers.
  open var hasLocalContents: Bool { true }
  /// A picture of it is there: none in this version of Ambit.
  open var hasThumbnail: Bool { false }
  /// It may be removed by itself.
  open var isDiscardable: Bool { message != nil && !(isConflict && !isResolved) }

  /// Somebody has said which content is right. Setting it to false changes nothing (`DOC-8`).
  open var isResolved: Bool {
    get { state.withLock { $0.isResolved } }
    set {
      guard newValue, let message, !isResolved else { return }
      let isDone: Void? = SecurityScope.remembering {
        do throws(WireError) {
          try Broker.call(VersionsInterface.resolve, VersionsInterface.ResolveCall(version: message.id))
        } catch { throw error.version(of: self.item) }
      }
      if isDone != nil { state.withLock { $0.isResolved = true } }
    }
  }

  private static func date(_ text: String) -> Date {
    (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) ?? .distantPast
  }

  // MARK: Acts

  /// Makes this version's content the item's; the item keeps its name (`DOC-15`). It is to be called within a coordinated access for
  /// writing. The content from before is a version then.
  ///
  /// - Returns: the item's URL.
  @discardableResult open func replaceItem(at url: URL, options: ReplacingOptions = []) throws -> URL {
    guard let message else { return url }
    let content = try content(message)
    try SafeWrite(of: url).carryOut(nil) { place, _ in try FileManager.default.copyItem(at: content, to: place) }
    if options.contains(.byMoving) { try remove() }
    return url
  }

  /// Forgets this version.
  ///
  /// - Throws: `CocoaError.featureUnsupported` for the current one (`DOC-15`).
  open func remove() throws {
    guard let message else {
      throw CocoaError.make(
        .featureUnsupported, .EINVAL, item, "The current version of a document cannot be removed; delete the document.")
    }
    do throws(WireError) {
      try Broker.call(VersionsInterface.remove, VersionsInterface.RemoveCall(version: message.id))
    } catch { throw error.version(of: item) }
    if let copy = state.withLock({ $0.copy }) {
      try? FileManager.default.removeItem(at: copy.deletingLastPathComponent())
    }
  }

  /// Forgets all versions of an item but the current one.
  open class func removeOtherVersionsOfItem(at url: URL) throws {
    guard let versions = otherVersionsOfItem(at: url) else {
      throw SecurityScope.lastError ?? CocoaError(.fileNoSuchFile)
    }
    for version in versions { try version.remove() }
  }

  // MARK: Content

  private func fetch(_ message: VersionsInterface.Version, to copy: URL) throws {
    let manager = FileManager.default
    try? manager.removeItem(at: copy.deletingLastPathComponent())
    do throws(WireError) {
      let paths: VersionsInterface.ContentsReply = try Broker.call(
        VersionsInterface.contents, VersionsInterface.ContentsCall(version: message.id))
      do {
        for path in paths.paths {
          let place = message.kind == .package ? copy.appendingPathComponent(path) : copy
          try manager.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
          let call = VersionsInterface.OpenCall(version: message.id, path: message.kind == .package ? path : nil)
          let content = Descriptor(owning: try Broker.descriptor(VersionsInterface.open, call))
          guard manager.createFile(atPath: place.path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
          let file = try AppFile.open(place.path, O_RDWR | O_NOFOLLOW)
          try content.copyContent(to: file)
        }
        if message.kind == .package, paths.paths.isEmpty {
          try manager.createDirectory(at: copy, withIntermediateDirectories: true)
        }
      } catch let error as KernelError { throw WireError.kernel(error) } catch let error as WireError {
        throw error
      } catch { throw WireError.badAddress(error.localizedDescription) }
    } catch { throw error.version(of: item) }
  }
}

extension WireError {
  /// The broker's answers about versions.
  fileprivate func version(of url: URL) -> CocoaError {
    guard case .remote(let name, let parameters) = self else { return cocoa(for: url) }
    let reason = (try? parameters.string("reason")) ?? ""
    return switch name {
    case VersionsInterface.Failure.notKnownName:
      .make(
        .fileReadNoSuchFile, .ENOENT, url,
        "There is no such document, or this app has not been given it, or its access has ended.")
    case VersionsInterface.Failure.noSuchVersionName:
      .make(.fileReadNoSuchFile, .ENOENT, url, "There is no such version of this document any more.")
    case VersionsInterface.Failure.readOnlyName:
      .make(.fileWriteNoPermission, .EROFS, url, "The user has given this document for reading only.")
    case VersionsInterface.Failure.notKeptName:
      .make(.fileWriteOutOfSpace, .EDQUOT, url, "The content is not kept as a version: \(reason).")
    case VersionsInterface.Failure.unavailableName:
      .make(.fileReadUnknown, .EIO, url, "The version cannot be read: \(reason).")
    default: cocoa(for: url)
    }
  }
}
