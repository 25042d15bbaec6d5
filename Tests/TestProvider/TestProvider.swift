import AmbitKit
import Foundation
import Synchronization

/// A file provider that keeps the contract, or breaks it in the way that its own name says: `provide-lies`. What was changed is kept beside the
/// contents.
@main final class TestProvider: NSFileProviderExtension {
  static let behaviour = CommandLine.arguments[0].split(separator: "-").last.map(String.init) ?? "good"
  static let contents: [(identifier: String, name: String, size: Int)] = [
    ("empty", "empty.txt", 0), ("one", "one.txt", 1), ("below", "below.txt", 4095), ("page", "page.txt", 4096),
    ("above", "above.txt", 4097), ("letter", "letter.txt", 12),
  ]

  /// Of the benchmarks: a large document, and many small ones. Their sizes and numbers come after the name: `provide-1024-bytes`.
  static let number = Int(CommandLine.arguments[0].split(separator: "-").dropLast().last ?? "") ?? 0

  /// Writes so many bytes in large pieces.
  static func write(_ size: Int, to url: URL) throws {
    let piece = content(1 << 20)
    guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
      throw NSFileProviderError(.cannotSynchronize)
    }
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }
    var left = size
    while left > 0 {
      try file.write(contentsOf: piece.prefix(left))
      left -= piece.count
    }
  }

  static func content(_ size: Int) -> Data { Data((0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }) }

  private static let home = URL(fileURLWithPath: NSHomeDirectory())

  /// The provider's memory between its launches.
  static func remember(_ name: String, _ text: String = "") {
    try? text.write(to: home.appendingPathComponent(name), atomically: true, encoding: .utf8)
  }

  static func memory(_ name: String) -> String? {
    try? String(contentsOf: home.appendingPathComponent(name), encoding: .utf8)
  }

  static func forget(_ name: String) { try? FileManager.default.removeItem(at: home.appendingPathComponent(name)) }

  override func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem {
    if Self.behaviour == "bytes", identifier.rawValue == "large" { return TestItem("large", "large.bin", Self.number) }
    if Self.behaviour == "changes", let item = ChangingFolder.items().first(where: { $0.itemIdentifier == identifier })
    {
      return item
    }
    if Self.behaviour == "working", identifier.rawValue == "deep" { return WorkingSet.folder }
    if identifier.rawValue == "folder" { return TestItem("folder", "Folder", 0, type: .folder) }
    guard let each = Self.contents.first(where: { $0.identifier == identifier.rawValue }) else {
      throw NSFileProviderError(.noSuchItem)
    }
    return TestItem(each.identifier, each.name, each.size)
  }

  override func enumerator(for container: NSFileProviderItemIdentifier) throws -> any NSFileProviderEnumerator {
    if Self.behaviour == "changes", container == .rootContainer { return ChangingFolder() }
    if Self.behaviour == "working", container == .workingSet || container == .trashContainer {
      return WorkingSet(isTrash: container == .trashContainer)
    }
    guard container == .rootContainer || container.rawValue == "folder" else { throw NSFileProviderError(.noSuchItem) }
    return TestEnumerator(isRoot: container == .rootContainer)
  }

  override func startProvidingItem(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    guard let identifier = persistentIdentifierForItem(at: url), let item = try? item(for: identifier) else {
      return completionHandler(NSFileProviderError(.noSuchItem))
    }
    var size = item.documentSize?.intValue ?? 0
    switch Self.behaviour {
    case "lies": size += 1
    case "nothing": return completionHandler(nil)
    case "locked":
      if let error = Self.signedOut { return completionHandler(error) }
    case "coordinates":
      // With its own identifier as the purpose it waits for no reader (`PRV-18`).
      let coordinator = NSFileCoordinator(filePresenter: nil)
      coordinator.purposeIdentifier = NSFileProviderManager.default.providerIdentifier
      var fault: NSError?
      unsafe coordinator.coordinate(writingItemAt: url, options: [], error: &fault) { place in
        try? Self.content(size).write(to: place)
      }
      return completionHandler(fault)
    case "silent": return
    case "slow":
      // In ten parts, each after a tenth of a second; until it is stopped.
      slow.withLock { _ = $0.insert(url.path) }
      mark("started", url)
      nonisolated(unsafe) let own = self
      let whole = size
      Thread.detachNewThread {
        for part in 1...10 {
          usleep(100_000)
          guard unsafe own.slow.withLock({ $0.contains(url.path) }) else { return }
          unsafe own.reportProgress(Int64(whole * part / 10), of: Int64(whole), forItemAt: url)
        }
        completionHandler(Result { try Self.content(whole).write(to: url) }.failure)
      }
      return
    case "bytes" where identifier.rawValue == "large":
      return completionHandler(Result { try Self.write(size, to: url) }.failure)
    case "dies": exit(3)
    case "full": return completionHandler(NSFileProviderError(.insufficientQuota, "The account is full."))
    case "offline": return completionHandler(NSFileProviderError(.serverUnreachable, "The server sleeps."))
    case "link":
      try? FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "/etc/hostname")
      return completionHandler(nil)
    case "pipe":
      _ = unsafe mkfifo(url.path, 0o600)
      return completionHandler(nil)
    default: break
    }
    do {
      try Self.content(size).write(to: url)
      completionHandler(nil)
    } catch { completionHandler(error) }
  }

  // MARK: Sign-in

  private static var signedOut: NSFileProviderError? {
    behaviour == "locked" && memory("signed-in") != "ada" ? .init(.notAuthenticated, "Nobody is signed in.") : nil
  }

  override func importDocument(
    at fileURL: URL, toParentItemIdentifier parent: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) {
    guard Self.behaviour == "locked" else {
      return super.importDocument(at: fileURL, toParentItemIdentifier: parent, completionHandler: completionHandler)
    }
    if let error = Self.signedOut { return completionHandler(nil, error) }
    let content = (try? Data(contentsOf: fileURL)) ?? Data()
    Self.remember("imported", String(decoding: content, as: UTF8.self))
    completionHandler(TestItem("imported", fileURL.lastPathComponent, content.count), nil)
  }

  override func renameItem(
    withIdentifier identifier: NSFileProviderItemIdentifier, toName name: String,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) {
    guard Self.behaviour == "locked" else {
      return super.renameItem(withIdentifier: identifier, toName: name, completionHandler: completionHandler)
    }
    if let error = Self.signedOut { return completionHandler(nil, error) }
    Self.remember("renamed", "\(identifier.rawValue) \(name)")
    completionHandler(TestItem(identifier.rawValue, name, 0), nil)
  }

  override func deleteItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    guard Self.behaviour == "locked" else {
      return super.deleteItem(withIdentifier: identifier, completionHandler: completionHandler)
    }
    if let error = Self.signedOut { return completionHandler(error) }
    Self.remember("deleted", identifier.rawValue)
    completionHandler(nil)
  }

  override func form(for error: NSFileProviderError) -> FPUIForm? {
    guard Self.behaviour == "locked", error.code == .notAuthenticated else { return nil }
    return FPUIForm(
      title: "Sign in", text: "With your account.",
      fields: [
        .init("user", "Name"), .init("word", "Password", .secret),
        .init("place", "Region", .choice(["north", "south"]), value: "south"),
      ], buttons: [.init("signIn", "Sign in")])
  }

  override func submit(
    _ answers: FPUIFormAnswers, completionHandler: @escaping @Sendable (FPUIForm?, (any Error)?) -> Void
  ) {
    guard answers.values["word"] == "tulip", answers.values["place"] == "south" else {
      return completionHandler(nil, NSFileProviderError(.notAuthenticated, "The password is another one."))
    }
    Self.remember("signed-in", answers.values["user"] ?? "")
    completionHandler(nil, nil)
  }

  override func documentPicker() -> UIDocumentPickerExtensionViewController? { TestPicker() }

  override func persistentIdentifierForItem(at url: URL) -> NSFileProviderItemIdentifier? {
    // An item that nobody has heard of.
    if Self.behaviour == "invents", url.lastPathComponent == "invented.txt" { return .init("invented") }
    return super.persistentIdentifierForItem(at: url)
  }

  // MARK: Placeholders, trash and pictures

  override func providePlaceholder(at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    Self.remember("placeholder-\(url.lastPathComponent)")
    super.providePlaceholder(at: url, completionHandler: completionHandler)
  }

  override func trashItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) {
    guard Self.behaviour == "working", let each = Self.contents.first(where: { $0.identifier == identifier.rawValue })
    else { return super.trashItem(withIdentifier: identifier, completionHandler: completionHandler) }
    Self.remember("trashed", each.identifier)
    completionHandler(
      TestItem(each.identifier, each.name, each.size, parent: NSFileProviderItemIdentifier.trashContainer.rawValue), nil
    )
  }

  override func untrashItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    toParentItemIdentifier parent: NSFileProviderItemIdentifier?,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) {
    guard Self.memory("trashed") == identifier.rawValue else {
      return completionHandler(nil, NSFileProviderError(.noSuchItem))
    }
    Self.forget("trashed")
    completionHandler(Result { try item(for: identifier) }.success, nil)
  }

  override func fetchThumbnails(
    for itemIdentifiers: [NSFileProviderItemIdentifier], requestedSize size: CGSize,
    perThumbnailCompletionHandler: @escaping @Sendable (NSFileProviderItemIdentifier, Data?, (any Error)?) -> Void,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) -> Progress {
    for identifier in itemIdentifiers {
      Self.remember("drawn", (Self.memory("drawn") ?? "") + "\(identifier.rawValue) \(Int(size.width))\n")
      switch Self.behaviour {
      case "lies": perThumbnailCompletionHandler(identifier, Data("no picture".utf8), nil)
      case "large": perThumbnailCompletionHandler(identifier, Data(count: 9 << 20), nil)
      default: perThumbnailCompletionHandler(identifier, Data(base64Encoded: Self.picture), nil)
      }
    }
    completionHandler(nil)
    return Progress(totalUnitCount: 1)
  }

  /// One grey pixel, as PNG.
  private static let picture =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

  private let slow = Mutex<Set<String>>([])

  private func mark(_ word: String, _ url: URL) {
    let home = URL(fileURLWithPath: NSHomeDirectory())
    try? Data().write(to: home.appendingPathComponent("\(word)-\(url.lastPathComponent)"))
  }

  override func stopProvidingItem(at url: URL) {
    _ = slow.withLock { $0.remove(url.path) }
    mark("stopped", url)
    super.stopProvidingItem(at: url)
  }

  override func itemChanged(at url: URL) {
    let home = URL(fileURLWithPath: NSHomeDirectory())
    try? Data(contentsOf: url).write(to: home.appendingPathComponent("changed-\(url.lastPathComponent)"))
  }
}

