public import Foundation
internal import Synchronization

/// The name that code for Apple's systems has for ``Document``.
public typealias UIDocument = Document

/// A document of an app: it opens, saves, follows its file, and takes part in coordination by itself (`DOC-1`…`DOC-16`).
///
/// A subclass has two methods: ``contents(forType:)`` gives the content as `Data` or as a ``FileWrapper``, and
/// ``load(fromContents:ofType:)`` takes it. The document starts and stops the security scope of its URL, and coordinates each access: an
/// app calls none of these.
///
///     final class Note: Document {
///       var text = ""
///       override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }
///       override func load(fromContents contents: Any, ofType typeName: String?) throws {
///         text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
///       }
///     }
///     let note = Note(fileURL: url)
///     guard await note.open() else { return }
///
/// It belongs to the main actor, as UIDocument does. Files are read and written on a queue of the document's own. A program that keeps its
/// main queue waiting is a presenter that does not answer.
@MainActor open class Document: NSObject {
  /// Facts about a document, several at once.
  public struct State: OptionSet, Sendable {
    /// The facts as bits.
    public let rawValue: UInt
    /// Facts by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// None of the others.
    public static let normal: State = []
    /// It is not open.
    public static let closed = State(rawValue: 1 << 0)
    /// There are conflict versions that nobody has resolved (`DOC-8`).
    public static let inConflict = State(rawValue: 1 << 1)
    /// It could not be saved, or not be read (`DOC-9`).
    public static let savingError = State(rawValue: 1 << 2)
    /// The user must not change it at the moment (`DOC-6`).
    public static let editingDisabled = State(rawValue: 1 << 3)
    /// ``Document/progress`` says how far a transfer is.
    public static let progressAvailable = State(rawValue: 1 << 4)
  }

  /// The kind of a change.
  public enum ChangeKind: Int, Sendable {
    /// Something was changed.
    case done
    /// A change was undone.
    case undone
    /// An undone change was made again.
    case redone
    /// Everything is saved.
    case cleared
  }

  /// The reason of a save.
  public enum SaveOperation: Int, Sendable {
    /// There is no file yet, or it is saved as another one.
    case forCreating
    /// The document's file gets new content.
    case forOverwriting
  }

  /// Posted after each change of ``documentState``, without `userInfo` (`DOC-11`).
  public nonisolated static let stateChangedNotification = Notification.Name("UIDocumentStateChangedNotification")

  // MARK: The file

  let shared: Mutex<Shared>
  let files = DispatchQueue(label: "io.ambit.Document")
  /// For saves that a question waits for.
  let answers = DispatchQueue(label: "io.ambit.Document.answers")
  /// The queue of the presenter's methods.
  public nonisolated let presentedItemOperationQueue: OperationQueue

  /// The part that other threads read as well.
  struct Shared: Sendable {
    var url: URL
    /// The file as this document has read or written it last.
    var known: FileStamp?
    /// The same of the file that a save under another name leaves behind.
    var left: FileStamp?
  }

  /// Where the document is. It follows moves (`DOC-7`).
  public nonisolated var fileURL: URL { shared.withLock { $0.url } }

  /// When the file was changed last, as far as this document has read or written it.
  open var fileModificationDate: Date?

  /// The type of the file, by its name.
  open var fileType: String? { UTType(filenameExtension: fileURL.pathExtension)?.identifier }

  /// The type in which it is saved; another one than ``fileType`` changes the name's extension (`DOC-12`).
  open var savingFileType: String? { fileType }

  /// The name without its extension, for a title.
  open var localizedName: String { fileURL.deletingPathExtension().lastPathComponent }

  /// A closed document of a file, which need not be there yet.
  ///
  /// - Parameter url: a file URL; with a security scope for a document outside of the container.
  public init(fileURL url: URL) {
    precondition(url.isFileURL && !url.path.isEmpty, "Document: \(url) is not the URL of a file")
    shared = Mutex(Shared(url: url))
    presentedItemOperationQueue = OperationQueue()
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
    super.init()
  }

  // MARK: State

