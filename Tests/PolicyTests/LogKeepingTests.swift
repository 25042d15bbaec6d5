import Testing

@testable import Policy

@Suite struct `How the audit log is kept` {
  private func read(_ text: String) throws(SourceError) -> LogKeeping {
    try LogKeeping(Array(text.utf8), file: "audit.toml")
  }

  @Test func `what is not said is as it is without a file: some gigabytes, of whatever age`() throws {
    for keeping in [LogKeeping(), try read(""), try read("# nothing\n")] {
      #expect(keeping.segment == 64 << 20 && keeping.size == 4 << 30 && keeping.seconds == nil)
      #expect(keeping.words == "a file holds 64 MiB; 4 GiB of it is kept")
    }
  }

  @Test func `sizes and durations are as in a policy`() throws {
    let keeping = try read("segment = \"1 MiB\"\nkeep_size = \"2 MiB\"\nkeep_for = \"90d\"\n")
    #expect(keeping.segment == 1 << 20 && keeping.size == 2 << 20 && keeping.seconds == 90 * 86400)
    #expect(keeping.words == "a file holds 1 MiB; 2 MiB of it and what is younger than 90d is kept")
    let all = try read("keep_size = \"all\"\nkeep_for = \"ever\"")
    #expect(all.size == nil && all.seconds == nil && all.words == "a file holds 64 MiB; all of it is kept")
  }

  @Test(arguments: [
    ("segment = 5", "1:11: segment must be a size from"), ("segment = \"1 KiB\"", "1:11: segment must be a size from"),
    ("segment = \"17 GiB\"", "to \"16 GiB\", and is a string (\"17 GiB\")"),
    ("keep_size = \"100 MiB\"", "two files of the log: at least \"128 MiB\", and is a string (\"100 MiB\")"),
    ("\nkeep_for = \"soon\"", "2:12: keep_for must be \"ever\", or a duration"),
    ("keep_for = \"0s\"", "keep_for must be"),
    ("keep_size = true", "keep_size must be"), ("keep_sise = \"all\"", "keep_sise"), ("keep_for = [", "not valid TOML"),
  ])
  func `what cannot be meant is refused with its place and what was expected`(text: String, message: String) {
    let error = #expect(throws: SourceError.self) { try read(text) }
    let said = error.map { "\($0)" } ?? ""
    #expect(said.hasPrefix("audit.toml:") && said.contains(message), "\(said)")
  }
}
