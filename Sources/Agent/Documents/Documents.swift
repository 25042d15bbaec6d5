internal import AmbitKit
internal import Foundation

/// The documents of a session, by name.
@MainActor final class Documents {
  fileprivate var all: [String: Essay] = [:]
  var isEmpty: Bool { all.isEmpty }

  nonisolated init() {}
}

/// Documents, as an app's own code would use them.
extension Session {
  /// Seconds that one act waits for a document.
  private static let patience = 20.0

  /// Documents belong to the main actor, to which only plain data goes, and from which only that comes back.
  func documentClassAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    let (documents, place) = (documents, try? url(request))
    let data = try JSONSerialization.data(withJSONObject: request)
    let answer = try MainActor.assumeIsolated {
      guard let request = try JSONSerialization.jsonObject(with: data) as? [String: Any],
        let answer = try Self.carryOut(act, request, place, documents)
      else { return Data?.none }
      return try JSONSerialization.data(withJSONObject: answer)
    }
    return try answer.flatMap { try JSONSerialization.jsonObject(with: $0) as? [String: Any] }
  }

  @MainActor private static func carryOut(
    _ act: String, _ request: [String: Any], _ place: URL?, _ documents: Documents
  ) throws -> [String: Any]? {
    func document() throws -> Essay {
      let name = try text("document", request)
      guard let document = documents.all[name] else { throw Usage(sentence: "there is no document “\(name)”") }
      return document
    }
    func url() throws -> URL {
      guard let place else { throw Usage(sentence: "neither a document nor a path is named") }
      return place
    }
    switch act {
    case "newDocument", "openDocument":
      let place = try (request["file"] as? String).map { URL(fileURLWithPath: $0) } ?? url()
      let document = Essay(place, package: request["package"] as? Bool ?? false)
      documents.all[try text("document", request)] = document
      guard act == "openDocument" else { return describe(document, done: true) }
      return answer(document) { done in document.open { done($0) } }
    case "typeText":
      let document = try document()
      document.type(try text("text", request))
      document.undoManager.endUndoGroupOfEvent()
      return describe(document, done: true)
    case "undoDocument", "redoDocument":
      let document = try document()
      act == "undoDocument" ? document.undoManager.undo() : document.undoManager.redo()
      return describe(document, done: true)
    case "saveDocument":
      let document = try document()
      document.failure = request["error"] as? String
      document.ending = request["ending"] as? String
      document.drawsPicture = request["picture"] as? Bool ?? false
      let target = (request["to"] as? String).map { URL(fileURLWithPath: $0) } ?? document.fileURL
      let isNew = !FileManager.default.fileExists(atPath: target.path)
      if request["autosave"] as? Bool == true { return answer(document) { done in document.autosave { done($0) } } }
      return answer(document) { done in
        document.save(to: target, for: isNew ? .forCreating : .forOverwriting) { done($0) }
      }
    case "closeDocument":
      let document = try document()
      return answer(document) { done in document.close { done($0) } }
    case "revertDocument":
      let document = try document()
      return answer(document) { done in document.revert(toContentsOf: document.fileURL) { done($0) } }
    case "document":
      let document = try document()
      guard request["events"] as? Bool == true else { return describe(document, done: true) }
      return ["done": true, "text": document.events.joined(separator: "\n")]
    case "versions":
      guard let versions = NSFileVersion.otherVersionsOfItem(at: try url()) else { return refusal }
      return [
        "text": versions.map(words).joined(separator: "\n"), "count": versions.count,
        "conflicts": versions.filter { $0.isConflict && !$0.isResolved }.count,
      ]
    case "version":
      let place = try url()
      let presenter = documents.all.values.first {
        $0.fileURL.path == place.path && !$0.documentState.contains(.closed)
      }
      return try versionAct(request, place, presenter)
    default: return nil
    }
  }

  /// Serves the main queue until the document has answered.
  @MainActor private static func answer(
    _ document: Essay, _ begin: (@escaping @MainActor (Bool) -> Void) -> Void
  ) -> [String: Any] {
    var outcome: Bool?
    begin { outcome = $0 }
    let limit = Date(timeIntervalSinceNow: patience)
    while outcome == nil, Date() < limit {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
    guard let outcome else { return ["done": false, "errno": "WAITING", "sentence": "it still waits"] }
    if !outcome, let error = document.lastError {
      return describe(error).merging(describe(document, done: false)) { old, _ in old }
    }
    return describe(document, done: outcome)
  }

  @MainActor private static func describe(_ document: Essay, done: Bool) -> [String: Any] {
    [
      "done": done, "text": document.text, "state": document.words, "path": document.fileURL.path,
      "unsaved": document.hasUnsavedChanges,
      "undo": document.undoManager.canUndo, "redo": document.undoManager.canRedo,
    ]
  }

  // MARK: Versions

  private static var refusal: [String: Any] {
    SecurityScope.lastError.map { describe($0) } ?? ["done": false, "errno": "ENOENT"]
  }

  private static func words(_ version: NSFileVersion) -> String {
    var words = [version.localizedName ?? "?"]
    if version.isConflict { words.append(version.isResolved ? "resolved conflict" : "conflict") }
    words.append("by \(version.bundleIdentifierOfReplacingApp ?? "another program")")
    return words.joined(separator: " ")
  }

  /// Reads, resolves, removes a version, or makes its content the document's. 0 is the current one, 1 the newest of the others.
  @MainActor private static func versionAct(
    _ request: [String: Any], _ url: URL, _ presenter: Essay?
  ) throws -> [String: Any] {
    let number = request["number"] as? Int ?? 1
    let others =
      request["conflict"] as? Bool == true
      ? NSFileVersion.unresolvedConflictVersionsOfItem(at: url) : NSFileVersion.otherVersionsOfItem(at: url)
    let found = number == 0 ? NSFileVersion.currentVersionOfItem(at: url).map { [$0] } : others
    guard let versions = found else { return refusal }
    let index = max(0, number - 1)
    guard versions.indices.contains(index) else { return ["done": false, "errno": "ENOENT"] }
    let version = versions[index]
    switch request["act"] as? String ?? "read" {
    case "read":
      let place = version.url
      guard let data = try? Data(contentsOf: place) else {
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.path)
        return ["done": true, "text": names.sorted().joined(separator: "\n"), "name": version.localizedName ?? ""]
      }
      return ["done": true, "text": String(decoding: data, as: UTF8.self), "name": version.localizedName ?? ""]
    case "resolve":
      version.isResolved = true
      let isResolved = version.isResolved
      version.isResolved = false
      return ["done": isResolved, "stays": version.isResolved]
    case "remove":
      try version.remove()
      return ["done": true]
    case "replace":
      var failure: NSError?
      var outcome: Result<URL, any Error> = .success(url)
      // Another coordinator would wait for the document, which is on this thread.
      unsafe NSFileCoordinator(filePresenter: presenter).coordinate(
        writingItemAt: url, options: .forReplacing, error: &failure
      ) { place in
        outcome = Result { try version.replaceItem(at: place) }
      }
      if let failure { throw failure }
      return ["done": true, "name": try outcome.get().lastPathComponent]
    case let other: throw Usage(sentence: "there is no act “\(other)” of a version")
    }
  }
}
