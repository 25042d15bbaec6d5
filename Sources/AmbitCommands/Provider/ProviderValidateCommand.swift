internal import ArgumentParser
internal import Broker
internal import FileProviders
internal import Foundation
internal import Kernel
internal import Pages
internal import Terminal
internal import Wire

/// `ambit provider validate`: the whole suite against one provider (`PRV-20`).
struct ProviderValidateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Try an enabled provider's extension against the rules of the contract.",
    discussion: """
      The extension is asked as the broker asks it: for all folders, all items, the first contents, and for things that it does not have. \
      Each rule that is broken is shown with the items that break it, and the way to mend it.

      With --changes a document of the validator's own is made, written, renamed and deleted at the provider as well. Without it the rules \
      about that are not tried, and not counted.

      Exit status: 0 all rules hold; 1 one is broken.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument { case pretty, tap, junit, json, html }

  @Option(help: "pretty, tap, junit, json or html.") var format: Format = .pretty
  @Option(help: "How many contents are brought.") var contents = 20
  @Flag(help: "Make, change and delete a document, too.") var changes = false
  @Argument(help: "Its identifier, its name, or its app's bundle.", transform: ProviderCommand.named)
  var provider: String

  func validate() throws {
    guard (0...10_000).contains(contents) else { throw ValidationError("--contents is 0 to 10000") }
  }

  func run() throws {
    let questions = ProviderQuestions(provider, contents: contents)
    var transcript = try questions.transcript()
    if changes { transcript.change = try questions.change() }
    let report = ProviderReport(ProviderCheck.all.map { ($0, $0.outcome(transcript)) }, items: transcript.all.count)
    try Output.standard.write(text(report))
    if report.broken > 0 { throw ExitCode(1) }
  }

  private func text(_ report: ProviderReport) -> String {
    let results = report.results
    switch format {
    case .pretty:
      var lines = results.map { check, outcome in
        let findings = outcome.findings
        return outcome.mark + " " + check.rule
          + findings.prefix(5).map { "\n    \(printable($0))" }.joined()
          + (findings.count > 5 ? "\n    and \(findings.count - 5) more" : "")
          + (findings.isEmpty ? "" : "\n    To mend it: \(check.remedy)  [\(check.name)]")
      }
      lines.append("\(report.summary) for \(report.items) item\(report.items == 1 ? "" : "s")\(report.remark).")
      return lines.joined(separator: "\n") + "\n"
    case .tap:
      let lines = results.enumerated().map { index, result in
        "\(result.1.findings.isEmpty ? "ok" : "not ok") \(index + 1) - \(result.0.name): \(result.0.rule)"
          + (result.1 == .untried ? " # SKIP only with --changes" : "")
          + result.1.findings.prefix(20).map { "\n# \(printable($0))" }.joined()
      }
      return "TAP version 13\n1..\(results.count)\n" + lines.joined(separator: "\n") + "\n"
    case .junit:
      func escaped(_ text: String) -> String {
        printable(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
      }
      let cases = results.map { check, outcome in
        let inner =
          switch outcome {
          case .holds: ""
          case .broken(let findings):
            "<failure message=\"\(escaped(check.rule))\">\(escaped(findings.joined(separator: "; ")))</failure>"
          case .untried: "<skipped message=\"only with --changes\"/>"
          }
        return "  <testcase classname=\"provider\" name=\"\(check.name)\">\(inner)</testcase>"
      }
      return "<testsuite name=\"\(escaped(provider))\" tests=\"\(results.count)\" failures=\"\(report.broken)\" "
        + "skipped=\"\(report.untried)\">\n"
        + cases.joined(separator: "\n") + "\n</testsuite>\n"
    case .html: return page(report)
    case .json:
      let checks = results.map { check, outcome in
        JSONValue.object([
          "check": .string(check.name), "rule": .string(check.rule),
          // Of a rule that was not tried nothing is known.
          "holds": outcome == .untried ? .null : .bool(outcome == .holds),
          "findings": .array(outcome.findings.map { .string($0) }), "remedy": .string(check.remedy),
        ])
      }
      return (["provider": .string(provider), "checks": .array(checks)] as JSONObject).text + "\n"
    }
  }
}

extension ProviderValidateCommand {
  /// A page that loads nothing: the table of rules, and what breaks each.
  private func page(_ report: ProviderReport) -> String {
    var page = HTMLText()
    let title = "\(provider): \(report.summary)"
    page.begin(title: title, style: PageStyle.sheet)
    page.element("main") { main in
      main.element("h1", title)
      main.element("p", "\(report.items) items were looked at\(report.remark).")
      main.element("p") { again in
        again.say("Again: ")
        again.element("code", "ambit provider validate \(provider)\(changes ? " --changes" : "")")
      }
      main.element("table") { table in
        for (check, outcome) in report.results.sorted(by: { !$0.1.findings.isEmpty && $1.1.findings.isEmpty }) {
          table.element("tr") { row in
            row.element("td", outcome.mark)
            row.element("td") { cell in
              cell.element("p", check.rule)
              for finding in outcome.findings.prefix(20) { cell.element("p", "• \(finding)") }
              if !outcome.findings.isEmpty { cell.element("p", "To mend it: \(check.remedy)") }
            }
            row.element("td") { $0.element("code", check.name) }
          }
        }
      }
    }
    page.end()
    return page.text
  }
}

/// The outcome of each rule.
private struct ProviderReport {
  let results: [(ProviderCheck, ProviderCheck.Outcome)]
  /// How many items were looked at.
  let items: Int

  init(_ results: [(ProviderCheck, ProviderCheck.Outcome)], items: Int) {
    (self.results, self.items) = (results, items)
  }

  var broken: Int { results.count { !$0.1.findings.isEmpty } }
  var untried: Int { results.count { $0.1 == .untried } }
  /// `76 of 77 rules hold`
  var summary: String { "\(results.count { $0.1 == .holds }) of \(results.count - untried) rules hold" }
  /// Of rules that were not tried.
  var remark: String { untried == 0 ? "" : "; \(untried) were not tried (--changes)" }
}

extension ProviderCheck.Outcome {
  fileprivate var mark: String {
    switch self {
    case .holds: "✓"
    case .broken: "✗"
    case .untried: "–"
    }
  }
}

/// Asks a provider all that the checks look at.
private struct ProviderQuestions {
  private let provider: String
  private let contents: Int
  private let progress = StatusLine()
  private static let unknown = "ambit-no-such-item"

  init(_ provider: String, contents: Int) { (self.provider, self.contents) = (provider, contents) }

  func transcript() throws -> ProviderTranscript {
    defer { progress.clear() }
    var transcript = ProviderTranscript()
    transcript.now = Int(Clock.realtime())
    transcript.listings = try tree()
    transcript.again = try transcript.listings.map { listing in
      progress.tell("\(listing.folder) again")
      return try self.listing(listing.folder)
    }
    for (item, _) in transcript.all.prefix(1000) {
      progress.tell("item \(transcript.items.count + 1)")
      transcript.items[item.identifier] = try self.item(item.identifier)
    }
    let documents = transcript.all.map(\.item).filter { !$0.isFolder && $0.fault == nil }
    for item in documents.prefix(contents) {
      transcript.contents[item.identifier] = [try content(item.identifier), try content(item.identifier)]
    }
    transcript.unknownItem = try item(Self.unknown)
    transcript.unknownContent = try content(Self.unknown)
    transcript.unknownFolder = try listed(Self.unknown)
    transcript.unknownPage = try listed(ProviderItem.root, page: Data("ambit-no-such-page".utf8).base64EncodedString())
    for item in documents.prefix(contents) {
      let reply = try ask(.locate, item.identifier)
      let path = reply.path.map { ProviderTranscript.Reply.answered($0) } ?? .failed(reply.error ?? "nothing")
      transcript.places[item.identifier] = (path, try identified(reply.path ?? ""))
    }
    transcript.placeOutside = try identified("/etc/hostname")
    try askChanges(&transcript)
    transcript.workingSet = try listing(ProviderItem.workingSet)
    transcript.trash = try listing(ProviderItem.trash)
    if let document = documents.first { transcript.documentListed = try listed(document.identifier) }
    return transcript
  }

  private func tree() throws -> [ProviderTranscript.Listing] {
    var (listings, folders, seen) = ([ProviderTranscript.Listing](), [ProviderItem.root], Set([ProviderItem.root]))
    var count = 0
    while !folders.isEmpty, listings.count < 1000, count <= ProviderTree.most {
      progress.tell("\(count) items, \(folders.count) folders to look at")
      let listing = try listing(folders.removeFirst())
      listings.append(listing)
      count += listing.items.count
      for item in listing.items where item.isFolder && seen.insert(item.identifier).inserted {
        folders.append(item.identifier)
      }
    }
    return listings
  }

  private func listing(_ folder: String) throws -> ProviderTranscript.Listing {
    var listing = ProviderTranscript.Listing(folder, [])
    var (page, seen) = (String?.none, Set<String>())
    repeat {
      let reply = try ask(.enumerate, folder, page)
      if let error = reply.error {
        listing.error = error
        break
      }
      listing.pages.append(.init(reply.items.map(ProviderItem.init), next: reply.next))
      page = reply.next
      if let page, !seen.insert(page).inserted { break }
    } while page != nil && listing.pages.count < 1000 && listing.items.count <= ProviderTree.most
    return listing
  }

  private func identified(_ path: String) throws -> ProviderTranscript.Reply<String> {
    let reply = try ask(.identify, path)
    return reply.identifier.map { .answered($0) } ?? .failed(reply.error ?? "nothing")
  }

  private func askChanges(_ transcript: inout ProviderTranscript) throws {
    func changes(_ anchor: String) throws -> ProviderTranscript.Reply<Int> {
      let reply = try ask(.changes, ProviderItem.root, anchor)
      return reply.error.map { .failed($0) } ?? .answered(reply.items.count + (reply.deleted ?? []).count)
    }
    guard let anchor = try ask(.anchor, ProviderItem.root).next else { return }
    transcript.anchor = anchor
    transcript.changesSince = try changes(anchor)
    transcript.unknownAnchor = try changes(Data("ambit-no-such-anchor".utf8).base64EncodedString())
  }

  private func item(_ identifier: String) throws -> ProviderTranscript.Reply<ProviderItem> {
    let reply = try ask(.item, identifier)
    guard let item = reply.items.first.map(ProviderItem.init) else { return .failed(reply.error ?? "nothing") }
    return .answered(item)
  }

  private func content(_ identifier: String) throws -> ProviderTranscript.Reply<Int> {
    let reply = try ask(.provide, identifier)
    return reply.size.map { .answered($0) } ?? .failed(reply.reason ?? reply.error ?? "nothing")
  }

  private func listed(_ identifier: String, page: String? = nil) throws -> ProviderTranscript.Reply<Int> {
    let reply = try ask(.enumerate, identifier, page)
    return reply.error.map { .failed($0) } ?? .answered(reply.items.count)
  }

  // MARK: A document of its own

  func change() throws -> ProviderTranscript.Change {
    var change = ProviderTranscript.Change()
    let number = Int.random(in: 100_000...999_999)
    change.names = ("Validation \(number).txt", "Validation \(number) again.txt")
    let (first, second) = ("A document of the validator's.\n", "Another content, which is longer.\n")
    change.sizes = (first.utf8.count, second.utf8.count)
    change.made = try changed(.create, ProviderItem.root, name: change.names.0, text: first)
    guard case .answered(let made)? = change.made else { return change }
    change.found = try item(made.identifier)
    change.listed = try listing(ProviderItem.root).items.map(\.identifier)
    change.content = try content(made.identifier)
    change.collision = try changed(.create, ProviderItem.root, name: change.names.0.uppercased(), text: first)
    change.written = try changed(.write, made.identifier, text: second)
    change.rewritten = try content(made.identifier)
    change.renamed = try changed(.move, made.identifier, name: change.names.1, parent: ProviderItem.root)
    change.foundRenamed = try item(made.identifier)
    change.moveOfUnknown = try changed(.move, Self.unknown, name: change.names.1, parent: ProviderItem.root)
    change.deletionOfUnknown = try deleted(Self.unknown)
    change.deleted = try deleted(made.identifier)
    change.afterwards = try item(made.identifier)
    change.listedAfterwards = try listing(ProviderItem.root).items.map(\.identifier)
    // Whatever was made beside it goes as well.
    if case .answered(let other)? = change.collision { _ = try deleted(other.identifier) }
    return change
  }

  private func changed(
    _ kind: LocationsInterface.AskCall.Kind, _ identifier: String, name: String? = nil, parent: String? = nil,
    text: String? = nil
  ) throws -> ProviderTranscript.Reply<ProviderItem> {
    let reply = try UserSide.call(
      LocationsInterface.ask,
      .init(provider: provider, kind: kind, identifier: identifier, filename: name, parent: parent, text: text)
        as LocationsInterface.AskCall, answer: LocationsInterface.AskReply.self)
    guard let item = reply.items.first.map(ProviderItem.init) else { return .failed(reply.error ?? "nothing") }
    return .answered(item)
  }

  private func deleted(_ identifier: String) throws -> ProviderTranscript.Reply<Int> {
    let reply = try ask(.delete, identifier)
    return reply.error.map { .failed($0) } ?? .answered(0)
  }

  private func ask(
    _ kind: LocationsInterface.AskCall.Kind, _ identifier: String, _ page: String? = nil
  ) throws -> LocationsInterface.AskReply {
    try UserSide.call(
      LocationsInterface.ask,
      .init(provider: provider, kind: kind, identifier: identifier, page: page) as LocationsInterface.AskCall)
  }
}
