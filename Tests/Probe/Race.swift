internal import Agent
internal import AmbitKit
internal import Foundation

/// Uses a document over and over while somebody swaps what lies at its place.
///
/// `{"do": "race", "of": "a", "rounds": n, "bookmark": "…"}`: every round starts the scope, of the URL or of what the bookmark
/// resolves to, reads the document's beginning, writes the round's number behind it, and stops. The answer says how often that
/// worked, how often it was refused, and what else than `expected` was read.
enum Race {
  static func run(_ url: URL, _ request: [String: Any]) throws -> [String: Any] {
    guard let rounds = request["rounds"] as? Int, let expected = request["expected"] as? String else {
      throw Session.Usage(sentence: "“rounds” or “expected” is missing")
    }
    let bookmark = (request["bookmark"] as? String).flatMap { Data(base64Encoded: $0) }
    var (done, refused, wrong) = (0, 0, Set<String>())
    for round in 0..<rounds {
      var document = url
      if round % 4 == 3, let bookmark {
        var isStale = false
        guard let resolved = try? URL(resolvingBookmarkData: bookmark, bookmarkDataIsStale: &isStale) else {
          refused += 1
          continue
        }
        document = resolved
      }
      guard document.startAccessingSecurityScopedResource() else {
        refused += 1
        continue
      }
      defer { document.stopAccessingSecurityScopedResource() }
      let descriptor = unsafe open(document.path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else {
        refused += 1
        continue
      }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: expected.utf8.count)
      let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
      let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      if text == expected { done += 1 } else { wrong.insert(text) }
      let number = Array(" \(round)".utf8)
      _ = unsafe pwrite(descriptor, number, number.count, off_t(bytes.count))
    }
    return ["done": done, "refused": refused, "wrong": wrong.sorted()]
  }

  /// `{"do": "pickAll", "count": n}`: picks one document after the other and answers, by grant, what each of them holds.
  static func pickAll(_ request: [String: Any]) throws -> [String: Any] {
    guard let count = request["count"] as? Int else { throw Session.Usage(sentence: "“count” is missing") }
    var held: [String: Set<String>] = [:]
    var session = Session()
    for _ in 0..<count {
      let answer = session.answer(to: #"{"do": "pick", "as": "a"}"#)
      guard answer["didPick"] as? Int == 1, let path = answer["path"] as? String,
        session.answer(to: #"{"do": "start", "of": "a"}"#)["done"] as? Bool == true
      else { continue }
      if let text = session.answer(to: #"{"do": "read", "of": "a"}"#)["text"] as? String {
        held[path.split(separator: "/")[1].description, default: []].insert(text)
      }
      _ = session.answer(to: #"{"do": "stop", "of": "a"}"#)
    }
    return ["held": held.mapValues { $0.sorted() }]
  }
}
