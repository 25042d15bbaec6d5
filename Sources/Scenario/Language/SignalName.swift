/// The names of the signals of Linux, as `signal(7)` has them.
package enum SignalName {
  private static let names = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
  ]

  /// `SIGKILL` for 9.
  package static func name(of number: Int32) -> String {
    names.indices.contains(Int(number) - 1) ? "SIG" + names[Int(number) - 1] : "signal \(number)"
  }

  /// 9 for `KILL`, `SIGKILL` or `9`; nil: there is no such signal.
  package static func number(of name: String) -> Int32? {
    if let number = Int32(name) { return (1...64).contains(number) ? number : nil }
    let short = name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
    return names.firstIndex(of: short).map { Int32($0) + 1 }
  }
}
