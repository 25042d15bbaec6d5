internal import Agent
internal import AmbitKit
internal import Foundation

/// As many documents as a test likes, without a line of conversation for each of them.
extension Session {
  /// `{"do": "pickMany", "count": n}`: asks so many times for several documents; what comes is named `m0`, `m1`, …
  mutating func pickMany(_ request: [String: Any]) throws -> [String: Any] {
    for _ in 0..<(request["count"] as? Int ?? 1) {
      let isReadOnly = request["readOnly"] as? Bool ?? false
      for url in try DocumentPicker.pick(allowsMultipleSelection: true, isReadOnly: isReadOnly) {
        urls["m\(urls.count)"] = url
      }
    }
    return ["picked": urls.count]
  }

  /// Starts every document once, or so many of them; answers how many could be started, how many of these can be read, and what else
  /// was answered.
  ///
  /// - Parameter stopping: each at once.
  func startAll(most: Int = .max, stopping: Bool = false) -> [String: Any] {
    var (started, read, refused) = (0, 0, Set<String>())
    for url in urls.values.prefix(most) {
      do {
        if try SecurityScope.start(url) == 1 { started += 1 }
        if unsafe access(url.path, R_OK) == 0 { read += 1 }
        if stopping { try SecurityScope.stop(url) }
      } catch { refused.insert(error.localizedDescription.prefix { $0 != ";" }.description) }
    }
    return ["started": started, "read": read, "refused": refused.sorted()]
  }

  /// Stops every document once; answers how many of them were started, and how many can still be read.
  func stopAll() -> [String: Any] {
    var (stopped, read) = (0, 0)
    for url in urls.values {
      if (try? SecurityScope.stop(url)) == 0 { stopped += 1 }
      if unsafe access(url.path, R_OK) == 0 { read += 1 }
    }
    return ["stopped": stopped, "read": read]
  }
}