  /// The facts. Each change is posted (``stateChangedNotification``).
  open internal(set) var documentState: State = .closed {
    didSet {
      guard documentState != oldValue else { return }
      NotificationCenter.default.post(name: Self.stateChangedNotification, object: self)
    }
  }

  /// How far a transfer is, while ``documentState`` has ``State/progressAvailable``.
  public let progress = Progress(totalUnitCount: -1)

  var isOpen: Bool { !documentState.contains(.closed) }
  /// Starts of the scope that have to be balanced.
  var startedURL: URL?
  var isPresenting = false
  /// Accesses to the file that are under way.
  var running = 0
  /// The question that is being answered, while a save for it begins.
  var answering: FileAccess.Context?
  /// Others that write now: editing is disabled until all have ended.
  var writers = 0
  /// Reverts that are under way. Editing is disabled until all have ended.
  var reverts = 0
  /// Something has happened to the file during one of them.
  var looksAgain = false
  var autosaveTimer: (any DispatchSourceTimer)?

  /// The user may not edit from now on: another app writes, or the content is read again. ``documentState`` says so already.
  open func disableEditing() {}

  /// The user may edit again.
  open func enableEditing() {}

  // MARK: Content, for subclasses

  /// The content to save: `Data`, or a ``FileWrapper`` of a package. A subclass that has another kind overrides
  /// ``writeContents(_:to:for:originalContentsURL:)`` as well.
  open func contents(forType typeName: String) throws -> Any {
    throw CocoaError.make(
      .fileWriteUnknown, nil, fileURL,
      "\(type(of: self)) does not say what is to be saved: override contents(forType:).")
  }

  /// Takes the content of the file: `Data`, or a ``FileWrapper`` of a folder.
  open func load(fromContents contents: Any, ofType typeName: String?) throws {
    throw CocoaError.make(
      .fileReadUnknown, nil, fileURL, "\(type(of: self)) cannot be read: override load(fromContents:ofType:).")
  }

  /// Attributes for a file that is being saved, by `FileAttributeKey`: permissions and dates; and the document's picture by
  /// `URLResourceKey.thumbnailDictionaryKey`, for a document that this app has made (`THM-4`, ``URLThumbnailDictionaryItem``).
  open func fileAttributesToWrite(to url: URL, for saveOperation: SaveOperation) throws -> [AnyHashable: Any] { [:] }

  /// The extension of a type's files.
  open func fileNameExtension(forType typeName: String?, saveOperation: SaveOperation) -> String {
    guard let typeName, typeName != fileType else { return fileURL.pathExtension }
    return UTType(importedAs: typeName).preferredFilenameExtension ?? fileURL.pathExtension
  }

  // MARK: Opening, saving, closing

  /// Opens the document: starts its scope, presents its file, and reads it (`DOC-1`, `DOC-2`).
  ///
  /// - Parameter completionHandler: gets whether it is open now. ``handleError(_:userInteractionPermitted:)`` has had the reason if not.
  open func open(completionHandler: (@MainActor (Bool) -> Void)? = nil) {
    inBackground(completionHandler, begin: beginOpening, work: { [self] in try readFile() }, end: endOpening)
  }

  /// As ``open(completionHandler:)``.
  @discardableResult open func open() async -> Bool {
    await withCheckedContinuation { continuation in open { continuation.resume(returning: $0) } }
  }

