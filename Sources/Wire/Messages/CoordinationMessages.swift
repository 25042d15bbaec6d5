/// The options of an intent, as `NSFileCoordinator` has them: words in the order of their bits.
extension CoordinationInterface {
  package static let readingOptions = [
    "withoutChanges", "resolvesSymbolicLink", "immediatelyAvailableMetadataOnly", "forUploading",
  ]
  package static let writingOptions = [
    "forDeleting", "forMoving", "forMerging", "forReplacing", "contentIndependentMetadataOnly",
  ]
}

extension OptionSet where RawValue == UInt {
  /// The words of its bits.
  ///
  /// - Parameter words: those of all bits.
  package func names(_ words: [String]) -> [String] {
    if rawValue == 0 { return [] }
    return words.enumerated().filter { rawValue & 1 << UInt($0.offset) != 0 }.map(\.element)
  }

  /// - Returns: `nil` where a name is none of the words.
  package init?(names: [String], _ words: [String]) {
    var bits: UInt = 0
    for name in names {
      guard let index = words.firstIndex(of: name) else { return nil }
      bits |= 1 << UInt(index)
    }
    self.init(rawValue: bits)
  }
}
