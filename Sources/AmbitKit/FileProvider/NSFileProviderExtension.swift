public import Foundation
internal import Paths
internal import Synchronization
internal import Wire

/// Is told the items of a folder.
public protocol NSFileProviderEnumerationObserver: AnyObject, Sendable {
  /// Further items of this page.
  func didEnumerate(_ items: [any NSFileProviderItem])
  /// The page is complete; the next one begins there, or there is none.
  func finishEnumerating(upTo page: NSFileProviderPage?)
  /// The page cannot be listed.
  func finishEnumeratingWithError(_ error: any Error)
}

/// Lists the items of one folder, page by page (`PRV-8`).
public protocol NSFileProviderEnumerator: AnyObject {
  /// It is no longer needed.
  func invalidate()
  /// Tells the observer one page, then that it is complete. From any thread.
  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage)
  /// Tells the observer the changes since an anchor, then that they are complete (`PRV-9`). From any thread.
  func enumerateChanges(for observer: any NSFileProviderChangeObserver, from anchor: NSFileProviderSyncAnchor)
  /// The state of the folder now; `nil`: it is listed whole each time.
  func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void)
}

extension NSFileProviderEnumerator {
  /// None are known: the folder is listed anew.
  public func enumerateChanges(
    for observer: any NSFileProviderChangeObserver, from anchor: NSFileProviderSyncAnchor
  ) { observer.finishEnumeratingWithError(NSFileProviderError(.syncAnchorExpired)) }
  /// None.
  public func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
    completionHandler(nil)
  }
}

/// An app's file provider: documents that are not on this machine until a program reads them. The broker launches it in a sandbox of its
/// own when it is needed. It is a bundle in the app's `PlugIns` with the extension point `com.apple.fileprovider-nonui`:
///
///     @main final class Provider: NSFileProviderExtension {
///       override func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem { … }
///       override func enumerator(for folder: NSFileProviderItemIdentifier) throws -> any NSFileProviderEnumerator { … }
///       override func startProvidingItem(at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void) { … }
///     }
open class NSFileProviderExtension {
  /// Made once for each launch.
  public required init() {}

