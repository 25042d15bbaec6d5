internal import AmbitKit
package import Foundation

/// The app under test: carries out one act after the other, and keeps the URLs that it was given, by name. A URL that went through a
/// string has no scope, so URLs stay here.
@safe package struct Session {
  /// An act that a test adds: nil if it has another name.
  package typealias Addition = (inout Session, _ act: String, _ request: [String: Any]) throws -> [String: Any]?

  package var urls: [String: URL] = [:]
  private let additions: [Addition]
  var relatives: [String: Relative] = [:]
  var sockets: [RawBroker] = []
  let coordinating = Coordinating()
  let documents = Documents()
  let querying = Querying()
  var onTheWay: Sending?
  var mapped: UnsafeMutableRawPointer?

  package init(additions: [Addition] = []) { self.additions = additions }

  var hasDocuments: Bool {
    let documents = documents
    return MainActor.assumeIsolated { !documents.isEmpty }
  }

  /// A request that cannot be carried out, which is the test's mistake and not an observation.
  package struct Usage: Error {
    package let sentence: String
    package init(sentence: String) { self.sentence = sentence }
  }

  package mutating func answer(to line: String) -> [String: Any] {
    guard let request = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let act = request["do"] as? String
    else { return ["usage": "not a request: \(line)"] }
    do { return try carryOut(act, request) } catch let usage as Usage {
      return ["usage": usage.sentence]
    } catch {
      return Self.describe(error)
    }
  }

  private mutating func carryOut(_ act: String, _ request: [String: Any]) throws -> [String: Any] {
    if let answer = try documentAct(act, request) { return answer }
    if let answer = try plainAct(act, request) { return answer }
    if let answer = try rightsAct(act, request) { return answer }
    if let answer = try fileAct(act, request) { return answer }
    if let answer = try restorationAct(act, request) { return answer }
    if let answer = try relativeAct(act, request) { return answer }
    if let answer = try coordinationAct(act, request) { return answer }
    if let answer = try documentClassAct(act, request) { return answer }
    if let answer = try queryAct(act, request) { return answer }
    if let answer = try browserAct(act, request) { return answer }
    if act == "raw" { return try RawBroker.exchange(request) }
    for addition in additions {
      if let answer = try addition(&self, act, request) { return answer }
    }
    return ["unsupported": "no act is called “\(act)”"]
  }

  // MARK: Documents

  private mutating func documentAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "pick": return try pick(request)
    case "opened": return try opened(request)
    case "index":
      let attributes = CSSearchableItemAttributeSet(itemContentType: "public.plain-text")
      attributes.title = try text("title", request)
      attributes.textContent = request["text"] as? String
      attributes.keywords = request["keywords"] as? [String]
      attributes.contentURL = try (request["of"] as? String).map { try url(["of": $0]) }
      var failure: (any Error)?
      CSSearchableIndex.default().indexSearchableItems([
        CSSearchableItem(
          uniqueIdentifier: request["identifier"] as? String, domainIdentifier: request["domain"] as? String,
          attributeSet: attributes)
      ]) { failure = $0 }
      return failure.map(Self.describe) ?? ["done": true]
    case "unindex":
      var failure: (any Error)?
      CSSearchableIndex.default().deleteSearchableItems(withIdentifiers: [try text("identifier", request)]) {
        failure = $0
      }
      return failure.map(Self.describe) ?? ["done": true]
    case "discard":
      try UIApplication.discard(inboxItemAt: try url(request))
      return ["done": true]
    case "start":
      let started = try url(request).startAccessingSecurityScopedResource()
      return Self.outcome(started)
    case "stop":
      try url(request).stopAccessingSecurityScopedResource()
      return Self.outcome(SecurityScope.lastError == nil)
    // The same with the broker's count, which Apple's methods do not tell.
    case "countedStart":
      return ["count": try SecurityScope.start(try url(request), caller: request["caller"] as? String)]
    case "countedStop": return ["count": try SecurityScope.stop(try url(request))]
    case "status":
      let status = try SecurityScope.status()
      return [
        "used": status.used, "limit": status.limit,
        "holders": status.holders.map {
          ["name": $0.name, "count": $0.count, "path": $0.path, "caller": $0.caller ?? "", "since": $0.since]
            as [String: Any]
        },
      ]
    case "bookmark":
      return ["bookmark": try bookmark(request).base64EncodedString()]
    case "resolve":
      guard let data = Data(base64Encoded: try text("bookmark", request)) else {
        throw Usage(sentence: "a bookmark travels as base64")
      }
      return try resolve(data, request)
    case "values":
      guard let data = Data(base64Encoded: try text("bookmark", request)) else {
        throw Usage(sentence: "a bookmark travels as base64")
      }
      return Self.values(data, request)
    case "references":
      return ["paths": try DocumentReference.references().map(\.fileURL.path)]
    case "resolveReference":
      let reference = DocumentReference(fileURL: URL(fileURLWithPath: try text("path", request)))
      let (url, isStale) = try reference.resolve()
      return try keep([url], request).merging(["stale": isStale]) { _, new in new }

    case "copy":
      let copy = try url(request)
      return try keep([copy], request)
    case "fromPath": return try keep([URL(fileURLWithPath: try url(request).path)], request)
    case "fromString":
      guard let url = URL(string: try text("string", request)) else { throw Usage(sentence: "not a URL") }
      return try keep([url], request)
    case "child": return try keep([try url(request).appendingPathComponent(try text("name", request))], request)
    default: return nil
    }
  }

  private static let creationOptions: [String: URL.BookmarkCreationOptions] = [
    "minimalBookmark": .minimalBookmark, "suitableForBookmarkFile": .suitableForBookmarkFile,
    "withSecurityScope": .withSecurityScope, "securityScopeAllowOnlyReadAccess": .securityScopeAllowOnlyReadAccess,
    "withoutImplicitSecurityScope": .withoutImplicitSecurityScope,
  ]

  private static let resolutionOptions: [String: URL.BookmarkResolutionOptions] = [
    "withoutUI": .withoutUI, "withoutMounting": .withoutMounting, "withSecurityScope": .withSecurityScope,
    "withoutImplicitStartAccessing": .withoutImplicitStartAccessing,
  ]

  /// With `withSecurityScope`, unless the request names other options or none.
  private func bookmark(_ request: [String: Any]) throws -> Data {
    var options: URL.BookmarkCreationOptions = .withSecurityScope
    if let names = request["options"] as? [String] {
      options = URL.BookmarkCreationOptions(names.compactMap { Self.creationOptions[$0] })
    }
    if request["readOnly"] as? Bool == true { options.insert(.securityScopeAllowOnlyReadAccess) }
    let keys = (request["keys"] as? [String]).map { Set($0.map(URLResourceKey.init(rawValue:))) }
    return try url(request).bookmarkData(
      options: options, includingResourceValuesForKeys: keys, relativeTo: try relative(request))
  }

  private func relative(_ request: [String: Any]) throws -> URL? {
    guard let name = request["relativeTo"] as? String else { return nil }
    guard let url = urls[name] else { throw Usage(sentence: "there is no URL “\(name)”") }
    return url
  }

  private mutating func resolve(_ data: Data, _ request: [String: Any]) throws -> [String: Any] {
    let names = request["options"] as? [String] ?? []
    let options = URL.BookmarkResolutionOptions(names.compactMap { Self.resolutionOptions[$0] })
    let found = try BookmarkResolution(resolving: data, options: options, relativeTo: try relative(request))
    return try keep([found.url], request).merging([
      "stale": found.isStale, "matchedBy": found.matchedBy.rawValue, "location": found.location?.rawValue ?? "",
      "started": found.isStarted, "taken": found.isPlaceTaken,
    ]) { _, new in new }
  }

  private static func values(_ data: Data, _ request: [String: Any]) -> [String: Any] {
    let keys = Set((request["keys"] as? [String] ?? []).map(URLResourceKey.init(rawValue:)))
    guard let values = URL.resourceValues(forKeys: keys, fromBookmarkData: data) else { return ["none": true] }
    var answer: [String: Any] = [:]
    for (key, value) in values.allValues {
      answer[key.rawValue] = (value as? Date)?.timeIntervalSince1970 ?? value as Any
    }
    return answer
  }

  private mutating func pick(_ request: [String: Any]) throws -> [String: Any] {
    var types: [UTType] = []
    if request["kind"] as? String == "folder" { types = [.folder] }
    if let suffix = request["type"] as? String, let type = UTType(filenameExtension: suffix) { types = [type] }
    let sources = (request["sources"] as? [String] ?? []).map { URL(fileURLWithPath: $0) }
    let mode = request["mode"] as? String ?? "open"
    let picker =
      sources.isEmpty
      ? DocumentPicker(forOpeningContentTypes: types, asCopy: mode == "import")
      : DocumentPicker(forExporting: sources, asCopy: mode == "export")
    picker.allowsMultipleSelection = request["multiple"] as? Bool ?? false
    picker.isReadOnly = request["readOnly"] as? Bool ?? false
    let delegate = PickDelegate()
    picker.delegate = delegate
    picker.present()
    var answer: [String: Any] = [
      "done": delegate.picked.count == 1, "didPick": delegate.picked.count, "wasCancelled": delegate.cancelled,
    ]
    if delegate.cancelled > 0 { answer["errno"] = "CANCELLED" }
    if let error = delegate.error { answer.merge(Self.describe(error)) { _, new in new } }
    if let urls = delegate.picked.first { answer.merge(try keep(urls, request)) { _, new in new } }
    return answer
  }

  /// Waits for the next document that is opened with the app.
  private mutating func opened(_ request: [String: Any]) throws -> [String: Any] {
    var next: UIOpenURLContext?
    try UIApplication.forEachOpenedURL { context in
      next = context
      return false
    }
    guard let next else { return ["errno": "EPIPE"] }
    var answer: [String: Any] = [
      "done": true, "inPlace": next.options.openInPlace, "isStarted": next.options.isStarted,
    ]
    answer["source"] = next.options.sourceApplication
    return answer.merging(try keep([next.url], request)) { _, new in new }
  }

  /// Remembers URLs: the first as `as`, the others as `as1`, `as2`, …
  mutating func keep(_ kept: [URL], _ request: [String: Any]) throws -> [String: Any] {
    let name = request["as"] as? String ?? "last"
    for (index, url) in kept.enumerated() { urls[index == 0 ? name : "\(name)\(index)"] = url }
    return [
      "urls": kept.map(\.absoluteString), "path": kept.first?.path ?? "", "name": kept.first?.lastPathComponent ?? "",
    ]
  }

  package func url(_ request: [String: Any]) throws -> URL {
    if let path = request["path"] as? String { return URL(fileURLWithPath: path) }
    let name = try text("of", request)
    guard let url = urls[name] else { throw Usage(sentence: "there is no URL “\(name)”") }
    return url
  }

  package func text(_ key: String, _ request: [String: Any]) throws -> String {
    try Self.text(key, request)
  }

  static func text(_ key: String, _ request: [String: Any]) throws -> String {
    guard let value = request[key] as? String else { throw Usage(sentence: "“\(key)” is missing") }
    return value
  }

  private static func outcome(_ done: Bool) -> [String: Any] {
    var answer: [String: Any] = ["done": done]
    if !done, let error = SecurityScope.lastError { answer.merge(describe(error)) { old, _ in old } }
    return answer
  }

  /// Words for Foundation's errors that have no errno below them.
  private static let symbols: [CocoaError.Code: String] = [
    .userCancelled: "CANCELLED", .fileReadCorruptFile: "CORRUPT", .featureUnsupported: "UNSUPPORTED",
    .fileReadNoSuchFile: "ENOENT", .fileNoSuchFile: "ENOENT", .fileReadNoPermission: "EPERM",
  ]

  /// An error as Foundation's users see it: domain, code, what is underneath, and the sentence.
  static func describe(_ error: any Error) -> [String: Any] {
    let seen = error as NSError
    var answer: [String: Any] = [
      "done": false, "domain": seen.domain, "code": seen.code, "sentence": error.localizedDescription,
    ]
    if let under = seen.userInfo[NSUnderlyingErrorKey] as? any Error {
      answer["posix"] = Files.symbol(Int32((under as NSError).code))
    }
    let own = (error as? POSIXError).map { Files.symbol($0.code.rawValue) }
    answer["errno"] =
      answer["posix"] ?? own ?? symbols[(error as? CocoaError)?.code ?? .featureUnsupported] ?? "FAILED"
    return answer
  }
}

/// Counts what the picker tells its delegate.
private final class PickDelegate: DocumentPickerDelegate {
  var picked: [[URL]] = []
  var cancelled = 0
  var error: (any Error)?

  func documentPicker(_ controller: DocumentPicker, didPickDocumentsAt urls: [URL]) { picked.append(urls) }
  func documentPickerWasCancelled(_ controller: DocumentPicker) { cancelled += 1 }
  func documentPicker(_ controller: DocumentPicker, didFailWithError error: any Error) { self.error = error }
}
