import Kernel
import Testing

@Suite("The guard's rules")
struct VigilTests {
  let file = GuardedFile(device: 1, inode: 10)
  let other = GuardedFile(device: 1, inode: 11)
  let times = Vigil.Times(patience: 100, linger: 1000)

  func opening(_ id: Int32, of file: GuardedFile, by pid: Int32 = 7, mode: UInt32 = 0o100000) -> Vigil.Input {
    .opened(Opening(id: id, pid: pid, file: file, mode: mode))
  }

  @Test("A file with a mode goes on at once, and so does what is no regular file")
  func present() {
    var vigil = Vigil(broker: 3, times: times)
    #expect(vigil.receive(opening(1, of: file, mode: 0o100600), at: 0) == [.allowAndPassOver(1)])
    #expect(vigil.receive(opening(2, of: file, mode: 0o040000), at: 0) == [.allowAndPassOver(2)])
    #expect(vigil.count == 0 && vigil.nextDeadline == nil)
  }

  @Test("The set-id bits are no mode")
  func setIdentity() {
    var vigil = Vigil(broker: 3, times: times)
    #expect(vigil.receive(opening(1, of: file, mode: 0o106000), at: 0) == [.ask(file, with: 1)])
  }

  @Test("The broker's own open goes on")
  func broker() {
    var vigil = Vigil(broker: 3, times: times)
    #expect(vigil.receive(opening(1, of: file, by: 3), at: 0) == [.allow(1)])
  }

  @Test("Openings of one file share one question and one answer", arguments: [GuardAnswer.filled, .foreign, .refused])
  func shared(answer: GuardAnswer) {
    var vigil = Vigil(broker: 3, times: times)
    #expect(vigil.receive(opening(1, of: file), at: 0) == [.ask(file, with: 1)])
    #expect(vigil.receive(opening(2, of: file), at: 10) == [])
    #expect(vigil.receive(opening(3, of: other), at: 10) == [.ask(other, with: 3)])
    #expect(vigil.anyOpening(of: file) == 1)
    let expected: [Vigil.Effect] = answer == .refused ? [.deny(1), .deny(2)] : [.allow(1), .allow(2)]
    #expect(vigil.receive(.answered(file, answer), at: 20) == expected)
    #expect(vigil.receive(.answered(file, answer), at: 20) == [])
    #expect(vigil.count == 1)
  }

  @Test("Each opening has its own patience; then the file is asked for again")
  func patience() {
    var vigil = Vigil(broker: 3, times: times)
    _ = vigil.receive(opening(1, of: file), at: 0)
    _ = vigil.receive(opening(2, of: file), at: 50)
    #expect(vigil.nextDeadline == 100)
    #expect(vigil.receive(.ticked, at: 99) == [])
    #expect(vigil.receive(.ticked, at: 100) == [.deny(1)])
    #expect(vigil.nextDeadline == 150)
    #expect(vigil.receive(.ticked, at: 150) == [.deny(2)])
    #expect(vigil.nextDeadline == nil)
    #expect(vigil.receive(.answered(file, .filled), at: 160) == [])
    #expect(vigil.receive(opening(3, of: file), at: 170) == [.ask(file, with: 3)])
  }

  @Test("A file that is empty again is asked for again, not for ever")
  func emptyAgain() {
    var vigil = Vigil(broker: 3, times: times)
    #expect(vigil.receive(.emptyAgain(file), at: 0) == [])
    _ = vigil.receive(opening(1, of: file), at: 0)
    _ = vigil.receive(opening(2, of: file), at: 0)
    for _ in 0..<5 { #expect(vigil.receive(.emptyAgain(file), at: 1) == [.ask(file, with: 1)]) }
    #expect(vigil.receive(.emptyAgain(file), at: 1) == [.deny(1), .deny(2)])
    #expect(vigil.count == 0)
  }

  @Test("Without a broker placeholders stay closed, other files open, and there is an end")
  func gone() {
    var vigil = Vigil(broker: 3, times: times)
    _ = vigil.receive(opening(1, of: file), at: 0)
    #expect(vigil.receive(.brokerGone, at: 10) == [.deny(1)])
    #expect(vigil.receive(opening(2, of: file), at: 20) == [.deny(2)])
    // The number may be another process's by now.
    #expect(vigil.receive(opening(3, of: file, by: 3), at: 20) == [.deny(3)])
    #expect(vigil.receive(opening(4, of: file, mode: 0o100400), at: 20) == [.allowAndPassOver(4)])
    #expect(vigil.receive(.brokerGone, at: 500) == [])
    #expect(vigil.nextDeadline == 1010)
    #expect(vigil.receive(.ticked, at: 1009) == [])
    #expect(vigil.receive(.ticked, at: 1010) == [.end])
  }

  @Test("Whatever comes in whatever order, each opening is answered once and in time")
  func random() {
    for seed in UInt64(0)..<200 {
      var state = seed
      func next(_ below: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % below
      }
      var vigil = Vigil(broker: 3, times: times)
      var now: Int64 = 0
      var since: [Int32: Int64] = [:]
      func note(_ effects: [Vigil.Effect]) {
        for effect in effects {
          switch effect {
          case .allow(let id), .allowAndPassOver(let id), .deny(let id):
            #expect(since.removeValue(forKey: id).map { now - $0 <= 100 } ?? false)
          case .ask, .end: break
          }
        }
      }
      for id in Int32(0)..<300 {
        now += Int64(next(10))
        if let deadline = vigil.nextDeadline, deadline <= now { now = deadline }
        note(vigil.receive(.ticked, at: now))
        let file = GuardedFile(device: 1, inode: next(5))
        switch next(20) {
        case 0..<12:
          since[id] = now
          note(
            vigil.receive(opening(id, of: file, by: Int32(next(4)), mode: next(4) == 0 ? 0o100600 : 0o100000), at: now))
        case 12..<19: note(vigil.receive(.answered(file, next(3) == 0 ? .refused : .filled), at: now))
        default: if id > 250 { note(vigil.receive(.brokerGone, at: now)) }
        }
        #expect(vigil.count == since.count)
      }
      now = vigil.nextDeadline ?? now
      now += 200
      let left = vigil.receive(.ticked, at: now)
      #expect(left.filter { $0 != .end }.count == since.count && vigil.count == 0)
    }
  }
}
