import AmbitKit
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// What a face answers to, one after the other.
enum Input: Sendable {
  case line(String)
  case key(UInt8)
  /// The user, or another app, opened a document with this one.
  case opened(URL)
  case signal(Int32)
}

extension AsyncStream<Input>.Continuation {
  /// Documents that are opened with the app: first those that it was launched with. Outside a sandbox there are none.
  func receiveOpenedDocuments() {
    guard let opened = try? UIApplication.openedURLs() else { return }
    Task {
      do { for try await context in opened { yield(.opened(context.url)) } } catch {}
    }
  }

  /// Signals that ask the app to end.
  func receiveSignals() {
    Thread.detachNewThread {
      var signals = Signals.ending
      var signal: Int32 = 0
      while unsafe sigwait(&signals, &signal) == 0 { yield(.signal(signal)) }
    }
  }
}

enum Signals {
  /// The signals that ask the app to end.
  static var ending: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
    return signals
  }

  /// Keeps the signals for the thread that waits for them. To be called before there are threads: each starts with these blocked.
  static func block() {
    var signals = ending
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}

/// One answer for each line.
@MainActor final class LineByLine {
  private let editor: Editor

  init(_ editor: Editor) { self.editor = editor }

  func begin() {
    say("ok Particles is ready")
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    continuation.receiveOpenedDocuments()
    continuation.receiveSignals()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(.line(line)) }
      continuation.finish()
    }
    Task { @MainActor in
      for await input in inputs {
        switch input {
        case .line("quit"): await quit(0)
        case .line(let line): say(await editor.perform(line))
        case .opened(let url):
          // No line asked for it, so none is answered: `state` has the document.
          let answer = await editor.openHanded(url)
          if !answer.hasPrefix("ok") { complain(answer) }
        case .signal(let signal): await quit(128 + signal)
        case .key: break
        }
      }
      await quit(0)
    }
  }

  private func quit(_ status: Int32) async -> Never {
    _ = await editor.document?.close()
    exit(status)
  }

  private func say(_ text: String) {
    let line = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n") + "\n"
    try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
  }

  private func complain(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8)) }
}

/// The animation.
@MainActor final class Stage {
  private let editor: Editor
  private var former = termios()
  private var status = ""
  private var isBusy = false

  init(_ editor: Editor) { self.editor = editor }

  /// The keys, the most important ones first.
  private static let keys = [
    "q quit", "w save", "p pick", "n new", "u undo", "y redo", "r/R rate", "g/G gravity", "s/S speed", "i image",
    "b background",
  ]

  func begin() {
    unsafe tcgetattr(STDIN_FILENO, &former)
    var raw = former
    raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    write("\u{1B}[?1049h\u{1B}[?25l")
    _ = Timer.scheduledTimer(withTimeInterval: 1.0 / 30, repeats: true) { _ in MainActor.assumeIsolated { self.draw() }
    }
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    continuation.receiveSignals()
    Thread.detachNewThread {
      var key: UInt8 = 0
      while unsafe read(STDIN_FILENO, &key, 1) == 1 { continuation.yield(.key(key)) }
      continuation.finish()
    }
    Task { @MainActor in
      status = await editor.perform("restore")
      // After that: what the user opens takes the place of what was open.
      continuation.receiveOpenedDocuments()
      for await input in inputs {
        switch input {
        case .key(let key): await press(Character(UnicodeScalar(key)))
        case .opened(let url): status = await editor.openHanded(url)
        case .signal(let signal): await quit(128 + signal)
        case .line: break
        }
      }
      await quit(0)
    }
  }

  private func press(_ key: Character) async {
    let scene = editor.document?.scene ?? Scene()
    switch key {
    case "q": await quit(0)
    case "p", "i":
      // The picker takes the terminal while it is there.
      isBusy = true
      status = await editor.perform(key == "p" ? "pick" : "import")
      isBusy = false
    case "n": status = await editor.perform("new Scene \(Int(Date().timeIntervalSince1970) % 100_000)")
    case "r": status = await editor.perform("set rate \(scene.rate + 10)")
    case "R": status = await editor.perform("set rate \(scene.rate - 10)")
    case "g": status = await editor.perform("set gravity \(scene.gravity + 2)")
    case "G": status = await editor.perform("set gravity \(scene.gravity - 2)")
    case "s": status = await editor.perform("set speed \(scene.speed + 2)")
    case "S": status = await editor.perform("set speed \(scene.speed - 2)")
    case "u": status = await editor.perform("undo")
    case "y": status = await editor.perform("redo")
    case "w": status = await editor.perform("save")
    case "b": status = await editor.perform("background")
    default: break
    }
  }

  /// Gives the terminal back as it was, saves, and ends.
  private func quit(_ code: Int32) async -> Never {
    isBusy = true
    write("\u{1B}[?25h\u{1B}[?1049l")
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &former)
    try? StateRestoration(delegate: editor).applicationWillTerminate()
    _ = await editor.document?.close()
    exit(code)
  }

  private func draw() {
    if isBusy { return }
    var size = winsize()
    _ = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
    let width = max(20, min(200, Int(size.ws_col)))
    let keys = Self.keyLines(width: width)
    let rows = max(5, min(100, Int(size.ws_row) - 1 - keys.count))
    editor.step(seconds: 1.0 / 30, width: width, rows: rows)
    let lines =
      (try? editor.frame(width: width, rows: rows, colours: true)) ?? ["No scene is open: p picks one, n makes one."]
    var text = "\u{1B}[H"
    for row in 0..<rows { text += (row < lines.count ? lines[row] : "") + "\u{1B}[K\r\n" }
    let state = (try? editor.state())?.dropFirst(3) ?? ""
    text += "\u{1B}[7m" + String("\(state)  \(status)".prefix(width)) + "\u{1B}[K\u{1B}[0m\r\n"
    text += keys.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    write(text)
  }

  /// The keys in at most two lines; those that do not fit are left out.
  static func keyLines(width: Int) -> [String] {
    var lines = [""]
    for key in keys {
      let line = lines[lines.count - 1]
      if line.isEmpty || line.count + 2 + key.count <= width {
        lines[lines.count - 1] = line.isEmpty ? key : "\(line)  \(key)"
      } else if lines.count < 2 {
        lines.append(key)
      } else {
        break
      }
    }
    return lines
  }

  private func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
