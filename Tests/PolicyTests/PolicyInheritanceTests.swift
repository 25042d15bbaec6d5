import Foundation
import TestSupport
import Testing

@testable import Policy

@Suite struct PolicyInheritanceTests {
  /// One file of a random chain: for each key, by its TOML name, the text of the value.
  private typealias File = [String: String]

  private static let names = ["A", "B", "C", "D"]

  private static func subset(_ random: inout Seeded, not taken: [String] = []) -> [String] {
    names.filter { !taken.contains($0) && Bool.random(using: &random) }
  }

  /// Some of the keys with some value each.
  private static func randomFile(_ random: inout Seeded) -> (
    text: String, file: File, passed: [String]?, set: [String]?
  ) {
    var file: File = [:]
    func maybe() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
    if maybe() { file["scopes.limit"] = "\(Int.random(in: 1...100_000, using: &random))" }
    if maybe() { file["scopes.references"] = "\(Bool.random(using: &random))" }
    if maybe() { file["bookmarks.replaced"] = Bool.random(using: &random) ? "\"follow\"" : "\"refuse\"" }
    if maybe() { file["system.read_only"] = "\(subset(&random).map { "/opt/" + $0 })" }
    if maybe() { file["network.access"] = "\"\(NetworkAccess.allCases.randomElement(using: &random) ?? .none)\"" }
    if maybe() { file["network.entitled"] = Bool.random(using: &random) ? "\"loopback\"" : "\"host\"" }
    if maybe() { file["files.execute"] = "\(Bool.random(using: &random))" }
    if maybe() { file["landlock.files"] = "\(Bool.random(using: &random))" }
    if maybe() { file["limits.processes"] = "\(Int.random(in: 1...4_194_304, using: &random))" }
    if maybe() { file["limits.open_files"] = "\(Int.random(in: 16...1_048_576, using: &random))" }
    if maybe() { file["limits.file_size"] = "\(Int.random(in: 0...Int.max, using: &random))" }
    var passed: [String]?
    var set: [String]?
    if maybe() {
      let names = subset(&random)
      passed = names
      file["environment.pass"] = "\(names)"
    }
    if maybe() {
      let names = subset(&random, not: passed ?? [])
      set = names
      file["environment.set"] = "{ " + names.map { "\($0) = \"\($0)\"" }.joined(separator: ", ") + " }"
    }
    let text = file.shuffled(using: &random).map { "\($0.key) = \($0.value)\n" }.joined()
    return (text, file, passed, set)
  }

  /// The model keeps, for each key, the text last written, and for each variable the last word about it.
  private struct Model {
    var last: File = [:]
    var passed: [String] = []
    var set: Set<String> = []

    mutating func lay(_ file: File, passed newPassed: [String]?, set newSet: [String]?) {
      last.merge(file) { $1 }
      if let newPassed { passed = newPassed }
      if let newSet { set = Set(newSet) }
      // The nearer word wins where only one of the two was said now.
      if newPassed != nil && newSet == nil { set.subtract(passed) }
      if newSet != nil && newPassed == nil { passed.removeAll { set.contains($0) } }
    }
  }

  @Test func `of any chain of files, the nearest word on each key holds`() throws {
    var random = Seeded(seed: 2026)
    let temporary = try TemporaryFolder()
    let library = PolicyLibrary(directories: [temporary.url])
    for round in 0..<400 {
      var model = Model()
      let length = Int.random(in: 1...5, using: &random)
      for step in 0..<length {
        let (text, file, passed, set) = Self.randomFile(&random)
        try temporary.write("p\(step).toml", (step == 0 ? "" : "inherits = \"p\(step - 1)\"\n") + text)
        model.lay(file, passed: passed, set: set)
      }
      let settings = try library.load("p\(length - 1)").settings
      func expected(_ key: String, _ fallback: String) -> String { model.last[key] ?? fallback }
      #expect("\(settings.scopeLimit)" == expected("scopes.limit", "256"), "round \(round)")
      #expect("\(settings.references)" == expected("scopes.references", "true"), "round \(round)")
      #expect(
        "\"\(settings.replacedDocuments)\"" == expected("bookmarks.replaced", "\"follow\""), "round \(round)")
      #expect("\(settings.readOnlyPaths)" == expected("system.read_only", "[]"), "round \(round)")
      #expect("\"\(settings.network)\"" == expected("network.access", "\"none\""), "round \(round)")
      #expect("\"\(settings.entitledNetwork)\"" == expected("network.entitled", "\"host\""), "round \(round)")
      #expect("\(settings.execute)" == expected("files.execute", "false"), "round \(round)")
      #expect("\(settings.landlockFiles)" == expected("landlock.files", "false"), "round \(round)")
      #expect(settings.limits.processes.map { "\($0)" } == model.last["limits.processes"], "round \(round)")
      #expect(settings.limits.openFiles.map { "\($0)" } == model.last["limits.open_files"], "round \(round)")
      #expect(settings.limits.fileSize.map { "\($0)" } == model.last["limits.file_size"], "round \(round)")
      #expect(settings.environmentPass == model.passed, "round \(round)")
      #expect(Set(settings.environmentSet.keys) == model.set, "round \(round)")
      #expect(settings.environmentSet.allSatisfy { $0.key == $0.value })
      #expect(model.set.isDisjoint(with: model.passed))
    }
  }

  @Test func `a file that sets a variable stops an inherited pass of it, and the other way round`() throws {
    let temporary = try TemporaryFolder()
    try temporary.write("base.toml", "[environment]\npass = ['A', 'B']\nset = { C = '1', D = '2' }")
    try temporary.write("sets.toml", "inherits = 'base'\nenvironment.set = { A = '3' }")
    try temporary.write("passes.toml", "inherits = 'base'\nenvironment.pass = ['C']")
    let library = PolicyLibrary(directories: [temporary.url])
    let sets = try library.load("sets").settings
    #expect(sets.environmentPass == ["B"])
    #expect(sets.environmentSet == ["A": "3"])
    let passes = try library.load("passes").settings
    #expect(passes.environmentPass == ["C"])
    #expect(passes.environmentSet == ["D": "2"])
  }
}
