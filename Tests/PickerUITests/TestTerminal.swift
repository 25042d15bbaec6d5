import Glibc
import Kernel
import Testing

@testable import PickerUI

/// A real terminal (a pty) with somebody looking at it: keeps the screen that the picker's output makes.
final class TestTerminal {
  private let main: Descriptor
  let slave: Descriptor
  private(set) var screen: [[Character]] = []
  private(set) var output: [UInt8] = []
  /// Private modes that are not as a terminal begins: 1049 (alternate screen), 2004 (marked pastes) when on; 25 (cursor),
  /// 7 (wrapping) when off.
  private(set) var unusualModes: Set<Int> = []
  private var row = 0
  private var column = 0
  private var pending: [UInt8] = []

  init(columns: Int = 80, rows: Int = 24) throws {
    // glibc keeps posix_openpt and its sisters behind a macro; these are the calls that they make.
    let main = Descriptor(
      owning: try KernelError.check("open", "/dev/ptmx") {
        unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      })
    var number: UInt32 = 0
    let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)  // TIOCSPTLCK, TIOCGPTN
    try KernelError.check("ioctl", "TIOCSPTLCK") { unsafe ioctl(main.rawValue, setLock, &number) }
    try KernelError.check("ioctl", "TIOCGPTN") { unsafe ioctl(main.rawValue, getNumber, &number) }
    self.main = main
    let path = "/dev/pts/\(number)"
    slave = Descriptor(
      owning: try KernelError.check("open", path) { unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC) })
    try resize(columns: columns, rows: rows)
  }

  func resize(columns: Int, rows: Int) throws {
    var window = winsize()
    window.ws_col = UInt16(columns)
    window.ws_row = UInt16(rows)
    try KernelError.check("ioctl", "TIOCSWINSZ") { unsafe ioctl(main.rawValue, UInt(TIOCSWINSZ), &window) }
    screen = Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    try KernelError.check("write") { unsafe write(main.rawValue, bytes, bytes.count) }
  }

  /// Types lines that nobody reads yet; returns when they wait in the terminal (it takes them in its own time).
  func typeAhead(_ text: String) throws {
    try type(text)
    var waiting = pollfd(fd: slave.rawValue, events: Int16(POLLIN), revents: 0)
    try #require(unsafe poll(&waiting, 1, 30_000) == 1)
  }

  /// Settings that a raw mode changes, comparable.
  func settings() throws -> [UInt32] {
    var now = termios()
    try KernelError.check("tcgetattr") { unsafe tcgetattr(slave.rawValue, &now) }
    return [now.c_iflag, now.c_oflag, now.c_cflag, now.c_lflag, UInt32(now.c_cc.5), UInt32(now.c_cc.6)]
  }

  var text: String { screen.map { String($0) }.joined(separator: "\n") }

  /// Reads until the screen satisfies the condition; false when the output stays away for good.
  func wait(until condition: (TestTerminal) -> Bool) -> Bool {
    // Half a minute is for a machine that has other things to do, and as often as it says; nobody waits that long when all is well.
    // A terminal also hangs up no sooner than a process that a test beside this one is just starting lets go of it.
    let times = unsafe getenv("AMBIT_TEST_PATIENCE").flatMap { unsafe Int(String(cString: $0)) } ?? 1
    for _ in 0..<300 * times {
      if condition(self) { return true }
      readAvailable(milliseconds: 100)
    }
    return condition(self)
  }

  func wait(for text: String) -> Bool { wait { $0.text.contains(text) } }

  func readAvailable(milliseconds: Int32 = 0) {
    var waiting = pollfd(fd: main.rawValue, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, milliseconds) == 1, waiting.revents & Int16(POLLIN) != 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(main.rawValue, &buffer, buffer.count)
    guard count > 0 else { return }
    output += buffer.prefix(count)
    pending += buffer.prefix(count)
    interpret()
  }

  /// The few things that the picker says to a terminal; anything else is recorded as an issue.
  private func interpret() {
    while let first = pending.first {
      if first == 0x1B {
        guard pending.count > 1 else { return }
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return }
        let parameters = String(decoding: pending[2..<end], as: UTF8.self)
        if pending[1] != 0x5B { Issue.record("unknown sequence ESC \(pending[1])") }
        control(parameters, Character(Unicode.Scalar(pending[end])))
        pending.removeFirst(end + 1)
        continue
      }
      let run = pending.prefix { $0 != 0x1B }
      // A character may be cut by the read; wait for its rest.
      guard let text = String(validating: run, as: UTF8.self) else { return }
      for character in text { put(character) }
      pending.removeFirst(run.count)
    }
  }

  private func control(_ parameters: String, _ final: Character) {
    switch final {
    case "H":
      let place = parameters.split(separator: ";").compactMap { Int($0) }
      row = (place.first ?? 1) - 1
      column = (place.last ?? 1) - 1
    case "J": screen = screen.map { $0.map { _ in " " } }
    case "K":
      if screen.indices.contains(row) {
        for index in screen[row].indices.dropFirst(column) { screen[row][index] = " " }
      }
    case "h", "l":
      guard let mode = Int(parameters.dropFirst()) else { return }
      let usual = mode == 25 || mode == 7
      if (final == "h") == usual { unusualModes.remove(mode) } else { unusualModes.insert(mode) }
    case "m": break
    default: Issue.record("unknown control \(parameters)\(final)")
    }
  }

  private func put(_ character: Character) {
    guard screen.indices.contains(row), screen[row].indices.contains(column) else { return }
    screen[row][column] = character
    column += DisplayText.neutral(character).width
  }
}
