import Foundation
import TestSupport
import Testing

@testable import AmbitCommands
@testable import Audit

@Suite struct `The log that an export is of` {
  @Test func `is named by its key, or else by its first entry, and when that has been removed, by who knew it`() throws
  {
    let log = try SmallLog(8)
    let first = try #require(log.events.first)
    let (left, known) = (log.events[4], log.events[6])
    // As earlier versions named it.
    let old = ExportSource(log: try LogIdentity(first: first), host: "workstation", version: "1")
    func identity(
      _ first: AuditEvent, _ state: ExportState?, _ line: [UInt8]?, own: LogIdentity? = nil
    ) throws -> LogIdentity {
      let last = try line.map { line in
        (event: try #require(ExportFormat.jsonl.identifier(inLine: line)), bytes: line)
      }
      return try ExportBeginning.identity(
        own: own, first: first, state: state, line: last,
        encoder: { ExportEncoder(.jsonl, ExportSource(log: $0, host: "workstation", version: "1")) }
      ) { number in log.events.first { $0.sequence == number && number >= first.sequence } }
    }
    func state(_ event: AuditEvent, _ sequence: Int64? = nil) throws -> ExportState {
      ExportState(
        naming: .byFirst, event: EventIdentifier(log: old.log, sequence: sequence ?? event.sequence),
        digest: try event.digest())
    }
    func line(_ event: AuditEvent) -> [UInt8] {
      var bytes: [UInt8] = []
      ExportEncoder(.jsonl, old).append(event, to: &bytes)
      return bytes.dropLast()
    }
    let own = try LogIdentity(first: left)
    #expect(own != old.log)
    // The whole log needs nobody.
    #expect(try identity(first, nil, nil) == old.log)
    #expect(try identity(left, nil, nil) == own)
    #expect(try identity(left, state(known), nil) == old.log)
    #expect(try identity(left, state(log.events[1]), nil) == old.log, "what it knew has been removed since")
    #expect(try identity(left, state(log.events[1], 7), nil) == own, "it knew another entry 7")
    #expect(try identity(left, state(known, 20), nil) == own, "the log has never had that")
    #expect(try identity(left, nil, line(known)) == old.log)
    #expect(try identity(left, nil, line(log.events[1])) == own)
    var changed = known
    changed.reason = "Another."
    #expect(try identity(left, nil, line(changed)) == own)
    // With a key it is that one, wherever nobody knows it by another name.
    let key = log.source.log
    #expect(try identity(first, nil, nil, own: key) == key && identity(left, nil, nil, own: key) == key)
    #expect(try identity(first, state(known), nil, own: key) == old.log)
    #expect(try identity(left, state(known), nil, own: key) == old.log)
    #expect(try identity(left, state(log.events[1], 7), nil, own: key) == key)
    #expect(try identity(first, nil, line(known), own: key) == old.log)
    #expect(try identity(left, nil, line(changed), own: key) == key)
    // One that is named by a key is of that log or of another.
    var byKey = try state(known)
    byKey.naming = .byKey
    #expect(try identity(left, byKey, nil, own: key) == key)
  }
}
