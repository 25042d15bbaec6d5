import ArgumentParser
import Launcher
import TestSupport
import Testing

@testable import AmbitCommands

/// The launcher reads plain command lines by itself. Whatever it takes, the tools' parser must take in the same way.
@Suite struct `The launcher's own reading of its arguments` {
  @Test(arguments: [
    ["/bin/true"], ["ls", "-l", "--policy", "x"], ["--policy", "teach", "ls"], ["-p", "teach", "ls", "--pick", "a"],
    ["--trace", "--pick", "a", "--pick", "b c", "--container", "io.x", "prog", "--help"],
    ["--seccomp", "p.json", "ls", "--seccomp", "x"],
    ["--allow-degraded", "landlock", "--allow-degraded", "cpu-time", "ls"], ["--trust", "new", "ls"],
    ["--limit", "memory=1 GiB", "--limit", "wall_time=5", "ls", "--limit", "x"],
    ["--", "ls"], ["ls", "--", "-x"], ["--policy", "teach", "--", "ls", "-l", "--", "--policy", "x"],
  ]) func `plain lines are taken`(words: [String]) throws {
    let plain = try #require(RunArguments(words))
    try compare(plain, words)
  }

  @Test(arguments: [
    [], ["--help"], ["-h"], ["Ed.app"], ["Ed.app/"], ["--answers", "f", "ls"], ["--policy"], ["--policy=x", "ls"],
    ["-pteach", "ls"], ["--", "-x"], ["--"], ["--", "Ed.app"], ["--allow-entitlement", "pass-grants", "ls"],
    ["--policy", "--pick", "x"], ["--unknown", "x", "ls"], [""],
    ["--allow-degraded", "seccmp", "ls"], ["--trust", "all", "ls"],
  ]) func `what is not plain is left to the tools`(words: [String]) {
    #expect(RunArguments(words) == nil)
  }

  @Test func `random lines mean the same to both`() throws {
    try compareAtRandom(400)
  }

  fileprivate func compareAtRandom(_ lines: Int) throws {
    var generator = Seeded(seed: 7)
    let pool = [
      "--policy", "-p", "--container", "--pick", "--trace", "--json-status-fd", "3", "03", "+3", "x3", "--seccomp",
      "--allow-degraded", "landlock", "--limit", "memory=1GiB",
      "--trust", "replace", "--answers",
      "--help", "--", "-x", "ls", "Ed.app", "a b",
      "", "teach",
      "--policy=x", "-", "--picks",
    ]
    var taken = 0
    for _ in 0..<lines {
      let words = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
        pool.randomElement(using: &generator) ?? ""
      }
      guard let plain = RunArguments(words) else { continue }
      taken += 1
      try compare(plain, words)
    }
    #expect(taken > lines / 20)
  }

  private func compare(_ plain: RunArguments, _ words: [String]) throws {
    let parsed = try RunCommand.parse(words)
    #expect(parsed.policy == plain.policy, "\(words)")
    #expect(parsed.container == plain.container, "\(words)")
    #expect(parsed.pick == plain.picks, "\(words)")
    #expect(parsed.statusDescriptor == plain.statusDescriptor, "\(words)")
    #expect(parsed.trace == plain.trace, "\(words)")
    #expect(parsed.seccomp == plain.seccomp, "\(words)")
    #expect(parsed.limit == plain.limits, "\(words)")
    #expect(parsed.degradation.allowDegraded == plain.allowDegraded, "\(words)")
    #expect(parsed.trust == plain.trust, "\(words)")
    #expect(parsed.answers == nil, "\(words)")
    #expect(parsed.app == plain.app, "\(words)")
    #expect(parsed.arguments == plain.arguments, "\(words)")
  }
}

/// The same for more random lines.
@Suite struct RunArgumentsRaceTests {
  @Test func `20,000 random lines mean the same to the launcher and to the tools`() throws {
    try `The launcher's own reading of its arguments`().compareAtRandom(20_000)
  }
}
