// One line of the log each.

extension CloudItem: CustomStringConvertible {
  package var description: String {
    let state = isDeleted ? "deleted" : content ?? kind.rawValue
    return "\(id)[\(parent)/\(name) \(state) r\(revision) c\(contentRevision) p\(placeRevision)]"
  }
}

extension LocalItem: CustomStringConvertible {
  package var description: String { "\(id)[\(parent)/\(name) \(kind.rawValue) @\(stamp)]" }
}

extension CloudPage: CustomStringConvertible {
  package var description: String { "\(items) next \(next)\(more ? " and more" : "")" }
}

extension LocalPlace: CustomStringConvertible {
  package var description: String { "\(parent)/\(name)" }
}

extension CloudChange: CustomStringConvertible {
  package var description: String {
    switch self {
    case .create(let item): "create \(item)"
    case .replace(let id, let content, _, let base): "replace \(id) with \(content), base \(base)"
    case .move(let id, let parent, let name, let base): "move \(id) to \(parent)/\(name), base \(base)"
    case .delete(let id, let base): "delete \(id), base \(base)"
    }
  }
}

extension LocalAct: CustomStringConvertible {
  package var description: String {
    switch self {
    case .place(let staged, let parent, let name): "place \(staged) at \(parent)/\(name)"
    case .replace(let id, let stamp, let staged): "replace \(id) @\(stamp) with \(staged)"
    case .move(let id, let from, let to): "move \(id) from \(from) to \(to)"
    case .remove(let id, let stamp): "remove \(id) \(stamp.map { "@" + $0 } ?? "if empty")"
    case .keep(let item, let id, let content, _): "keep \(content) of \(id), item \(item)"
    }
  }
}