extension Result {
  fileprivate var success: Success? { if case .success(let value) = self { value } else { nil } }
  fileprivate var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}

/// An item of this name and size.
struct TestItem: NSFileProviderItem {
  let itemIdentifier: NSFileProviderItemIdentifier
  let parentItemIdentifier: NSFileProviderItemIdentifier
  let filename: String
  let documentSize: NSNumber?
  let contentType: UTType
  /// The item “one” is for reading alone, until the file `allow` is in the container.
  var capabilities: NSFileProviderItemCapabilities {
    let isAllowed = unsafe access("/home/user/allow", F_OK) == 0
    return itemIdentifier.rawValue == "one" && !isAllowed ? .allowsReading : .allowsAll
  }
  let contentModificationDate: Date? = Date(timeIntervalSince1970: 1_400_000_000)

  init(_ identifier: String, _ name: String, _ size: Int, type: UTType = .plainText, parent: String? = nil) {
    itemIdentifier = .init(identifier)
    parentItemIdentifier = parent.map { .init($0) } ?? .rootContainer
    (filename, documentSize, contentType) = (name, NSNumber(value: size), type)
  }
}

final class TestEnumerator: NSFileProviderEnumerator {
  private let isRoot: Bool
  init(isRoot: Bool) { self.isRoot = isRoot }
  func invalidate() { TestProvider.remember("invalidated") }

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    guard isRoot else { return observer.finishEnumerating(upTo: nil) }
    let trashed = TestProvider.behaviour == "working" ? TestProvider.memory("trashed") : nil
    let all = TestProvider.contents.filter { $0.identifier != trashed }.map {
      TestItem($0.identifier, $0.name, $0.size)
    }
    switch TestProvider.behaviour {
    case "bytes":
      observer.didEnumerate([
        TestItem("large", "large.bin", TestProvider.number), TestItem("letter", "letter.txt", 12),
      ])
      return observer.finishEnumerating(upTo: nil)
    case "items":
      let first = page == .initialPageSortedByName ? 0 : Int(String(decoding: page.rawValue, as: UTF8.self)) ?? 0
      let end = min(first + 1000, TestProvider.number)
      observer.didEnumerate((first..<end).map { TestItem("item \($0)", "\($0).txt", 12) })
      return observer.finishEnumerating(
        upTo: end < TestProvider.number ? NSFileProviderPage(Data("\(end)".utf8)) : nil)
    case "flood":
      observer.didEnumerate([])
      return observer.finishEnumerating(upTo: page == .initialPageSortedByName ? NSFileProviderPage(Data([1])) : page)
    case "forgetful":
      // The second page is gone, once. Items of it that were sent already do not count.
      let mark = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("forgot")
      if page != .initialPageSortedByName, !FileManager.default.fileExists(atPath: mark.path) {
        try? Data().write(to: mark)
        observer.didEnumerate((0..<500).map { TestItem("lost \($0)", "lost \($0).txt", 1) })
        return observer.finishEnumeratingWithError(NSFileProviderError(.pageExpired))
      }
    case "huge":
      observer.didEnumerate([TestItem("huge", String(repeating: "x", count: 10_000_000), 1)])
      return observer.finishEnumerating(upTo: nil)
    case "names":
      observer.didEnumerate([
        TestItem("up", "../../escape.txt", 1), TestItem("line", "a\nb.txt", 1), TestItem("dots", "..", 1),
        TestItem("long", String(repeating: "x", count: 300), 1), TestItem("same", "letter.txt", 1),
        TestItem("vast", "vast.bin", Int.max), TestItem("minus", "minus.bin", -1),
      ])
    default: break
    }
    // Two pages.
    if page == .initialPageSortedByName {
      observer.didEnumerate(Array(all.prefix(3)))
      observer.finishEnumerating(upTo: NSFileProviderPage(Data("second".utf8)))
    } else {
      observer.didEnumerate(Array(all.dropFirst(3)) + [TestItem("folder", "Folder", 0, type: .folder)])
      observer.finishEnumerating(upTo: nil)
    }
  }
}

