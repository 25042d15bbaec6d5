import Launcher
import Testing
import Wire

@testable import AmbitCommands

/// The app that a name means, among those that run.
@Suite struct `An app that runs` {
  private static func instance(_ id: String, _ identifier: String, _ name: String, _ minute: Int)
    -> LauncherInterface.Instance
  {
    LauncherInterface.Instance(
      instance: id, bundleIdentifier: identifier, name: name, pid: 1, policy: "default",
      started: "2026-01-01T00:0\(minute):00Z", used: 0, limit: 8, scopes: [], path: "/apps/\(name)", digest: "")
  }

  private static let running = [
    instance("1", "org.example.ed", "Ed", 1), instance("2", "org.example.ed", "Ed", 2),
    // Its name is its own choice.
    instance("3", "org.evil", "org.example.view", 3), instance("4", "org.evil", "org.example.ed", 4),
    instance("5", "org.other", "Ed 2", 5), instance("6", "org.third", "Ed 2", 6),
  ]

  private func launch(_ app: String, isIdentifier: Bool = false) throws -> String? {
    try Opener.launch(of: app, isIdentifier: isIdentifier, among: Self.running)
  }

  @Test func `is meant by its launch, its identifier and at last its name; the newest launch counts`() throws {
    #expect(try launch("1") == "1" && launch("org.example.ed") == "2" && launch("Ed") == "2")
    #expect(try launch("org.nobody") == nil)
  }

  @Test func `OIP-1: has no document by calling itself as another app`() throws {
    #expect(try launch("org.example.ed") == "2")
    #expect(try launch("org.example.view", isIdentifier: true) == nil)
    #expect(try launch("1", isIdentifier: true) == nil)
  }

  @Test func `is named by its identifier where several have its name`() {
    #expect(throws: Failure.self) { try launch("Ed 2") }
  }
}
