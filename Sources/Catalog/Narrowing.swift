internal import Foundation
internal import GRDB
package import Query

/// The condition in SQL that the items of a query fulfil at least. Which of those really match is the evaluator's word
/// (`PredicateMatcher`).
package struct Narrowing: Sendable {
  /// In it, `#` stands for the number of the app's tables.
  private let template: String
  let arguments: [DatabaseValue]

  /// - Parameters:
  ///   - scope: where the query looks.
  ///   - knowsTypes: the types in the table are those of the query; otherwise the app declares some itself.
  package init(_ predicate: MetadataPredicate, _ scope: QueryScope = .all, knowsTypes: Bool = true) {
    let part = Part(predicate, knowsTypes)
    let place = Part(scope)
    let all = [place, part].compactMap(\.self)
    template = all.isEmpty ? "1" : all.map { "(\($0.sql))" }.joined(separator: " AND ")
    arguments = all.flatMap(\.arguments)
  }

  func condition(_ number: Int) -> String { template.replacingOccurrences(of: "#", with: "\(number)") }

  private struct Part {
    var sql: String
    var arguments: [DatabaseValue]

    init(_ sql: String, _ arguments: [DatabaseValue] = []) { (self.sql, self.arguments) = (sql, arguments) }

    /// `nil`: all of them.
    init?(_ scope: QueryScope) {
      if scope.local, scope.external { return nil }
      var parts = [Part(scope.local ? "external = 0" : scope.external ? "external = 1" : "0")]
      for place in scope.places {
        parts.append(
          Part(
            "path = ? OR (path > ? AND path < ?)",
            [place.databaseValue, "\(place)/".databaseValue, "\(place)0".databaseValue]))
      }
      self = Part(joining: parts, "OR")
    }

    init(joining parts: [Part], _ word: String) {
      sql = parts.map { "(\($0.sql))" }.joined(separator: " \(word) ")
      arguments = parts.flatMap(\.arguments)
    }

    /// `nil`: nothing is known of the items that it is true of.
    init?(_ predicate: MetadataPredicate, _ knowsTypes: Bool) {
      switch predicate {
      case .constant(let value):
        if value { return nil }
        self.init("0")
      case .not: return nil
      case .and(let all):
        let parts = all.compactMap { Part($0, knowsTypes) }
        if parts.isEmpty { return nil }
        self = Part(joining: parts, "AND")
      case .or(let all):
        let parts = all.map { Part($0, knowsTypes) }
        if all.isEmpty { return nil }
        var known: [Part] = []
        for part in parts {
          guard let part else { return nil }
          known.append(part)
        }
        self = Part(joining: known, "OR")
      case .comparison(let comparison): self.init(comparison, knowsTypes)
      }
    }

    init?(_ comparison: MetadataComparison, _ knowsTypes: Bool) {
      guard case .key(let key) = comparison.left, let attribute = MetadataAttribute(rawValue: key),
        case .value(let value) = comparison.right
      else { return nil }
      switch (attribute, comparison.relation, value) {
      case (.name, .equal, .text(let text)):
        self.init("folded = ?", [SearchText.folded(text, .both).databaseValue])
      case (.name, .beginsWith, .text(let text)):
        self.init(beginning: SearchText.folded(text, .both))
      case (.name, .contains, .text(let text)), (.name, .endsWith, .text(let text)):
        self.init(containing: SearchText.folded(text, .both))
      case (.name, .like, .text(let text)): self.init(containing: Self.longestRun(text))
      case (.type, .equal, .text(let text)) where knowsTypes:
        self.init("type = ?", [SearchText.folded(text, .both).databaseValue])
      case (.isExternal, .equal, .flag), (.isExternal, .equal, .integer):
        self.init("external = ?", [(value == .flag(true) || value == .integer(1)).databaseValue])
      case (.size, let relation, .integer(let number)):
        guard let sql = Self.ordered("size", relation) else { return nil }
        self.init(sql, [number.databaseValue])
      case (.modified, let relation, .date(let seconds)):
        guard let sql = Self.ordered("modified", relation), let time = Self.nanoseconds(seconds, relation) else {
          return nil
        }
        self.init(sql, [time.databaseValue])
      default: return nil
      }
    }

    private static func ordered(_ column: String, _ relation: MetadataComparison.Relation) -> String? {
      switch relation {
      case .less, .lessOrEqual: "\(column) <= ?"
      case .greater, .greaterOrEqual: "\(column) >= ?"
      case .equal where column == "size": "\(column) = ?"
      default: nil
      }
    }

    /// With room for what is lost by counting in seconds.
    private static func nanoseconds(_ seconds: Double, _ relation: MetadataComparison.Relation) -> Int64? {
      let time = (seconds + Date.timeIntervalBetween1970AndReferenceDate) * 1e9
      guard abs(time) < 9e18 else { return nil }
      let slack: Int64 = 10_000
      return relation == .less || relation == .lessOrEqual ? Int64(time) + slack : Int64(time) - slack
    }

    /// Shorter texts have no entry in the index.
    private init?(containing folded: String) {
      guard folded.unicodeScalars.count >= 3, !folded.utf8.contains(0) else { return nil }
      let quoted = "\"\(folded.replacingOccurrences(of: "\"", with: "\"\""))\""
      self.init("id IN (SELECT rowid FROM name_# WHERE name_# MATCH ?)", [quoted.databaseValue])
    }

    private init?(beginning folded: String) {
      guard let last = folded.unicodeScalars.last, let next = Unicode.Scalar(last.value + 1) else { return nil }
      var end = folded.unicodeScalars
      end.removeLast()
      end.append(next)
      self.init("folded >= ? AND folded < ?", [folded.databaseValue, String(end).databaseValue])
    }

    /// The longest part of a pattern without wildcards.
    private static func longestRun(_ pattern: String) -> String {
      var (runs, isEscaped) = ([String.UnicodeScalarView()], false)
      for scalar in pattern.unicodeScalars {
        switch scalar {
        case _ where isEscaped:
          runs[runs.count - 1].append(scalar)
          isEscaped = false
        case "\\": isEscaped = true
        case "*", "?": runs.append(String.UnicodeScalarView())
        default: runs[runs.count - 1].append(scalar)
        }
      }
      return runs.map { SearchText.folded(String($0), .both) }.max { $0.utf8.count < $1.utf8.count } ?? ""
    }
  }
}
