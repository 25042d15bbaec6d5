/// All that a provider answered to the validator's questions.
package struct ProviderTranscript: Sendable {
  package struct Page: Sendable {
    package var items: [ProviderItem]
    package var next: String?
    package init(_ items: [ProviderItem], next: String? = nil) { (self.items, self.next) = (items, next) }
  }

  /// An answer, or the word of an error.
  package enum Reply<Value: Sendable>: Sendable {
    case answered(Value)
    case failed(String)
  }

  package struct Listing: Sendable {
    package let folder: String
    package var pages: [Page]
    /// The word of the error that ended it.
    package var error: String?
    package var items: [ProviderItem] { pages.flatMap(\.items) }
    package init(_ folder: String, _ pages: [Page], error: String? = nil) {
      (self.folder, self.pages, self.error) = (folder, pages, error)
    }
  }

  /// Of the root, then of all folders.
  package var listings: [Listing] = []
  /// The same once more.
  package var again: [Listing] = []
  /// Items asked for by their identifiers.
  package var items: [String: Reply<ProviderItem>] = [:]
  /// Bytes of the contents that came, twice each.
  package var contents: [String: [Reply<Int>]] = [:]
  /// Questions about an identifier that the provider does not have.
  package var unknownItem: Reply<ProviderItem>?
  package var unknownContent: Reply<Int>?
  package var unknownFolder: Reply<Int>?
  /// The listing of a document.
  package var documentListed: Reply<Int>?
  /// A listing from a page that the provider does not have.
  package var unknownPage: Reply<Int>?
  /// The places of items in the storage, and the items that these places lead back to (`PRV-3`).
  package var places: [String: (path: Reply<String>, back: Reply<String>)] = [:]
  /// The item at a place outside the storage.
  package var placeOutside: Reply<String>?
  /// An anchor of the root, and the changes since then (`PRV-9`); `nil`: it has no anchors.
  package var anchor: String?
  package var changesSince: Reply<Int>?
  /// The changes since an anchor that the provider does not have.
  package var unknownAnchor: Reply<Int>?
  /// Listings of the working set and of the trash; an error says that there is none.
  package var workingSet: Listing?
  package var trash: Listing?
  /// A document that was made, changed and deleted again; `nil`: that was not tried.
  package var change: Change?
  /// Nanoseconds since 1970.
  package var now = 0

  /// A provider's answers while a document of the validator's own came and went, in this order.
  package struct Change: Sendable {
    /// The name that was asked for, and the one after.
    package var names = ("", "")
    /// Bytes of its first and its second content.
    package var sizes = (0, 0)
    package var made: Reply<ProviderItem>?
    package var found: Reply<ProviderItem>?
    /// Identifiers in the root's listing.
    package var listed: [String]?
    package var content: Reply<Int>?
    /// Another one with its name, in other letters.
    package var collision: Reply<ProviderItem>?
    package var written: Reply<ProviderItem>?
    package var rewritten: Reply<Int>?
    package var renamed: Reply<ProviderItem>?
    package var foundRenamed: Reply<ProviderItem>?
    package var moveOfUnknown: Reply<ProviderItem>?
    package var deletionOfUnknown: Reply<Int>?
    package var deleted: Reply<Int>?
    package var afterwards: Reply<ProviderItem>?
    package var listedAfterwards: [String]?
    package init() {}
  }

  package init() {}
  package var all: [(item: ProviderItem, folder: String)] {
    listings.flatMap { each in each.items.map { ($0, each.folder) } }
  }
}
