internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// A program on a terminal: what a person types goes in, what they would see comes out.
package final class TerminalRun {
  package let process: ChildProcess
  private let master: Descriptor
  /// The settings that it had before anything ran on it.
  package let initialSettings: [UInt8]?

  init(_ arguments: [String], in workspace: Workspace) throws {
    // pty(7) by hand: the headers show posix_openpt and its like only to X/Open sources.
    let opened = try KernelError.check("open", "/dev/ptmx") { unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) }
    master = Descriptor(owning: opened)
    var (unlocked, number): (Int32, UInt32) = (0, 0)
    try KernelError.check("ioctl", "TIOCSPTLCK") { unsafe ioctl(opened, 0x4004_5431, &unlocked) }
    try KernelError.check("ioctl", "TIOCGPTN") { unsafe ioctl(opened, 0x8004_5430, &number) }
    let path = "/dev/pts/\(number)"
    initialSettings = Self.settings(of: master)
    // Somebody who logs in owns their terminal.
    try workspace.user.own(path)
    process = try workspace.start(arguments, streams: .terminal(path: path, master: master))
    try resize(columns: 80, rows: 24)
  }

  package func type(_ text: String) throws { try process.send(text) }

  /// Waits until this appears, after what was waited for before.
  @discardableResult
  package func see(_ text: String, patience: Duration = .seconds(15)) throws -> String {
    try process.wait(forOutput: text, patience: patience)
  }

  /// Presses a key, again if need be, until this appears.
  package func press(_ key: String, until text: String) throws {
    for _ in 1...9 {
      try type(key)
      if (try? see(text, patience: .seconds(1))) != nil { return }
    }
    try type(key)
    try see(text)
  }

  package func resize(columns: Int, rows: Int) throws {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    try KernelError.check("ioctl", "TIOCSWINSZ") { unsafe ioctl(master.rawValue, UInt(TIOCSWINSZ), &size) }
  }

  /// All of its settings (`termios(3)`), to be compared.
  package var settings: [UInt8]? { Self.settings(of: master) }

  private static func settings(of master: Descriptor) -> [UInt8]? {
    var settings = termios()
    guard unsafe tcgetattr(master.rawValue, &settings) == 0 else { return nil }
    return unsafe withUnsafeBytes(of: &settings) { unsafe Array($0) }
  }

  /// Whether the terminal is as shells have it: lines, echo, signals from keys.
  package var isCooked: Bool {
    var settings = termios()
    guard unsafe tcgetattr(master.rawValue, &settings) == 0 else { return false }
    let wanted = tcflag_t(ICANON | ECHO | ISIG)
    return settings.c_lflag & wanted == wanted
  }
}
