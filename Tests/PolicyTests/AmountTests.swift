import Testing

@testable import Policy

@Suite struct AmountTests {
  @Test(
    arguments: [
      ("0B", 0), ("1 B", 1), ("64kB", 64_000), ("64 KiB", 65_536), ("1MB", 1_000_000), ("1 MiB", 1_048_576),
      ("2GiB", 2_147_483_648), ("1.5 GiB", 1_610_612_736), ("0.125 KiB", 128), ("1.999 kB", 1_999),
      ("3 TB", 3_000_000_000_000),
    ] as [(String, Int)])
  func `a size is a number and a unit`(text: String, bytes: Int) { #expect(Amount.bytes(text) == bytes) }

  @Test(arguments: [
    "", "5", "MiB", "5 mib", "5 M", "5Mi", "-1 B", "+1 B", "1e3 B", "1. B", ".5 B", "1.2345 GiB", "5  B", " 5 B",
    "5 B ",
    "99999999999999999999 B", "9000000 TiB", "٥ B", "1,5 GiB", "0x10 B", "5 MiBs",
  ])
  func `anything else is no size`(text: String) { #expect(Amount.bytes(text) == nil) }

  @Test(arguments: [
    ("0s", 0), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("1d", 86_400), ("2d3h4m5s", 183_845), ("1h5s", 3605),
  ])
  func `a duration names each unit once, the longest first`(text: String, seconds: Int) {
    #expect(Amount.seconds(text) == seconds)
  }

  @Test(arguments: [
    "", "5", "s", "1m1h", "1h1h", "1.5h", "5 s", "-5s", "1h30",
    "5min", "5S", "999999999999999d", "9223372036854775807m",
  ])
  func `anything else is no duration`(text: String) { #expect(Amount.seconds(text) == nil) }

  @Test func `a share is a whole number from 1 to 100`() {
    #expect(Amount.percent("1%") == 1)
    #expect(Amount.percent("100%") == 100)
    for text in ["0%", "101%", "50", "%", "50 %", "5.5%", "-5%", "50%%"] { #expect(Amount.percent(text) == nil) }
  }

  /// Each number that there is comes back as it was written, in every unit.
  @Test func `sizes and durations are what arithmetic makes of them`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let unit = Amount.sizes.randomElement(using: &random) ?? ("B", 1)
      let whole = Int.random(in: 0...4000, using: &random)
      let thousandths = Int.random(in: 0...999, using: &random)
      let digits = String("\(1000 + thousandths)".dropFirst())
      #expect(Amount.bytes("\(whole).\(digits) \(unit.name)") == whole * unit.bytes + thousandths * unit.bytes / 1000)
      let parts = Amount.durations.filter { _ in Bool.random(using: &random) }
        .map { (number: Int.random(in: 0...99, using: &random), unit: $0) }
      let text = parts.map { "\($0.number)\($0.unit.name)" }.joined()
      #expect(Amount.seconds(text) == (parts.isEmpty ? nil : parts.reduce(0) { $0 + $1.number * $1.unit.seconds }))
    }
  }
}

@Suite struct UsageLimitTests {
  private func limits(_ text: String, over base: PolicySettings = .closed) throws -> Capabilities.Limits {
    base.overridden(by: try PolicyOverrides(StrictTOML.parse(text, file: "x.toml"))).limits
  }

  private func complaint(_ text: String) -> String? {
    do throws(SourceError) {
      _ = try PolicyOverrides(StrictTOML.parse(text, file: "x.toml"))
      return nil
    } catch { return "\(error)" }
  }

  @Test func `each limit takes a number, an amount, or none`() throws {
    #expect(try limits("limits.memory = \"50%\"").memory == .percent(50))
    #expect(try limits("limits.memory = \"64 MiB\"").memory == .bytes(64 << 20))
    #expect(try limits("limits.memory = 1048576").memory == .bytes(1 << 20))
    #expect(try limits("limits.cpu_time = 5").cpuTime == 5)
    #expect(try limits("limits.wall_time = \"2m\"").wallTime == 120)
    #expect(try limits("limits.processors = 2").processors == 2000)
    #expect(try limits("limits.processors = 0.25").processors == 250)
    #expect(try limits("limits.container = \"1 GB\"").container == 1_000_000_000)
    #expect(try limits("limits.container_files = 1").containerFiles == 1)
    #expect(try limits("limits.cgroup = true").cgroup)
  }

  @Test func `a file takes an inherited limit away, and says nothing of those that it does not name`() throws {
    var base = PolicySettings.closed
    base.limits = .init(memory: .percent(10), cpuTime: 1, wallTime: 2, processors: 3, container: 4, containerFiles: 5)
    #expect(try limits("", over: base) == base.limits)
    let none = ["memory", "cpu_time", "wall_time", "processors", "container", "container_files"]
      .map { "limits.\($0) = \"none\"" }.joined(separator: "\n")
    #expect(try limits(none, over: base) == .init())
  }

  @Test(arguments: [
    ("memory = \"64Mi\"", "bytes (1 MiB or more), a string such as \"512 MiB\""),
    ("memory = 1000", "and is an integer (1000)"),
    ("memory = \"0%\"", "a share of the machine's such as \"50%\""), ("memory = true", "and is a boolean"),
    ("cpu_time = 0", "whole seconds from 1 on"), ("cpu_time = 1.5", "whole seconds from 1 on"),
    ("wall_time = \"soon\"", "such as \"90s\", \"10m\" or \"1h30m\", or \"none\""), ("wall_time = -1", "x.toml:1:20"),
    ("processors = 0", "a number of processors from 0.01 to 8192"), ("processors = \"1.5\"", "for example 1.5"),
    ("processors = nan", "a number of processors"), ("container = 5", "or \"none\""),
    ("container_files = \"5\"", "an integer from 1 on"), ("container_files = 0", "an integer from 1 on"),
    ("cgroup = 1", "must be true or false"), ("cgroup = \"none\"", "must be true or false"),
  ])
  func `what is no limit is refused with its place and what was expected`(text: String, part: String) throws {
    let sentence = try #require(complaint("limits.\(text)"))
    #expect(sentence.hasPrefix("x.toml:1:"))
    #expect(sentence.contains(part), "\(sentence)")
  }

  @Test func `limits of a command line take the place of the policy's`() throws {
    let policy = try PolicyLibrary(directories: []).load("default")
    let limited = try policy.limited(by: [
      "memory=512 MiB", "wall_time=90", "processors=1.5", "cgroup=true", "container=none",
    ])
    #expect(limited.settings.limits.memory == .bytes(512 << 20))
    #expect(limited.settings.limits.wallTime == 90)
    #expect(limited.settings.limits.processors == 1500)
    #expect(limited.settings.limits.cgroup)
    #expect(limited.settings.limits.container == nil)
    #expect(limited.settings.limits.processes == policy.settings.limits.processes)
    #expect(limited.name == "default")
    for (word, part) in [
      ("memory", "such as memory=512MiB"), ("=1", "such as"), ("memry=1GiB", "did you mean \"memory\"?"),
      ("memory=\"1 GiB\"", "such as memory=512MiB"), ("memory=1GiB\nwall_time=1", "such as memory=512MiB"),
      ("scopes.limit=1", "such as memory=512MiB"), ("memory=lots", "limits.memory must be bytes"), ("", "such as"),
    ] {
      #expect {
        try policy.limited(by: [word])
      } throws: { error in
        "\(error)".hasPrefix("--limit \(word): ") && "\(error)".contains(part)
      }
    }
  }
}
