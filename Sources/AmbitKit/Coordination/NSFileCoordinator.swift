public import Foundation
internal import Kernel
internal import Paths
internal import Synchronization
internal import Wire

/// Where Foundation on Apple's systems has a pointer to an error; Foundation on Linux lacks the name.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Reads and writes files together with other processes and with presenters: many readers or one writer of an item (`COO-1`).
///
/// As Foundation's on Apple's systems. The broker arbitrates between all apps, and the user's own programs that take part
/// (`ambit coordinate`). No wait is without end: it is bounded by the policy's `coordination.patience`, and the error names the app
/// that was waited for (`COO-8`).
open class NSFileCoordinator: NSObject, @unchecked Sendable {
  /// Options for reading.
  public struct ReadingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Presenters need not save first.
    public static let withoutChanges = ReadingOptions(rawValue: 1 << 0)
    /// The item that a link leads to is read.
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 1 << 1)
    /// Only what is known of the item without its content.
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 1 << 2)
    /// The accessor gets a copy of its own, a zip archive of a folder; the item is free while that is read (`COO-18`).
    public static let forUploading = ReadingOptions(rawValue: 1 << 3)

    var names: [String] { names(CoordinationInterface.readingOptions) }
  }

  /// Options for writing.
  public struct WritingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Options by their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The item will be deleted.
    public static let forDeleting = WritingOptions(rawValue: 1 << 0)
    /// The item will be moved.
    public static let forMoving = WritingOptions(rawValue: 1 << 1)
    /// Presenters save first, and their changes are merged.
    public static let forMerging = WritingOptions(rawValue: 1 << 2)
    /// The item will be replaced by another one.
    public static let forReplacing = WritingOptions(rawValue: 1 << 3)
    /// Only facts that have nothing to do with the content, such as tags.
    public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 1 << 4)

    var names: [String] { names(CoordinationInterface.writingOptions) }
  }

  /// The one that asks a presenter. Ambit's addition.
  public struct Asker: Sendable, Hashable {
    /// The app's bundle identifier; of a program of the user's: its name.
    public let app: String
    /// The process, by its number on the host.
    public let process: Int32
    /// The coordinator's purpose.
    public let purpose: String

    init(_ message: CoordinationInterface.Party) {
      (app, process, purpose) = (message.app, Int32(message.process), message.purpose)
    }
  }

  private let state: Mutex<State>

  /// From now on programs that this process starts have the connections of its accesses as well: if this process is killed, an access
  /// lasts as long as they do.
  package func sharesAccesses() { state.withLock { $0.isShared = true } }

  private struct State {
    var purpose: String
    /// It was given, or is a presenter's: it cannot be set.
    var isFixed: Bool
    var isCancelled = false
    var isShared = false
    /// Accesses that wait.
    var waiting: [FileAccess] = []
    /// Accesses that are under way: the last one is the innermost.
    var granted: [FileAccess] = []
  }

  /// - Parameter filePresenterOrNil: the presenter that this coordinator works for: it is not asked, and not told.
  public init(filePresenter filePresenterOrNil: (any NSFilePresenter)? = nil) {
    let purpose = filePresenterOrNil.map { PresenterTable.shared.purpose(of: $0) }
    state = Mutex(State(purpose: purpose ?? UUID().uuidString, isFixed: purpose != nil))
  }

  // MARK: Presenters

  /// From now on a presenter is asked and told. Each call wants a ``removeFilePresenter(_:)`` (`COO-21`).
  open class func addFilePresenter(_ filePresenter: any NSFilePresenter) {
    PresenterTable.shared.add(filePresenter)
  }

  /// A presenter is not asked any more.
  open class func removeFilePresenter(_ filePresenter: any NSFilePresenter) {
    PresenterTable.shared.remove(filePresenter)
  }

  /// The presenters of this process.
  open class var filePresenters: [any NSFilePresenter] { PresenterTable.shared.all }

  /// A presenter has changes that are not saved, or has none any more. Ambit's addition: while there are some, programs that know
  /// nothing of coordination wait for the save when they open the file (`COO-27`).
  public class func setHasUnsavedChanges(_ hasUnsavedChanges: Bool, for filePresenter: any NSFilePresenter) {
    PresenterTable.shared.setUnsaved(hasUnsavedChanges, filePresenter)
  }

  // MARK: Purpose

  /// Coordinators of one purpose do not wait for each other, also in other processes of the app (`COO-11`). It is set once, to a text
  /// that is not empty, and not for a presenter's coordinator (`COO-12`).
  open var purposeIdentifier: String {
    get { state.withLock { $0.purpose } }
    set {
      state.withLock { state in
        precondition(!newValue.isEmpty, "a purposeIdentifier is not empty")
        precondition(!state.isFixed, "the purposeIdentifier of this coordinator is set already, or its presenter's")
        state.purpose = newValue
        state.isFixed = true
      }
    }
  }

  // MARK: Coordinating

  /// Waits, then runs the accessor. With an error it is not run.
  open func coordinate(
    readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
    byAccessor reader: (URL) -> Void
  ) {
    unsafe coordinate([.readingIntent(with: url, options: options)], outError) { reader($0[0]) }
  }

  /// Waits, then runs the accessor. With an error it is not run.
  ///
  /// A save that another program waits for is the exception (`COO-27`): the accessor writes a file beside, which replaces the item
  /// afterwards. An error then says that the item has its old content. What is saved may be forgotten when this returns without one.
  open func coordinate(
    writingItemAt url: URL, options: WritingOptions = [], error outError: NSErrorPointer,
    byAccessor writer: (URL) -> Void
  ) {
    unsafe coordinate([.writingIntent(with: url, options: options)], outError) { writer($0[0]) }
  }

  /// Waits for both items, then runs the accessor. With an error it is not run.
  open func coordinate(
    readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [], writingItemAt writingURL: URL,
    options writingOptions: WritingOptions = [], error outError: NSErrorPointer,
    byAccessor readerWriter: (URL, URL) -> Void
  ) {
    let intents: [NSFileAccessIntent] = [
      .readingIntent(with: readingURL, options: readingOptions),
      .writingIntent(with: writingURL, options: writingOptions),
    ]
    unsafe coordinate(intents, outError) { readerWriter($0[0], $0[1]) }
  }

  /// Waits for both items, then runs the accessor. With an error it is not run.
  open func coordinate(
    writingItemAt url1: URL, options options1: WritingOptions = [], writingItemAt url2: URL,
    options options2: WritingOptions = [], error outError: NSErrorPointer, byAccessor writer: (URL, URL) -> Void
  ) {
    let intents: [NSFileAccessIntent] = [
      .writingIntent(with: url1, options: options1), .writingIntent(with: url2, options: options2),
    ]
    unsafe coordinate(intents, outError) { writer($0[0], $0[1]) }
  }

  /// Waits without blocking the caller, then runs the accessor on a queue. All items are had together, or none (`COO-1`).
  open func coordinate(
    with intents: [NSFileAccessIntent], queue: OperationQueue,
    byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let within = FileAccess.current
    let run: @Sendable () -> Void = {
      do {
        let access = try self.acquire(intents, within: within)
        let snapshots = try self.snapshots(of: intents, access)
        for (intent, snapshot) in zip(intents, snapshots) {
          if let snapshot { intent.move(to: snapshot.url.path) }
        }
        let isFree = snapshots.allSatisfy { $0 != nil }
        if isFree { self.end(access) }
        queue.addOperation {
          if isFree {
            accessor(nil)
          } else {
            FileAccess.entering(access) { accessor(nil) }
          }
          if !isFree { self.end(access) }
          for snapshot in snapshots { snapshot?.remove() }
        }
      } catch { queue.addOperation { accessor(error) } }
    }
    do throws(KernelError) { try Worker.start(run) } catch {
      queue.addOperation { accessor(WireError.kernel(error).cocoa()) }
    }
  }

  /// Asks the presenters of many items at once, before each is accessed by itself (`COO-17`).
  ///
  /// - Parameter batchAccessor: does the accesses, and calls the block that it gets when all are done.
  open func prepare(
    forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
    writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [], error outError: NSErrorPointer,
    byAccessor batchAccessor: (@escaping @Sendable () -> Void) -> Void
  ) {
    let intents =
      readingURLs.map { NSFileAccessIntent.readingIntent(with: $0, options: readingOptions) }
      + writingURLs.map { NSFileAccessIntent.writingIntent(with: $0, options: writingOptions) }
    guard !intents.isEmpty else { return batchAccessor {} }
    do {
      let access = try acquire(intents, prepares: true, within: FileAccess.current)
      FileAccess.entering(access) { batchAccessor { self.end(access) } }
    } catch { unsafe outError?.pointee = error as NSError }
  }

  private func coordinate(
    _ intents: [NSFileAccessIntent], _ outError: NSErrorPointer, _ accessor: ([URL]) -> Void
  ) {
    do {
      let access = try acquire(intents, within: FileAccess.current)
      let snapshots = try snapshots(of: intents, access)
      let isFree = snapshots.allSatisfy { $0 != nil }
      if isFree { end(access) }
      defer {
        if !isFree { end(access) }
        for snapshot in snapshots { snapshot?.remove() }
      }
      let urls = zip(intents, snapshots).map { $1?.url ?? $0.url }
      if isFree { return accessor(urls) }
      let staged = access.isStaged ? try StagedSave(of: urls[0]) : nil
      defer { staged?.remove() }
      FileAccess.entering(access) { accessor(staged.map { [$0.url] } ?? urls) }
      try staged?.carryOut()
    } catch { unsafe outError?.pointee = error as NSError }
  }

  /// The copies for uploads. Where all items are copied, others may go on as soon as the copies are whole (`COO-18`).
  private func snapshots(of intents: [NSFileAccessIntent], _ access: FileAccess) throws -> [FileSnapshot?] {
    do {
      return try intents.map { intent in
        guard case .read(let options) = intent.use, options.contains(.forUploading) else { return nil }
        return try FileSnapshot(of: intent.url)
      }
    } catch {
      end(access)
      throw error
    }
  }

  private func acquire(
    _ intents: [NSFileAccessIntent], prepares: Bool = false, within: FileAccess.Context
  ) throws -> FileAccess {
    let purpose = state.withLock { state in
      // From its first use on it is what it is.
      state.isFixed = true
      return state.purpose
    }
    let call = CoordinationInterface.AccessCall(
      intents: intents.map(\.message), purpose: purpose, within: within.accesses.isEmpty ? nil : within.accesses,
      answering: within.questions.isEmpty ? nil : within.questions, prepares: prepares ? true : nil)
    let access = try FileAccess(writes: intents.contains(where: \.isWrite))
    guard
      state.withLock({ state in
        if !state.isCancelled { state.waiting.append(access) }
        return !state.isCancelled
      })
    else {
      access.close()
      throw CocoaError.make(.userCancelled, nil, intents.first?.url, "This file coordinator was cancelled.")
    }
    defer { state.withLock { $0.waiting.removeAll { $0 === access } } }
    do throws(WireError) {
      // A write after the accessor's read must not be missed (`COO-21`), nor how far its content has come.
      let reply = try access.wait(call) { PresenterTable.shared.awaitBeginnings(of: purpose) }
      for (intent, path) in zip(intents, reply.paths) { intent.move(to: path) }
      state.withLock { state in
        state.granted.append(access)
        if state.isShared { access.share() }
      }
      return access
    } catch {
      access.close()
      if access.isCancelled {
        throw CocoaError.make(.userCancelled, nil, intents.first?.url, "This file coordinator was cancelled.")
      }
      throw error.coordination(for: intents.first?.url)
    }
  }

  private func end(_ access: FileAccess) {
    state.withLock { $0.granted.removeAll { $0 === access } }
    access.end()
  }

  // MARK: Moves

  /// An item is about to be moved: the app keeps its access under the new name (`COO-16`). Its access goes by the document, and not by
  /// its name, so that nothing is left to do.
  open func item(at oldURL: URL, willMoveTo newURL: URL) {}

  /// An item has been moved, in an access of this coordinator for writing. Its presenters are told (`COO-15`).
  open func item(at oldURL: URL, didMoveTo newURL: URL) {
    let (old, new) = (Self.path(of: oldURL), Self.path(of: newURL))
    guard !old.isSamePath(as: new), let access = state.withLock({ $0.granted.last }) else { return }
    access.moved(old, new)
  }

  /// Attributes of an item in a provider's care have changed. The broker sees that by itself, and presenters hear of it without this.
  open func item(at url: URL, didChangeUbiquityAttributes attributes: Set<URLResourceKey>) {}

  // MARK: Cancelling

  /// Waiting calls fail with `CocoaError.userCancelled`; accessors that run go on; later calls run none (`COO-14`).
  open func cancel() {
    let waiting = state.withLock { state in
      state.isCancelled = true
      return state.waiting
    }
    for access in waiting { access.cancel() }
  }

  // MARK: URLs

  static func path(of url: URL) -> String {
    let path = url.path.withoutTrailingSlashes
    return path.isEmpty ? "/" : path
  }

  /// A URL at another path, with its token.
  static func url(_ url: URL, at path: String) -> URL {
    guard !Self.path(of: url).isSamePath(as: path) else { return url }
    var new = URLComponents(
      url: URL(fileURLWithPath: path, isDirectory: url.hasDirectoryPath), resolvingAgainstBaseURL: false)
    new?.percentEncodedFragment = url.fragment(percentEncoded: true)
    return new?.url ?? URL(fileURLWithPath: path)
  }
}
