import Foundation
import Kernel
import Testing

@testable import AmbitCommands

/// Apart from the other rules: `scripts/run-tests.sh` keeps exit tests away from tests that have children.
@Suite struct ExaminationLeakTests {
  @Test func `Probing leaves no descriptor behind`() async {
    // In a process of its own: other tests open descriptors meanwhile.
    await #expect(processExitsWith: .success) {
      func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      _ = Facts.gather()
      let before = try descriptors()
      for _ in 0..<10 {
        _ = (Probe.sandbox(["mnt"]), Probe.seccompListener(), Probe.clonePidfd(), Probe.pseudoTerminal())
      }
      #expect(try descriptors() < before + 10)
    }
  }
}
