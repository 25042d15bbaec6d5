internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Ambit itself failed: a sentence for the user, and the exit status that says so.
package struct Failure: Error, CustomStringConvertible {
  package let description: String
  /// 125: Ambit failed; 126: the program cannot be run; 127: there is no such program.
  package let status: Int32

  package init(_ description: String, status: Int32 = 125) {
    self.description = description
    self.status = status
  }

  /// Says it on standard error.
  package func report() { Self.say(description) }

  /// A sentence on standard error, with this program's name before it.
  package static func say(_ sentence: String) {
    var text = Array("ambit: \(sentence.shown)\n".utf8)[...]
    while !text.isEmpty {
      let count = unsafe text.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
      if count > 0 { text = text.dropFirst(count) } else if Glibc.errno != EINTR { return }
    }
  }
}