/// A folder that tells its changes, one item at a time. Its states are numbers: `state` has the present one, and `oldest` the oldest that it
/// knows.
final class ChangingFolder: NSFileProviderEnumerator {
  private static var state: Int { TestProvider.memory("state").flatMap { Int($0) } ?? 0 }

  /// In each state there is one item more, and `item-1` is gone in state 3. All have the size that is remembered.
  static func items(in state: Int = state) -> [TestItem] {
    let size = TestProvider.memory("size").flatMap { Int($0) } ?? 12
    return (0...max(0, state)).filter { $0 != 1 || state < 3 }.map { TestItem("item-\($0)", "Item \($0).txt", size) }
  }

  func invalidate() {}

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    TestProvider.remember("listed", (TestProvider.memory("listed") ?? "") + "x")
    observer.didEnumerate(Self.items())
    observer.finishEnumerating(upTo: nil)
  }

  func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
    completionHandler(.init(Data("\(Self.state)".utf8)))
  }

  func enumerateChanges(for observer: any NSFileProviderChangeObserver, from anchor: NSFileProviderSyncAnchor) {
    let oldest = TestProvider.memory("oldest").flatMap { Int($0) } ?? 0
    guard let from = Int(String(decoding: anchor.rawValue, as: UTF8.self)), from >= oldest else {
      return observer.finishEnumeratingWithError(NSFileProviderError(.syncAnchorExpired))
    }
    if TestProvider.memory("endless") != nil {
      return observer.finishEnumeratingChanges(upTo: anchor, moreComing: true)
    }
    guard from < Self.state else { return observer.finishEnumeratingChanges(upTo: anchor, moreComing: false) }
    observer.didUpdate(Self.items(in: from + 1).filter { $0.itemIdentifier.rawValue == "item-\(from + 1)" })
    if from + 1 == 3 { observer.didDeleteItems(withIdentifiers: [.init("item-1")]) }
    observer.finishEnumeratingChanges(
      upTo: .init(Data("\(from + 1)".utf8)), moreComing: from + 1 < Self.state)
  }
}

