import Glibc
import Kernel
import SystemPackage

/// The program that makes previews, and the words before the picker's own.
package struct PreviewProgram: Sendable {
  let path: String
  let words: [String]

  /// - Parameter words: its arguments, its own name first. The picker adds the descriptor of the document (3), columns, rows, and the
  ///   colours that the terminal has.
  package init(path: String, words: [String]) {
    self.path = path
    self.words = words
  }
}

/// The colours that a terminal has.
enum ColourDepth: String, Sendable {
  case none
  /// The 256 of xterm's.
  case indexed
  /// 24 bits.
  case direct

  init(_ environment: [String: String]) {
    if !(environment["NO_COLOR"] ?? "").isEmpty {
      self = .none
    } else if ["truecolor", "24bit"].contains(environment["COLORTERM"]) {
      self = .direct
    } else {
      self = environment["TERM"]?.contains("256color") == true ? .indexed : .none
    }
  }
}

/// One preview in the making: a process that has the document open, and no more of the picker. It leads a process group of its own,
/// which ends with it.
struct PreviewProcess {
  let output: Descriptor
  private let process: pid_t
  private let deadline: ContinuousClock.Instant
  private(set) var bytes: [UInt8] = []

  static let patience = Duration.seconds(8)

  init(
    _ program: PreviewProgram, _ document: Descriptor, columns: Int, rows: Int, colours: ColourDepth
  ) throws(KernelError) {
    let (reading, writing) = try Descriptor.pipe()
    let words = program.words + ["3", "\(columns)", "\(rows)", colours.rawValue]
    // A number that the child's own cannot take the place of.
    let source = try KernelError.check("fcntl", "F_DUPFD") { fcntl(document.rawValue, F_DUPFD_CLOEXEC, 10) }
    defer { close(source) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, writing.rawValue, 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, source, 3)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    var child: pid_t = 0
    let result = unsafe Self.withArguments(words) { arguments in
      unsafe posix_spawn(&child, program.path, &actions, &attributes, arguments, environ)
    }
    guard result == 0 else { throw KernelError("posix_spawn", program.path, errno: Errno(rawValue: result)) }
    output = reading
    process = child
    deadline = .now + Self.patience
    _ = fcntl(reading.rawValue, F_SETFL, O_NONBLOCK)
  }

  private static func withArguments(
    _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  )
    -> Int32
  {
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return EINVAL }
      return unsafe body(start)
    }
  }

  /// Takes the bytes that have come.
  ///
  /// - Returns: nil: there is more to come.
  mutating func take() -> PreviewContent? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < PreviewText.mostBytes {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(output.rawValue, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes += buffer.prefix(count)
        continue
      }
      if count < 0 && (errno == EINTR || errno == EAGAIN) {
        return ContinuousClock.now < deadline ? nil : .failure("The preview took too long.")
      }
      return bytes.isEmpty ? .failure("There is no preview.") : .lines([])
    }
    return .lines([])
  }

  /// Ends it with its children.
  func end() {
    kill(-process, SIGKILL)
    kill(process, SIGKILL)
    _ = ThisProcess.wait(process)
  }
}

/// The preview's part of a session: asks for one when the cursor has rested, and drops it when the cursor goes on.
struct PreviewKeeper {
  /// The subject of a preview.
  private struct Subject: Equatable {
    let folder: String
    let target: Target
    /// The open file's number: another file of that name is another subject.
    let document: Int32
    let area: PreviewArea
  }

  private let program: PreviewProgram?
  private let colours: ColourDepth
  private var subject: Subject?
  private var startsAt: ContinuousClock.Instant?
  private(set) var running: PreviewProcess?

  /// So long the cursor rests before a preview is made.
  static let rest = Duration.milliseconds(120)

  init(_ program: PreviewProgram?, _ colours: ColourDepth) { (self.program, self.colours) = (program, colours) }

  /// How long to wait for keys at most; nil: the preview wants nothing.
  var wait: Int32? {
    if running != nil { return 100 }
    return startsAt.map { Int32(clamping: max(0, ($0 - .now).milliseconds + 1)) }
  }

  /// After each frame: looks where the cursor is.
  mutating func follow(_ model: inout PickerModel, _ area: PreviewArea?) {
    guard let area, let program, let target = model.targetUnderCursor, let shown = model.shownUnderCursor else {
      stop()
      model.preview = area != nil && program == nil ? .failure("This installation makes no previews.") : .nothing
      return
    }
    guard let document = shown.document else {
      stop()
      model.preview = .failure("There is no preview.")
      return
    }
    let next = Subject(
      folder: model.folder, target: target, document: document.descriptor.rawValue, area: area)
    if next != subject {
      stop()
      (subject, startsAt) = (next, .now + Self.rest)
      model.preview = .nothing
    }
    if let start = startsAt, start <= .now {
      startsAt = nil
      do throws(KernelError) {
        running = try PreviewProcess(
          program, document.descriptor, columns: area.columns, rows: area.rows, colours: colours)
        model.preview = .waiting
      } catch { model.preview = .failure("There is no preview: \(error.errno.description).") }
    }
    guard let content = running?.take() else { return }
    let bytes = running?.bytes ?? []
    running?.end()
    running = nil
    model.preview =
      content == .lines([])
      ? .lines(PreviewText.lines(bytes, columns: area.columns, rows: area.rows)) : content
  }

  mutating func stop() {
    running?.end()
    (running, subject, startsAt) = (nil, nil, nil)
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
