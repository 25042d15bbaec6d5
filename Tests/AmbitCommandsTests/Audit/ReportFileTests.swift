import Foundation
import TestSupport
import Testing

@testable import AmbitCommands

@Suite("Report: the file")
struct ReportFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func content(_ name: String) throws -> String {
    try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  @Test("A new report is its user's alone; one that is there is replaced, and who may read it stays so")
  func replacing() throws {
    try ReportFile.write("one", to: "\(folder.path)/new.html")
    #expect(try content("new.html") == "one" && folder.mode("new.html") == 0o600)
    try folder.write("old.html", "old", mode: 0o644)
    try ReportFile.write("two", to: "\(folder.path)/old.html")
    #expect(try content("old.html") == "two" && folder.mode("old.html") == 0o644)
    #expect(try names == ["new.html", "old.html"])
  }

  @Test("Behind a symlink it is the file that is replaced, and the symlink stays")
  func symlink() throws {
    try folder.write("target.html", "old")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/link.html", withDestinationPath: "\(folder.path)/target.html")
    try ReportFile.write("new", to: "\(folder.path)/link.html")
    #expect(try content("target.html") == "new")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder.path)/link.html").hasSuffix("target.html"))
  }

  @Test("Where nothing can be written, an error names the file, and nothing is left behind")
  func failing() throws {
    try folder.folder("reports")
    #expect(throws: (any Error).self) { try ReportFile.write("x", to: "\(folder.path)/reports") }
    #expect(throws: (any Error).self) { try ReportFile.write("x", to: "\(folder.path)/missing/report.html") }
    #expect(try names == ["reports"])
  }
}
