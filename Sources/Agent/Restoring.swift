internal import AmbitKit
internal import Foundation

/// What the agent keeps of itself from one launch to the next.
extension Session {
  mutating func restorationAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "background":
      let state = KeptState()
      state.openDocuments = try (request["open"] as? [String] ?? []).map { name in
        guard let url = urls[name] else { throw Usage(sentence: "there is no URL “\(name)”") }
        return url
      }
      state.note = request["note"] as? String
      state.shouldSave = request["shouldSave"] as? Bool ?? true
      try StateRestoration(delegate: state).applicationDidEnterBackground()
      return ["done": true]
    case "restore":
      let state = KeptState()
      state.shouldRestore = request["shouldRestore"] as? Bool ?? true
      let restored = StateRestoration(delegate: state).restore()
      for (index, url) in restored.documents.enumerated() { urls["r\(index)"] = url }
      let failures = restored.failures.map { name, error in
        "\(name ?? "?"): \(Self.describe(error)["posix"] as? String ?? "")"
      }
      if request["failures"] as? Bool == true { return ["text": failures.joined(separator: "\n")] }
      return [
        "note": state.note ?? "", "paths": restored.documents.map(\.path),
        "names": restored.documents.map(\.lastPathComponent), "failures": failures,
      ]
    default: return nil
    }
  }
}

private final class KeptState: StateRestorationDelegate {
  var openDocuments: [URL] = []
  var shouldSave = true
  var shouldRestore = true
  var note: String?
  func encodeRestorableState(with coder: NSCoder) { coder.encode(note as NSString?, forKey: "note") }
  func decodeRestorableState(with coder: NSCoder) {
    note = coder.decodeObject(of: NSString.self, forKey: "note").map { $0 as String }
  }
  func shouldSaveApplicationState() -> Bool { shouldSave }
  func shouldRestoreApplicationState() -> Bool { shouldRestore }
}
