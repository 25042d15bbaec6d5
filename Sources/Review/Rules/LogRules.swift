internal import Audit
internal import Foundation
internal import Paths
package import Policy

/// A file of assertions: TOML, read strictly, an array of tables `[[rule]]`.
package struct LogRules: Equatable, Sendable {
  package let rules: [LogRule]

  /// - Parameter file: its name in errors.
  package init(_ text: String, file: String) throws(SourceError) { try self.init(Array(text.utf8), file: file) }

  /// - Parameter text: UTF-8.
  package init(_ text: [UInt8], file: String) throws(SourceError) {
    let top = try StrictTOML.parse(text, file: file)
    let tables = try top.require("rule", top.tables("rule"))
    var rules: [LogRule] = []
    var faults = SourceFaults()
    for table in tables {
      guard let rule = faults.gather({ () throws(SourceError) in try Self.rule(table) }) else {
        table.abandon()
        continue
      }
      if rules.contains(where: { $0.name == rule.name }) {
        faults.add(table.error("name", "is “\(rule.name)”, as an earlier rule's is; call this one something else"))
      }
      rules.append(rule)
    }
    faults.gather { () throws(SourceError) in try top.finish() }
    try faults.check()
    if rules.isEmpty { throw top.error("rule", "has no rule in it; add a table [[rule]]") }
    self.rules = rules
  }

  private static func rule(_ table: TOMLReader) throws(SourceError) -> LogRule {
    let name = try table.require("name", table.string("name"))
    if name.isEmpty { throw table.error("name", "must not be empty") }
    let word = try table.require("kind", table.choice("kind", of: LogRule.Kind.words))
    let rule = LogRule(
      name: name, kind: try kind(word, table), apps: try table.strings("apps"),
      except: try table.strings("except") ?? [],
      since: try moment("since", table), until: try moment("until", table))
    // One about nothing would hold in every log.
    if let since = rule.since, let until = rule.until, since > until {
      throw table.error("until", "is before since, and no time lies in between")
    }
    if let apps = rule.apps, apps.allSatisfy(rule.except.contains) {
      throw table.error("apps", apps.isEmpty ? "names no app" : "names no app that except does not take out again")
    }
    return rule
  }

  private static func kind(_ word: String, _ table: TOMLReader) throws(SourceError) -> LogRule.Kind {
    switch word {
    case "no-writes": return .noWrites(below: try table.require("below", folder("below", table)))
    case "stops-within":
      return .stopsWithin(
        seconds: try table.require("within", span("within", table)), orExit: try table.boolean("or_exit") ?? false)
    case "no-grants":
      let access = try table.choice("access", of: RecordedAccess.allCases.map(\.rawValue))
      return .noGrants(
        document: try table.choice("document", of: ["file", "folder", "package"]),
        access: access.flatMap(RecordedAccess.init), below: try folder("below", table))
    case "scopes-at-most":
      let most = try table.require("most", table.integer("most", in: 0...1_000_000))
      let per = try table.choice("per", of: LogRule.Counted.allCases.map(\.rawValue)).flatMap(LogRule.Counted.init)
      return .scopesAtMost(most, per: per ?? .process)
    case "no-events":
      let kind = try table.require("event", table.choice("event", of: AuditEvent.Kind.known.map(\.rawValue)))
      let result = try table.choice("result", of: AuditEvent.Result.allCases.map(\.rawValue))
      return .noEvents(
        kind: AuditEvent.Kind(rawValue: kind), result: result.flatMap(AuditEvent.Result.init),
        rule: try table.string("rule"))
    case "grants-by":
      let ways = try table.require("how", table.strings("how"))
      if ways.isEmpty { throw table.error("how", "must name at least one way, such as \"user\"") }
      return .grantsBy(ways)
    default: return try hours(table)
    }
  }

  private static func hours(_ table: TOMLReader) throws(SourceError) -> LogRule.Kind {
    let from = try table.require("from", clock("from", table))
    let to = try table.require("to", clock("to", table))
    guard from != to else { throw table.error("to", "is the same time as from, and no hours lie in between") }
    let days = try table.strings("weekdays")
    for day in days ?? [] where !DailyHours.names.contains(day) {
      throw table.error("weekdays", "must be of \(DailyHours.names.joined(separator: ", ")), and has “\(day)” in it")
    }
    let zone = try table.string("zone")
    guard let offset = zone.map(minutes(ofZone:)) ?? .some(0) else {
      throw table.error("zone", "must be how far its clocks are ahead of UTC, such as \"+02:00\", or \"Z\"")
    }
    let names = try table.strings("events") ?? ["launch", "grant", "start", "descriptor"]
    for name in names where !AuditEvent.Kind.known.contains(AuditEvent.Kind(rawValue: name)) {
      throw table.error("events", "has “\(name)” in it, which is no kind of entry")
    }
    return .onlyDuring(
      DailyHours(
        from: from, until: to, offset: offset,
        weekdays: days.map { Set($0.compactMap(DailyHours.names.firstIndex)) } ?? Set(0...6)),
      kinds: names.map(AuditEvent.Kind.init))
  }

  // MARK: Values

  private static func folder(_ key: String, _ table: TOMLReader) throws(SourceError) -> String? {
    guard let path = try table.string(key) else { return nil }
    let parts = path.pathParts.dropFirst()
    guard path.isAbsolutePath, path == "/" || !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
      throw table.error(key, "must be a whole path without ., .. and a slash at its end, and is “\(path)”")
    }
    return path
  }

  private static func moment(_ key: String, _ table: TOMLReader) throws(SourceError) -> Date? {
    guard let text = try table.string(key) else { return nil }
    guard let time = Timestamp(text) else {
      throw table.error(key, "must be a time such as \"2025-06-01T09:30:00Z\", and is “\(text)”")
    }
    return time.date
  }

  private static func span(_ key: String, _ table: TOMLReader) throws(SourceError) -> Int? {
    guard let text = try table.string(key) else { return nil }
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    guard let unit = text.last.flatMap({ units[$0] }), let count = number(text.dropLast(), upTo: 1_000_000) else {
      throw table.error(key, "must be a span such as \"90s\", \"10m\", \"1h\" or \"2d\", and is “\(text)”")
    }
    return count * unit
  }

  private static func clock(_ key: String, _ table: TOMLReader) throws(SourceError) -> Int? {
    guard let text = try table.string(key) else { return nil }
    guard let minutes = minutes(ofClock: text) else {
      throw table.error(key, "must be a time of day such as \"08:00\", and is “\(text)”")
    }
    return minutes
  }

  private static func minutes(ofClock text: some StringProtocol) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = number(parts[0], upTo: 23),
      let minutes = number(parts[1], upTo: 59)
    else { return nil }
    return hours * 60 + minutes
  }

  private static func minutes(ofZone text: String) -> Int? {
    if text == "Z" { return 0 }
    guard let sign = text.first, "+-".contains(sign), let minutes = minutes(ofClock: text.dropFirst()) else {
      return nil
    }
    return sign == "-" ? -minutes : minutes
  }

  private static func number(_ text: some StringProtocol, upTo most: Int) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), number <= most
    else { return nil }
    return number
  }
}
