import Foundation
import Policy
import Review
import Terminal
import TestSupport
import Testing

@testable import AmbitCommands

@Suite struct ExplanationReportTests {
  /// The line of a report that has a text in it.
  private func line(_ part: String, of text: String) -> String? {
    text.split(separator: "\n").map(String.init).first { $0.contains(part) }
  }

  @Test func `points stand on the line of what the policy opens, and not on that of what every app has`() throws {
    let folder = try TemporaryFolder()
    try "inherits = \"default\"\nsystem.read_only = [\"/srv/data\"]\n"
      .write(toFile: "\(folder.path)/mine.toml", atomically: false, encoding: .utf8)
    let resolved = try PolicyLibrary(directories: []).resolve("\(folder.path)/mine.toml")
    let subject = AuditSubject(policy: resolved.policy, origins: PolicyOrigins(of: resolved), app: nil)
    let report = ExplanationReport(subject, on: .current(for: resolved.policy))
    let text = report.text(Style(isEnabled: false), width: nil)
    let points = Exposure.text(try #require(report.exposure[.readPath]).tenths)
    #expect(points != "0.0")
    #expect(line("/srv/data", of: text)?.contains(" \(points) ") == true, "\(text)")
    #expect(line("/usr", of: text)?.contains(" \(points) ") == false, "\(text)")
  }

  @Test func `every point of the sum stands on one line`() throws {
    for name in PolicyLibrary(directories: []).names {
      let resolved = try PolicyLibrary(directories: []).resolve(name)
      let subject = AuditSubject(policy: resolved.policy, origins: PolicyOrigins(of: resolved), app: nil)
      let report = ExplanationReport(subject, on: .current(for: resolved.policy))
      let lines = ExplanationLine.lines(report.explanation.entries)
      for part in report.exposure.parts where part.tenths > 0 {
        #expect(lines.count { $0.has(part.ability) } == 1, "\(name): \(part.ability)")
      }
    }
  }
}
