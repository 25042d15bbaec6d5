import Foundation
import TestSupport
import Testing

@testable import Audit

@Suite struct `Audit events` {
  @Test func `AUD-3: are written as one line of JSON with sorted keys, without what is absent`() throws {
    let time = try #require(Timestamp("2025-06-01T09:30:00.000250Z")).date
    let event = AuditEvent(
      .start, .refused, time: time, app: "io.example.editor", instance: "i7", pid: 42, grant: "g3",
      document: AuditEvent.Document(path: "/home/alice/notes\n.txt", volume: "8:1", inode: .max, birth: time),
      how: "user", rule: "LIM-1", reason: "All 8 slots are in use.", detail: ["used": "8", "limit": "8"], sequence: 9)
    #expect(
      try event.jsonLine()
        == #"{"app":"io.example.editor","detail":{"limit":"8","used":"8"},"document":{"#
        + #""birth":"2025-06-01T09:30:00.000250Z","inode":18446744073709551615,"path":"/home/alice/notes\n.txt","#
        + #""volume":"8:1"},"grant":"g3","how":"user","instance":"i7","kind":"start","pid":42,"#
        + #""reason":"All 8 slots are in use.","result":"refused","rule":"LIM-1","sequence":9,"#
        + #""time":"2025-06-01T09:30:00.000250Z"}"#)
    #expect(
      try AuditEvent(.brokerStarted, time: time, sequence: 1).jsonLine()
        == #"{"kind":"brokerStarted","result":"allowed","sequence":1,"time":"2025-06-01T09:30:00.000250Z"}"#)
  }

  @Test func `come back from their JSON as they were`() throws {
    var generator = Seeded(seed: 21)
    for event in numbered(generator.events(300)) {
      let line = try event.jsonLine()
      #expect(!line.contains("\n"))
      #expect(try JSONDecoder().decode(AuditEvent.self, from: Data(line.utf8)) == event)
    }
  }

