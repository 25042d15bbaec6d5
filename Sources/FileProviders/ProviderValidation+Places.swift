internal import Paths

/// Rules about identifiers and places, about changes, the working set and the trash.
extension ProviderCheck {
  static let places: [ProviderCheck] = [
    ProviderCheck("place-there", "Each document has a place in the storage (PRV-3).", "Answer it in urlForItem.") {
      transcript in
      transcript.places.compactMap { identifier, place in
        switch place.path {
        case .failed(let word): "\(identifier.prefix(60)) answered \(word.prefix(60))"
        case .answered(let path) where path.path(within: "/home/user/File Provider Storage") == nil:
          "\(identifier.prefix(60)) lies at \(path.prefix(80))"
        default: nil
        }
      }
    },
    ProviderCheck(
      "place-back", "A document's place leads back to its identifier (PRV-3).",
      "Answer the same one in persistentIdentifierForItem."
    ) { transcript in
      transcript.places.compactMap { identifier, place in
        guard case .answered = place.path else { return nil }
        switch place.back {
        case .answered(identifier): return nil
        case .answered(let other): return "\(identifier.prefix(60)) became \(other.prefix(60))"
        case .failed(let word): return "\(identifier.prefix(60)) answered \(word.prefix(60))"
        }
      }
    },
    ProviderCheck("place-outside", "A place outside the storage has no identifier (PRV-3).", "Answer nil.") {
      transcript in
      if case .answered(let identifier)? = transcript.placeOutside { return ["it is \(identifier.prefix(60))"] }
      return []
    },
    ProviderCheck(
      "anchor-short", "The name of an anchor has 1 to 500 bytes (PRV-9).", "Keep the state in a table."
    ) { transcript in
      guard let anchor = transcript.anchor else { return [] }
      return anchor.isEmpty || anchor.utf8.count > 668 ? ["it has \(anchor.utf8.count) bytes of base64"] : []
    },
    ProviderCheck(
      "anchor-quiet", "Without a change, no changes are told from the present anchor (PRV-9).",
      "Compare with the present state."
    ) { transcript in
      switch transcript.changesSince {
      case .answered(0)?, nil: []
      case .answered(let count)?: ["it told \(count)"]
      case .failed(let word)?: ["it answered \(word.prefix(60))"]
      }
    },
    ProviderCheck(
      "anchor-unknown", "An anchor that it does not have is answered with syncAnchorExpired (PRV-9).", "Throw it."
    ) { transcript in
      guard transcript.anchor != nil else { return [] }
      return expect("syncAnchorExpired", transcript.unknownAnchor)
    },
    ProviderCheck(
      "working-set-marks", "What is in the working set is recent, tagged, a favourite, shared or trashed (PRV-11).",
      "Say why: lastUsedDate, tagData, favoriteRank, isShared or isTrashed."
    ) { transcript in
      (transcript.workingSet?.items ?? []).filter { $0.marks.isEmpty }.map {
        "“\($0.filename.prefix(60))” is none of these"
      }
    },
    ProviderCheck(
      "trash-parent", "What is in the trash has the trash as its folder.", "Answer .trashContainer as its parent."
    ) { transcript in
      (transcript.trash?.items ?? []).filter { $0.parent != ProviderItem.trash }
        .map { "“\($0.filename.prefix(60))” is in \($0.parent.prefix(60))" }
    },
  ]
}
