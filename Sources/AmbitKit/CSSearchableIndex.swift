public import Foundation
internal import Wire

/// The facts by which an app's user can find an item. Apple's names.
public final class CSSearchableItemAttributeSet {
  /// The type of the item's content.
  public let contentType: UTType?
  /// Shown, and searched first.
  public var title: String?
  /// Used where there is no title.
  public var displayName: String?
  /// Shown below the title.
  public var contentDescription: String?
  /// Searched, and never shown.
  public var textContent: String?
  /// Further words to find it by.
  public var keywords: [String]?
  /// The document that the item is about: a scoped URL. Items of one document are found once.
  public var contentURL: URL?

  /// Attributes of an item whose content is of a type.
  public init(contentType: UTType) { self.contentType = contentType }

  /// The older form, with a type by its identifier.
  public init(itemContentType: String) { contentType = UTType(itemContentType) }
}

/// Something of the app's that its user can find: a document, a message, a place in a book.
public final class CSSearchableItem {
  /// The app's own name of it.
  public let uniqueIdentifier: String
  /// The group that it belongs to.
  public let domainIdentifier: String?
  /// Its facts.
  public let attributeSet: CSSearchableItemAttributeSet

  /// - Parameters:
  ///   - uniqueIdentifier: `nil`: one is made up.
  ///   - domainIdentifier: items of one domain can be deleted together.
  public init(
    uniqueIdentifier: String?, domainIdentifier: String?, attributeSet: CSSearchableItemAttributeSet
  ) {
    self.uniqueIdentifier = uniqueIdentifier ?? UUID().uuidString
    self.domainIdentifier = domainIdentifier
    self.attributeSet = attributeSet
  }
}

/// The index that the user searches (`ambit search`). The app writes it and cannot read it.
public final class CSSearchableIndex: Sendable {
  /// Items of one call.
  private static let batch = 200

  private static let shared = CSSearchableIndex()
  private init() {}

  /// The index of this user.
  public static func `default`() -> CSSearchableIndex { shared }
  /// Whether there is a broker to index with.
  public static func isIndexingAvailable() -> Bool { (try? Broker.connect()) != nil }

  /// Adds items, or replaces those of the same identifiers.
  ///
  /// - Parameter completionHandler: called before this returns; with an error if the app has more than 10,000 items or 64 MiB of
  ///   text, or a URL has no scope of this launch. Then items of the failed part are not added.
  public func indexSearchableItems(
    _ items: [CSSearchableItem], completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    finish(completionHandler) {
      var rest = items[...]
      while !rest.isEmpty {
        let part = try rest.prefix(Self.batch).map { item -> IndexInterface.Item in
          let attributes = item.attributeSet
          return .init(
            identifier: item.uniqueIdentifier, domain: item.domainIdentifier,
            title: attributes.title ?? attributes.displayName ?? item.uniqueIdentifier,
            about: attributes.contentDescription, text: attributes.textContent,
            keywords: attributes.keywords ?? [], contentType: attributes.contentType?.identifier,
            scope: try attributes.contentURL.map { try SecurityScope.scope(of: $0) })
        }
        try Broker.call(IndexInterface.put, IndexInterface.PutCall(items: part))
        rest = rest.dropFirst(Self.batch)
      }
    }
  }

  /// Adds items, or replaces those of the same identifiers.
  public func indexSearchableItems(_ items: [CSSearchableItem]) async throws {
    var failure: (any Error)?
    indexSearchableItems(items) { failure = $0 }
    if let failure { throw failure }
  }

  /// Deletes items.
  public func deleteSearchableItems(
    withIdentifiers identifiers: [String], completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    finish(completionHandler) {
      try Broker.call(IndexInterface.delete, IndexInterface.DeleteCall(identifiers: identifiers))
    }
  }

  /// Deletes the items of domains.
  public func deleteSearchableItems(
    withDomainIdentifiers domains: [String], completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    finish(completionHandler) { try Broker.call(IndexInterface.delete, IndexInterface.DeleteCall(domains: domains)) }
  }

  /// Deletes all items of the app.
  public func deleteAllSearchableItems(completionHandler: (((any Error)?) -> Void)? = nil) {
    finish(completionHandler) { try Broker.call(IndexInterface.delete, IndexInterface.DeleteCall()) }
  }

  private func finish(_ handler: (((any Error)?) -> Void)?, _ body: () throws -> Void) {
    do {
      try body()
      handler?(nil)
    } catch let error as WireError {
      handler?(error.cocoa())
    } catch {
      handler?(error)
    }
  }
}
