internal import FileProviders
internal import Wire

/// A provider's answer while it comes: its parts, and the time that it may still take. A provider is a stranger.
struct ComingAnswer {
  /// An answer that is not taken. Its reason follows the provider's name, and has no full stop.
  struct Refusal: Error, Equatable { let reason: String }

  private let kind: ProviderInterface.Request.Kind
  /// Nanoseconds without progress.
  private let patience: Int64
  private let end: Int64
  private let start: Int64
  private(set) var due: Int64
  private var completed = 0
  private var items: [ProviderItemMessage] = []
  private var deleted: [String] = []
  private var bytes = 0

  static let mostItems = ProviderTree.most + 1
  static let mostBytes = 64 << 20
  /// Nanoseconds.
  static let longest: Int64 = 600_000_000_000

  /// Nanoseconds for a byte of a content: as long as one makes progress, it may come or go as slowly as that.
  private static let ofByte: Int64 = 1_000_000

  /// - Parameter size: bytes of the content that comes or goes.
  init(_ kind: ProviderInterface.Request.Kind, patience: Int64, size: Int = 0, now: Int64) {
    (self.kind, self.patience, start, due) = (kind, patience, now, now + patience)
    let (time, isBeyond) = Int64(clamping: max(0, size)).multipliedReportingOverflow(by: Self.ofByte)
    let (end, isLater) = (now + Self.longest).addingReportingOverflow(isBeyond ? .max : time)
    self.end = isLater ? .max : end
  }

  // MARK: Time

  private mutating func renew(_ now: Int64) { due = min(now + patience, end) }

  /// A word of progress that makes none gives no more time.
  mutating func progress(_ completed: Int, now: Int64) {
    guard completed > self.completed else { return }
    self.completed = completed
    renew(now)
  }

  /// Why it is not waited for any more. It follows the provider's name.
  var lateness: String {
    let second: Int64 = 1_000_000_000
    guard due != end else { return "has not answered for \((end - start) / second) s" }
    return "has not answered and made no progress for \(patience / second) s"
  }

  // MARK: Content

  mutating func take(_ part: ProviderInterface.PartCall, now: Int64) throws(Refusal) {
    guard kind == .enumerate || kind == .changes else {
      throw Refusal(reason: "answers in parts where it lists nothing")
    }
    let (new, gone) = (part.items ?? [], part.deleted ?? [])
    try add(new, gone)
    if !new.isEmpty || !gone.isEmpty { renew(now) }
  }

  /// The answer, with the parts that came before it.
  mutating func whole(_ answer: ProviderInterface.AnswerCall) throws(Refusal) -> ProviderInterface.AnswerCall {
    try add(answer.items ?? [], answer.deleted ?? [])
    for text in answer.chosen ?? [] { try check(text) }
    if let next = answer.next { try check(next) }
    if let identifier = answer.identifier { try check(identifier) }
    var answer = answer
    if !items.isEmpty { answer.items = items }
    if !deleted.isEmpty { answer.deleted = deleted }
    return answer
  }

  private mutating func add(_ new: [ProviderItemMessage], _ gone: [String]) throws(Refusal) {
    guard items.count + deleted.count + new.count + gone.count <= Self.mostItems else {
      throw Refusal(reason: "answers with more than \(Self.mostItems) items at once")
    }
    for item in new {
      try item.forEachText { text throws(Refusal) in
        try check(text)
        bytes += ProviderItemMessage.bytes(text)
      }
      bytes += ProviderItemMessage.frame
    }
    for identifier in gone {
      try check(identifier)
      bytes += ProviderItemMessage.bytes(identifier)
    }
    guard bytes <= Self.mostBytes else {
      throw Refusal(reason: "answers with more than \(Self.mostBytes >> 20) MiB at once")
    }
    items += new
    deleted += gone
  }

  private func check(_ text: String) throws(Refusal) {
    guard text.utf8.count <= ProviderItem.longestText else {
      throw Refusal(
        reason: "answers with a text of \(text.utf8.count) bytes, of which it may have \(ProviderItem.longestText)")
    }
  }
}

extension ProviderItemMessage {
  fileprivate func forEachText(
    _ body: (String) throws(ComingAnswer.Refusal) -> Void
  ) throws(ComingAnswer.Refusal) {
    try body(identifier)
    try body(parent)
    try body(filename)
    try body(contentType ?? "")
    try body(version)
    for text in capabilities { try body(text) }
    for text in marks { try body(text) }
  }

  /// Bytes in memory, apart from its texts, about.
  fileprivate static let frame = 64

  /// A short text has no memory of its own.
  fileprivate static func bytes(_ text: String) -> Int { max(16, text.utf8.count) }
}
