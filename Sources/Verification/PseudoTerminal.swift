internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// A terminal that stands for the user's own (`pty(7)`), to see the input that a sandbox types into it.
struct PseudoTerminal {
  let master: Descriptor
  let path: String
  /// The side that programs have, open here as well, so that typed input stays and can be counted.
  private let slave: Descriptor

  init() throws(KernelError) {
    let opened = try KernelError.check("open", "/dev/ptmx") { unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) }
    master = Descriptor(owning: opened)
    var (unlocked, number): (Int32, UInt32) = (0, 0)
    // TIOCSPTLCK and TIOCGPTN.
    try KernelError.check("ioctl", "TIOCSPTLCK") { unsafe ioctl(opened, 0x4004_5431, &unlocked) }
    try KernelError.check("ioctl", "TIOCGPTN") { unsafe ioctl(opened, 0x8004_5430, &number) }
    path = "/dev/pts/\(number)"
    slave = Descriptor(
      owning: try KernelError.check("open", path) { [path] in unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC) })
    // Without lines: a character counts as soon as it is typed. Without an echo that would look like output.
    var settings = termios()
    try KernelError.check("tcgetattr", path) { [slave] in unsafe tcgetattr(slave.rawValue, &settings) }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    try KernelError.check("tcsetattr", path) { [slave] in unsafe tcsetattr(slave.rawValue, TCSANOW, &settings) }
  }

  func resize(columns: UInt16, rows: UInt16) throws(KernelError) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try KernelError.check("ioctl", "TIOCSWINSZ") { unsafe ioctl(slave.rawValue, UInt(TIOCSWINSZ), &size) }
  }

  /// How many characters wait to be read by the next program on this terminal.
  var waiting: Int {
    var count: Int32 = 0
    return unsafe ioctl(slave.rawValue, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
  }
}
