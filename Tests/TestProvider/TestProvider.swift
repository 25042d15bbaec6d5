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

  override func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem {
    if Self.behaviour == "bytes", identifier.rawValue == "large" { return TestItem("large", "large.bin", Self.number) }
    if identifier.rawValue == "folder" { return TestItem("folder", "Folder", 0, type: .folder) }
    guard let each = Self.contents.first(where: { $0.identifier == identifier.rawValue }) else {
      throw NSFileProviderError(.noSuchItem)
    }
    return TestItem(each.identifier, each.name, each.size)
  }

  override func enumerator(for container: NSFileProviderItemIdentifier) throws -> any NSFileProviderEnumerator {
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
    case "silent": return
    case "slow":
      // In ten parts, each after a tenth of a second; until it is stopped.
      slow.withLock { _ = $0.insert(url.path) }
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

  private let slow = Mutex<Set<String>>([])

  override func stopProvidingItem(at url: URL) {
    _ = slow.withLock { $0.remove(url.path) }
    let home = URL(fileURLWithPath: NSHomeDirectory())
    try? Data().write(to: home.appendingPathComponent("stopped-\(url.lastPathComponent)"))
    super.stopProvidingItem(at: url)
  }

  override func itemChanged(at url: URL) {
    let home = URL(fileURLWithPath: NSHomeDirectory())
    try? Data(contentsOf: url).write(to: home.appendingPathComponent("changed-\(url.lastPathComponent)"))
  }
}

extension Result {
  fileprivate var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}

/// An item of this name and size.
struct TestItem: NSFileProviderItem {
  let itemIdentifier: NSFileProviderItemIdentifier
  let parentItemIdentifier: NSFileProviderItemIdentifier
  let filename: String
  let documentSize: NSNumber?
  let contentType: UTType
  /// The item “one” is for reading alone.
  var capabilities: NSFileProviderItemCapabilities { itemIdentifier.rawValue == "one" ? .allowsReading : .allowsAll }
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
  func invalidate() {}

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    guard isRoot else { return observer.finishEnumerating(upTo: nil) }
    let all = TestProvider.contents.map { TestItem($0.identifier, $0.name, $0.size) }
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
      // The second page is gone, once.
      let mark = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("forgot")
      if page != .initialPageSortedByName, !FileManager.default.fileExists(atPath: mark.path) {
        try? Data().write(to: mark)
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
