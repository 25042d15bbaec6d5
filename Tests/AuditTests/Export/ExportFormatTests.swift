import Foundation
import Testing

@testable import Audit

@Suite struct `Exported events` {
  @Test(arguments: ExportFormat.ofLines)
  func `AUD-10: are one line of valid JSON each, whatever is in them, and always the same one`(format: ExportFormat)
    throws
  {
    let source = try exportSource()
    for event in manyEvents(seed: 71, 400) {
      let line = exported(event, as: format, source)
      let value = try JSONValue(line: line)
      #expect(value.exists)
      #expect(exported(event, as: format, source) == line)
      #expect(format.identifier(inLine: line) == EventIdentifier(log: source.log, sequence: event.sequence))
    }
  }

  @Test(arguments: ExportFormat.ofLines, ExportFormat.ofLines)
  func `are not taken for another format's`(written: ExportFormat, read: ExportFormat) throws {
    let source = try exportSource()
    let line = exported(AuditEvent(.exit, sequence: 7), as: written, source)
    #expect((read.identifier(inLine: line) != nil) == (read == written))
  }

  @Test func `as JSON Lines are what the log's own listing has, and the log's identity`() throws {
    let source = try exportSource()
    for event in manyEvents(seed: 72, 400) {
      let line = exported(event, as: .jsonl, source)
      var members = try #require(try JSONValue(line: line).value as? [String: Any])
      #expect(members.removeValue(forKey: "log") as? String == source.log.description)
      let listed = try JSONSerialization.jsonObject(with: Data(try event.jsonLine().utf8))
      #expect(NSDictionary(dictionary: members).isEqual(listed))
      #expect(try JSONDecoder().decode(AuditEvent.self, from: Data(line)) == event)
    }
  }

  @Test func `as CloudEvents have the attributes that version 1_0 demands, and all of the event as data`() throws {
    let source = try exportSource()
    var sequences: [String] = []
    for event in manyEvents(seed: 73, 400) {
      let value = try JSONValue(line: exported(event, as: .cloudevents, source))
      #expect(value["specversion"].text == "1.0")
      #expect(value["id"].text == "\(source.log)/\(event.sequence)")
      #expect(value["source"].text == "urn:uuid:\(source.log)")
      #expect(value["type"].text?.hasPrefix("io.ambit.audit.") == true)
      #expect(value["datacontenttype"].text == "application/json")
      #expect(value["time"].text.flatMap { Timestamp($0) } == Timestamp(event.time))
      #expect(value["subject"].exists == (event.app?.isEmpty == false))
      let members = try #require(value.value as? [String: Any])
      for (name, attribute) in members where name != "data" {
        #expect(
          name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) } && name.utf8.count <= 20)
        let text = try #require(attribute as? String, "\(name) is a text")
        #expect(!text.isEmpty && text.unicodeScalars.allSatisfy(CloudEvent.isAllowed))
      }
      let data = try JSONSerialization.data(withJSONObject: try #require(members["data"]))
      #expect(try JSONDecoder().decode(AuditEvent.self, from: data) == event)
      sequences.append(try #require(value["sequence"].text))
    }
    // Sorted as texts they are sorted as numbers.
    #expect(sequences.sorted() == sequences.sorted { (Int64($0) ?? 0) < (Int64($1) ?? 0) })
  }

  @Test func `are told apart by their log's key, wherever the log lies, and stay the same when entries go`() throws {
    let (folder, other) = (try Folder(), try Folder())
    func identity(_ folder: Folder) throws -> LogIdentity {
      let log = try AuditLog(path: folder.log)
      try log.append([AuditEvent(.brokerStarted)])
      try log.finish()
      return LogIdentity(key: try #require(try AuditReader(path: folder.log).publicKey()))
    }
    let one = try identity(folder)
    #expect(try identity(folder) == one && identity(other) != one)
    #expect(LogIdentity(one.description) == one && Array(one.description.utf8)[14] == UInt8(ascii: "8"))
  }

  @Test func `are told apart by their log's first entry where there is no key`() throws {
    var first = AuditEvent(.brokerStarted, time: Timestamp(microseconds: 1_700_000_000_000_000).date, sequence: 1)
    let one = try LogIdentity(first: first)
    #expect(try LogIdentity(first: first) == one)
    #expect(UUID(uuidString: one.description) != nil && LogIdentity(one.description) == one)
    #expect(Array(one.description.utf8)[14] == UInt8(ascii: "8"))
    first.time = Timestamp(microseconds: 1_700_000_000_000_001).date
    #expect(try LogIdentity(first: first) != one)
    for text in ["", "x", one.description.uppercased(), one.description + "0"] { #expect(LogIdentity(text) == nil) }
    let name = EventIdentifier(log: one, sequence: .max)
    #expect(EventIdentifier(name.description) == name)
    for text in ["\(one)", "\(one)/0", "\(one)/-1", "\(one)/1/2", "/1", "\(one)/"] {
      #expect(EventIdentifier(text) == nil)
    }
  }
}
