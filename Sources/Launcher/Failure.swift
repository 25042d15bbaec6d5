internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// Ambit itself failed: a sentence for the user, and the exit status that says so.
package struct Failure: Error, CustomStringConvertible {
  /// Each has a line of its own.
  private let sentences: [String]
  /// 125: Ambit failed; 126: the program cannot be run; 127: there is no such program.
  package let status: Int32

  package init(_ description: String, status: Int32 = 125) { self.init(sentences: [description], status: status) }

  /// - Parameter sentences: one a line. A line's end within one of them comes from a name, and is shown as an escape.
  package init(sentences: [String], status: Int32 = 125) {
    self.sentences = sentences
    self.status = status
  }

  package var description: String { sentences.joined(separator: "\n") }

  /// As it may stand on a terminal. The sentences tell of names that apps, other programs and providers have chosen: no name
  /// commands the terminal or begins a line that looks like Ambit's.
  var shown: String { "ambit: " + sentences.map { printable($0) }.joined(separator: "\n") + "\n" }

  /// Says it on standard error.
  package func report() {
    var text = Array(shown.utf8)[...]
    while !text.isEmpty {
      let count = unsafe text.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
      if count > 0 { text = text.dropFirst(count) } else if Glibc.errno != EINTR { return }
    }
  }

  /// A sentence on standard error, with this program's name before it.
  package static func say(_ sentence: String) { Failure(sentence).report() }
}
