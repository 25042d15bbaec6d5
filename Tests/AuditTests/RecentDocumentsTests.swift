import Foundation
import Testing

@testable import Audit

/// `THM-7`: which documents are among the recent ones.
@Suite struct `Recent documents` {
  private func event(
    _ kind: AuditEvent.Kind, _ path: String?, _ second: Double, result: AuditEvent.Result = .allowed,
    how: String? = nil, _ detail: [String: String] = [:]
  ) -> AuditEvent {
    var event = AuditEvent(
      kind, result, app: "org.example.a", document: path.map { AuditEvent.Document(path: $0) }, how: how, detail: detail
    )
    event.time = Date(timeIntervalSince1970: second)
    return event
  }

  @Test func `THM-7: opened, imported, modified and shared documents are among them, the last one first`() {
    let recent = RecentDocuments([
      event(.pick, "/opened", 1), event(.pick, "/imported", 2, ["mode": "import"]),
      event(.replaced, "/modified", 3), event(.passed, "/shared", 4), event(.start, "/started", 5),
      event(.grant, "/given", 6, how: "user"), event(.grant, "/passed", 7, how: "passed"),
      event(.version, "/kept", 8, how: "kept"),
    ])
    #expect(
      recent.items.map(\.path) == [
        "/kept", "/passed", "/given", "/started", "/shared", "/modified", "/imported", "/opened",
      ])
    #expect(
      recent.items.map(\.uses) == [
        [.modified], [.shared], [.opened], [.opened], [.shared], [.modified], [.imported], [.opened],
      ])
  }

  @Test func `A document is there once, with all that was done with it`() {
    let recent = RecentDocuments([
      event(.pick, "/a", 1), event(.pick, "/b", 2), event(.replaced, "/a", 3), event(.passed, "/a", 4),
    ])
    #expect(recent.items.map(\.path) == ["/a", "/b"])
    #expect(recent.items[0].uses == [.opened, .modified, .shared])
    #expect(recent.items[0].time == Date(timeIntervalSince1970: 4))
  }

  @Test func `What was refused, is a folder, or only about rights is not there`() {
    let recent = RecentDocuments([
      event(.pick, "/refused", 1, result: .refused), event(.pick, "/folder", 2, ["kind": "folder"]),
      event(.pick, "/target", 3, ["mode": "export"]), event(.grant, "/granted", 4, ["kind": "folder"]),
      event(.revoke, "/revoked", 5), event(.version, "/read", 6, how: "read"), event(.launch, nil, 7),
    ])
    #expect(recent.items.isEmpty)
  }

  @Test func `Old ones are forgotten`() {
    let recent = RecentDocuments((0..<500).map { event(.pick, "/\($0)", Double($0)) })
    #expect(recent.items.count == RecentDocuments.most)
    #expect(recent.items.first?.path == "/499")
  }
}
