internal import Kernel
internal import Terminal
internal import Wire

/// The arbiter's state at one moment, for people and for programs.
struct CoordinationView {
  let reply: InspectorInterface.CoordinationReply

  init(_ reply: InspectorInterface.CoordinationReply) { self.reply = reply }

  func write(_ format: OutputFormat, to output: Output) throws {
    switch format {
    case .json: try output.write(json: reply.json.text)
    case .table:
      try output.write(
        render(style: Style(for: output.descriptor), width: WindowSize.columns(of: output.descriptor)))
    }
  }

  /// The same without the times that pass by themselves.
  var timeless: InspectorInterface.CoordinationReply {
    var reply = reply
    for index in reply.accesses.indices {
      reply.accesses[index].age = 0
      if reply.accesses[index].held != nil { reply.accesses[index].held = 0 }
    }
    return reply
  }

  /// - Parameter width: of the terminal; `nil`: nothing is cut.
  func render(style: Style, width: Int?) -> String {
    guard !reply.accesses.isEmpty || !reply.presenters.isEmpty else {
      return "No file is used in turn, and no app presents one.\n"
    }
    let parts = [accesses(style, width), presenters(style, width)].filter { !$0.isEmpty }
    return parts.joined(separator: "\n")
  }

  private func accesses(_ style: Style, _ width: Int?) -> String {
    guard !reply.accesses.isEmpty else { return "" }
    let table = Table(
      [
        .init("ID", alignment: .trailing, minWidth: 2), .init("FILE", minWidth: 12, keeping: .end),
        .init("USE", minWidth: 7), .init("BY", minWidth: 13, keeping: .end), .init("NOW", minWidth: 36),
      ], style: style, width: width)
    return table.render(reply.accesses.flatMap { rows($0) })
  }

  /// A line for each item, and one or two for each thing that is waited for, side by side.
  private func rows(_ access: InspectorInterface.CoordinatedAccess) -> [[Table.Cell]] {
    let states = states(access)
    return (0..<max(access.items.count, states.count)).map { index in
      let item = index < access.items.count ? access.items[index] : nil
      return [
        Table.Cell(index == 0 ? "\(access.access)" : "", .dim), Table.Cell(item?.path ?? ""),
        Table.Cell(item.map { access.prepares ? "prepare" : CoordinationWords.use($0) } ?? "", .yellow),
        Table.Cell(index == 0 ? Self.name(access.party) : "", .cyan),
        index < states.count ? states[index] : "",
      ]
    }
  }

  private func states(_ access: InspectorInterface.CoordinatedAccess) -> [Table.Cell] {
    if access.phase == .granted {
      return [Table.Cell("● under way for \(CoordinationWords.time(access.held ?? 0))", .green)]
    }
    let age = CoordinationWords.time(access.age)
    let reasons = CoordinationWait(access, in: reply).reasons
    guard !reasons.isEmpty else { return [Table.Cell("waits \(age)", .red)] }
    return reasons.flatMap { reason -> [Table.Cell] in
      switch reason {
      case .presenter(let party, let question, let time):
        [
          Table.Cell("waits \(age) for \(Self.name(party))", .red),
          Table.Cell("  presenter: \(CoordinationWords.request(question)) (\(CoordinationWords.time(time)))"),
        ]
      case .holder(let number, let party, let use, let time):
        [
          Table.Cell("waits \(age) for \(Self.name(party))", .red),
          Table.Cell("  holder \(number): \(use) for \(CoordinationWords.time(time))"),
        ]
      case .ahead(let number, let party):
        [Table.Cell("waits \(age) for \(Self.name(party))", .red), Table.Cell("  ahead in the queue: \(number)")]
      }
    }
  }

  private func presenters(_ style: Style, _ width: Int?) -> String {
    guard !reply.presenters.isEmpty else { return "" }
    let table = Table(
      [
        .init("PRESENTED", minWidth: 20, keeping: .end), .init("BY", minWidth: 13, keeping: .end),
        .init("CHANGES", minWidth: 11), .init("LEASE", minWidth: 5),
      ], style: style, width: width)
    return table.render(
      reply.presenters.map {
        [
          Table.Cell($0.path), Table.Cell(Self.name($0.party), .cyan),
          $0.unsaved ? Table.Cell("● not saved", .yellow) : Table.Cell("saved", .dim), Self.lease($0),
        ]
      })
  }

  /// The programs that wait in open(2), or the reason why none does.
  private static func lease(_ presenter: InspectorInterface.FilePresenter) -> Table.Cell {
    let reason = presenter.unleased.map { printable($0) }
    return switch presenter.lease {
    case .write: Table.Cell("all openers wait", .green)
    case .read: Table.Cell("writers wait" + (reason.map { "; others do not: \($0)" } ?? ""), .green)
    case nil: Table.Cell("none" + (reason.map { ": \($0)" } ?? ""), .dim)
    }
  }

  /// Short, for a column.
  private static func name(_ party: InspectorInterface.Party) -> String {
    party.process == 0 ? party.app : "\(party.app) (\(party.process))"
  }
}

/// The same again and again: on a terminal in one place, for other readers once at each change.
struct CoordinationWatch {
  let format: OutputFormat
  let output: Output
  private var shown: InspectorInterface.CoordinationReply?
  private var drawn: Int64 = 0
  private var lines = 0
  private var size: WindowSize?

  /// Milliseconds between two looks.
  private static let pause: Int32 = 200
  /// Nanoseconds after which waiting times are drawn again.
  private static let tick: Int64 = 1_000_000_000

  init(format: OutputFormat, output: Output) { (self.format, self.output) = (format, output) }

  /// Until the reader has gone, or the program is interrupted.
  mutating func run(_ now: () throws -> InspectorInterface.CoordinationReply) throws {
    repeat { try show(CoordinationView(try now())) } while try !output.hasHungUp(within: Self.pause)
  }

  private mutating func show(_ view: CoordinationView) throws {
    let isSame = shown == view.timeless
    let window = format == .table ? try? WindowSize(of: output.descriptor) : nil
    guard let window, window.columns > 0, window.rows > 1 else {
      guard !isSame else { return }
      shown = view.timeless
      return try view.write(format, to: output)
    }
    let isTicking = !view.reply.accesses.isEmpty && Clock.monotonic() - drawn >= Self.tick
    guard !isSame || isTicking || size != window else { return }
    let frame = Self.frame(
      view.render(style: Style(for: output.descriptor), width: window.columns), rows: window.rows)
    // Back to the first line of the last frame. After a change of the size its place is not known.
    let back = size == window && lines > 0 ? "\u{1B}[\(lines)A" : ""
    try output.write("\(back)\r\u{1B}[J\(frame)")
    (shown, drawn, size) = (view.timeless, Clock.monotonic(), window)
    lines = frame.utf8.count { $0 == UInt8(ascii: "\n") }
  }

  /// As many lines as fit above the cursor.
  static func frame(_ text: String, rows: Int) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.count >= rows else { return text }
    let kept = lines.prefix(max(1, rows - 2))
    return kept.joined(separator: "\n") + "\n… \(lines.count - kept.count) more lines\n"
  }
}
