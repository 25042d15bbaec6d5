import AmbitKit
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// One answer for each line.
@MainActor final class LineByLine {
  private let editor: Editor

  init(_ editor: Editor) { self.editor = editor }

  func begin() {
    say("ok Particles is ready")
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    Task { @MainActor in
      for await line in lines {
        if line == "quit" { break }
        say(await editor.perform(line))
      }
      _ = await editor.document?.close()
      exit(0)
    }
  }

  private func say(_ text: String) {
    let line = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n") + "\n"
    try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
  }
}

/// The animation.
@MainActor final class Stage {
  private let editor: Editor
  private var former = termios()
  private var status = ""
  private var isBusy = false

  init(_ editor: Editor) { self.editor = editor }

  private static let keys =
    "p pick  n new  r/R rate  g/G gravity  s/S speed  i image  u undo  y redo  w save  b background  q quit"

  func begin() {
    unsafe tcgetattr(STDIN_FILENO, &former)
    var raw = former
    raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    write("\u{1B}[?1049h\u{1B}[?25l")
    _ = Timer.scheduledTimer(withTimeInterval: 1.0 / 30, repeats: true) { _ in MainActor.assumeIsolated { self.draw() }
    }
    let (keys, continuation) = AsyncStream.makeStream(of: UInt8.self)
    Thread.detachNewThread {
      var key: UInt8 = 0
      while unsafe read(STDIN_FILENO, &key, 1) == 1 { continuation.yield(key) }
      continuation.finish()
    }
    Task { @MainActor in
      status = await editor.perform("restore")
      for await key in keys { await press(Character(UnicodeScalar(key))) }
      await quit()
    }
  }

  private func press(_ key: Character) async {
    let scene = editor.document?.scene ?? Scene()
    switch key {
    case "q": await quit()
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

  private func quit() async {
    try? StateRestoration(delegate: editor).applicationWillTerminate()
    _ = await editor.document?.close()
    write("\u{1B}[?25h\u{1B}[?1049l")
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &former)
    exit(0)
  }

  private func draw() {
    if isBusy { return }
    var size = winsize()
    _ = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
    let width = max(20, min(200, Int(size.ws_col)))
    let rows = max(5, min(100, Int(size.ws_row) - 2))
    editor.step(seconds: 1.0 / 30, width: width, rows: rows)
    let lines =
      (try? editor.frame(width: width, rows: rows, colours: true)) ?? ["No scene is open: p picks one, n makes one."]
    var text = "\u{1B}[H"
    for row in 0..<rows { text += (row < lines.count ? lines[row] : "") + "\u{1B}[K\r\n" }
    let state = (try? editor.state())?.dropFirst(3) ?? ""
    text += "\u{1B}[7m" + String("\(state)  \(status)".prefix(width)) + "\u{1B}[K\u{1B}[0m\r\n"
    text += String(Self.keys.prefix(width)) + "\u{1B}[K"
    write(text)
  }

  private func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
