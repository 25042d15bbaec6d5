internal import Sandbox
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The live output of `--trace` on standard error.
enum Trace {
  static func show(refused subject: String, operation: String, _ denial: Denial) {
    let style = Style(for: 2)
    write(
      "\(style.red("refused")) \(operation) \(style.bold(printable(subject))) (\(denial.code.rawValue), \(denial.rule)): "
        + "\(denial.reason)\(end)        \(style.dim("would grant it: \(denial.remedy)"))")
  }

  static func show(leaked scope: LauncherInterface.Scope) {
    let style = Style(for: 2)
    let caller = scope.caller.map { " at \(printable($0))" } ?? ""
    write(
      "\(style.yellow("leaked")) the scope on \(style.bold(printable(scope.host))): started \(scope.since)\(caller), "
        + "\(scope.count == 1 ? "one stop" : "\(scope.count) stops") short")
  }

  static func show(suppressed count: Int) {
    write("\(Style(for: 2).dim("\(count) more refusals like these were counted and not shown"))")
  }

  /// The user's terminal may be raw, since the app's stands behind it.
  private static var end: String { isatty(2) == 1 ? "\r\n" : "\n" }

  private static func write(_ text: String) {
    let bytes = Array("ambit: \(text)\(end)".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
  }
}
