internal import Kernel
internal import Paths

/// The name of a document on its way out, in the device's own folder. The name holds the document's identity and content. A device that
/// starts again compares them with the file, and finds a program's last write.
struct DepartingFile {
  /// Of the document: its identity, and the part of its stamp that writing changes.
  let id: String
  let content: String
  /// The file that takes its place; `nil`: it is removed.
  let staged: String?
  /// The document's own, perhaps cut.
  let name: String

  private static let prefix = "out"
  private static let longest = 255

  init(_ id: String, _ stamp: String, _ staged: String?, named name: String) {
    (self.id, self.staged, self.name) = (id, staged, name)
    content = DeviceFolder.content(stamp).joined(separator: " ")
  }

  /// - Returns: `nil`: it is another file's name.
  init?(fileName: String) {
    let fields = fileName.split(separator: "_", maxSplits: 7, omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 8, fields[0] == Self.prefix else { return nil }
    id = "\(fields[1]) \(fields[2])"
    content = "\(fields[3]) \(fields[4])"
    staged = fields[5].isEmpty ? nil : "\(fields[5]) \(fields[6])"
    name = fields[7]
  }

  var fileName: String {
    let facts = [id, content, staged ?? " "].joined(separator: " ").split(
      separator: " ", omittingEmptySubsequences: false)
    let start = ([Self.prefix[...]] + facts).joined(separator: "_") + "_"
    return start + name.cut(toBytes: Self.longest - start.utf8.count)
  }

  enum Verdict { case unchanged, staged, foreign }

  /// What a file with this name is, by its identity and its stamp.
  func judge(_ id: String, _ stamp: String) -> Verdict {
    if id == staged { return .staged }
    return id == self.id && DeviceFolder.content(stamp).joined(separator: " ") == content ? .unchanged : .foreign
  }
}