  /// Saves the content as it is now.
  ///
  /// - Parameters:
  ///   - url: the document's own, or another one, where the document is from then on.
  ///   - completionHandler: gets whether it is on the disk.
  open func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: (@MainActor (Bool) -> Void)? = nil
  ) {
    let job: SaveJob
    do { job = try prepareSave(to: url, for: saveOperation) } catch {
      endSaving(nil, .failure(error))
      return done(completionHandler, false)
    }
    inBackground(completionHandler, begin: {}, work: { [self] in try carryOut(job) }, end: { self.endSaving(job, $0) })
  }

  /// As ``save(to:for:completionHandler:)``.
  @discardableResult open func save(to url: URL, for saveOperation: SaveOperation) async -> Bool {
    await withCheckedContinuation { continuation in
      save(to: url, for: saveOperation) { continuation.resume(returning: $0) }
    }
  }

  /// Saves if there is something to save, and closes the document: it presents nothing any more, and its scope is stopped (`DOC-4`).
  ///
  /// - Parameter completionHandler: gets whether it is closed and nothing was lost. If the save fails the document stays open.
  open func close(completionHandler: (@MainActor (Bool) -> Void)? = nil) {
    close(saves: Self.mostSavesOfClosing, completionHandler)
  }

  /// A subclass may never count its changes as saved.
  private static let mostSavesOfClosing = 8

  private func close(saves: Int, _ completionHandler: (@MainActor (Bool) -> Void)?) {
    guard isOpen else { return done(completionHandler, true) }
    autosave { success in
      guard success else { return completionHandler?(false) ?? () }
      // Behind accesses that are under way.
      self.inBackground(
        nil, begin: {}, work: {},
        end: { (_: Result<Void, any Error>) in
          // A change that came during the save is saved as well.
          if self.isOpen, self.changes.isChanged, saves > 1 { return self.close(saves: saves - 1, completionHandler) }
          if self.isOpen { self.endClosing() }
          completionHandler?(true)
        })
    }
  }

  /// As ``close(completionHandler:)``.
  @discardableResult open func close() async -> Bool {
    await withCheckedContinuation { continuation in close { continuation.resume(returning: $0) } }
  }

  /// Reads the content of a file again; unsaved changes are lost.
  open func revert(toContentsOf url: URL, completionHandler: (@MainActor (Bool) -> Void)? = nil) {
    let isOwn = NSFileCoordinator.path(of: url) == NSFileCoordinator.path(of: fileURL)
    // It may have been moved by then.
    inBackground(
      completionHandler, begin: beginReverting, work: { [self] in try readFile(at: isOwn ? fileURL : url) },
      end: endReverting)
  }

  /// As ``revert(toContentsOf:completionHandler:)``.
  @discardableResult open func revert(toContentsOf url: URL) async -> Bool {
    await withCheckedContinuation { continuation in
      revert(toContentsOf: url) { continuation.resume(returning: $0) }
    }
  }

  // MARK: Files, for subclasses

  /// Runs a block on the queue of the document's accesses, after those that are under way.
  open nonisolated func performAsynchronousFileAccess(_ block: @escaping @Sendable () -> Void) {
    files.async(execute: block)
  }

  /// Reads the file; the access is coordinated already. Reads a file as `Data`, a folder as a ``FileWrapper``, and has them
  /// loaded.
  open nonisolated func read(from url: URL) throws {
    var isFolder = ObjCBool(false)
    let isPackage =
      unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    let contents = Handover(
      value: isPackage
        ? try FileWrapper(url: url, options: .immediate) : try Data(contentsOf: URL(fileURLWithPath: url.path)))
    try onMain { try load(fromContents: contents.value, ofType: fileType) }
  }

  /// Writes content beside its place, and puts it there in one step: a save that fails leaves the old content whole (`DOC-3`).
  /// When it returns, the content is on the disk (`DOC-16`). The access is coordinated already.
  open nonisolated func writeContents(
    _ contents: Any, andAttributes additionalFileAttributes: [AnyHashable: Any]?, safelyTo url: URL,
    for saveOperation: SaveOperation
  ) throws {
    try SafeWrite(of: url).carryOut(additionalFileAttributes) { place, original in
      try writeContents(contents, to: place, for: saveOperation, originalContentsURL: original)
    }
  }

  /// Writes content to a place where nothing is yet.
  ///
  /// - Parameter originalContentsURL: the document as it is now; `nil` if there is none.
  open nonisolated func writeContents(
    _ contents: Any, to url: URL, for saveOperation: SaveOperation, originalContentsURL: URL?
  ) throws {
    switch contents {
    case let data as Data: try data.write(to: url)
    case let wrapper as FileWrapper: try wrapper.write(to: url, originalContentsURL: originalContentsURL)
    default:
      throw CocoaError.make(
        .fileWriteUnknown, .EINVAL, url,
        "contents(forType:) gave a \(type(of: contents)): give Data or a FileWrapper, or override writeContents(_:to:for:originalContentsURL:)."
      )
    }
  }

  // MARK: Changes

  /// Steps back and forward. Its steps are changes of the document. Implicitly unwrapped, as on Apple's systems.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open lazy var undoManager: UndoManager! = {
    let manager = UndoManager()
    manager.onChange = { [weak self] in self?.updateChangeCount($0) }
    return manager
  }()

  private var changes = ChangeHistory()

  /// There is something to save (`DOC-4`).
  open var hasUnsavedChanges: Bool { changes.isChanged }

  /// Counts a change. While there are unsaved ones, programs that know nothing of Ambit wait for the save when they open the file.
  open func updateChangeCount(_ change: ChangeKind) {
    let had = hasUnsavedChanges
    changes.apply(change)
    noteChanges(since: had)
  }

  /// - Parameter had: whether there were unsaved changes.
  func noteChanges(since had: Bool) {
    guard isOpen else { return }
    if had != hasUnsavedChanges { NSFileCoordinator.setHasUnsavedChanges(hasUnsavedChanges, for: self) }
    if hasUnsavedChanges { scheduleAutosave(after: autosavingDelay) }
  }

  /// The content for a save that begins now.
  open func changeCountToken(for saveOperation: SaveOperation) -> Any { changes.current }

  /// A save has ended: what was changed since its beginning remains to be saved.
  open func updateChangeCount(withToken changeCountToken: Any, for saveOperation: SaveOperation) {
    guard let token = changeCountToken as? ChangeHistory.Token else { return }
    let had = hasUnsavedChanges
    changes.save(token)
    noteChanges(since: had)
  }

  // MARK: Autosave

  /// Time from a change to its save. Ambit's addition: UIDocument does not tell its own.
  open var autosavingDelay: TimeInterval = 5

  /// After a save that has failed, the next one may succeed: with room on the disk, or with the broker back.
  func scheduleAutosaveAfterFailure() {
    if isOpen, hasUnsavedChanges { scheduleAutosave(after: max(autosavingDelay, 30)) }
  }

  /// One that is scheduled already stays.
  private func scheduleAutosave(after delay: TimeInterval) {
    guard autosaveTimer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(deadline: .now() + delay)
    timer.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        self?.cancelAutosave()
        if self?.isOpen == true { self?.autosave(completionHandler: nil) }
      }
    }
    autosaveTimer = timer
    timer.resume()
  }

  func cancelAutosave() {
    autosaveTimer?.cancel()
    autosaveTimer = nil
  }

  /// Saves if there is something to save.
  ///
  /// - Parameter completionHandler: gets whether everything is saved now.
  open func autosave(completionHandler: (@MainActor (Bool) -> Void)? = nil) {
    undoManager.endEventGroup()
    guard hasUnsavedChanges else { return done(completionHandler, true) }
    save(to: fileURL, for: .forOverwriting, completionHandler: completionHandler)
  }

  /// As ``autosave(completionHandler:)``.
  @discardableResult open func autosave() async -> Bool {
    await withCheckedContinuation { continuation in autosave { continuation.resume(returning: $0) } }
  }

  /// Calls a handler at the next turn of the main queue.
  func done(_ handler: (@MainActor (Bool) -> Void)?, _ success: Bool) {
    guard let handler else { return }
    Task { @MainActor in handler(success) }
  }

  // MARK: Errors

  /// An open, a save or a revert has failed. Called once each time (`DOC-9`). Calls ``finishedHandlingError(_:recovered:)``.
  open func handleError(_ error: any Error, userInteractionPermitted: Bool) {
    finishedHandlingError(error, recovered: false)
  }

  /// An error has been shown, or has gone.
  open func finishedHandlingError(_ error: any Error, recovered: Bool) {
    if recovered { documentState.remove(.savingError) }
  }

  /// The user may not be asked any more: the app is about to end.
  open func userInteractionNoLongerPermitted(forError error: any Error) {}

  /// The error that ``handleError(_:userInteractionPermitted:)`` was called with last. Ambit's addition.
  public internal(set) var lastError: (any Error)?
}
