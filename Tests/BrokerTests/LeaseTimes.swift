import BrokerCore
import Foundation
import Kernel
import ScopedAccess
import TestSupport
import Testing

@testable import Broker

@Suite(.serialized) struct LeaseTimes {
  @BrokerLoop final class Meter {
    let keeper = LeaseKeeper(MountState(), SystemClock())
    var told: Int64 = 0
    var releasedAt: Int64 = 0
    init() {
      TestLoop.root.add(keeper)
      keeper.onBreak = { [unowned self] identity, _ in
        told = Clock.monotonic()
        releasedAt = Clock.monotonic()
        keeper.release(identity)
      }
    }
    func hold(_ document: FoundDocument) -> Bool { keeper.hold(document, as: .write) == .leased(.write) }
  }

  @Test func `times`() async throws {
    TestLoop.start()
    let meter = await Task { @BrokerLoop in Meter() }.value
    let folder = try TemporaryFolder()
    let path = try folder.write("d", "x")
    let document = try FoundDocument(try Descriptor.open(path, flags: .place))
    var (hear, back, whole): ([Int64], [Int64], [Int64]) = ([], [], [])
    for _ in 0..<1000 {
      while await !meter.hold(document) { usleep(200) }
      usleep(500)
      let (a, b): (Int64, Int64) = try OwnThread {
        let a = Clock.monotonic()
        let file = try Descriptor.open(path, flags: .read)
        let b = Clock.monotonic()
        withExtendedLifetime(file) {}
        return (a, b)
      }.value()
      let (told, released) = await (meter.told, meter.releasedAt)
      hear.append(told - a)
      back.append(b - released)
      whole.append(b - a)
    }
    for (name, list) in [("told", hear), ("returns", back), ("whole", whole)] {
      let sorted = list.sorted()
      print("LEASE \(name) p50 \(Double(sorted[500]) / 1000) us p90 \(Double(sorted[900]) / 1000)")
    }
  }
}
