internal import AppModel
internal import ArgumentParser
internal import Foundation
internal import Launcher
internal import Terminal
internal import Wire

extension AppCommand {
  /// `ambit app inspect`: the meaning of the keys in a manifest and in entitlements.
  struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "inspect",
      abstract: "Say what each key of an app's manifest and entitlements comes to here.",
      discussion: """
        Manifests and entitlements of iOS and macOS apps are read as they are: XML or binary property lists, bundles of \
        either system's shape, and what codesign prints. Every key in them is listed, also those within others: ✓ something \
        is done by it, – it is known and changes nothing here, ? nobody knows it. Nothing is run.

          ambit app inspect Editor.app
          ambit app inspect Editor.app/Contents/Info.plist
          codesign -d --entitlements :- Editor.app | ambit app inspect -
          ambit app inspect --only mapped Editor.app
          ambit app inspect --format json Editor.app |
            jq '.files[].keys[] | select(.status == "unknown") | .path'
        """)

    enum Status: String, CaseIterable, ExpressibleByArgument { case mapped, idle, unknown }

    @Option(help: "List only keys that are mapped (something is done by them), idle (nothing is) or unknown.")
    var only: Status?

    @Option(help: "How to print: table or json.")
    var format: OutputFormat = .table

    @Argument(help: ArgumentHelp("A bundle, an Info.plist, entitlements, or - for standard input.", valueName: "app"))
    var app: String

    func run() throws {
      let files = try DeclaredFiles.named(app)
      let report = AppListingReport(
        files.listings, faults: files.lists.flatMap { ShapeFault.all(in: $0) }, only: only?.rawValue)
      switch format {
      case .json: try Output.standard.write(json: report.json.text)
      case .table: try Output.standard.write(report.text)
      }
    }
  }
}

extension DeclaredFiles {
  /// The app that a command line names.
  static func named(_ word: String) throws(Failure) -> DeclaredFiles {
    do throws(AppBundleError) { return try read(word) } catch { throw Failure(printable(error.description)) }
  }

  /// The same, with the error as it is; `-` is standard input.
  static func read(_ word: String) throws(AppBundleError) -> DeclaredFiles {
    guard word == "-" else { return try DeclaredFiles(at: word) }
    // One byte more than is taken: a longer one is refused as such.
    let input = (try? FileHandle.standardInput.read(upToCount: (1 << 20) + 1)) ?? Data()
    return try DeclaredFiles(bytes: Array(input), name: "standard input")
  }
}

/// The listing of an app's files, for people and for programs.
struct AppListingReport {
  let listings: [ManifestListing]
  let faults: [ShapeFault]

  /// - Parameter status: only keys of this status, as ``json`` has it.
  init(_ listings: [ManifestListing], faults: [ShapeFault], only status: String?) {
    self.listings = listings
    self.faults = faults
    self.status = status
  }

  private let status: String?

  private func rows(_ listing: ManifestListing) -> [ManifestListing.Row] {
    listing.rows.filter { status == nil || $0.meaning.status == status }
  }

  var text: String {
    let style = Style(for: 1)
    let wrong = faults.map { fault in
      style.red(printable("\(fault.file)\(fault.line.map { ":\($0)" } ?? ""): \(fault.sentence)")) + "\n"
    }.joined()
    let tables = listings.map { listing in
      let rows = rows(listing)
      let counts = Dictionary(grouping: listing.rows, by: \.meaning.status).mapValues(\.count)
      let total = ["mapped", "idle", "unknown"].map { "\(counts[$0] ?? 0) \($0)" }.joined(separator: ", ")
      let head = "\(style.bold(printable(listing.file))) (\(listing.kind.rawValue)): \(total)\n"
      guard !rows.isEmpty else { return head }
      let table = Table(
        [
          .init("KEY", keeping: .end), .init("", minWidth: 1), .init("VALUE", maxWidth: 32),
          .init("MEANING", minWidth: 24),
        ], for: 1)
      return head
        + table.render(
          rows.map { row in
            let note = row.note.map { " (\($0))" } ?? ""
            return switch row.meaning {
            case .mapped(let what):
              [
                Table.Cell("\(row.path)", .cyan), Table.Cell("✓", .green), Table.Cell(row.value),
                Table.Cell(what + note),
              ]
            case .idle(let why):
              [
                Table.Cell("\(row.path)"), Table.Cell("–", .dim), Table.Cell(row.value, .dim),
                Table.Cell(why + note, .dim),
              ]
            case .unknown:
              [
                Table.Cell("\(row.path)"), Table.Cell("?", .yellow), Table.Cell(row.value),
                Table.Cell("unknown; it changes nothing", .yellow),
              ]
            }
          })
    }.joined(separator: "\n")
    return wrong.isEmpty ? tables : "\(tables)\n\(wrong)"
  }

  var json: JSONObject {
    [
      "files": .array(
        listings.map { listing in
          .object([
            "file": .string(listing.file), "kind": .string(listing.kind.rawValue),
            "keys": .array(rows(listing).map { .object($0.json) }),
            "faults": .array(faults.filter { $0.file == listing.file }.map { .object($0.json) }),
          ])
        })
    ]
  }
}

extension KeyMeaning {
  var status: String {
    switch self {
    case .mapped: "mapped"
    case .idle: "idle"
    case .unknown: "unknown"
    }
  }
}

extension ManifestListing.Row {
  var json: JSONObject {
    var json: JSONObject = ["path": .string("\(path)")]
    if let line { json["line"] = JSONValue(line) }
    json["value"] = .string(value)
    json["status"] = .string(meaning.status)
    switch meaning {
    case .mapped(let text), .idle(let text): json["meaning"] = .string(text)
    case .unknown: break
    }
    if let note { json["note"] = .string(note) }
    return json
  }
}

extension ShapeFault {
  var json: JSONObject {
    var json: JSONObject = ["path": .string("\(path)")]
    if let line { json["line"] = JSONValue(line) }
    json["expected"] = .string(expected)
    json["found"] = .string(found)
    return json
  }
}
