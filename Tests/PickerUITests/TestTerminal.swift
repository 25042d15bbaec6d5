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
  /// Private modes that are not as a terminal begins: 1049 (alternate screen), 2004 (marked pastes) and most others when on; 25
  /// (cursor), 7 (wrapping) when off.
  private(set) var unusualModes: Set<Int> = []
  private var savedModes: Set<Int> = []
  /// kitty's flags, the last ones in force; and xterm's modifyOtherKeys.
  private(set) var keyFlags = [0]
  private(set) var modifiesOtherKeys = false
  private(set) var inserts = false
  /// Whether letters are drawn as lines, by G0 and by G1; and which of them is in use.
  private var drawsLines = [false, false]
  private var shift = 0
  /// The first line of the scroll region.
  private var top = 0
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

  /// Writes to the terminal as an app does that runs on it.
  func writeAsApp(_ text: String) throws {
    let bytes = Array(text.utf8)
    try KernelError.check("write") { unsafe write(slave.rawValue, bytes, bytes.count) }
  }

  /// The few things that the picker, or an app before it, says to a terminal; anything else is recorded as an issue.
  private func interpret() {
    while let first = pending.first {
      switch first {
      case 0x1B:
        guard let length = escape() else { return }
        pending.removeFirst(length)
      case 0x0E, 0x0F:
        shift = first == 0x0E ? 1 : 0
        pending.removeFirst()
      case 0x18: pending.removeFirst()
      default:
        let run = pending.prefix { $0 != 0x1B && $0 != 0x18 && $0 != 0x0E && $0 != 0x0F }
        // A character may be cut by the read; wait for its rest.
        guard let text = String(validating: run, as: UTF8.self) else { return }
        for character in text { put(character) }
        pending.removeFirst(run.count)
      }
    }
  }

  /// Obeys the sequence that is next; answers its length, or nil while it is not whole.
  private func escape() -> Int? {
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case 0x5B:
      // CAN ends any sequence.
      guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) || $0 == 0x18 }) else {
        return nil
      }
      if pending[end] != 0x18 {
        control(String(decoding: pending[2..<end], as: UTF8.self), Character(Unicode.Scalar(pending[end])))
      }
      return end + 1
    case 0x5D:
      return pending.dropFirst(2).firstIndex { $0 == 0x07 || $0 == 0x18 || $0 == 0x1B }
    case 0x28, 0x29, 0x2A, 0x2B, 0x25, 0x20:
      guard pending.count > 2 else { return nil }
      if pending[1] == 0x28 || pending[1] == 0x29 { drawsLines[Int(pending[1] - 0x28)] = pending[2] == 0x30 }
      return 3
    case 0x5C, 0x3C, 0x3D, 0x3E: return 2
    default:
      Issue.record("unknown sequence ESC \(pending[1])")
      return 2
    }
  }

  private func control(_ parameters: String, _ final: Character) {
    let numbers = parameters.split { !$0.isNumber }.compactMap { Int($0) }
    let sign = parameters.first { !$0.isNumber && $0 != ";" }
    switch (sign, final) {
    case (nil, "H"):
      row = (numbers.first ?? 1) - 1 + (unusualModes.contains(6) ? top : 0)
      column = (numbers.count > 1 ? numbers[1] : 1) - 1
    case (nil, "J"): screen = screen.map { $0.map { _ in " " } }
    case (nil, "K"):
      if screen.indices.contains(row) {
        for index in screen[row].indices.dropFirst(column) { screen[row][index] = " " }
      }
    case (nil, "r"): top = (numbers.first ?? 1) - 1
    case (nil, "h"), (nil, "l"): if numbers.contains(4) { inserts = final == "h" }
    case ("?", "h"), ("?", "l"):
      for mode in numbers {
        let usual = mode == 25 || mode == 7
        if (final == "h") == usual { unusualModes.remove(mode) } else { unusualModes.insert(mode) }
      }
    case ("?", "s"): savedModes = savedModes.subtracting(numbers).union(unusualModes.intersection(numbers))
    case ("?", "r"): unusualModes = unusualModes.subtracting(numbers).union(savedModes.intersection(numbers))
    case ("!", "p"):
      (drawsLines, shift, top, inserts) = ([false, false], 0, 0, false)
      unusualModes.remove(6)
    case (">", "u"): keyFlags.append(numbers.first ?? 0)
    case ("<", "u"): keyFlags.removeLast(min(keyFlags.count - 1, numbers.first ?? 1))
    case (">", "m"): modifiesOtherKeys = numbers.last != 0
    case (nil, "m"): break
    default: Issue.record("unknown control \(parameters)\(final)")
    }
  }

  private func put(_ character: Character) {
    guard screen.indices.contains(row), screen[row].indices.contains(column) else { return }
    if inserts {
      screen[row].insert(" ", at: column)
      screen[row].removeLast()
    }
    screen[row][column] = drawsLines[shift] && ("`"..."~").contains(character) ? "┼" : character
    column += DisplayText.neutral(character).width
  }
}