  /// The only folder in which documents are handed over (`PRV-7`).
  public final var documentStorageURL: URL {
    URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true).appendingPathComponent(ProviderStorage.folder)
  }

  private let underWay = RequestsUnderWay()
  private let pickers = OpenPickers()

  /// Says how far the content at a URL has come or gone, in bytes. An extension that says nothing for 20 seconds is given up.
  ///
  /// Outside of ``startProvidingItem(at:completionHandler:)`` and ``itemChanged(at:)`` it does nothing.
  public final func reportProgress(_ completed: Int64, of total: Int64, forItemAt url: URL) {
    guard let id = underWay[url] else { return }
    try? Broker.call(
      ProviderInterface.progress,
      ProviderInterface.ProgressCall(id: id, completed: Int(completed), total: Int(total)))
  }

  private let known = Mutex<[String: NSFileProviderItemIdentifier]>([:])

  // MARK: To be overridden

  /// An item by its identifier.
  ///
  /// - Throws: ``NSFileProviderError`` with `noSuchItem`.
  open func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem {
    throw NSFileProviderError(.noSuchItem)
  }

  /// Lists a folder.
  ///
  /// - Throws: ``NSFileProviderError`` with `noSuchItem`, also for a document.
  open func enumerator(for containerItemIdentifier: NSFileProviderItemIdentifier) throws
    -> any NSFileProviderEnumerator
  { throw NSFileProviderError(.noSuchItem) }

  /// Puts the whole content of a document at its URL (`PRV-1`).
  open func startProvidingItem(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(NSFileProviderError(.noSuchItem)) }

  /// The document at the URL was changed by the user or an app. Nothing waits for the answer (`PRV-4`).
  open func itemChanged(at url: URL) {}

  /// The content at the URL is needed no more (`PRV-5`): no process has access to the document, or its content goes from here.
  open func stopProvidingItem(at url: URL) { try? FileManager.default.removeItem(at: url) }

  /// Gives the metadata of the document at a URL, for a read of metadata alone (`PRV-2`). It comes before or after
  /// ``startProvidingItem(at:completionHandler:)``, or without it.
  open func providePlaceholder(at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    do {
      guard let identifier = persistentIdentifierForItem(at: url) else { throw NSFileProviderError(.noSuchItem) }
      try NSFileProviderManager.writePlaceholder(
        at: NSFileProviderManager.placeholderURL(for: url), withMetadata: item(for: identifier))
      completionHandler(nil)
    } catch { completionHandler(error) }
  }

  /// A document that was put into a folder here. Its content is at the URL, until the handler is called.
  ///
  /// - Throws to the handler: ``NSFileProviderError``, with `filenameCollision` where an item of the folder has the name (`PRV-12`); Ambit
  ///   then proposes another one.
  open func importDocument(
    at fileURL: URL, toParentItemIdentifier parent: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider takes no new documents.")) }

  /// A folder that was made here.
  open func createDirectory(
    withName name: String, inParentItemIdentifier parent: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider takes no new folders.")) }

  /// An item got another name here.
  open func renameItem(
    withIdentifier identifier: NSFileProviderItemIdentifier, toName name: String,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider renames nothing.")) }

  /// An item went to another folder here.
  ///
  /// - Parameter name: its name there.
  open func reparentItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    toParentItemWithIdentifier parent: NSFileProviderItemIdentifier, newName name: String?,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider moves nothing.")) }

  /// An item was deleted here. With an error, it comes back (`PRV-15`).
  open func deleteItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(NSFileProviderError(.deletionRejected, "The provider deletes nothing.")) }

  /// An item was put into the trash here. It is answered with the trash as its folder.
  open func trashItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider has no trash.")) }

  /// An item was taken from the trash here.
  ///
  /// - Parameter parent: the folder that it goes to; `nil`: where it was.
  open func untrashItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    toParentItemIdentifier parent: NSFileProviderItemIdentifier?,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider has no trash.")) }

  /// Draws pictures of items, whose contents need not be here (`THM-5`). Each picture is a PNG of 8 MiB at most.
  ///
  /// - Parameters:
  ///   - size: in pixels, at most.
  ///   - perThumbnailCompletionHandler: for each item, before the other handler; without a picture there is none.
  /// - Returns: can be cancelled.
  open func fetchThumbnails(
    for itemIdentifiers: [NSFileProviderItemIdentifier], requestedSize size: CGSize,
    perThumbnailCompletionHandler: @escaping @Sendable (NSFileProviderItemIdentifier, Data?, (any Error)?) -> Void,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) -> Progress {
    completionHandler(NSFileProviderError(.noSuchItem, "The provider draws no pictures."))
    return Progress(totalUnitCount: 0)
  }

  /// The form that mends an error, such as one to sign in (`PRV-14`). The picker draws it in a frame that names the provider.
  ///
  /// - Parameter error: `notAuthenticated`, `insufficientQuota` or `serverUnreachable`.
  /// - Returns: `nil`: nothing can be done.
  open func form(for error: NSFileProviderError) -> FPUIForm? { nil }

  /// Takes the user's answers to a form. No other party learns them.
  ///
  /// - Throws to the handler: an error whose sentence the user reads before the form is shown again. A further form may follow.
  open func submit(
    _ answers: FPUIFormAnswers, completionHandler: @escaping @Sendable (FPUIForm?, (any Error)?) -> Void
  ) { completionHandler(nil, NSFileProviderError(.cannotSynchronize, "The provider takes no forms.")) }

  /// A new picker of the provider's own; `nil`: it has none.
  open func documentPicker() -> UIDocumentPickerExtensionViewController? { nil }

  /// The place of an item's content (`PRV-3`). It is named as the item is now.
  open func urlForItem(withPersistentIdentifier identifier: NSFileProviderItemIdentifier) -> URL? {
    guard let item = try? item(for: identifier) else { return nil }
    return url(of: identifier.wire, item.filename)
  }

  /// The item at a URL in the storage, also after a rename there; a URL outside of it has none (`PRV-3`).
  open func persistentIdentifierForItem(at url: URL) -> NSFileProviderItemIdentifier? {
    let home = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true).standardizedFileURL.path
    let path = url.standardizedFileURL.path
    if let identifier = known.withLock({ $0[path] }) { return identifier }
    guard let inner = path.path(within: home) else { return nil }
    if let identifier = ProviderStorage.identifier(atPath: inner) { return .init(wire: identifier) }
    let names = inner.pathNames
    guard names.count == 3, names[0] == ProviderStorage.folder,
      let noted = try? String(
        contentsOf: url.deletingLastPathComponent().appendingPathComponent(ProviderStorage.note), encoding: .utf8),
      ProviderStorage.path(identifier: noted, filename: names[2]) == inner
    else { return nil }
    return .init(wire: noted)
  }

  private func url(of identifier: String, _ filename: String) -> URL {
    let url = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
      .appendingPathComponent(ProviderStorage.path(identifier: identifier, filename: filename))
    note(.init(wire: identifier), at: url)
    return url
  }

  private func note(_ identifier: NSFileProviderItemIdentifier, at url: URL) {
    known.withLock { $0[url.standardizedFileURL.path] = identifier }
    let path = ProviderStorage.path(identifier: identifier.wire, filename: url.lastPathComponent)
    guard ProviderStorage.identifier(atPath: path) == nil else { return }
    let folder = url.deletingLastPathComponent()
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? identifier.wire.write(
      to: folder.appendingPathComponent(ProviderStorage.note), atomically: true, encoding: .utf8)
  }

  // MARK: The program

  /// The program of an extension: serves the broker's requests until it is ended.
  public static func main() {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: "--file-provider"), index + 2 < arguments.count else {
      complain("it is launched by Ambit's broker, with --file-provider")
    }
    NSFileProviderManager.setIdentifier(arguments[index + 2])
    do {
      let provider = Self()
      let client = try Broker.connect()
      try client.send(
        ProviderInterface.serve, ProviderInterface.ServeCall(token: arguments[index + 1]).json, more: true)
      while let answer = try client.receive(wait: true) {
        provider.carryOut(try ProviderInterface.ServeReply(json: answer.parameters).request)
      }
      exit(0)
    } catch { complain("\(error)") }
  }

  private static func complain(_ sentence: String) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("file provider: \(sentence)\n".utf8))
    exit(1)
  }

  private func carryOut(_ request: ProviderInterface.Request) {
    let (id, identifier) = (request.id, NSFileProviderItemIdentifier(wire: request.identifier))
    let url = request.path.map { URL(fileURLWithPath: $0) }
    if let url, [.provide, .changed, .placeholder].contains(request.kind) { note(identifier, at: url) }
    do {
      switch request.kind {
      case .item: Self.answer(.init(id: id, items: [try item(for: identifier).message]))
      case .enumerate:
        let enumerator = try enumerator(for: identifier)
        let page = request.page.flatMap { Data(base64Encoded: $0) }.map(NSFileProviderPage.init(_:))
        enumerator.enumerateItems(
          for: Observer(id) { enumerator.invalidate() }, startingAt: page ?? .initialPageSortedByName)
      case .changes, .anchor: try carryOutChanges(request, identifier)
      case .provide:
        guard let url else { throw NSFileProviderError(.noSuchItem) }
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        underWay.begin(id, url)
        startProvidingItem(at: url) { [underWay] error in
          underWay.end(id, url)
          Self.answer(error.map { Self.failure(id, $0) } ?? .init(id: id))
        }
      case .changed:
        guard let url else { throw NSFileProviderError(.noSuchItem) }
        underWay.begin(id, url)
        itemChanged(at: url)
        underWay.end(id, url)
        Self.answer(.init(id: id, items: [try item(for: identifier).message]))
      case .create, .move, .delete, .trash, .untrash: try carryOutChange(request, identifier, url)
      case .placeholder:
        guard let url else { throw NSFileProviderError(.noSuchItem) }
        providePlaceholder(at: url) { error in
          let written = NSFileProviderManager.takePlaceholder(of: url)
          Self.answer(error.map { Self.failure(id, $0) } ?? .init(id: id, items: written.map { [$0] }))
        }
      case .locate:
        guard let url = urlForItem(withPersistentIdentifier: identifier) else { throw NSFileProviderError(.noSuchItem) }
        Self.answer(.init(id: id, path: url.path))
      case .identify:
        // The path is the broker's question, and not a place of a known item.
        Self.answer(
          .init(
            id: id,
            identifier: persistentIdentifierForItem(at: URL(fileURLWithPath: request.identifier))?.wire))
      case .thumbnail: try draw(request, identifier)
      case .form, .submit: try carryOutForm(request)
      case .pick, .choose, .dismiss: try pickers.carryOut(request, of: self)
      case .stop:
        if let url = urlForItem(withPersistentIdentifier: identifier) { stopProvidingItem(at: url) }
        Self.answer(.init(id: id))
      }
    } catch { Self.answer(Self.failure(id, error)) }
  }

  /// The changes that were made to items here.
  private func carryOutChange(
    _ request: ProviderInterface.Request, _ identifier: NSFileProviderItemIdentifier, _ url: URL?
  ) throws {
    let id = request.id
    let handler: @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void = { item, error in
      let fault = error ?? (item == nil ? NSFileProviderError(.cannotSynchronize, "It answered no item.") : nil)
      Self.answer(fault.map { Self.failure(id, $0) } ?? .init(id: id, items: item.map { [$0.message] }))
    }
    switch request.kind {
    case .trash: trashItem(withIdentifier: identifier, completionHandler: handler)
    case .untrash:
      untrashItem(
        withIdentifier: identifier,
        toParentItemIdentifier: request.parent.map(NSFileProviderItemIdentifier.init(wire:)),
        completionHandler: handler)
    case .delete:
      deleteItem(withIdentifier: identifier) { error in
        Self.answer(error.map { Self.failure(id, $0) } ?? .init(id: id))
      }
    case .create:
      guard let name = request.filename else { throw NSFileProviderError(.cannotSynchronize, "It has no name.") }
      guard let url else {
        return createDirectory(withName: name, inParentItemIdentifier: identifier, completionHandler: handler)
      }
      importDocument(at: url, toParentItemIdentifier: identifier, completionHandler: handler)
    default:
      let parent = request.parent.map(NSFileProviderItemIdentifier.init(wire:)) ?? .rootContainer
      guard try item(for: identifier).parentItemIdentifier == parent else {
        return reparentItem(
          withIdentifier: identifier, toParentItemWithIdentifier: parent, newName: request.filename,
          completionHandler: handler)
      }
      renameItem(withIdentifier: identifier, toName: request.filename ?? "", completionHandler: handler)
    }
  }

  static func failure(_ id: Int, _ error: any Error) -> ProviderInterface.AnswerCall {
    let code = (error as? NSFileProviderError)?.code ?? .cannotSynchronize
    let reason = (error as? NSFileProviderError).map(\.errorDescription) ?? error.localizedDescription
    return .init(id: id, error: code.rawValue, reason: reason)
  }

  static func answer(_ answer: ProviderInterface.AnswerCall) {
    var answer = answer
    // Without a broker there is nothing to serve.
    do {
      let parts = ProviderParts.take(from: &answer)
      guard !parts.isEmpty else { return try Broker.call(ProviderInterface.answer, answer) }
      // One connection, which keeps their order. The broker reads one part while the next is written.
      let client = try Broker.take()
      for part in parts { try client.send(ProviderInterface.part, part.json, oneway: true) }
      _ = try client.call(ProviderInterface.answer, answer.json)
      Broker.giveBack(client)
    } catch { complain("\(error)") }
  }

  /// Sends one page in parts, each as soon as it is full. The broker reads one while the next is made.
  private final class Observer: NSFileProviderEnumerationObserver {
    private struct Page {
      var items: [ProviderItemMessage] = []
      /// Bytes that the part of these items has left.
      var left = ProviderParts.most
      /// Of the parts; one connection keeps their order.
      var client: WireClient?
      var isOver = false
    }

    private let id: Int
    private let page = Mutex(Page())
    private nonisolated(unsafe) let end: () -> Void

    init(_ id: Int, _ end: @escaping () -> Void) {
      self.id = id
      unsafe self.end = end
    }

    func didEnumerate(_ items: [any NSFileProviderItem]) {
      page.withLock { page in
        guard !page.isOver else { return }
        for item in items {
          let message = item.message
          let room = ProviderParts.room(for: message)
          if room > page.left, !page.items.isEmpty { send(&page) }
          page.items.append(message)
          page.left -= room
        }
      }
    }

    private func send(_ page: inout Page) {
      do {
        let client = try page.client ?? Broker.take()
        page.client = client
        let part = ProviderInterface.PartCall(id: id, items: page.items)
        try client.send(ProviderInterface.part, part.json, oneway: true)
      } catch { complain("\(error)") }
      (page.items, page.left) = ([], ProviderParts.most)
    }

    /// An error takes back the parts that were sent.
    private func finish(_ answer: (_ rest: [ProviderItemMessage]) -> ProviderInterface.AnswerCall) {
      let last = page.withLock { page -> Page? in
        guard !page.isOver else { return nil }
        page.isOver = true
        return page
      }
      guard let last else { return }
      if let client = last.client {
        do {
          _ = try client.call(ProviderInterface.answer, answer(last.items).json)
          Broker.giveBack(client)
        } catch { complain("\(error)") }
      } else {
        NSFileProviderExtension.answer(answer(last.items))
      }
      unsafe end()
    }

    func finishEnumerating(upTo page: NSFileProviderPage?) {
      finish { .init(id: id, items: $0, next: page?.rawValue.base64EncodedString()) }
    }

    func finishEnumeratingWithError(_ error: any Error) { finish { _ in NSFileProviderExtension.failure(id, error) } }
  }
}

