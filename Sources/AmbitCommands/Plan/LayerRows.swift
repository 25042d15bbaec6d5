internal import Sandbox
internal import Terminal
internal import Wire

/// The layers of a planned launch as lines for people, and as JSON.
struct LayerRows {
  let report: LayerReport
  let required: [Layer]

  /// - Parameter width: columns of the terminal; `nil`: nothing is wrapped.
  func lines(_ style: Style, width: Int?) -> [String] {
    let names = Layer.allCases.map(\.rawValue.count).max() ?? 0
    let words = report.entries.map(\.enforcement.words.count).max() ?? 0
    // Mark, name, word and the gaps between them.
    let margin = 1 + 2 + names + 2 + words + 2
    let room = width.map { max(24, $0 - margin - 2) }
    return report.entries.flatMap { entry in
      let (mark, colour) = Self.mark(entry.enforcement)
      let head =
        style.apply([colour], to: mark) + "  " + style.bold(entry.layer.rawValue.padding(to: names)) + "  "
        + style.apply([colour], to: entry.enforcement.words.padding(to: words)) + "  "
      let parts = wrapped(
        (required.contains(entry.layer) ? "required; " : "") + (entry.enforcement.reason ?? entry.layer.summary),
        to: room)
      return parts.enumerated().map { index, part in
        (index == 0 ? head : String(repeating: " ", count: margin)) + style.dim(part)
      }
    }
  }

  private static func mark(_ enforcement: Enforcement) -> (String, Style.Attribute) {
    switch enforcement {
    case .full: ("✓", .green)
    case .partial: ("◐", .yellow)
    case .notEnforced: ("✗", .red)
    }
  }

  var json: JSONValue {
    .array(
      report.entries.map { entry in
        .object([
          "layer": .string(entry.layer.rawValue), "enforcement": .string(entry.enforcement.name),
          "required": .bool(required.contains(entry.layer)),
          "reason": entry.enforcement.reason.map { .string($0) } ?? .null,
          "remedy": entry.remedy.map { .string($0) } ?? .null,
        ])
      })
  }
}
