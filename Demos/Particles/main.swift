import AmbitKit
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

// The thumbnail extension is the same program.
if CommandLine.arguments.contains("--thumbnail") { SceneThumbnail.main() }

Signals.block()

/// Runs in a terminal as an animation with keys, elsewhere line by line.
let editor = Editor()
let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
if isTerminal {
  Stage(editor).begin()
} else {
  LineByLine(editor).begin()
}
// Not dispatchMain(): the main queue then stays with this thread.
while true { RunLoop.main.run() }
