import Foundation
import TestSupport
import Testing

/// `ambit verify`, interrupted.
@Suite(.waitingLong)
struct VerifyKillTests {
  private static func sharedMemory() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: "/dev/shm").filter { $0.hasPrefix("ambit-") })
  }

  @Test(arguments: TestUser.one(.root))
  func `interrupted at any moment, the battery leaves no file, process or shared memory behind`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let temporary = "\(world.home)/t"
      try world.makeFolder(temporary)
      let before = try Self.sharedMemory()
      for round in 0..<4 {
        let battery = try world.start(
          [try Products.path("ambit"), "verify", "--race", "60"], environment: ["TMPDIR": temporary])
        try Deadline.wait(for: "the stage") {
          try !FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty
        }
        usleep(UInt32(round) * 1_500_000)
        battery.signal(round % 2 == 0 ? SIGINT : SIGTERM)
        #expect(try battery.waitForExit() == .status(128 + (round % 2 == 0 ? SIGINT : SIGTERM)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
        let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
        try Deadline.wait(for: "everything that was started to end") {
          !all.contains { ProcessTable.isAlive($0) && ProcessTable.commandLine($0).contains(temporary) }
        }
      }
      try Deadline.wait(.seconds(120), for: "shared memory to be removed") {
        try Self.sharedMemory().isSubset(of: before)
      }
    }
  }
}
