internal import ArgumentParser
internal import Audit
internal import Policy
internal import Terminal

extension AuditEvent.Kind {
  /// A kind as a command line names it. A word that no entry could be of would answer every question with nothing.
  static func named(_ word: String) throws(ValidationError) -> AuditEvent.Kind {
    let kind = AuditEvent.Kind(rawValue: word)
    if known.contains(kind) { return kind }
    let near = nearest(to: word).map { "\"\($0)\"" }
    let hint = near.isEmpty ? "." : "; did you mean \(near.joined(separator: " or "))?"
    throw ValidationError(
      "--kind takes a kind of entry, and \"\(printable(word))\" is none\(hint) The kinds: "
        + known.map(\.rawValue).joined(separator: ", ") + ".")
  }

  /// Those that a word may stand for, at most three: first the nearest spelling, then the kinds that contain it.
  static func nearest(to word: String) -> [String] {
    let names = known.map(\.rawValue)
    guard !word.isEmpty, word.unicodeScalars.count <= 64 else { return [] }
    let lower = word.lowercased()
    let parts = lower.unicodeScalars.count < 3 ? [] : names.filter { $0.lowercased().contains(lower) }
    let allowed = max(1, lower.unicodeScalars.count / 3)
    let slips = names.map { (name: $0, distance: editDistance(lower, $0.lowercased())) }
      .filter { $0.distance <= allowed && !parts.contains($0.name) }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.map(\.name)
    return Array((slips.prefix(1) + parts + slips.dropFirst()).prefix(3))
  }
}
