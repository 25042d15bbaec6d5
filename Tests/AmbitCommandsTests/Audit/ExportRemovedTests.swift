import ArgumentParser
import Foundation
import Kernel
import Launcher
import TestSupport
import Testing

@testable import AmbitCommands
@testable import Audit

@Suite struct `An export of a log that has removed its oldest entries` {
  private func state(_ log: SmallLog, at number: Int, as source: LogIdentity, _ naming: ExportState.Naming) throws
    -> ExportState
  {
    let event = log.events[number - 1]
    return ExportState(
      naming: naming, event: EventIdentifier(log: source, sequence: event.sequence), digest: try event.digest())
  }

  /// Exports as the command does.
  ///
  /// - Returns: what it noted, the numbers that arrived with the identity that they had, and how many it missed.
  private func export(_ log: SmallLog, to file: String, state path: String?) throws -> (
    notes: [String], events: [EventIdentifier], missed: Int64
  ) {
    let states = try path.map { try StateFile(path: $0) }
    var destination = try FileDestination(path: file, format: .jsonl)
    let own = LogIdentity(key: try #require(try log.reader.publicKey()))
    func encoder(_ log: LogIdentity) -> ExportEncoder {
      ExportEncoder(.jsonl, ExportSource(log: log, host: "workstation", version: "1"))
    }
    let identity = try ExportBeginning.identity(
      own: own, first: try #require(try log.reader.events(limit: 1).first), state: try states?.read(),
      line: try destination.lastEvent(), encoder: encoder
    ) { number in try log.reader.events(after: number - 1, limit: 1).first { $0.sequence == number } }
    _ = try destination.position(of: encoder(identity).source)
    var run = ExportRun(
      reader: log.reader, encoder: encoder(identity), destination: destination, stateFile: states,
      rest: { _ in false })
    run.naming = identity == own ? .byKey : .byFirst
    var notes: [String] = []
    run.note = { notes.append($0) }
    run.batch = 4
    try run.resume()
    try run.run()
    let lines = try content(file).split(separator: UInt8(ascii: "\n"))
    return (notes, lines.compactMap { ExportFormat.jsonl.identifier(inLine: Array($0)) }, run.missed)
  }

  private static let missing =
    "12 entries (9 to 20) cannot be delivered: the log has removed them, because it keeps no more. The export goes on with 21."

  @Test func `is of the same log, says how many it missed, and goes on`() throws {
    let log = try SmallLog(30)
    let own = LogIdentity(key: try #require(try log.reader.publicKey()))
    #expect(own == log.source.log)
    let rest = try log.withoutFirst(20)
    #expect(try rest.reader.removedThrough() == 20 && rest.source.log == own)

    let (state, file) = ("\(rest.folder.path)/state", "\(rest.folder.path)/out.jsonl")
    try StateFile(path: state).write(try self.state(log, at: 8, as: own, .byKey))
    let first = try export(rest, to: file, state: state)
    #expect(first.notes == [Self.missing] && first.missed == 12)
    #expect(first.events == (21...30).map { EventIdentifier(log: own, sequence: $0) })
    // It is said once: the next one misses nothing.
    let second = try export(rest, to: file, state: state)
    #expect(second.notes.isEmpty && second.missed == 0 && second.events.count == 10)
    // A file says where it ends by itself.
    let whole = try SmallLog(8, key: log)
    let lines = "\(rest.folder.path)/lines.jsonl"
    #expect(try export(whole, to: lines, state: nil).events.count == 8)
    let third = try export(rest, to: lines, state: nil)
    #expect(
      third.notes == [Self.missing] && third.missed == 12
        && third.events.map(\.sequence) == Array(1...8) + Array(21...30))
  }

  @Test func `misses one entry as one, none where the next is there, and was promised none at its first delivery`()
    throws
  {
    let log = try SmallLog(30)
    let rest = try log.withoutFirst(20)
    for (number, note, missed) in [(19, "1 entry (20 to 20)", 1), (20, nil, 0), (25, nil, 0)] as [(Int, String?, Int64)]
    {
      let state = "\(rest.folder.path)/state\(number)"
      try StateFile(path: state).write(try self.state(log, at: number, as: log.source.log, .byKey))
      let found = try export(rest, to: "\(state).jsonl", state: state)
      #expect(found.notes.map { $0.hasPrefix(note ?? "–") } == (note == nil ? [] : [true]), "\(found.notes)")
      #expect(found.missed == missed && found.events.count == 30 - max(20, number))
    }
    let new = try export(rest, to: "\(rest.folder.path)/new.jsonl", state: nil)
    #expect(new.notes.first?.hasPrefix("20 entries (1 to 20)") == true && new.missed == 0 && new.events.count == 10)
  }

  @Test func `that an earlier version began goes on under the name that it had`() throws {
    let log = try SmallLog(30)
    let (rest, old) = (try log.withoutFirst(20), try LogIdentity(first: try #require(log.events.first)))
    for (each, number) in [(log, 12), (rest, 25), (rest, 8)] {
      let state = "\(each.folder.path)/state\(number)"
      try StateFile(path: state).write(try self.state(log, at: number, as: old, .byFirst))
      // As it stood there.
      #expect(String(decoding: try content(state), as: UTF8.self).hasPrefix(#"{"ambitExport":1,"#))
      let found = try export(each, to: "\(state).jsonl", state: state)
      #expect(Set(found.events.map(\.log)) == [old] && found.events.last?.sequence == 30, "\(number)")
      #expect(try StateFile(path: state).read() == self.state(log, at: 30, as: old, .byFirst))
    }
    // A file of that name, whose last event is there.
    let file = "\(rest.folder.path)/old.jsonl"
    var bytes: [UInt8] = []
    let encoder = ExportEncoder(.jsonl, ExportSource(log: old, host: "workstation", version: "1"))
    for event in log.events[20..<24] { encoder.append(event, to: &bytes) }
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    #expect(try export(rest, to: file, state: nil).events == (21...30).map { EventIdentifier(log: old, sequence: $0) })
  }

  @Test func `is refused a state of another log, whether what that delivered is there or not`() throws {
    let (log, other) = (try SmallLog(30), try SmallLog(30, seed: 2))
    let rest = try log.withoutFirst(20)
    for number in [8, 25] {
      let state = "\(rest.folder.path)/state\(number)"
      let theirs = try self.state(other, at: number, as: other.source.log, .byKey)
      try StateFile(path: state).write(theirs)
      let error = #expect(throws: Failure.self) { try export(rest, to: "\(state).jsonl", state: state) }
      #expect(error?.description.contains("another one") == true)
      #expect(try StateFile(path: state).read() == theirs && content("\(state).jsonl").isEmpty)
    }
  }

  @Test func `ends with 1 as a command when it missed any`() throws {
    let log = try SmallLog(30)
    let rest = try log.withoutFirst(20)
    let (state, file) = ("\(rest.folder.path)/state", "\(rest.folder.path)/out.jsonl")
    try StateFile(path: state).write(try self.state(log, at: 8, as: log.source.log, .byKey))
    let command = ["--as", "jsonl", "--to", file, "--state", state, "--log", rest.path]
    let first = try AuditCommand.Export.parse(command)
    let error = #expect(throws: (any Error).self) { try first.run() }
    #expect(error.map { AuditCommand.Export.exitCode(for: $0).rawValue } == 1)
    #expect(numbers(try content(file), .jsonl) == Array(21...30))
    let second = try AuditCommand.Export.parse(command)
    try second.run()
  }
}
