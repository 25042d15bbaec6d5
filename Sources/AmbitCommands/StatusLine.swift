internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// The line on standard error that tells how far a command is. Where that is no terminal there is none.
struct StatusLine {
  private let isTold = isatty(2) == 1

  func tell(_ text: @autoclosure () -> String) {
    if isTold { try? Output.error.write("\r\u{1B}[K\(printable(text()))") }
  }

  func clear() {
    if isTold { try? Output.error.write("\r\u{1B}[K") }
  }
}
