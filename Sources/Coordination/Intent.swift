/// One item that a request is about, and the use of it.
package struct Intent: Hashable, Sendable {
  package var item: Item
  package var use: Use

  package init(_ item: Item, _ use: Use) { (self.item, self.use) = (item, use) }

  package enum Use: Hashable, Sendable {
    case read(ReadingOptions)
    case write(WritingOptions)
  }

  package var isWrite: Bool { if case .write = use { true } else { false } }

  /// It is about a folder with all its contents: uses of the contents wait, and it waits for them (`COO-3`).
  var takesContents: Bool {
    guard case .write(let options) = use else { return false }
    return !options.isDisjoint(with: [.forDeleting, .forMoving, .forReplacing])
  }

  /// It meets the uses of paths inside its place, in one way or another.
  var takesPlace: Bool { takesContents || item.package != nil }

  /// The name that was asked for counts, not the file that had it (`COO-10`).
  var keepsPath: Bool {
    guard case .write(let options) = use else { return false }
    return options.contains(.forReplacing)
  }

  /// Whether one of the two has to wait for the other's end (`COO-1`, `COO-3`).
  package func conflicts(with other: Intent) -> Bool {
    switch item.relation(of: other.item) {
    case .apart: false
    case .same: isWrite || other.isWrite
    case .inside: takesContents
    case .around: other.takesContents
    }
  }
}

/// `NSFileCoordinator.ReadingOptions`, with its bits.
package struct ReadingOptions: OptionSet, Hashable, Sendable {
  package let rawValue: UInt
  package init(rawValue: UInt) { self.rawValue = rawValue }
  package static let withoutChanges = Self(rawValue: 1 << 0)
  package static let resolvesSymbolicLink = Self(rawValue: 1 << 1)
  package static let immediatelyAvailableMetadataOnly = Self(rawValue: 1 << 2)
  package static let forUploading = Self(rawValue: 1 << 3)
}

/// `NSFileCoordinator.WritingOptions`, with its bits.
package struct WritingOptions: OptionSet, Hashable, Sendable {
  package let rawValue: UInt
  package init(rawValue: UInt) { self.rawValue = rawValue }
  package static let forDeleting = Self(rawValue: 1 << 0)
  package static let forMoving = Self(rawValue: 1 << 1)
  package static let forMerging = Self(rawValue: 1 << 2)
  package static let forReplacing = Self(rawValue: 1 << 3)
  package static let contentIndependentMetadataOnly = Self(rawValue: 1 << 4)
}
