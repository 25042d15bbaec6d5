internal import Audit
internal import Foundation

extension LogRule {
  /// The rule as a sentence for people.
  package var words: String {
    let who = subject
    let sentence: String =
      switch kind {
      case .noWrites(let folder): never("could ever write", "could never write") + " below \(folder)"
      case .stopsWithin(let seconds, let orExit):
        "Whatever \(who) started was stopped within \(Self.span(seconds))"
          + (orExit ? ", or ended with its app" : "")
      case .noGrants(let document, let access, let folder):
        never("was ever granted", "was never granted") + " a \(document ?? "document")"
          + (folder.map { " in \($0)" } ?? "")
          + (access.map { ", for \($0 == .readOnly ? "reading only" : "reading and writing")" } ?? "")
      case .scopesAtMost(let most, let per):
        "\(per.words(who)) never had more than \(most) scope\(most == 1 ? "" : "s") started at a time"
      case .noEvents(let kind, let result, let rule):
        "There is no entry “\(kind.rawValue)”" + (result.map { " that was \($0.rawValue)" } ?? "")
          + (rule.map { " by rule \($0)" } ?? "") + (apps == nil && except.isEmpty ? "" : " about \(who)")
      case .grantsBy(let ways): "Every grant to \(who) came about by \(ways.joined(separator: " or "))"
      case .onlyDuring(let hours, let kinds):
        "Entries \(kinds.map { "“\($0.rawValue)”" }.joined(separator: ", ")) of \(who) fall "
          + "\(hours.words)"
      }
    return sentence + period + "."
  }

  private var subject: String {
    let exceptions = except.isEmpty ? "" : " but \(except.joined(separator: " and "))"
    return (apps?.joined(separator: " or ") ?? "any app") + exceptions
  }

  /// - Parameters:
  ///   - ofNone: the predicate after “No app”.
  ///   - ofSome: the predicate after the apps' names.
  private func never(_ ofNone: String, _ ofSome: String) -> String {
    if apps != nil { return "\(subject) \(ofSome)" }
    return "No app\(except.isEmpty ? "" : " but \(except.joined(separator: " and "))") \(ofNone)"
  }

  private var period: String {
    switch (since, until) {
    case (nil, nil): ""
    case (let since?, nil): ", from \(Timestamp(since).text)"
    case (nil, let until?): ", until \(Timestamp(until).text)"
    case (let since?, let until?): ", from \(Timestamp(since).text) until \(Timestamp(until).text)"
    }
  }

  static func span(_ seconds: Int) -> String {
    for (unit, length) in [("day", 86400), ("hour", 3600), ("minute", 60)] where seconds % length == 0 && seconds > 0 {
      return "\(seconds / length) \(unit)\(seconds == length ? "" : "s")"
    }
    return "\(seconds) second\(seconds == 1 ? "" : "s")"
  }
}

extension LogRule.Counted {
  fileprivate func words(_ who: String) -> String {
    switch self {
    case .process: "One process of \(who)"
    case .instance: "One launch of \(who)"
    case .app: "All launches together of \(who)"
    case .all: "All launches of \(who) together"
    }
  }
}

extension DailyHours {
  var words: String {
    func clock(_ minutes: Int) -> String {
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
    let days = weekdays.count == 7 ? "" : " on " + weekdays.sorted().map { Self.names[$0] }.joined(separator: ", ")
    let zone = offset == 0 ? "UTC" : "UTC\(offset < 0 ? "-" : "+")\(clock(abs(offset)))"
    return "between \(clock(from)) and \(clock(until)) \(zone)\(days)"
  }
}
