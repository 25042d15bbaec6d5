import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import Terminal

#if canImport(Glibc)
  import Glibc
#endif

/// A pseudo-terminal: the side that a program has, and the side that a terminal emulator has.
struct PseudoTerminal {
  let master: Descriptor
  let terminal: Descriptor

  /// Requests of `ioctl_tty(2)` whose definitions Swift cannot import, or that glibc's headers hide.
  private static let setLock: UInt = 0x4004_5431  // TIOCSPTLCK
  private static let openPeer: UInt = 0x5441  // TIOCGPTPEER

  init() throws {
    let master = Descriptor(
      owning: try KernelError.check("open", "/dev/ptmx") { unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) })
    var locked: Int32 = 0
    try KernelError.check("ioctl", "TIOCSPTLCK") { unsafe ioctl(master.rawValue, Self.setLock, &locked) }
    self.master = master
    terminal = Descriptor(
      owning: try KernelError.check("ioctl", "TIOCGPTPEER") {
        ioctl(master.rawValue, Self.openPeer, O_RDWR | O_NOCTTY | O_CLOEXEC)
      })
  }

  func settings() throws -> [UInt32] {
    var settings = termios()
    try KernelError.check("tcgetattr") { unsafe tcgetattr(terminal.rawValue, &settings) }
    return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
  }
}

@Suite struct `A terminal device` {
  @Test func `is raw while it is held and as before after restore`() throws {
    let device = try PseudoTerminal()
    let before = try device.settings()
    let raw = try RawTerminal(device.terminal.rawValue)
    let during = try device.settings()
    #expect(before[3] & UInt32(ICANON | ECHO | ISIG) == UInt32(ICANON | ECHO | ISIG))
    #expect(during[3] & UInt32(ICANON | ECHO | ISIG) == 0)
    #expect(during[1] & UInt32(OPOST) == 0)
    raw.restore()
    #expect(try device.settings() == before)
  }

  @Test func `is restored once: a second restore leaves alone what came after`() throws {
    let device = try PseudoTerminal()
    let before = try device.settings()
    let first = try RawTerminal(device.terminal.rawValue)
    first.restore()
    let second = try RawTerminal(device.terminal.rawValue)
    first.restore()
    #expect(try device.settings() != before)
    second.restore()
    #expect(try device.settings() == before)
  }

  @Test func `is restored when its holder goes away`() throws {
    let device = try PseudoTerminal()
    let before = try device.settings()
    func hold() throws {
      let raw = try RawTerminal(device.terminal.rawValue)
      withExtendedLifetime(raw) {}
    }
    try hold()
    #expect(try device.settings() == before)
  }

  @Test func `is restored although the number that it was opened under now means something else`() throws {
    let device = try PseudoTerminal()
    let before = try device.settings()
    let number = try device.terminal.duplicate()
    let raw = try RawTerminal(number.rawValue)
    let null = Descriptor(
      owning: try KernelError.check("open", "/dev/null") { unsafe open("/dev/null", O_RDWR | O_CLOEXEC) })
    try KernelError.check("dup2") { dup2(null.rawValue, number.rawValue) }
    raw.restore()
    #expect(try device.settings() == before)
  }

  @Test func `takes raw keys unchanged`() throws {
    let device = try PseudoTerminal()
    let raw = try RawTerminal(device.terminal.rawValue)
    // Interrupt, end of file, carriage return, escape: all of them would mean something to a terminal that is not raw.
    let keys: [UInt8] = [0x03, 0x04, 0x0D, 0x1B, 0x61]
    try KernelError.check("write") { unsafe write(device.master.rawValue, keys, keys.count) }
    var read = [UInt8](repeating: 0, count: 16)
    let count = try KernelError.check("read") { unsafe Glibc.read(device.terminal.rawValue, &read, read.count) }
    #expect(Array(read.prefix(count)) == keys)
    raw.restore()
  }

  @Test func `that is none is refused with the call's name`() throws {
    let null = Descriptor(
      owning: try KernelError.check("open", "/dev/null") { unsafe open("/dev/null", O_RDWR | O_CLOEXEC) })
    let error = #expect(throws: KernelError.self) { _ = try RawTerminal(null.rawValue) }
    #expect(error?.call == "tcgetattr" && error?.errno.rawValue == ENOTTY)
    #expect(throws: KernelError.self) { _ = try WindowSize(of: null.rawValue) }
    #expect(throws: KernelError.self) { try WindowSize(columns: 1, rows: 1).apply(to: null.rawValue) }
    #expect(WindowSize.columns(of: null.rawValue) == nil)
  }

  @Test func `has the size that it was given, and 80 columns when it knows none`() throws {
    let device = try PseudoTerminal()
    #expect(WindowSize.columns(of: device.terminal.rawValue) == 80)
    try WindowSize(columns: 132, rows: 43).apply(to: device.master.rawValue)
    #expect(try WindowSize(of: device.terminal.rawValue) == WindowSize(columns: 132, rows: 43))
    #expect(WindowSize.columns(of: device.terminal.rawValue) == 132)
    try WindowSize(columns: 1_000_000, rows: -1).apply(to: device.master.rawValue)
    #expect(try WindowSize(of: device.terminal.rawValue) == WindowSize(columns: 65535, rows: 0))
  }
}

@Suite struct `Writing output` {
  @Test func `is written whole through a pipe that is smaller and does not block`() throws {
    var ends: [Int32] = [0, 0]
    try KernelError.check("pipe") { unsafe pipe(&ends) }
    for end in ends { try KernelError.check("fcntl") { fcntl(end, F_SETFL, O_NONBLOCK) } }
    let reader = Descriptor(owning: ends[0])
    let writer = Descriptor(owning: ends[1])
    let text = String(repeating: "Grüße 日本\n", count: 30_000)
    let written = OwnThread { try Output(writer.rawValue).write(text) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 8192)
    while bytes.count < text.utf8.count {
      var entry = pollfd(fd: reader.rawValue, events: Int16(POLLIN), revents: 0)
      try KernelError.check("poll") { unsafe poll(&entry, 1, -1) }
      let count = try KernelError.check("read") { unsafe Glibc.read(reader.rawValue, &chunk, chunk.count) }
      bytes += chunk.prefix(count)
    }
    try written.value()
    #expect(bytes == Array(text.utf8))
  }

  @Test func `knows that its reader has gone`() throws {
    var ends: [Int32] = [0, 0]
    try KernelError.check("socketpair") { unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) }
    let writer = Descriptor(owning: ends[1])
    do {
      let reader = Descriptor(owning: ends[0])
      #expect(try !Output(writer.rawValue).hasHungUp(within: 0))
      withExtendedLifetime(reader) {}
    }
    #expect(try Output(writer.rawValue).hasHungUp(within: 0))
  }

  @Test func `tells a reader that has gone from other failures`() {
    #expect(KernelError("write", errno: .brokenPipe).isHangUp)
    #expect(!KernelError("write", errno: .noSpace).isHangUp)
  }
}
