import Foundation
import Kernel
import Testing

/// A test that makes mounts. Root may; an ordinary user may only inside a user and a mount namespace that are the
/// user's own, and a process with threads cannot move into one. So for an ordinary user the test is run by this same
/// program, started anew inside such namespaces, and its result is taken over.
struct OwnsMounts: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if test.isSuite || Self.mayMount { return try await function() }
    let place = test.sourceLocation
    let location = NSRegularExpression.escapedPattern(for: "\(place.fileName):\(place.line):")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments = [
      "--user", "--map-current-user", "--keep-caps", "--mount",
      try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      "--testing-library", "swift-testing", "--filter", "^\(place.moduleName)\\..*\(location)",
    ]
    process.standardInput = Foundation.FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let ran = said.contains("Test run with 1 test ")
    #expect(process.terminationStatus == 0 && ran, "\(said)", sourceLocation: test.sourceLocation)
  }

  /// Whether this process has `CAP_SYS_ADMIN`, over whatever user namespace it is in.
  private static let mayMount: Bool = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? ""
    let capabilities = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
    return capabilities & (1 << 21) != 0
  }()
}

extension Trait where Self == OwnsMounts {
  static var ownsMounts: Self { Self() }
}
