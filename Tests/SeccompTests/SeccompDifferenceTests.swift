import Testing

@testable import Seccomp

@Suite struct `What profiles say of a call` {
  private func profile(_ rules: [SeccompRule], _ otherwise: SeccompAction = .fail(1)) -> SeccompProfile {
    SeccompProfile(
      groups: rules.enumerated().map { .init(name: "g\($0.offset)", reason: "r", rules: [$0.element]) },
      otherwise: otherwise)
  }
  private let five = SeccompCondition(argument: 0, .whole(.equal(5)))

  @Test func `what may come of it leaves out what cannot decide`() {
    func outcomes(_ rules: [SeccompRule], _ otherwise: SeccompAction = .fail(1)) -> [SeccompAction] {
      profile(rules, otherwise).explanation(of: "read").outcomes
    }
    #expect(outcomes([]) == [.fail(1)])
    #expect(outcomes([.init("write", .allow)], .kill) == [.kill])
    #expect(outcomes([.init("read", .allow)]) == [.allow])
    #expect(outcomes([.init("read", .allow, [five])]) == [.allow, .fail(1)])
    // A rule without conditions leaves nothing to the default, nor to laxer rules.
    #expect(outcomes([.init("read", .fail(2)), .init("read", .allow, [five])], .allow) == [.fail(2)])
    #expect(outcomes([.init("read", .allow), .init("read", .fail(2), [five])], .kill) == [.fail(2), .allow])
    #expect(outcomes([.init("read", .allow), .init("read", .kill)]) == [.kill])
    #expect(!profile([.init("read", .allow, [five]), .init("read", .trap)], .allow).explanation(of: "read").canPass)
  }

  @Test func `explains by place and reason`() {
    let found = profile([.init("read", .allow, [five]), .init("write", .log), .init("read", .log)])
      .explanation(of: "read")
    #expect(found.parts.map(\.group) == ["g0", "g2"])
    #expect(found.parts.map { $0.conditions.map(\.sentence) } == [["argument 0 = 5"], []])
    #expect(found.outcomes.map(\.sentence) == ["is let through and logged by the kernel"])
    #expect(SeccompAction.fail(30).sentence == "fails with EROFS")
    #expect(SeccompAction.fail(4000).sentence == "fails with errno 4000")
  }

  @Test func `differences are sorted by what becomes possible and impossible`() {
    let first = profile([
      .init("read", .allow), .init("write", .allow), .init("open", .fail(1)), .init("close", .allow, [five]),
      .init("stat", .allow), .init("ioctl", .fail(38)),
    ])
    let second = profile([
      .init("read", .allow), .init("write", .kill), .init("openat", .allow, [five]), .init("close", .allow, [five]),
      .init("stat", .allow, [five]), .init("ptrace", .log), .init("access", .fail(1)),
    ])
    let calls = ["read", "write", "open", "openat", "close", "stat", "ioctl", "ptrace", "access", "read"]
    let found = SeccompDifference.between(first, second, calls: calls)
    #expect(found.map(\.call) == ["openat", "ptrace", "write", "ioctl", "stat"])
    #expect(found.map(\.kind) == [.possible, .possible, .impossible, .other, .other])
    let back = SeccompDifference.between(second, first, calls: calls)
    #expect(back.filter { $0.kind == .impossible }.map(\.call) == ["openat", "ptrace"])
    #expect(SeccompDifference.between(first, first, calls: calls).isEmpty)
  }

  @Test func `the same said in another order or twice is no difference, and Ambit's own differ where they say`() {
    let once = profile([.init("read", .allow, [five]), .init("read", .fail(2)), .init("write", .allow)])
    let other = profile([
      .init("write", .allow), .init("read", .fail(2)), .init("read", .fail(2)), .init("write", .allow, [five]),
    ])
    #expect(SeccompDifference.between(once, other, calls: ["read", "write"]).isEmpty)
    let standard = SeccompProfile.standard(network: false)
    let all = SeccompDifference.between(standard, standard.observed, calls: ["openat", "ptrace", "read", "clone3"])
    #expect(all.map(\.call) == ["ptrace", "openat"])
  }
}
