internal import AppModel

/// How the audit log is kept, by `audit.toml` in the user's configuration folder.
///
/// ```toml
/// segment = "64 MiB"    # a file of the log; then another one begins
/// keep_size = "4 GiB"   # of all of them together; or "all"
/// keep_for = "90d"      # after the last entry of a file; or "ever"
/// ```
package struct LogKeeping: Equatable, Sendable {
  /// Bytes.
  package private(set) var segment = 64 << 20
  /// Bytes; `nil`: no bound. The default is a number, so that no app can fill the disk by permitted acts.
  package private(set) var size: Int? = 4 << 30
  /// Seconds; `nil`: for ever.
  package private(set) var seconds: Int?

  static let segments = 64 << 10...16 << 30

  package init() {}

  /// - Parameter file: its name in errors.
  package init(_ bytes: [UInt8], file: String) throws(SourceError) {
    let top = try StrictTOML.parse(bytes, file: file)
    if let node = top.value("segment") {
      guard case .string(let text) = node.value, let bytes = Amount.bytes(text), Self.segments.contains(bytes) else {
        throw top.wrong("segment", node, "a size from \"64 KiB\" to \"16 GiB\"")
      }
      segment = bytes
    }
    if let node = top.value("keep_size") {
      let expected =
        "\"all\", or a size that holds two files of the log: at least \(Amount.text(bytes: 2 * segment).quoted)"
      guard case .string(let text) = node.value else { throw top.wrong("keep_size", node, expected) }
      if text == "all" {
        size = nil
      } else {
        guard let bytes = Amount.bytes(text), bytes >= 2 * segment else { throw top.wrong("keep_size", node, expected) }
        size = bytes
      }
    }
    if let node = top.value("keep_for") {
      let expected = "\"ever\", or a duration such as \"12h\" or \"90d\""
      guard case .string(let text) = node.value else { throw top.wrong("keep_for", node, expected) }
      if text == "ever" {
        seconds = nil
      } else {
        guard let duration = Amount.seconds(text), (1...Self.longest).contains(duration) else {
          throw top.wrong("keep_for", node, expected)
        }
        seconds = duration
      }
    }
    try top.finish()
  }

  private static let longest = 100 * 366 * 86400

  /// In words, for people.
  package var words: String {
    let parts = [
      size.map { "\(Amount.text(bytes: $0)) of it" },
      seconds.map { "what is younger than \(Amount.text(seconds: $0))" },
    ].compactMap(\.self)
    let kept = parts.isEmpty ? "all of it is kept" : "\(parts.joined(separator: " and ")) is kept"
    return "a file holds \(Amount.text(bytes: segment)); \(kept)"
  }
}
