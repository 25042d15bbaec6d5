import Testing

@testable import Sandbox

@Suite struct `What apps leave of the disk of their containers` {
  private let reserve = 64 << 20
  private let mebibyte = 1 << 20

  @Test func `is 64 MiB, and a sixteenth of a small disk`() {
    for (disk, expected) in [(1 << 40, reserve), (1 << 30, reserve), (16 << 20, 1 << 20), (0, 0)] {
      #expect(SpaceReserve(ofDisk: disk).reserve == expected)
    }
  }

  @Test func `ends the app that has filled it, also when it has done so between two looks`() {
    var one = SpaceReserve(ofDisk: 1 << 40)
    func look(_ left: Int) -> Bool { one.look(available: left) }
    func measured(_ size: Int) -> LimitExcess? { one.measured(size) }
    #expect(!look(1 << 39))
    // Near: its size is noted once.
    let isNear = look(900 * mebibyte)
    #expect(isNear && measured(100 * mebibyte) == nil)
    #expect(!look(800 * mebibyte))
    let isAll = look(0)
    #expect(isAll)
    #expect(measured(1000 * mebibyte) == LimitExcess(.reserve, value: 900 * mebibyte, ceiling: reserve))
  }

  @Test func `leaves one alone that has not, however large its container is, and looks again only when more is gone`() {
    var one = SpaceReserve(ofDisk: 1 << 40)
    func look(_ left: Int) -> Bool { one.look(available: left) }
    func measured(_ size: Int) -> LimitExcess? { one.measured(size) }
    let isNear = look(reserve - 1)
    #expect(isNear && measured(500 << 30) == nil)
    for step in 1...100 {
      let isAsked = look(reserve - step * 4096)
      #expect(isAsked && measured((500 << 30) + step * 100) == nil)
      #expect(!look(reserve - step * 4096))
    }
    // Slowly is as good as at once.
    let isAsked = look(mebibyte)
    #expect(isAsked && measured((500 << 30) + reserve / 4 + 1) != nil)
  }

  @Test func `forgets what was when there is room again, and takes a container that has shrunk for as small as it is`()
  {
    var one = SpaceReserve(ofDisk: 1 << 40)
    func look(_ left: Int) -> Bool { one.look(available: left) }
    func measured(_ size: Int) -> LimitExcess? { one.measured(size) }
    _ = look(reserve)
    #expect(measured(500 * mebibyte) == nil)
    #expect(!look(1 << 39))
    _ = look(reserve - 1)
    #expect(measured(900 * mebibyte) == nil)
    _ = look(reserve - 2)
    #expect(measured(100 * mebibyte) == nil)
    _ = look(reserve - 3)
    #expect(measured(300 * mebibyte) != nil)
  }

  @Test func `is looked for the sooner the less there is, and not all the time`() {
    let second: Int64 = 1_000_000_000
    var rule = UsageRule(.init(), processors: 1, disk: 1 << 40, start: 0, reading: .init(spaceTaken: 0))
    func look(_ taken: Int, left: Int, now: Int64) -> [UsageRule.Demand] {
      rule.look(.init(spaceTaken: taken, spaceLeft: left), now: now)
    }
    func measured(_ size: Int, now: Int64) -> LimitExcess? { rule.measured(space: size, files: 1, now: now) }
    #expect(look(1, left: 1 << 39, now: 1) == [])
    #expect(rule.pause(now: 1) == second)
    #expect(look(2, left: 900 * mebibyte, now: second) == [.measureContainer])
    #expect(measured(5, now: second) == nil)
    #expect(rule.pause(now: second) < second / 2)
    #expect(look(3, left: 0, now: 2 * second) == [.measureContainer])
    #expect(measured(900 * mebibyte, now: 2 * second)?.limit == .reserve)
  }
}