/// Requests that are under way, by the places of their contents.
private final class RequestsUnderWay: Sendable {
  private let ids = Mutex<[String: Int]>([:])

  subscript(url: URL) -> Int? { ids.withLock { $0[url.standardizedFileURL.path] } }

  func begin(_ id: Int, _ url: URL) { ids.withLock { $0[url.standardizedFileURL.path] = id } }

  func end(_ id: Int, _ url: URL) {
    let path = url.standardizedFileURL.path
    ids.withLock { if $0[path] == id { $0[path] = nil } }
  }
}

/// The parts of an answer that is too long for one message.
enum ProviderParts {
  /// Bytes of one part: a message has room for its names, too.
  static let most = 48 << 10

  /// Takes items and identifiers out of an answer, but for the last ones, which go with it.
  static func take(from answer: inout ProviderInterface.AnswerCall) -> [ProviderInterface.PartCall] {
    let (items, deleted) = (answer.items ?? [], answer.deleted ?? [])
    var parts: [ProviderInterface.PartCall] = []
    var (left, start) = (most, 0)
    for (index, item) in items.enumerated() {
      let size = room(for: item)
      if size > left, index > start {
        parts.append(.init(id: answer.id, items: Array(items[start..<index])))
        (left, start) = (most, index)
      }
      left -= size
    }
    if start > 0 { answer.items = Array(items[start...]) }
    start = 0
    for (index, identifier) in deleted.enumerated() {
      let size = room(for: identifier)
      if size > left, index > start {
        parts.append(.init(id: answer.id, deleted: Array(deleted[start..<index])))
        (left, start) = (most, index)
      }
      left -= size
    }
    if start > 0 { answer.deleted = Array(deleted[start...]) }
    return parts
  }

  /// Bytes of an item in JSON, at most.
  static func room(for item: ProviderItemMessage) -> Int {
    // The fields' names, the numbers and the signs between them are less than 256 bytes.
    var room = 256 + room(for: item.identifier) + room(for: item.parent) + room(for: item.filename)
    room += Self.room(for: item.contentType ?? "") + Self.room(for: item.version)
    for word in item.capabilities { room += Self.room(for: word) }
    for word in item.marks { room += Self.room(for: word) }
    return room
  }

  /// Of a text, with its quotes and a comma.
  private static func room(for text: String) -> Int {
    var room = 3
    for byte in text.utf8 {
      let isPlain = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F
      room += isPlain ? 1 : 6
    }
    return room
  }
}
