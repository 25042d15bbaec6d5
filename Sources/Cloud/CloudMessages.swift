internal import CloudSync
internal import Paths
internal import Wire

/// Bounds of messages, in bytes. Both sides look: neither trusts the other.
enum CloudBounds {
  /// Of an identifier, the parent's too.
  static let id = 300
  static let name = 255
  /// A SHA-256 in hexadecimal.
  static let content = 64
  /// Of a device's name.
  static let device = 100
  /// Of a document. All documents together are counted in 64 bits.
  static let size = 1 << 43
}

extension CloudInterface.Item {
  init(_ item: CloudItem) {
    self.init(
      id: item.id, parent: item.parent, name: item.name, kind: item.kind == .folder ? .folder : .document,
      revision: item.revision, contentRevision: item.contentRevision, placeRevision: item.placeRevision,
      content: item.content, size: Int(item.size), device: item.device, deleted: item.isDeleted)
  }

  /// - Returns: `nil` if it is out of the bounds that a cloud keeps to.
  var item: CloudItem? {
    guard !id.isEmpty, id.utf8.count <= CloudBounds.id, parent.utf8.count <= CloudBounds.id,
      name.utf8.count <= CloudBounds.name, (content?.utf8.count ?? 0) <= CloudBounds.content,
      device.utf8.count <= CloudBounds.device, (0...CloudBounds.size).contains(size)
    else { return nil }
    return CloudItem(
      id: id, parent: parent, name: name, kind: kind == .folder ? .folder : .document, revision: revision,
      contentRevision: contentRevision, placeRevision: placeRevision, content: content, size: Int64(size),
      device: device, isDeleted: deleted)
  }
}

extension CloudPage {
  /// - Returns: `nil` if an item is out of bounds. Without it, a device that lists everything would take it for deleted.
  init?(_ reply: CloudInterface.ChangesReply) {
    let items = reply.items.compactMap(\.item)
    guard items.count == reply.items.count else { return nil }
    self.init(items: items, next: reply.next, more: reply.more, revision: reply.revision)
  }
}

extension CloudInterface.Content {
  var isInBounds: Bool { content.utf8.count <= CloudBounds.content && (0...CloudBounds.size).contains(size) }
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
    guard !id.isEmpty, id.utf8.count <= CloudBounds.id, (parent?.utf8.count ?? 0) <= CloudBounds.id,
      (content?.utf8.count ?? 0) <= CloudBounds.content, (0...CloudBounds.size).contains(size ?? 0)
    else { return nil }
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

  /// A name that a folder can have, and that is not hidden. Both sides look: neither trusts the other.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && !name.isHiddenName && name.utf8.count <= CloudBounds.name && !name.hasSlash
      && !name.utf8.contains(0)
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

  /// - Returns: `nil` for an answer without the item that it is about, or with one out of bounds.
  var answer: CloudAnswer? {
    let about: CloudItem? = item?.item
    return switch outcome {
    case .accepted: about.map { .accepted($0) }
    case .conflict: about.map { .conflict($0) }
    case .collision: about.map { .collision($0) }
    case .missing: missing.map { .missing($0) }
    case .cycle: .cycle
    case .overQuota: .overQuota
    }
  }
}
