import Audit
import Foundation
import Policy
import Review
import Testing

@Suite("Files of assertions over a log")
struct LogRulesTests {
  private func rules(_ text: String) throws -> [LogRule] { try LogRules(text, file: "r.toml").rules }

  private func fault(_ text: String) -> String {
    do {
      _ = try LogRules(text, file: "r.toml")
      return "no error"
    } catch { return "\(error)" }
  }

  @Test("AUD-6: every kind is read, with what it asks for, and said in words")
  func kinds() throws {
    let read = try rules(
      """
      [[rule]]
      name = "a"
      kind = "no-writes"
      below = "/home/alice/Contracts"
      except = ["io.ambit.TextEdit"]
      [[rule]]
      name = "b"
      kind = "stops-within"
      within = "10m"
      or_exit = true
      [[rule]]
      name = "c"
      kind = "no-grants"
      document = "folder"
      access = "readWrite"
      below = "/home"
      apps = ["org.example.Z"]
      [[rule]]
      name = "d"
      kind = "scopes-at-most"
      most = 8
      per = "app"
      [[rule]]
      name = "e"
      kind = "no-events"
      event = "start"
      result = "refused"
      rule = "LIM-1"
      since = "2025-06-01T09:30:00Z"
      until = "2025-06-02T09:30:00Z"
      [[rule]]
      name = "f"
      kind = "grants-by"
      how = ["user", "passed"]
      [[rule]]
      name = "g"
      kind = "only-during"
      from = "08:00"
      to = "18:30"
      zone = "-05:30"
      weekdays = ["mon", "fri"]
      events = ["start"]
      """)
    #expect(
      read.map(\.kind) == [
        .noWrites(below: "/home/alice/Contracts"), .stopsWithin(seconds: 600, orExit: true),
        .noGrants(document: "folder", access: .readWrite, below: "/home"), .scopesAtMost(8, per: .app),
        .noEvents(kind: .start, result: .refused, rule: "LIM-1"), .grantsBy(["user", "passed"]),
        .onlyDuring(DailyHours(from: 480, until: 1110, offset: -330, weekdays: [0, 4]), kinds: [.start]),
      ])
    #expect(read[0].except == ["io.ambit.TextEdit"] && read[2].apps == ["org.example.Z"])
    #expect(
      read.map(\.words) == [
        "No app but io.ambit.TextEdit could ever write below /home/alice/Contracts.",
        "Whatever any app started was stopped within 10 minutes, or ended with its app.",
        "org.example.Z was never granted a folder in /home, for reading and writing.",
        "All launches together of any app never had more than 8 scopes started at a time.",
        "There is no entry “start” that was refused by rule LIM-1, from 2025-06-01T09:30:00.000000Z until "
          + "2025-06-02T09:30:00.000000Z.",
        "Every grant to any app came about by user or passed.",
        "Entries “start” of any app fall between 08:00 and 18:30 UTC-05:30 on mon, fri.",
      ])
  }

  @Test(
    "AUD-6: a mistake is told with file, line, column and what was meant",
    arguments: [
      ("[[rule]]\nname = \"a\"\nkind = \"no-write\"\nbelow = \"/a\"\n", "r.toml:3:8", "did you mean \"no-writes\"?"),
      (
        "[[rule]]\nname = \"a\"\nkind = \"no-writes\"\nbelo = \"/a\"\n", "r.toml:4:1",
        "rule[1].below is missing; is it meant by \"belo\"?"
      ),
      ("[[rule]]\nname = \"a\"\nkind = \"no-writes\"\n", "r.toml:1", "rule[1].below is missing; add it"),
      (
        "[[rule]]\nname = \"a\"\nkind = \"no-events\"\nevent = \"start\"\nsince = \"2026-01-02T00:00:00Z\"\n"
          + "until = \"2026-01-01T00:00:00Z\"\n", "r.toml:6:9", "no time lies in between"
      ),
      (
        "[[rule]]\nname = \"a\"\nkind = \"no-events\"\nevent = \"start\"\napps = [\"b\"]\nexcept = [\"b\", \"c\"]\n",
        "r.toml:5:8", "names no app that except does not take out again"
      ),
      (
        "[[rule]]\nname = \"a\"\nkind = \"no-writes\"\nbelow = \"/a\"\nexcpt = []\n", "r.toml:5:1",
        "unknown key \"excpt\" in [[rule]] 1; did you mean \"except\"?"
      ),
      ("[[rule]]\nname = \"a\"\nkind = \"no-writes\"\nbelow = \"a/../b\"\n", "r.toml:4:9", "must be a whole path"),
      ("[[rule]]\nname = \"a\"\nkind = \"stops-within\"\nwithin = \"soon\"\n", "r.toml:4:10", "must be a span"),
      (
        "[[rule]]\nname = \"a\"\nkind = \"stops-within\"\nwithin = \"99999999999999999999d\"\n", "r.toml:4:10",
        "must be a span"
      ),
      ("[[rule]]\nname = \"a\"\nkind = \"no-events\"\nevent = \"strat\"\n", "r.toml:4:9", "did you mean \"start\"?"),
      ("[[rule]]\nname = \"a\"\nkind = \"grants-by\"\nhow = []\n", "r.toml:4:7", "must name at least one way"),
      (
        "[[rule]]\nname = \"a\"\nkind = \"only-during\"\nfrom = \"8\"\nto = \"9\"\n", "r.toml:4:8",
        "must be a time of day"
      ),
      (
        "[[rule]]\nname = \"a\"\nkind = \"grants-by\"\nhow = [\"user\"]\n[[rule]]\nname = \"a\"\nkind = \"grants-by\"\n"
          + "how = [\"user\"]\n", "r.toml:6:8", "as an earlier rule's is"
      ),
      ("rules = 1\n", "r.toml", "rule is missing"), ("rule = []\n", "r.toml:1", "has no rule in it"),
      ("[[rule]\n", "r.toml:1", "not valid TOML"),
    ])
  func mistakes(text: String, place: String, message: String) {
    let fault = fault(text)
    #expect(fault.hasPrefix(place) && fault.contains(message), "\(fault)")
  }

  @Test("Hours of the day go past midnight, know days of the week, and clocks ahead of UTC and behind it")
  func hours() throws {
    // A Monday.
    func at(_ text: String) throws -> Date { try #require(Timestamp("2025-06-0\(text)Z")).date }
    let office = DailyHours(from: 480, until: 1080, weekdays: [0, 1, 2, 3, 4])
    #expect(try office.contains(at("2T08:00:00")) && !office.contains(at("2T07:59:59")))
    #expect(try !office.contains(at("2T18:00:00")) && !office.contains(at("1T12:00:00")))
    let night = DailyHours(from: 1320, until: 360, weekdays: [0])
    #expect(try night.contains(at("2T23:00:00")) && night.contains(at("3T05:59:00")))
    #expect(try !night.contains(at("3T23:00:00")) && !night.contains(at("2T05:00:00")))
    let ahead = DailyHours(from: 480, until: 540, offset: 120)
    #expect(try ahead.contains(at("2T06:30:00")) && !ahead.contains(at("2T08:30:00")))
    #expect(try DailyHours(from: 0, until: 0, offset: -60).contains(at("2T00:30:00")))
  }

  @Test func `all that is wrong with a file is named at once, each with its place`() {
    let text = """
      [[rule]]
      name = "a"
      kind = "no-events"
      evnt = "start"
      nobody = 1
      [[rule]]
      name = "b"
      kind = "no-writes"
      below = "/b"
      nobody = 1
      [[rule]]
      name = "b"
      kind = "grants-by"
      how = ["user"]
      """
    let error = #expect(throws: SourceError.self) { try LogRules(text, file: "r.toml") }
    // Of a rule that is wrong it is not known which keys it may have.
    #expect(error?.all.map(\.position.line) == [4, 10, 12])
  }
}