  @Test(arguments: [
    #"{"kind":"exit","result":"allowed","sequence":1,"time":"yesterday"}"#,
    #"{"kind":"exit","result":"perhaps","sequence":1,"time":"2025-06-01T09:30:00Z"}"#,
    #"{"result":"allowed","sequence":1,"time":"2025-06-01T09:30:00Z"}"#,
    #"{"kind":"exit","result":"allowed","time":"2025-06-01T09:30:00Z"}"#,
  ])
  func `are not read from JSON that no event has`(json: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(AuditEvent.self, from: Data(json.utf8)) }
  }

  static let notes = AuditEvent.Document(path: "/home/alice/notes.txt")

  @Test(
    "read as sentences",
    arguments: [
      (AuditEvent(.brokerStarted), "broker started"),
      (AuditEvent(.launch, detail: ["policy": "teach"]), "launched under policy teach"),
      (
        AuditEvent(.launch, detail: ["policy": "teach", "withheld": "networkClient passGrants"]),
        "launched under policy teach, not given networkClient passGrants"
      ),
      (AuditEvent(.launch, .failed), "failed: launch"),
      (AuditEvent(.degraded, detail: ["layers": "landlock, keyring"]), "runs without the whole of landlock, keyring"),
      (AuditEvent(.pick, document: notes, how: "user"), "user picked notes.txt"),
      (AuditEvent(.pick, document: notes, how: "scripted"), "script picked notes.txt"),
      (AuditEvent(.pick, .refused, document: .init(path: "/")), "refused: pick /"),
      (AuditEvent(.pickCancelled, how: "user"), "user cancelled the picker"),
      (AuditEvent(.grant, document: notes, detail: ["access": "readWrite"]), "was granted notes.txt (read and write)"),
      (
        AuditEvent(.start, document: notes, detail: ["used": "1", "limit": "8"]),
        "started scope on notes.txt (1 of 8 slots)"
      ),
      (
        AuditEvent(.start, document: notes, detail: ["used": "1", "limit": "8", "count": "2"]),
        "started scope on notes.txt (started 2 times, 1 of 8 slots)"
      ),
      (
        AuditEvent(.start, .refused, document: notes, detail: ["used": "8", "limit": "8"]),
        "refused: start scope on notes.txt (8 of 8 slots)"
      ),
      (AuditEvent(.start, .refused, grant: "g3"), "refused: start scope on grant g3"),
      (
        AuditEvent(.stop, document: notes, detail: ["used": "0", "limit": "8", "count": "0"]),
        "stopped scope on notes.txt (0 of 8 slots)"
      ),
      (AuditEvent(.stop, document: notes, detail: ["count": "1"]), "stopped scope on notes.txt (1 more to stop)"),
      (AuditEvent(.scopeEnded, document: notes), "scope on notes.txt ended"),
      (AuditEvent(.reference, document: notes), "was given a reference to notes.txt"),
      (
        AuditEvent(.bookmarkResolved, document: notes, detail: ["matchedBy": "identity", "stale": "true"]),
        "resolved a bookmark to notes.txt (found by identity, stale)"
      ),
      (
        AuditEvent(.bookmarkResolved, document: notes, detail: ["matchedBy": "identity", "taken": "/old/notes.txt"]),
        "resolved a bookmark to notes.txt (found by identity, another file stands at its old place)"
      ),
      (AuditEvent(.bookmarkResolved, .refused), "refused: resolve a bookmark"),
      (AuditEvent(.exit, detail: ["status": "0", "signal": "0"]), "exited with status 0"),
      (AuditEvent(.exit, detail: ["status": "0", "signal": "9"]), "was ended by SIGKILL"),
      (AuditEvent(.suspend, detail: ["processes": "3"]), "was suspended (3 processes)"),
      (AuditEvent(.suspend, .failed), "failed: suspend the app"),
      (AuditEvent(.resume), "was resumed"),
      (AuditEvent(.exit, detail: ["signal": "44"]), "was ended by signal 44"),
      (AuditEvent(.refuse, .refused, detail: ["operation": "read ~/.ssh"]), "refused: read ~/.ssh"),
      (
        AuditEvent(.limit, .refused, detail: ["exceeded": "memory", "value": "161480704", "ceiling": "134217728"]),
        "refused: more memory (154 of 128 MiB)"
      ),
      (
        AuditEvent(.limit, .refused, detail: ["exceeded": "container", "value": "1572864", "ceiling": "1048576"]),
        "refused: more space in its container (1.5 of 1 MiB)"
      ),
      (
        AuditEvent(.limit, .refused, detail: ["exceeded": "wallTime", "value": "61", "ceiling": "60"]),
        "refused: more time (61 s of 60 s)"
      ),
      (AuditEvent(.limit, .refused, detail: ["exceeded": "patience"]), "refused: more patience"),
      (AuditEvent(.protocolError, .refused), "refused: take a broken message"),
      (AuditEvent(.replaced, document: notes, how: "app"), "replaced notes.txt"),
      (AuditEvent(.replaced, .failed, document: notes, how: "app"), "failed: replace notes.txt"),
      // A member of a package that the app saved: the lookup by its place is no decision of its own.
      (AuditEvent(.replaced, document: notes, how: "app", detail: ["matchedBy": "path"]), "replaced notes.txt"),
      (
        AuditEvent(.replaced, document: notes, how: "host", detail: ["matchedBy": "path"]),
        "follows notes.txt, which was replaced"
      ),
      (
        AuditEvent(.replaced, document: notes, rule: "BMK-12", detail: ["matchedBy": "path"]),
        "follows notes.txt to the file that took its place"
      ),
      (
        AuditEvent(.replaced, .refused, document: notes, rule: "BMK-12", detail: ["matchedBy": "path"]),
        "refused: follow notes.txt to another file"
      ),
      (AuditEvent(.replaced, document: notes, how: "sidecar"), "left notes.txt beside its database"),
      (AuditEvent(.replaced, .failed, document: notes, how: "sidecar"), "failed: leave notes.txt"),
      (AuditEvent(.init(rawValue: "coordinatedWrite"), document: notes), "coordinated write notes.txt"),
    ])
  func sentences(event: AuditEvent, sentence: String) {
    #expect(event.sentence == sentence)
  }

  @Test func `say something of every known kind and result, and never the bare kind`() {
    for kind in AuditEvent.Kind.known {
      for result in AuditEvent.Result.allCases {
        let sentence = AuditEvent(kind, result).sentence
        #expect(sentence.contains(" ") || kind == .launch || kind == .exit)
        #expect(sentence.hasPrefix("\(result): ") == (result != .allowed) || kind == .refuse)
      }
    }
    #expect(Set(AuditEvent.Kind.known).count == AuditEvent.Kind.known.count)
  }

  @Test func `have a kind that this version knows, or one of another version, under the same name`() {
    for known in AuditEvent.Kind.Known.allCases {
      #expect(AuditEvent.Kind(known).rawValue == known.rawValue && AuditEvent.Kind(known).asKnown == known)
    }
    #expect(AuditEvent.Kind(rawValue: "ofALaterVersion").asKnown == nil)
  }

  @Test func `explain themselves by rule and reason`() {
    #expect(AuditEvent(.start, rule: "LIM-1", reason: "Full.").explanation == "LIM-1: Full.")
    #expect(AuditEvent(.start, rule: "LIM-1").explanation == "LIM-1")
    #expect(AuditEvent(.start).explanation == "")
  }
}

@Suite struct `JSON as it is stored` {
  @Test func `says what Foundation's decoder reads from it, in one order only`() throws {
    let pieces = ["a", "\"", "\\", "/", "\n", "\u{0}", "\u{1f}", "\u{7f}", "é", "日", "😀", "\u{2028}", "\u{301}", ""]
    var generator = Seeded(seed: 31)
    for _ in 0..<500 {
      var members: [String: String] = [:]
      for _ in 0..<4 {
        let (key, value) = (
          (0..<3).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined(),
          (0..<6).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        )
        members[key] = value
      }
      let text = JSONText.object(members)
      let read = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
      #expect(read == members)
      #expect(JSONText.object(read) == text)
      #expect(!text.utf8.contains { $0 < 0x20 })
    }
    #expect(JSONText.object(["b": "2", "a": "1"]) == #"{"a":"1","b":"2"}"#)
    #expect(JSONText.object([:]) == "{}")
  }
}