/// An item of a folder that no listing shows, and the trash.
final class WorkingSet: NSFileProviderEnumerator {
  struct Item: NSFileProviderItem {
    let itemIdentifier: NSFileProviderItemIdentifier
    let parentItemIdentifier = NSFileProviderItemIdentifier("deep")
    let filename: String
    let contentType = UTType.plainText
    let documentSize: NSNumber? = 4
    var lastUsedDate: Date?
    var favoriteRank: NSNumber?
    var tagData: Data?
    var isShared = false

    init(_ identifier: String, _ filename: String) {
      (itemIdentifier, self.filename) = (.init(identifier), filename)
    }
  }

  static let folder = TestItem("deep", "Deep", 0, type: .folder)
  private let isTrash: Bool
  init(isTrash: Bool) { self.isTrash = isTrash }
  func invalidate() {}

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    let trash = NSFileProviderItemIdentifier.trashContainer.rawValue
    let trashed = TestProvider.contents.filter { $0.identifier == TestProvider.memory("trashed") }
    observer.didEnumerate(trashed.map { TestItem($0.identifier, $0.name, $0.size, parent: trash) })
    if !isTrash {
      var (plan, notes) = (Item("plan", "Plan.txt"), Item("notes", "Notes.txt"))
      (plan.lastUsedDate, plan.favoriteRank) = (Date(timeIntervalSince1970: 1_400_000_000), 1)
      (notes.tagData, notes.isShared) = (Data("red".utf8), true)
      observer.didEnumerate([plan, notes])
    }
    observer.finishEnumerating(upTo: nil)
  }
}
