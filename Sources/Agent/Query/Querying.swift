internal import AmbitKit
internal import Foundation
internal import Synchronization

/// The queries of a session, by name.
final class Querying {
  var queries: [String: ListedQuery] = [:]
}

/// A query as an app's list of documents would have it: it remembers all that it was told.
final class ListedQuery: Sendable {
  let query: NSMetadataQuery
  private let words = Mutex<[String]>([])

  init(_ query: NSMetadataQuery) {
    self.query = query
    query.operationQueue = OperationQueue()
    let names: [(Notification.Name, String)] = [
      (.NSMetadataQueryDidStartGathering, "started"), (.NSMetadataQueryGatheringProgress, "progress"),
      (.NSMetadataQueryDidFinishGathering, "finished"), (.NSMetadataQueryDidUpdate, "update"),
    ]
    for (name, word) in names {
      _ = NotificationCenter.default.addObserver(forName: name, object: query, queue: nil) { [weak self] note in
        self?.told(word, note)
      }
    }
  }

  private func told(_ word: String, _ note: Notification) {
    let keys = [
      ("+", NSMetadataQueryUpdateAddedItemsKey), ("~", NSMetadataQueryUpdateChangedItemsKey),
      ("-", NSMetadataQueryUpdateRemovedItemsKey),
    ]
    let items = keys.flatMap { mark, key in
      (note.userInfo?[key] as? [NSMetadataItem] ?? []).map { "\(mark)\(Self.name($0))" }
    }
    words.withLock { $0.append(([word] + items.sorted()).joined(separator: " ")) }
  }

  static func name(_ item: NSMetadataItem) -> String {
    item.value(forAttribute: NSMetadataItemFSNameKey) as? String ?? "?"
  }

  var notifications: [String] { words.withLock { $0 } }
}

/// Queries, as an app's own code would make them.
extension Session {
  mutating func queryAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "query": return try startQuery(request)
    case "results": return Self.describe(try query(request).query, request)
    case "notifications": return ["text": try query(request).notifications.joined(separator: "\n")]
    case "barrier":
      try query(request).query.waitForBarrier()
      return ["done": true]
    case "disableUpdates":
      try query(request).query.disableUpdates()
      return ["done": true]
    case "enableUpdates":
      try query(request).query.enableUpdates()
      return ["done": true]
    case "stopQuery":
      try query(request).query.stop()
      return ["done": true]
    case "item": return try item(request)
    default: return nil
    }
  }

  private func query(_ request: [String: Any]) throws -> ListedQuery {
    let name = try text("name", request)
    guard let query = querying.queries[name] else { throw Usage(sentence: "there is no query “\(name)”") }
    return query
  }

  private static let scopes = [
    "local": NSMetadataQueryUbiquitousDocumentsScope,
    "external": NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope,
  ]

  private func startQuery(_ request: [String: Any]) throws -> [String: Any] {
    let name = try text("name", request)
    let listed: ListedQuery
    if request["again"] as? Bool == true {
      listed = try query(request)
    } else {
      listed = ListedQuery(NSMetadataQuery())
      let query = listed.query
      if let format = request["where"] as? String { query.predicate = NSPredicate(format: format) }
      query.searchScopes = (request["scopes"] as? [String] ?? []).map { Self.scopes[$0] ?? $0 }
      query.sortDescriptors = (request["sort"] as? [String] ?? []).map { key in
        key.hasPrefix("-")
          ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false)
          : NSSortDescriptor(key: key, ascending: true)
      }
      if let interval = request["batching"] as? Int { query.notificationBatchingInterval = Double(interval) / 1000 }
      querying.queries[name] = listed
    }
    guard listed.query.start() else {
      var answer: [String: Any] = [
        "done": false, "started": false, "errno": "NOTSTARTED", "sentence": "it did not start",
      ]
      if let error = listed.query.lastError as? PredicateFormatError { answer["sentence"] = error.description }
      return answer
    }
    return ["done": true, "started": true, "batching": listed.query.notificationBatchingInterval]
  }

  /// A line for each result: its name, or the values of the asked keys.
  private static func describe(_ query: NSMetadataQuery, _ request: [String: Any]) -> [String: Any] {
    let keys = request["keys"] as? [String] ?? [NSMetadataItemFSNameKey]
    let lines = query.results.map { result in
      keys.map { key in
        switch (result as? NSMetadataItem)?.value(forAttribute: key) {
        case let url as URL: url.path
        case let number as NSNumber: "\(number)"
        case let value?: "\(value)"
        case nil: "-"
        }
      }.joined(separator: " ")
    }
    return ["text": lines.joined(separator: "\n"), "count": query.resultCount, "gathering": query.isGathering]
  }

  /// One result, by its file's name; its URL is kept.
  private mutating func item(_ request: [String: Any]) throws -> [String: Any] {
    let listed = try query(request)
    let name = try text("file", request)
    let items = listed.query.results.compactMap { $0 as? NSMetadataItem }.filter { ListedQuery.name($0) == name }
    guard let item = items.first else {
      return ["done": false, "errno": "ENOENT", "sentence": "the query has no such result"]
    }
    guard let url = item.value(forAttribute: NSMetadataItemURLKey) as? URL else {
      return ["done": false, "errno": "EPERM", "sentence": "it has no URL"]
    }
    urls[request["as"] as? String ?? "item"] = url
    let reference = item.value(forAttribute: NSMetadataUbiquitousItemURLInLocalContainerKey) as? URL
    return [
      "done": true, "path": url.path, "count": items.count, "reference": reference?.path ?? "",
      "external": item.value(forAttribute: NSMetadataUbiquitousItemIsExternalDocumentKey) as? Bool ?? false,
      "container": item.value(forAttribute: NSMetadataUbiquitousItemContainerDisplayNameKey) as? String ?? "",
      "size": (item.value(forAttribute: NSMetadataItemFSSizeKey) as? NSNumber)?.intValue ?? -1,
    ]
  }
}
