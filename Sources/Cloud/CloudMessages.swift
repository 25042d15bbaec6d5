internal import CloudSync
internal import Paths
internal import Wire

extension CloudInterface.Item {
  init(_ item: CloudItem) {
    self.init(
      id: item.id, parent: item.parent, name: item.name, kind: item.kind == .folder ? .folder : .document,
      revision: item.revision, contentRevision: item.contentRevision, placeRevision: item.placeRevision,
      content: item.content, size: Int(item.size), device: item.device, deleted: item.isDeleted)
  }

  var item: CloudItem {
    CloudItem(
      id: id, parent: parent, name: name, kind: kind == .folder ? .folder : .document, revision: revision,
      contentRevision: contentRevision, placeRevision: placeRevision, content: content, size: Int64(size),
      device: device, isDeleted: deleted)
  }
}

extension CloudInterface.Change {
  init(_ change: CloudChange) {
    switch change {
    case .create(let item):
      self.init(
        kind: .create, id: item.id, parent: item.parent, name: item.name, folder: item.kind == .folder,
        content: item.content, size: Int(item.size), base: 0)
    case .replace(let id, let content, let size, let base):
      self.init(kind: .replace, id: id, content: content, size: Int(size), base: base)
    case .move(let id, let parent, let name, let base):
      self.init(kind: .move, id: id, parent: parent, name: name, base: base)
    case .delete(let id, let base): self.init(kind: .delete, id: id, base: base)
    }
  }

  /// - Returns: `nil` if a field is missing that this kind of change needs, or if it is out of bounds.
  var change: CloudChange? {
    guard !id.isEmpty, id.utf8.count <= 300, (0...Self.largest).contains(size ?? 0) else { return nil }
    switch kind {
    case .create:
      guard let parent, let name, Self.isName(name) else { return nil }
      let isFolder = folder ?? false
      guard isFolder == (content == nil) else { return nil }
      return .create(
        CloudItem(
          id: id, parent: parent, name: name, kind: isFolder ? .folder : .document, content: content,
          size: Int64(size ?? 0)))
    case .replace:
      guard let content, let size else { return nil }
      return .replace(id: id, content: content, size: Int64(size), base: base)
    case .move:
      guard let parent, let name, Self.isName(name) else { return nil }
      return .move(id: id, parent: parent, name: name, base: base)
    case .delete: return .delete(id: id, base: base)
    }
  }

  /// Bytes of a document. All documents together are counted in 64 bits.
  private static let largest = 1 << 43

  /// A name that a folder can have, and that is not hidden. Both sides look: neither trusts the other.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && name.utf8.count <= 255 && !name.hasSlash && !name.utf8.contains(0)
  }
}

extension CloudInterface.Answer {
  init(_ answer: CloudAnswer) {
    switch answer {
    case .accepted(let item): self.init(outcome: .accepted, item: .init(item))
    case .conflict(let item): self.init(outcome: .conflict, item: .init(item))
    case .collision(let item): self.init(outcome: .collision, item: .init(item))
    case .missing(let id): self.init(outcome: .missing, missing: id)
    case .cycle: self.init(outcome: .cycle)
    case .overQuota: self.init(outcome: .overQuota)
    }
  }

  /// - Returns: `nil` for an answer without the item that it is about.
  var answer: CloudAnswer? {
    switch outcome {
    case .accepted: item.map { .accepted($0.item) }
    case .conflict: item.map { .conflict($0.item) }
    case .collision: item.map { .collision($0.item) }
    case .missing: missing.map { .missing($0) }
    case .cycle: .cycle
    case .overQuota: .overQuota
    }
  }
}
