public import Foundation
internal import Synchronization
internal import Wire

/// One item of a coordinated access, and the use of it. As Foundation's on Apple's systems.
open class NSFileAccessIntent: NSObject, @unchecked Sendable {
  enum Use {
    case read(NSFileCoordinator.ReadingOptions)
    case write(NSFileCoordinator.WritingOptions)
  }

  let use: Use
  private let current: Mutex<URL>

  /// Where the item is. It may change while the access is waited for; read it in the accessor.
  open var url: URL { current.withLock { $0 } }

  var isWrite: Bool { if case .write = use { true } else { false } }

  init(_ url: URL, _ use: Use) {
    self.use = use
    current = Mutex(url)
  }

  /// An intent to read.
  open class func readingIntent(
    with url: URL, options: NSFileCoordinator.ReadingOptions = []
  ) -> NSFileAccessIntent { NSFileAccessIntent(url, .read(options)) }

  /// An intent to write.
  open class func writingIntent(
    with url: URL, options: NSFileCoordinator.WritingOptions = []
  ) -> NSFileAccessIntent { NSFileAccessIntent(url, .write(options)) }

  /// The path that the item has by now. The token of a scoped URL stays.
  func move(to path: String) {
    current.withLock { url in url = NSFileCoordinator.url(url, at: path) }
  }

  var message: CoordinationInterface.Intent {
    switch use {
    case .read(let options):
      let url = options.contains(.resolvesSymbolicLink) ? self.url.resolvingSymlinksInPath() : self.url
      return .init(path: NSFileCoordinator.path(of: url), use: .read, options: options.names)
    case .write(let options):
      return .init(path: NSFileCoordinator.path(of: url), use: .write, options: options.names)
    }
  }
}
