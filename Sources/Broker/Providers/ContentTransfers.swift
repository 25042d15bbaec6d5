internal import BrokerCore
internal import Paths

/// Contents on their way from providers and to them (`DOC-10`).
@BrokerLoop
final class ContentTransfers {
  /// Bytes.
  typealias Progress = (completed: Int, total: Int)

  private var all: [String: Progress] = [:]
  /// `nil`: that one is over.
  var onChange: (_ path: String, _ progress: Progress?) -> Void = { _, _ in }

  func note(_ path: String, _ completed: Int, of total: Int) {
    all[path] = (completed, total)
    onChange(path, (completed, total))
  }

  func end(_ path: String) {
    if all.removeValue(forKey: path) != nil { onChange(path, nil) }
  }

  /// The progress of a document's transfer, for presenters that begin during it.
  func progress(of document: String) -> Progress? { all.first { $0.key.isSamePath(as: document) }?.value }
}
