internal import Foundation
internal import Kernel
package import Rulebook
package import Scenario

/// The scenarios of the catalogue, one or more for each statement, and the statements that have a reason for having none.
package struct Suite: Sendable {
  package struct Item: Sendable {
    package var scenario: Scenario
    package var entry: Scenario.Entry
    /// `TOK-3-last-stop`: the file's name without its ending.
    package var name: String
    /// `TOK`
    package var area: String
  }

  package var items: [Item]
  /// Statements without a scenario, with the reason.
  package var exceptions: [String: String]

  /// Areas of the catalogue that the suite is about.
  package static let areas = [
    "SBX", "PCK", "TOK", "LIM", "BMK", "REF", "RST", "DOC", "MDQ", "COO", "TYP", "OIP", "THM", "PRV", "AUD", "FSF",
  ]

  /// Reads `FOLDER/<AREA>/<ID>-<slug>.toml` and `FOLDER/exceptions.toml`.
  ///
  /// - Throws: ``ScenarioError``: the first fault, with its file and place.
  package static func read(folder: String) throws -> Suite {
    var items: [Item] = []
    let manager = FileManager.default
    for area in (try? manager.contentsOfDirectory(atPath: folder))?.sorted() ?? [] {
      var isFolder: ObjCBool = false
      guard unsafe manager.fileExists(atPath: "\(folder)/\(area)", isDirectory: &isFolder), isFolder.boolValue,
        area.allSatisfy(\.isUppercase)
      else { continue }
      for file in try manager.contentsOfDirectory(atPath: "\(folder)/\(area)").sorted() where file.hasSuffix(".toml") {
        items.append(try item("\(folder)/\(area)/\(file)", area: area))
      }
    }
    guard !items.isEmpty else {
      throw ScenarioError(file: folder, place: nil, message: "there is no scenario in it: AREA/ID-slug.toml")
    }
    items.sort { Self.order($0) < Self.order($1) }
    return Suite(items: items, exceptions: try StringTable.read(path: "\(folder)/exceptions.toml", table: "exceptions"))
  }

  /// A scenario of the suite, held against the catalogue.
  package static func item(_ path: String, area: String? = nil) throws -> Item {
    let scenario = try ScenarioReader.read(path: path)
    guard let entry = scenario.entry else {
      throw ScenarioError(
        file: path, place: nil, message: "a scenario of the suite needs `entry`, the statement that it shows")
    }
    try hold(entry, against: path)
    let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    let family = String(entry.id.prefix { $0 != "-" })
    guard name.hasPrefix("\(entry.id)-"), area ?? family == family else {
      throw ScenarioError(
        file: path, place: nil, message: "a scenario of \(entry.id) is named \(family)/\(entry.id)-SOME-WORDS.toml")
    }
    return Item(scenario: scenario, entry: entry, name: name, area: family)
  }

  /// The catalogue is where statements are written; a scenario quotes one.
  private static func hold(_ entry: Scenario.Entry, against path: String) throws(ScenarioError) {
    guard case .rule(let rule, _)? = Rulebook.named(entry.id) else {
      throw ScenarioError(file: path, place: nil, message: "`entry`: the catalogue has no statement \(entry.id)")
    }
    for (key, quoted, wanted) in [
      ("statement", entry.statement, rule.statement), ("source", entry.source, rule.source),
      ("strength", entry.strength, rule.strength.rawValue),
    ] where quoted != wanted {
      throw ScenarioError(
        file: path, place: nil, message: "`\(key)` differs from the catalogue, where \(entry.id) has: \(wanted)")
    }
  }

  /// Areas in the catalogue's order, then numbers.
  private static func order(_ item: Item) -> (Int, Int, String) {
    let area = Rulebook.families.firstIndex { $0.id == item.area } ?? Int.max
    let number = Int(item.entry.id.drop { $0 != "-" }.dropFirst()) ?? 0
    return (area, number, item.name)
  }

  /// Statements in force of these areas that have neither a scenario nor a reason.
  package func uncovered(areas: [String] = Suite.areas) -> [Rule] {
    let covered = Set(items.map(\.entry.id)).union(exceptions.keys)
    return Rulebook.families.filter { areas.contains($0.id) }.flatMap(\.rules)
      .filter { $0.state == .inForce && !covered.contains($0.id) }
  }
}
