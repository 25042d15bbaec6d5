public import Foundation

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// Has the documents that are open now open again in the next launch, after any end of this one (`RST-1`).
///
/// An app says when it goes to the background or is about to quit, as UIKit's delegates hear it; a later end need not be announced
/// to it. Bookmarks are kept, in the app's own container: a URL saved as a string would lead nowhere (`RST-2`), and a document
/// that was renamed meanwhile is found (`RST-3`).
///
///     let restoration = StateRestoration(delegate: editor)
///     for document in restoration.restore().documents { editor.open(document) }
///     …
///     restoration.applicationDidEnterBackground()
public final class StateRestoration {
  /// More documents than these are not kept.
  public static let mostDocuments = 4096
  /// More bytes than these are no state that this wrote.
  private static let longest = 32 << 20

  /// Where the state is kept: in the container's `Library/Saved Application State`, unless told otherwise.
  public let fileURL: URL
  private weak var delegate: (any StateRestorationDelegate)?

  /// - Parameters:
  ///   - delegate: the object that is asked; not kept alive.
  ///   - fileURL: where to keep the state.
  public init(delegate: any StateRestorationDelegate, fileURL: URL = StateRestoration.defaultFileURL) {
    self.delegate = delegate
    self.fileURL = fileURL
  }

  /// `Library/Saved Application State/documents.plist` in the container.
  public static var defaultFileURL: URL {
    Container.folder.appendingPathComponent("Library/Saved Application State/documents.plist")
  }

  // MARK: Saving

  /// To be called when the app goes to the background: it may be killed there without hearing of it.
  public func applicationDidEnterBackground() throws { try save() }

  /// To be called before the app quits.
  public func applicationWillTerminate() throws { try save() }

  /// Keeps bookmarks of the documents that are open now, and of no others. Whole or not at all. Where the delegate says that the
  /// state shall not be saved nothing is stored, and the state that was stored before is removed (`RST-4`).
  ///
  /// - Throws: when the state cannot be written. A document of which no bookmark can be made, since the user has withdrawn it, is
  ///   left out.
  public func save() throws {
    #if AMBIT_MUTANTS
      if Mutant.savedAnyway.isActive, let delegate {
        return try write(delegate.openDocuments.compactMap(Self.bookmark))
      }
    #endif
    guard let delegate else { return try forget() }
    let archiver = StateCoder()
    guard delegate.application(shouldSaveSecureApplicationState: archiver) else { return try forget() }
    delegate.encodeRestorableState(with: archiver)
    try write(delegate.openDocuments.prefix(Self.mostDocuments).compactMap(Self.bookmark), try archiver.data())
  }

  private func write(_ bookmarks: [Data], _ archive: Data? = nil) throws {
    let state = try PropertyListEncoder.binary.encode(SavedState(bookmarks: bookmarks, archive: archive))
    // The next launch reads no more.
    guard state.count <= Self.longest else {
      throw CocoaError.make(.fileWriteUnknown, .EFBIG, fileURL, "The state has more than \(Self.longest) bytes.")
    }
    let folder = fileURL.deletingLastPathComponent()
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try state.write(to: fileURL, options: .atomic)
  }

  private func forget() throws {
    #if AMBIT_MUTANTS
      if Mutant.oldStateKept.isActive { return }
    #endif
    do { try FileManager.default.removeItem(at: fileURL) } catch CocoaError.fileNoSuchFile {}
  }

  /// A bookmark can be made of an active scope only (`BMK-18`): for the moment of making one it is started once more.
  private static func bookmark(of url: URL) -> Data? {
    let isStarted = url.startAccessingSecurityScopedResource()
    defer { if isStarted { url.stopAccessingSecurityScopedResource() } }
    return try? url.bookmarkData(options: .withSecurityScope)
  }

  // MARK: Restoring

  /// The state that the last launch left.
  public struct Restored {
    /// The documents that were open, in the same order, with their scopes, which are not started.
    public var documents: [URL] = []
    /// A document that is not to be had any more: its name, where the bookmark still says it, and why.
    public var failures: [(name: String?, error: any Error)] = []
  }

  /// Finds the documents again that were open when the state was saved last. Bookmarks that something has changed for since are
  /// made anew, so that the next launch finds the documents as well. Those that lead nowhere now are kept until the state is saved
  /// again: the volume may be back by then.
  public func restore() -> Restored {
    var restored = Restored()
    guard let delegate, delegate.shouldRestoreApplicationState(), let saved = read() else { return restored }
    var kept: [Data] = []
    for bookmark in saved.bookmarks.prefix(Self.mostDocuments) {
      do {
        let found = try BookmarkResolution(resolving: bookmark, options: .withSecurityScope)
        restored.documents.append(found.url)
        kept.append(found.isStale ? Self.bookmark(of: found.url) ?? bookmark : bookmark)
      } catch {
        let name = URL.resourceValues(forKeys: [.nameKey], fromBookmarkData: bookmark)?.name
        restored.failures.append((name, error))
        kept.append(bookmark)
      }
    }
    // A bookmark that cannot be written now is as it was: stale, and found all the same.
    if kept != saved.bookmarks { try? write(kept, saved.archive) }
    if let archive = saved.archive, let unarchiver = StateCoder(archive) {
      delegate.decodeRestorableState(with: unarchiver)
    }
    return restored
  }

  private func read() -> SavedState? {
    #if AMBIT_MUTANTS
      if Mutant.nothingRestored.isActive { return nil }
    #endif
    guard let handle = try? FileHandle(forReadingFrom: fileURL) else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: Self.longest + 1), data.count <= Self.longest else { return nil }
    return try? PropertyListDecoder().decode(SavedState.self, from: data)
  }
}

/// An app's answers about its state. Apple's questions; the first two have an answer of their own.
public protocol StateRestorationDelegate: AnyObject {
  /// UIKit's `application(_:shouldSaveSecureApplicationState:)`: true unless the app says otherwise.
  func shouldSaveApplicationState() -> Bool
  /// UIKit's `application(_:shouldRestoreSecureApplicationState:)`: true unless the app says otherwise.
  func shouldRestoreApplicationState() -> Bool
  /// UIKit's `application(_:shouldSaveSecureApplicationState:)`; what it encodes is kept as well. As ``shouldSaveApplicationState()``
  /// unless the app says otherwise.
  func application(shouldSaveSecureApplicationState coder: NSCoder) -> Bool
  /// UIKit's `encodeRestorableState(with:)`: keeps what else the app wants to find again, for example the selected tab.
  func encodeRestorableState(with coder: NSCoder)
  /// UIKit's `decodeRestorableState(with:)`, after the documents were found.
  func decodeRestorableState(with coder: NSCoder)
  /// The documents that are open now: scoped URLs, and such as lie in the container.
  var openDocuments: [URL] { get }
}

extension StateRestorationDelegate {
  /// True.
  public func shouldSaveApplicationState() -> Bool { true }
  /// True.
  public func shouldRestoreApplicationState() -> Bool { true }
  /// As ``shouldSaveApplicationState()``.
  public func application(shouldSaveSecureApplicationState coder: NSCoder) -> Bool { shouldSaveApplicationState() }
  /// Does nothing.
  public func encodeRestorableState(with coder: NSCoder) {}
  /// Does nothing.
  public func decodeRestorableState(with coder: NSCoder) {}
}

/// The file's content.
private struct SavedState: Codable {
  var version = 1
  var bookmarks: [Data]
  /// The app's own part, by an archiver.
  var archive: Data?
}

extension PropertyListEncoder {
  fileprivate static var binary: PropertyListEncoder {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return encoder
  }
}
