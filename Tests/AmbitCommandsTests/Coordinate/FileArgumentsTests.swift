import Testing

@testable import AmbitCommands

/// The files in arguments of `cp`, `mv` and `rm`.
@Suite struct FileArgumentsTests {
  /// `from → to` for each file; `dir` is a folder, and all else is none.
  private func steps(_ program: FileArguments.Program, _ words: String) -> String {
    let arguments = FileArguments(program, words.split(separator: " ").map(String.init)) { $0 == "dir" || $0 == "/" }
    return arguments.steps.map { step in step.source + (step.target.map { " → \($0)" } ?? "") }.joined(separator: ", ")
  }

  @Test(arguments: [
    // The last file is the target, and a folder takes each by its name.
    ("a b", "a → b"), ("a dir", "a → dir/a"), ("x/a b/ dir", "x/a → dir/a, b/ → dir/b"), ("a b c", "a → c, b → c"),
    // A folder's own contents have no name.
    (". dir", ". → dir"), ("x/.. dir", "x/.. → dir"), ("/ dir", "/ → dir"), ("a /", "a → /a"),
    // Options, alone and together, before and behind the files.
    ("-v a b", "a → b"), ("a -v b", "a → b"), ("-rv a dir", "a → dir/a"), ("- b", "- → b"), ("-- -a -b", "-a → -b"),
    ("--verbose a b", "a → b"), ("a -- -t dir", "a → dir/a, -t → dir/-t"),
    // The folder as the value of an option, in all its forms.
    ("-t dir a b", "a → dir/a, b → dir/b"), ("-tdir a", "a → dir/a"), ("-vt dir a", "a → dir/a"),
    ("a -t dir", "a → dir/a"), ("--target-directory=dir a", "a → dir/a"), ("--target-directory dir a", "a → dir/a"),
    ("--target=dir a", "a → dir/a"), ("--t dir a", "a → dir/a"), ("-t dir", ""),
    // A folder that is to be replaced.
    ("-T a dir", "a → dir"), ("--no-target-directory a dir", "a → dir"), ("--no-t a dir", "a → dir"),
    // Other values are no files.
    ("-S .old a b", "a → b"), ("-S.old a b", "a → b"), ("--suffix .old a b", "a → b"), ("--suf .old a b", "a → b"),
    ("--suffix=.old a b", "a → b"),
    // Nothing to do.
    ("", ""), ("a", ""), ("-v", ""), ("--help", ""), ("-t", ""), ("-S", ""),
  ])
  func `cp and mv`(words: String, expected: String) {
    #expect(steps(.cp, words) == expected, "cp \(words)")
    #expect(steps(.mv, words) == expected, "mv \(words)")
  }

  @Test func `cp keeps the folders of a file's path if it is told to, and mv has no such option`() {
    #expect(steps(.cp, "--parents x/y dir") == "x/y → dir/x/y")
    #expect(steps(.cp, "--pa /x/y/ dir") == "/x/y/ → dir/x/y")
    #expect(steps(.mv, "--parents x/y dir") == "x/y → dir/y")
  }

  @Test(arguments: [
    ("a b", "a, b"), ("-rf a", "a"), ("-t a", "a"), ("--one-file-system a", "a"), ("-- -f", "-f"), ("-", "-"), ("", ""),
    ("--target-directory a", "a"), ("-S a", "a"),
  ])
  func rm(words: String, expected: String) { #expect(steps(.rm, words) == expected, "rm \(words)") }

  @Test func `no argument at all makes it fail`() {
    var random = SystemRandomNumberGenerator()
    let words = [
      "-t", "-S", "-T", "--", "-", "--t", "--target-directory=", "--suffix", "-tS", "a", "", "dir", "-rtdir", "é",
    ]
    for _ in 0..<2000 {
      let arguments = (0..<Int.random(in: 0...6, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
      for program in FileArguments.Program.allCases {
        let steps = FileArguments(program, arguments) { $0 == "dir" }.steps
        #expect(steps.count <= arguments.count && steps.allSatisfy { ($0.target == nil) == (program == .rm) })
      }
    }
  }
}
