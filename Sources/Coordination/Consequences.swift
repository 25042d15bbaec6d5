internal import Paths

extension Intent {
  /// The questions of a presenter before this use of an item (`COO-4`, `COO-5`), in their order.
  ///
  /// - Parameter isPreparation: presenters of contained items are asked as well (`COO-17`).
  func questions(to presented: Item, isPreparation: Bool) -> [Question] {
    let relation = item.relation(of: presented)
    guard relation == .same || relation == .inside && (takesContents || isPreparation) else { return [] }
    switch use {
    case .read(let options):
      if options.contains(.immediatelyAvailableMetadataOnly) { return [] }
      return options.contains(.withoutChanges) ? [.relinquishToReader] : [.relinquishToReader, .saveChanges]
    case .write(let options):
      var questions = [Question.relinquishToWriter]
      if options.contains(.forMerging) { questions.append(.saveChanges) }
      if !options.isDisjoint(with: [.forDeleting, .forReplacing]) {
        if presented.path.text.lies(within: item.path.text) {
          questions.append(.accommodateDeletion)
        } else if item.path.text.lies(below: presented.path.text) {
          questions.append(.accommodateSubitemDeletion(item.path))
        }
      }
      return questions
    }
  }
}

extension Question {
  /// A presenter lets go before it saves, and saves before it makes room.
  var rank: Int {
    switch self {
    case .relinquishToReader, .relinquishToWriter: 0
    case .saveChanges: 1
    case .accommodateDeletion, .accommodateSubitemDeletion: 2
    }
  }
}

extension Intent {
  /// The change that others are told of when the access ends; `nil`: none. The mover of an item announces that itself.
  var change: Change? {
    guard case .write(let options) = use, !options.contains(.forMoving) else { return nil }
    if options.contains(.forDeleting) { return .deleted }
    return options == .contentIndependentMetadataOnly ? .attributes : .content
  }
}

extension Change {
  /// A presenter's news of a change at a path; `nil`: it is none of its business.
  func notice(at path: PathKey, to presented: Item, isCoordinated: Bool) -> Notice? {
    if path == presented.path {
      return switch self {
      case .content, .created: .changed(isCoordinated: isCoordinated)
      case .attributes: .attributesChanged
      case .deleted: .deleted(isCoordinated: isCoordinated)
      }
    }
    if path.text.lies(below: presented.path.text) {
      return switch self {
      case .content, .attributes: .subitemChanged(path, isCoordinated: isCoordinated)
      case .created: .subitemAppeared(path, isCoordinated: isCoordinated)
      case .deleted: .subitemDeleted(path, isCoordinated: isCoordinated)
      }
    }
    guard presented.path.text.lies(below: path.text), self == .deleted else { return nil }
    return .deleted(isCoordinated: isCoordinated)
  }
}
