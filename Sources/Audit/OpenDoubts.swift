#if canImport(Glibc)
  internal import Glibc
#endif

/// Findings of an opening that no entry has yet: a process that opens a log and ends before its first entry keeps no secret. A file beside
/// the log, a sentence in a line; made before anything is changed, and removed when an entry with them is on the disk.
struct OpenDoubts {
  private let file: String
  private(set) var words: [String]

  /// - Throws: where there is a file that cannot be read.
  init(_ files: LogFiles) throws(AuditLogError) {
    file = files.doubts
    let text = try SmallFile.read(file).map { String(decoding: $0, as: UTF8.self) } ?? ""
    words = text.split(separator: "\n").map(String.init)
  }

  /// Adds findings, on the disk as well.
  mutating func add(_ more: [String]) throws(AuditLogError) {
    var new: [String] = []
    for words in more {
      let line = String(words.map { $0.isNewline ? " " : $0 })
      if !self.words.contains(line) && !new.contains(line) { new.append(line) }
    }
    guard !new.isEmpty else { return }
    words += new
    // Of many, the first ones.
    while words.count > 1, words.reduce(0, { $0 + $1.utf8.count + 1 }) > SmallFile.most { words.removeLast() }
    try SmallFile.make(file, Array(words.map { $0 + "\n" }.joined().utf8), mode: 0o600)
  }

  /// They are in the log.
  static func remove(_ files: LogFiles) {
    if unsafe unlink(files.doubts) == 0 { SmallFile.syncFolder(of: files.doubts) }
  }
}
