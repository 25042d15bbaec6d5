/// Turns a terminal's bytes into keys, however they are cut into reads.
///
/// Escape alone and the beginning of an escape sequence are the same byte; the caller waits a moment while
/// `isWaiting`, then calls `timeout()`. Answers that a terminal gives to queries (an app may have asked just before
/// the picker opened) are swallowed whole, and so are reports of the focus, and of the mouse in other forms than the picker asks for.
///
/// The picker turns other encodings of keys off (``KnownTerminal``). A terminal that keeps one is understood all the same: kitty's
/// (`CSI code ; modifiers u`) and xterm's (`CSI 27 ; modifiers ; code ~`).
struct KeyDecoder: Sendable {
  private enum State: Sendable, Equatable {
    case ground
    case escape
    /// `ESC [` and its parameters so far.
    case sequence([UInt8])
    /// `ESC [ [` of the Linux console; one more byte follows.
    case console
    /// `ESC O`; one more byte follows.
    case single
    /// OSC, DCS, APC, PM or SOS: text up to BEL or `ESC \`.
    case string(escaped: Bool)
    /// A report of the mouse's in xterm's first encodings: so many characters follow, of any kind.
    case report(left: Int)
  }

  private var state = State.ground
  private var utf8: [UInt8] = []
  private var isPasting = false
  /// The terminal's erase character: some send 8 for Backspace, which elsewhere is Ctrl-H.
  private let erase: UInt8

  /// Longer sequences than any key has are noise.
  private static let longest = 64

  init(erase: UInt8 = 0x7F) { self.erase = erase }

  /// Whether a key may be incomplete: call `timeout()` if nothing more comes soon.
  var isWaiting: Bool { state != .ground || !utf8.isEmpty }

  mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes { take(byte, &keys) }
    return keys
  }

  /// Nothing more came: Escape was Escape, and half a sequence is nothing.
  mutating func timeout() -> [Key] {
    defer {
      state = .ground
      utf8 = []
    }
    return state == .escape && !isPasting ? [.escape] : []
  }

  private mutating func take(_ byte: UInt8, _ keys: inout [Key]) {
    // No sequence has it in it: Ctrl-C cancels, also after half a sequence.
    if byte == 0x03, state != .ground {
      (state, utf8) = (.ground, [])
      return keys.append(.control("c"))
    }
    switch state {
    case .ground: plain(byte, &keys)
    case .escape: afterEscape(byte, &keys)
    case .sequence(let parameters): sequence(parameters, byte, &keys)
    case .console: state = .ground
    case .single:
      state = .ground
      if byte == 0x1B {
        state = .escape
      } else if !isPasting, let key = byte == 0x4D ? .enter : Self.cursorKey(byte) {
        keys.append(key)
      }
    case .report(let left): report(left, byte, &keys)
    case .string(let escaped):
      if byte == 0x07 || (escaped && byte == 0x5C) { state = .ground } else { state = .string(escaped: byte == 0x1B) }
    }
  }

  private mutating func plain(_ byte: UInt8, _ keys: inout [Key]) {
    if byte >= 0x80 { return text(byte, &keys) }
    utf8 = []
    if isPasting {
      // Ctrl-C still cancels, should the end of a paste get lost.
      switch byte {
      case 0x1B: state = .escape
      case 0x03: keys.append(.control("c"))
      case 0x20..<0x7F: keys.append(.pasted(Unicode.Scalar(byte)))
      default: break
      }
      return
    }
    switch byte {
    case 0x1B: state = .escape
    case erase, 0x7F: keys.append(.backspace)
    case 0x0D: keys.append(.enter)
    case 0x09: keys.append(.tab)
    case 0x00: break
    case 0x01...0x1A: keys.append(.control(Unicode.Scalar(byte + 0x60)))
    case 0x20...0x7E: keys.append(.text(Unicode.Scalar(byte)))
    default: break
    }
  }

  private mutating func text(_ byte: UInt8, _ keys: inout [Key]) {
    guard let scalar = scalar(with: byte) else { return }
    if scalar.properties.generalCategory != .control { keys.append(isPasting ? .pasted(scalar) : .text(scalar)) }
  }

  /// The character that a byte completes.
  private mutating func scalar(with byte: UInt8) -> Unicode.Scalar? {
    if byte >= 0xC0 { utf8 = [] }
    utf8.append(byte)
    let length = utf8[0] >= 0xF0 ? 4 : utf8[0] >= 0xE0 ? 3 : 2
    if utf8[0] < 0xC2 || utf8[0] > 0xF4 { utf8 = [] }
    if utf8.count < length { return nil }
    defer { utf8 = [] }
    return String(validating: utf8, as: UTF8.self)?.unicodeScalars.first
  }

  /// One byte of a report: a character of ASCII, a byte of its own, or (mode 1005) a part of a character in UTF-8.
  private mutating func report(_ left: Int, _ byte: UInt8, _ keys: inout [Key]) {
    let goesOn = (0x80..<0xC0).contains(byte) && !utf8.isEmpty
    utf8 = []
    if goesOn {
      state = left == 0 ? .ground : .report(left: left)
      return
    }
    // No coordinate is a control: the report was cut, and this is a key. Ctrl-C always is one.
    if left == 0 || (byte < 0x20 && byte != 0) {
      state = .ground
      return take(byte, &keys)
    }
    let isBeginning = (0xC2...0xDF).contains(byte)
    if isBeginning { utf8 = [byte] }
    state = left == 1 && !isBeginning ? .ground : .report(left: left - 1)
  }

  private mutating func afterEscape(_ byte: UInt8, _ keys: inout [Key]) {
    state = .ground
    switch byte {
    case 0x5B: state = .sequence([])
    case 0x1B:
      if !isPasting { keys.append(.escape) }
      state = .escape
    case _ where isPasting: plain(byte, &keys)
    case 0x4F: state = .single
    case 0x5D, 0x50, 0x58, 0x5E, 0x5F: state = .string(escaped: false)
    case 0x20...0x7E: keys.append(.alt(Unicode.Scalar(byte)))
    case 0x7F, erase: keys.append(.control("w"))
    case 0x03, 0x80...: plain(byte, &keys)
    default: break
    }
  }

  private mutating func sequence(_ parameters: [UInt8], _ byte: UInt8, _ keys: inout [Key]) {
    switch byte {
    case 0x5B where parameters.isEmpty: state = .console
    case 0x20...0x3F: state = parameters.count < Self.longest ? .sequence(parameters + [byte]) : .ground
    case 0x1B: state = .escape
    case 0x40...0x7E:
      state = .ground
      finish(parameters, byte, &keys)
    default: state = .ground
    }
  }

  private mutating func finish(_ parameters: [UInt8], _ final: UInt8, _ keys: inout [Key]) {
    if parameters.isEmpty, let length = Self.reports[final] {
      state = .report(left: length)
      return
    }
    if parameters.first == UInt8(ascii: "<"), final == 0x4D || final == 0x6D {
      if final == 0x4D, !isPasting, let key = Self.mouse(parameters.dropFirst()) { keys.append(key) }
      return
    }
    if let code = KeyCode(parameters, final) {
      if let key = code.key, !isPasting || key == .control("c") { keys.append(key) }
      return
    }
    // The end of a key's being pressed is none.
    if KeyCode.isRelease(parameters) { return }
    let first = String(decoding: parameters.prefix { $0 != 0x3B }, as: UTF8.self)
    if final == 0x7E {
      switch first {
      case "200": isPasting = true
      case "201": isPasting = false
      case _ where isPasting: break
      case "1", "7": keys.append(.home)
      case "3": keys.append(.delete)
      case "4", "8": keys.append(.end)
      case "5": keys.append(.pageUp)
      case "6": keys.append(.pageDown)
      default: break
      }
    } else if !isPasting, first.isEmpty || first == "1", let key = Self.cursorKey(final) {
      keys.append(key)
    }
  }

  /// A report of the mouse's in the form that the picker asks for (mode 1006): `button;column;row`.
  private static func mouse(_ parameters: ArraySlice<UInt8>) -> Key? {
    let numbers = parameters.split(separator: 0x3B, omittingEmptySubsequences: false)
      .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
    let action: MouseAction
    switch numbers[0] {
    case 0: action = .press
    case 64: action = .wheelUp
    case 65: action = .wheelDown
    default: return nil
    }
    return .mouse(action, column: numbers[1] - 1, row: numbers[2] - 1)
  }

  /// Reports of the mouse by their last character: how many characters follow (modes 9 and 1000; those of 1001).
  private static let reports: [UInt8: Int] = [0x4D: 3, 0x74: 2, 0x54: 6]

  private static func cursorKey(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x41: .up
    case 0x42: .down
    case 0x43: .right
    case 0x44: .left
    case 0x48: .home
    case 0x46: .end
    case 0x5A: .backTab
    default: nil
    }
  }
}
