import Foundation
import TestSupport

/// An unmodified program of the host's that opens one document, and knows nothing of coordination.
struct PlainProgram: Sendable {
  enum Use: Sendable {
    /// It waits, and reads; its output is the text that it has read.
    case reads
    /// The same, but it asks for the size with `stat(2)` before it opens. If that was changed by the save, only its next run is right.
    case measures
    /// It waits, and writes the line `more` behind the text.
    case appends
    /// The same, but it asks for the time before it opens. It does not write over a file that the save has changed since.
    case edits
    /// It opens with `O_NONBLOCK`, and the kernel refuses it where others wait.
    case readsWithoutWaiting
    /// It asks with `stat(2)` alone, and sees the file as it is on the disk.
    case looks
  }

  let name: String
  let use: Use
  /// A script of the shell. `$F` is the document, and `$D` a folder of the program's own.
  let script: String
  /// Before the document is presented.
  var preparation = ""

  init(_ name: String, _ use: Use, _ script: String, after preparation: String = "") {
    (self.name, self.use, self.script, self.preparation) = (name, use, script, preparation)
  }

  private static let git =
    "git -c safe.directory='*' -c user.name=Ada -c user.email=ada@example.org -c core.pager=cat -C \"${F%/*}\""

  static let all = [
    PlainProgram("cat", .reads, #"cat "$F""#),
    PlainProgram("cp", .reads, #"cp "$F" "$D/copy" && cat "$D/copy""#),
    PlainProgram("grep", .reads, #"grep '' "$F""#),
    // The document differs from what was committed, also by its size, so that it is read.
    PlainProgram(
      "git-diff", .measures, "\(git) diff -- letter.txt | sed -n '/^+[^+]/s/^+//p'",
      after: "\(git) init -q && \(git) add letter.txt && \(git) commit -qm first && cp \"$D/../old\" \"$F\""),
    PlainProgram("tar", .readsWithoutWaiting, #"tar -cf "$D/tar" -C "${F%/*}" letter.txt && tar -xOf "$D/tar""#),
    PlainProgram("python", .reads, #"python3 -c 'import sys; sys.stdout.write(open(sys.argv[1]).read())' "$F""#),
    PlainProgram("rsync", .reads, #"rsync "$F" "$D/copy" && cat "$D/copy""#),
    PlainProgram("sed", .reads, #"sed -n p "$F""#),
    PlainProgram("head", .reads, #"head -n 100000 "$F""#),
    PlainProgram("diff", .reads, #"diff /dev/null "$F" | sed -n 's/^> //p'"#),
    PlainProgram("append", .appends, #"echo more >> "$F""#),
    PlainProgram(
      "vim", .edits,
      #"printf '$a\nmore\n.\nwq\n' | $(command -v vim || command -v vim.tiny || command -v vi) -es -n -u NONE "$F""#),
    PlainProgram(
      "git-status", .looks, "\(git) status --porcelain",
      // An index that is no newer than the file has git read the file.
      after: "\(git) init -q && touch -d '2020-01-01' \"$F\" && \(git) add letter.txt && \(git) commit -qm first"),
    PlainProgram(
      "rsync-again", .looks, #"rsync -t --itemize-changes "$F" "$D/copy""#, after: #"rsync -t "$F" "$D/copy""#),
  ]
}

/// A program, and a document that is its alone.
struct Desk {
  let program: PlainProgram
  let world: Workspace
  let document: String
  private let folder: String
  /// The saved text, and the one that the presenter has in memory alone: of other lengths, each in turn the longer one.
  let old: String
  let new: String

  var name: String { program.name }

  init(_ program: PlainProgram, _ number: Int, in world: Workspace) throws {
    (self.program, self.world) = (program, world)
    let (short, long) = number.isMultiple(of: 2) ? (300, 2500) : (2500, 300)
    old = Self.text("old", lines: short)
    new = Self.text("new", lines: long)
    folder = "\(world.home)/out/\(program.name)"
    try world.makeFolder(folder)
    document = try world.document("Papers/\(program.name)/letter.txt", program.name == "git-diff" ? "first\n" : old)
    try world.write(old, to: "\(world.home)/out/old")
    guard !program.preparation.isEmpty else { return }
    let outcome = try world.run(["/bin/sh", "-c", program.preparation], environment: variables)
    guard outcome.exit == .status(0) else { throw HarnessError("\(program.name): \(outcome)") }
  }

  private static func text(_ word: String, lines: Int) -> String {
    (0..<lines).map { "\(word) line \($0)\n" }.joined()
  }

  private var variables: [String: String] { ["F": document, "D": folder] }

  /// As a program reads it that waits. Foundation opens with `O_NONBLOCK`.
  func content() throws -> String { try world.run(["cat", document]).output }

  func begin() throws -> ChildProcess {
    let process = try world.start(["/bin/sh", "-c", program.script], environment: variables)
    process.closeInput()
    return process
  }
}
