internal import Foundation
internal import Kernel
internal import Query
internal import Synchronization
internal import Wire

extension NSMetadataQuery {
  /// The results in their order.
  public var results: [Any] { state.withLock { $0.results.ordered }.map(shown) }

  /// How many results there are.
  public var resultCount: Int { state.withLock { $0.results.list.count } }

  /// One of the results, from 0.
  public func result(at index: Int) -> Any {
    let item = state.withLock { $0.results.items[$0.results.list[index]] }
    return item.map(shown) ?? NSNull()
  }

  /// The place of a result; `NSNotFound` for anything else.
  public func index(ofResult result: Any) -> Int {
    guard let item = result as? NSMetadataItem else { return NSNotFound }
    return state.withLock { $0.results.index(of: item) } ?? NSNotFound
  }

  /// The value of an attribute of one of the results.
  public func value(ofAttribute attribute: String, forResultAt index: Int) -> Any? {
    let item = state.withLock { $0.results.items[$0.results.list[index]] }
    return item?.value(forAttribute: attribute).map { shown($0, attribute) }
  }

  /// All values of the attributes in ``valueListAttributes``, by attribute.
  public var valueLists: [String: [NSMetadataQueryAttributeValueTuple]] {
    let list = state.withLock { $0.results.list }
    var lists: [String: [NSMetadataQueryAttributeValueTuple]] = [:]
    for key in valueListAttributes {
      guard let attribute = MetadataAttribute(rawValue: key) else { continue }
      lists[key] = list.values(of: attribute).map { value, count in
        NSMetadataQueryAttributeValueTuple(key, value.object.map { shown($0, key) }, count)
      }
    }
    return lists
  }

  /// The results by the attributes in ``groupingAttributes``.
  public var groupedResults: [NSMetadataQueryResultGroup] {
    let (list, items) = state.withLock { ($0.results.list, $0.results.items) }
    let attributes = (groupingAttributes ?? []).compactMap(MetadataAttribute.init(rawValue:))
    return list.groups(by: attributes).map { NSMetadataQueryResultGroup($0) { items[$0].map(self.shown) } }
  }

  private func shown(_ item: NSMetadataItem) -> Any {
    delegate?.metadataQuery(self, replacementObjectForResultObject: item) ?? item
  }

  private func shown(_ value: Any, _ attribute: String) -> Any {
    delegate?.metadataQuery(self, replacementValueForAttribute: attribute, value: value) ?? value
  }
}

// MARK: Ambit's additions

extension NSMetadataQuery {
  /// The changes of the results.
  public struct Update: Sendable {
    /// When it happened.
    public enum Kind: Sendable, Hashable {
      /// Results that were there already.
      case gathering
      /// Those were all.
      case gathered
      /// They have changed since.
      case changed
    }

    /// When it happened.
    public let kind: Kind
    /// New results.
    public let added: [NSMetadataItem]
    /// Results that are other than they were.
    public let changed: [NSMetadataItem]
    /// Items that are no results any more.
    public let removed: [NSMetadataItem]
  }

  /// The updates from now on, each as soon as the query is told, until the query is stopped or the task that reads them is cancelled.
  ///
  ///     for await update in query.updates() where update.kind != .gathering { show(query.results) }
  public func updates() -> AsyncStream<Update> {
    let (stream, continuation) = AsyncStream.makeStream(of: Update.self)
    let number = state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = continuation
      return state.lastListener
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
    return stream
  }

  /// Waits until all that happened before the call is in the results (`MDQ-12`). With updates disabled it is there when they are enabled.
  ///
  /// - Throws: for a query that does not run, and where the broker has gone.
  public func barrier() async throws {
    let _: Void = try await withCheckedThrowingContinuation { continuation in
      do throws(KernelError) {
        try Worker.start { continuation.resume(with: Result { try self.waitForBarrier() }) }
      } catch { continuation.resume(throwing: WireError.kernel(error).cocoa()) }
    }
  }

  /// The same for a program that does nothing else meanwhile.
  public func waitForBarrier() throws {
    guard let stream = state.withLock({ $0.stream }) else {
      throw CocoaError.make(.fileReadUnknown, nil, nil, "The query does not run.")
    }
    do throws(WireError) {
      try Broker.call(QueryInterface.barrier, QueryInterface.BarrierCall(query: stream.number))
    } catch { throw error.cocoa() }
    stream.catchUp()
  }
}

extension WireError {
  /// The broker's refusal of a query.
  var query: any Error {
    guard case .remote(let name, let parameters) = self else { return cocoa() }
    let reason = (try? parameters.string("reason")) ?? description
    switch name {
    case QueryInterface.Failure.badPredicateName:
      return PredicateFormatError(.syntax, at: (try? parameters.int("position")) ?? 0, reason)
    case QueryInterface.Failure.tooLargeName: return PredicateFormatError(.tooLarge, reason)
    case QueryInterface.Failure.tooManyName:
      return CocoaError.make(.fileReadUnknown, .EMFILE, nil, "The query cannot run: \(reason).")
    default: return CocoaError.make(.fileReadUnknown, nil, nil, "The query cannot run: \(reason).")
    }
  }
}
