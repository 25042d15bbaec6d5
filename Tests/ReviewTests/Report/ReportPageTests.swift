import Audit
import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Review

@Suite("Report: the page")
struct ReportPageTests {
  private static func page(_ events: [AuditEvent] = Recording.story.events) throws -> PageReader.Element {
    try PageReader.read(ReportPage(report(events)).text)
  }

  @Test("The same log gives the same page")
  func deterministic() {
    #expect(ReportPage(report(Recording.story.events)).text == ReportPage(report(Recording.story.events)).text)
  }

  @Test("It loads nothing, runs nothing but its own script, and its policy has the sums of its own style and script")
  func selfContained() throws {
    let page = try Self.page()
    let policy = try #require(page.all("meta").first { $0["http-equiv"] == "Content-Security-Policy" }?["content"])
    #expect(policy.hasPrefix("default-src 'none'; "))
    for name in ["style", "script"] {
      let content = try #require(page.all(name).first).text
      let sum = Data(SHA256.digest(content)).base64EncodedString()
      #expect(page.all(name).count == 1 && policy.contains("\(name)-src 'sha256-\(sum)';"))
      #expect(!content.contains("url(") && !content.contains("@import") && !content.contains("innerHTML"))
    }
    for element in page.all {
      for (name, value) in element.attributes {
        #expect(
          !name.hasPrefix("on") && !["style", "src", "srcset", "action", "data"].contains(name),
          "\(element.name) \(name)")
        if name == "href" { #expect(value.hasPrefix("#")) }
      }
    }
  }

