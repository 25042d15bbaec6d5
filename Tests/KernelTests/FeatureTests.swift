import Foundation
import TestSupport
import Testing

/// What tests of this machine may require (`AMBIT_TEST_REQUIRE`).
@Suite struct `Features that tests need` {
  @Test func `are named with commas between them, or all at once`() throws {
    #expect(try Feature.required(by: "") == [])
    #expect(try Feature.required(by: "btrfs, xfs,loop-devices") == [.btrfs, .xfs, .loopDevices])
    #expect(try Feature.required(by: "root,all") == Set(Feature.allCases))
  }

  @Test func `a name that nobody knows is not taken for none`() {
    #expect(throws: HarnessError.self) { try Feature.required(by: "btrfs,brtfs") }
  }

  @Test func `each file system that volumes are made of is one`() {
    for kind in VolumeKind.allCases { #expect(Feature(rawValue: kind.rawValue) != nil) }
  }

  /// A run of its own, in which a feature that is not here is required or not.
  @Test func `what is required fails, what is not is skipped and said at the end`() throws {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    func run(_ required: String) throws -> (status: Int32, output: String) {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["--testing-library", "swift-testing", "--filter", "LackingFeatureTests"]
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["AMBIT_TEST_REQUIRE": required, "AMBIT_TEST_LACKING": "yes"]) { $1 }
      (process.standardOutput, process.standardError) = (output, output)
      try process.run()
      let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, said)
    }
    let skipped = try run("")
    #expect(
      skipped.status == 0 && skipped.output.contains("needs autofs: KernelTests/FeatureTests.swift"), "\(skipped)")
    let required = try run("autofs")
    #expect(required.status != 0 && required.output.contains("AMBIT_TEST_REQUIRE names autofs"), "\(required)")
    let misspelt = try run("autfs")
    #expect(misspelt.status != 0 && misspelt.output.contains("there is no feature autfs"), "\(misspelt)")
  }
}

/// Runs for the test above alone: as on a machine without automounters.
@Suite struct LackingFeatureTests {
  private static let isAsked = ProcessInfo.processInfo.environment["AMBIT_TEST_LACKING"] != nil

  @Test(.enabled(if: try !isAsked || Feature.autofs.isHere(false), "needs autofs")) func `needs an automounter`() {}
}
