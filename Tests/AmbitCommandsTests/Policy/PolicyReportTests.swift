import Foundation
import Policy
import Terminal
import TestSupport
import Testing

@testable import AmbitCommands

/// What `ambit policy show` prints, read again.
@Suite struct PolicyReportTests {
  /// What leaves something of every kind that no single field has a word of its own for.
  private static let machine = """
    inherits = "strict"
    grants.persisted = "windows"
    grants.lifetime = "launch"
    seccomp.profile = "/etc/ambit/containers.json"
    environment.pass = ["LANG", "LC_*"]
    """

  private func reread(_ resolved: ResolvedPolicy, under machines: [MachinePolicy]) throws {
    let narrowed = resolved.policy.narrowed(by: machines, memory: 16 << 30)
    let text = PolicyReport(resolved, narrowed: narrowed, machines: machines).text(Style(isEnabled: false))
    let folder = try TemporaryFolder()
    try text.write(toFile: "\(folder.path)/shown.toml", atomically: false, encoding: .utf8)
    let again = try PolicyLibrary(directories: []).resolve("\(folder.path)/shown.toml")
    #expect(again.policy.settings == narrowed.settings, "\(resolved.policy.name): \(text)")
    #expect(again.policy.description == resolved.policy.description, "\(text)")
  }

  @Test(arguments: PolicyLibrary(directories: []).names)
  func `what is shown of a ready-made policy is the same policy`(name: String) throws {
    let resolved = try PolicyLibrary(directories: []).resolve(name)
    try reread(resolved, under: [])
    try reread(resolved, under: [try MachinePolicy(Array(Self.machine.utf8), file: "/etc/ambit/policy.toml")])
  }

  @Test func `what is shown of values that narrowing makes is the same policy`() throws {
    let source = """
      description = "Two lines\\nand a \\u202e mark"
      grants.persisted = 5
      grants.lifetime = "8h"
      seccomp.profile = "mine.json"
      environment = { pass = ["LC_*"], set = { LC_ALL = "a \\u202e b\\u0085\\U000E0001", "A.B" = "x # y" } }
      system.read_only = ["/opt/\\u200bthin"]
      """
    let folder = try TemporaryFolder()
    try source.write(toFile: "\(folder.path)/mine.toml", atomically: false, encoding: .utf8)
    let policy = try PolicyLibrary(directories: []).resolve("\(folder.path)/mine.toml")
    try reread(policy, under: [])
    try reread(policy, under: [try MachinePolicy(Array(Self.machine.utf8), file: "/etc/ambit/policy.toml")])
  }

  @Test func `a profile beside a policy that was named by a relative path is shown where it is`() throws {
    let folder = try TemporaryFolder()
    try "seccomp.profile = \"mine.json\"".write(toFile: "\(folder.path)/mine.toml", atomically: false, encoding: .utf8)
    let up = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    let policy = try PolicyLibrary(directories: []).resolve("\(up)\(folder.path)/mine.toml")
    let text = PolicyReport(policy, narrowed: policy.policy, machines: []).text(Style(isEnabled: false))
    #expect(text.contains("profile = \"\(folder.path)/mine.json\""), "\(text)")
  }
}