  @Test("Every reference leads to an element, and no name is there twice")
  func references() throws {
    let page = try Self.page()
    let ids = page.all.compactMap { $0["id"] }
    #expect(Set(ids).count == ids.count)
    for element in page.all {
      for name in ["aria-labelledby", "aria-describedby"] {
        for id in element[name]?.split(separator: " ") ?? [] { #expect(ids.contains(String(id)), "\(id)") }
      }
      if let target = element["href"] { #expect(ids.contains(String(target.dropFirst())), "\(target)") }
    }
  }

  @Test("Headings come in order, tables have captions and scopes, pictures have names, and there is a way to skip")
  func structure() throws {
    let page = try Self.page()
    let levels = page.all.compactMap { $0.name.count == 2 && $0.name.first == "h" ? Int($0.name.dropFirst()) : nil }
    #expect(levels.first == 1 && levels.filter { $0 == 1 }.count == 1)
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
    #expect(page.all("html").first?["lang"] == "en")
    for name in ["header", "main", "footer", "nav"] { #expect(page.all(name).count == 1) }
    let body = try #require(page.all("body").first)
    #expect(body.all.dropFirst().first?["class"] == "skip")
    for table in page.all("table") {
      #expect(table.all("caption").first?.text.isEmpty == false)
      #expect(table.all("th").allSatisfy { $0["scope"] == "row" || $0["scope"] == "col" })
      let columns = table.all("thead").first?.all("th").count
      for row in table.all("tbody").flatMap({ $0.all("tr") }) {
        #expect(row.all.count { $0.name == "td" || $0.name == "th" } == columns)
        #expect(row.all("th").count == 1)
      }
    }
    for picture in page.all("svg") where picture["aria-hidden"] == nil {
      #expect(picture["aria-labelledby"] != nil && picture["aria-describedby"] != nil)
      #expect(picture.all("title").first?.text.isEmpty == false && picture.all("desc").first?.text.isEmpty == false)
    }
    // What is scrolled has a name, and is no landmark.
    for area in page.all.filter({ $0["tabindex"] != nil }) {
      #expect(area["role"] == "group" && area["aria-label"]?.isEmpty == false)
    }
  }

  @Test("What the graph shows, the tables say: every line is a row, every box leads to one")
  func sameFacts() throws {
    let page = try Self.page()
    let rows = try #require(page.all("table").first { $0["id"] == "reaches" }).all("tbody").flatMap { $0.all("tr") }
    #expect(page.all("path").count { $0["class"]?.hasPrefix("edge") == true && $0["data-app"] != nil } == rows.count)
    #expect(rows.map { $0.all("td")[1].text.trimmingCharacters(in: .newlines) } == ["● used", "● used", "○ not used"])
    #expect(page.all("rect").contains { $0["class"] == "bar leak" })
    #expect(
      page.all("path").contains { $0["class"] == "limit" } && page.all("path").contains { $0["class"] == "cross" })
  }

  @Test("Policies of one name and different texts are told apart by the entries that have them")
  func policies() throws {
    var log = Recording()
    for app in ["a", "b"] {
      log.add(.launch, .allowed, app, "\(app)1", ["policy": "default", "settings": "text \(app)"])
    }
    var model = report(log.events)
    for index in model.policies.indices { model.policies[index].sections = [.init(title: "Network", abilities: [])] }
    func captions() throws -> [String] {
      let page = try PageReader.read(ReportPage(model).text)
      return page.all("table").filter { $0["id"]?.hasPrefix("policy") == true }.flatMap { $0.all("caption") }
        .map { $0.text.trimmingCharacters(in: .newlines) }
    }
    #expect(try captions().sorted() == [1, 2].map { "Network, under default as of entry \($0)" })
    model.policies.removeLast()
    #expect(try captions() == ["Network, under default"])
  }

  @Test("A page about hostile names is as sound as any other, and has them as they are")
  func hostile() throws {
    var generator = Seeded(seed: 5)
    for _ in 0..<20 {
      var log = Recording()
      let app = HostileText.random(&generator)
      let path = "/" + HostileText.random(&generator)
      log.launch(
        app, HostileText.random(&generator), policy: HostileText.random(&generator),
        name: HostileText.random(&generator))
      let instance = log.events[0].instance ?? ""
      log.grant(app, instance, "g", path)
      log.start(app, instance, "g", path, used: 1)
      log.add(
        .refuse, .refused, app, instance, rule: HostileText.random(&generator), reason: HostileText.random(&generator),
        ["operation": HostileText.random(&generator), "remedy": HostileText.random(&generator)])
      log.add(
        .outlived, .allowed, app, instance, grant: "g", path: path, reason: HostileText.random(&generator),
        ["holders": HostileText.random(&generator)])
      let page = try Self.page(log.events)
      #expect(page.all("script").count == 1 && page.all("style").count == 1)
      #expect(page.all("img").isEmpty)
      #expect(page.all("bdi").contains { $0.text.unicodeScalars.elementsEqual(app.unicodeScalars) })
      #expect(page.all.allSatisfy { $0.attributes.allSatisfy { !$0.name.hasPrefix("on") } })
    }
  }

  @Test("A log with nothing in it makes a page that says so")
  func empty() throws {
    let page = try Self.page([])
    #expect(page.text.contains("No app did anything") && page.text.contains("Nothing was refused"))
    #expect(page.all("table").isEmpty)
  }

  @Test("In light and in dark, every text has a contrast of 4.5 to 1, and what is drawn 3 to 1")
  func contrast() throws {
    let style = ReportStyle.sheet
    // The style sheet's own values: the first :root is the light scheme, the one for dark screens follows.
    for (scheme, from) in [("light", ":root{color-scheme"), ("dark", "prefers-color-scheme:dark){:root{")] {
      let start = try #require(style.range(of: from)).upperBound
      let block = style[start...].prefix { $0 != "}" }
      var colours: [String: Double] = [:]
      for declaration in block.split(separator: ";") {
        let parts = declaration.split(separator: ":")
        guard let name = parts.first, name.hasPrefix("--"), let value = parts.last else { continue }
        let luminance: Double = try #require(Self.luminance(value), "\(declaration)")
        colours[String(name.dropFirst(2))] = luminance
      }
      func ratio(_ one: String, _ other: String) throws -> Double {
        let pair = [try #require(colours[one]), try #require(colours[other])].sorted()
        return (pair[1] + 0.05) / (pair[0] + 0.05)
      }
      for ground in ["ground", "sheet", "tint"] {
        for ink in ["ink", "quiet", "link", "used", "granted", "refused", "leak", "good"] {
          #expect(try ratio(ink, ground) >= 4.5, "\(scheme): \(ink) on \(ground)")
        }
        #expect(try ratio("rule", ground) >= 3, "\(scheme): rule on \(ground)")
      }
    }
  }

  /// WCAG 2.2's relative luminance of `#rrggbb`.
  private static func luminance(_ colour: Substring) -> Double? {
    guard colour.count == 7, colour.first == "#", let number = UInt32(colour.dropFirst(), radix: 16) else { return nil }
    func linear(_ shift: UInt32) -> Double {
      let value = Double((number >> shift) & 0xff) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
  }
}
