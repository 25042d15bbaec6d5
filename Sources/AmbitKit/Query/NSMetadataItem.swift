public import Foundation
internal import Query
internal import Synchronization
internal import Wire

/// A result of a query: a document and what is known of it. The values are those of the query's results, and change with them.
public final class NSMetadataItem: NSObject, @unchecked Sendable {
  private struct State {
    var record: MetadataRecord
    /// The query and the item's number in it, to ask for its scoped URL.
    var source: (query: Int, item: Int)
    var url: URL?
  }

  private let state: Mutex<State>

  init(_ record: MetadataRecord, query: Int, item: Int) {
    state = Mutex(State(record: record, source: (query, item)))
  }

  var record: MetadataRecord { state.withLock { $0.record } }

  func update(_ record: MetadataRecord, query: Int, item: Int) {
    state.withLock { state in
      if record.path != state.record.path || state.source.query != query { state.url = nil }
      state.record = record
      state.source = (query, item)
    }
  }

  /// The keys of the attributes that it has.
  public var attributes: [String] {
    let record = record
    return MetadataAttribute.allCases.filter { value(of: $0, in: record) != .none }.map(\.rawValue)
  }

  /// The value of an attribute.
  ///
  /// - Returns: a `String`, `NSNumber`, `Date`, `URL` or an array of strings; `nil` for an attribute that it has not. The URL of an external
  ///   document that was withdrawn meanwhile is `nil` as well.
  public func value(forAttribute key: String) -> Any? {
    guard let attribute = MetadataAttribute(rawValue: key) else { return nil }
    let record = record
    switch attribute {
    case .url: return url
    case .reference: return record.reference.map { URL(fileURLWithPath: $0, isDirectory: false) }
    default: return value(of: attribute, in: record).object
    }
  }

  private func value(of attribute: MetadataAttribute, in record: MetadataRecord) -> MetadataValue {
    record.value(of: attribute, by: AppTypes.decider)
  }

  /// The values of several attributes.
  public func values(forAttributes keys: [String]) -> [String: Any]? {
    var values: [String: Any] = [:]
    for key in keys { values[key] = value(forAttribute: key) }
    return values
  }

  private var url: URL? {
    let (record, source, known) = state.withLock { ($0.record, $0.source, $0.url) }
    if let known { return known }
    guard record.isExternal else { return URL(fileURLWithPath: record.path, isDirectory: record.kind != .file) }
    let call = QueryInterface.ResolveCall(query: source.query, item: source.item)
    guard let reply: QueryInterface.ResolveReply = try? Broker.call(QueryInterface.resolve, call),
      let url = try? URL(document: reply.document)
    else { return nil }
    state.withLock { if $0.record.path == record.path { $0.url = url } }
    return url
  }
}

extension MetadataValue {
  /// As Foundation's users know it.
  var object: Any? {
    switch self {
    case .text(let text): text
    case .integer(let number): NSNumber(value: number)
    case .number(let number): NSNumber(value: number)
    case .flag(let flag): NSNumber(value: flag)
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .list(let all): all.compactMap(\.object)
    case .none: nil
    }
  }
}

/// A value of an attribute, and how many results have it.
public final class NSMetadataQueryAttributeValueTuple: NSObject {
  /// The attribute's key.
  public let attribute: String
  /// Its value.
  public let value: Any?
  /// How many results have it.
  public let count: Int

  init(_ attribute: String, _ value: Any?, _ count: Int) {
    (self.attribute, self.value, self.count) = (attribute, value, count)
  }
}

/// Results that share the value of an attribute.
public final class NSMetadataQueryResultGroup: NSObject {
  /// The attribute's key.
  public let attribute: String
  /// The value that they share.
  public let value: Any
  /// The same results by the next attribute.
  public let subgroups: [NSMetadataQueryResultGroup]?
  /// The results, in order.
  public let results: [Any]
  /// How many there are.
  public var resultCount: Int { results.count }
  /// One of them, from 0.
  public func result(at index: Int) -> Any { results[index] }

  init(_ group: ResultList.Group, _ item: (Int) -> Any?) {
    attribute = group.attribute.rawValue
    value = group.value.object ?? NSNull()
    subgroups = group.subgroups.isEmpty ? nil : group.subgroups.map { NSMetadataQueryResultGroup($0, item) }
    results = group.numbers.compactMap(item)
  }
}
