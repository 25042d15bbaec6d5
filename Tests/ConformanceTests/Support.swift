import Audit
import Foundation
import TestSupport
import Testing

extension Workspace {
  /// The audit log as it stands now, from its first entry. Reading it checks that no entry is missing or changed.
  func audit(_ kind: AuditEvent.Kind? = nil) throws -> [AuditEvent] {
    let events = try AuditReader(path: "\(ambitHome)/state/audit.sqlite").events(limit: 100_000)
    return kind.map { kind in events.filter { $0.kind == kind } } ?? events
  }

  /// The running instances, as `ambit ps --format json` lists them.
  func instances() throws -> [JSON] {
    let answer = try ambit("ps", "--format", "json")
    return try #require(JSON(answer.output)?["instances"]?.array, "\(answer)")
  }
}

extension JSON {
  /// Whether the kernel or Ambit did it. Nothing counts as done that did not say so.
  var isDone: Bool { self["done"]?.bool == true }
  var errno: String? { self["errno"]?.string }
  var content: String? { self["text"]?.string }
  /// The first URL of an answer, as a string.
  var url: String? { self["urls"]?.strings?.first }
}

extension AppRun {
  /// Asks for one document, named `name` from then on.
  @discardableResult
  func pick(as name: String = "a", _ fields: [String: JSON] = [:]) throws -> JSON {
    let answer = try tell("pick", fields.merging(["as": .string(name)]) { old, _ in old })
    try #require(answer["didPick"] == 1, "\(answer.text)")
    return answer
  }

  func start(_ name: String = "a") throws -> Bool { try tell("start", ["of": .string(name)]).isDone }

  func stop(_ name: String = "a") throws { _ = try tell("stop", ["of": .string(name)]) }

  func read(_ name: String = "a") throws -> JSON { try tell("read", ["of": .string(name)]) }

  func bookmark(_ name: String = "a") throws -> String {
    let answer = try tell("bookmark", ["of": .string(name)])
    return try #require(answer["bookmark"]?.string, "\(answer.text)")
  }
}

/// What a refused open answers where nobody observes. A scope that is not active refuses with EACCES: the place is there, its
/// mode lets nobody in. Observed, as under the policy `teach`, it is the sandbox's own EPERM (`SBX-3`).
let refused = "EACCES"
let refusedObserved = "EPERM"

/// A folder of the host in a place that no sandbox has, with a file in it that everybody may read; gone with the last
/// reference. The workspaces of tests lie below `/tmp`, of which an app has one of its own.
final class HostFolder {
  let file: String
  private let path: String

  /// `nil` where this user may write in no such place.
  init?() {
    for place in ["/srv", "/opt", "/mnt", NSHomeDirectory()] where !place.hasPrefix("/tmp") && !place.hasPrefix("/var")
    {
      let path = "\(place)/ambit-test-\(UUID().uuidString)"
      guard unsafe mkdir(path, 0o755) == 0 else { continue }
      self.path = path
      file = "\(path)/plan.txt"
      guard FileManager.default.createFile(atPath: file, contents: Data("the user's own".utf8)) else { return nil }
      return
    }
    return nil
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
