// The invariants. They use the users' writes, the disks and the ledger's rows, and none of the engine's own data.

extension World {
  /// The server decides, and each accepted change is held against the rules.
  mutating func ask(_ change: CloudChange, device d: Int, key: String, isFirst: Bool) -> CloudAnswer {
    let old = server.ledger.item(change.id)
    let before = server.ledger.revision
    let (answer, changed) = server.answer(change, device: devices[d].name, key: key, isFirst: isFirst)
    for row in changed { check(row, change, old: old, before: before, by: d) }
    return answer
  }

  private mutating func check(_ row: CloudItem, _ change: CloudChange, old: CloudItem?, before: Int, by d: Int) {
    if row.revision <= before { fail(.order, "The ledger goes back from \(before) to \(row.revision).") }
    if let old, old.isDeleted { fail(.order, "The deleted item \(row.id) changes.") }
    switch change {
    case .create(let item):
      if devices[d].kept?.content == item.content { devices[d].kept = nil }
      if old != nil { fail(.identity, "The id \(item.id) is given twice.") }
      if let content = item.content { checkNew(content, row) }
    case .replace(let id, let content, _, _):
      if let lost = old?.content, !writes.isSeen(lost, on: d) {
        fail(.unseen, "\(content) replaces \(lost) of \(id) in the cloud, and \(devices[d].name) has never had it.")
      }
      writes.accept(content, by: id)
    case .move(let id, _, _, let base):
      if base != old?.placeRevision {
        fail(.unseen, "A device moves \(id) in the cloud from a place that it has not seen.")
      }
    case .delete(let id, _):
      if server.ledger.items.contains(where: { $0.parent == id }) {
        fail(.structure, "The cloud's folder \(id) is deleted with items in it.")
      }
    }
    if !row.isDeleted { checkPlace(of: row) }
    if let content = row.content, !writes.isWhole(content) {
      fail(.whole, "The cloud has the partial content \(content).")
    }
  }

  /// No user copies a document. If its item is deleted, several devices may bring it back.
  private mutating func checkNew(_ content: String, _ row: CloudItem) {
    if let home = writes.home(of: content), let other = server.ledger.item(home), !other.isDeleted,
      other.content == content
    {
      if home == row.id {
        fail(.identity, "The id \(home) is given twice.")
      } else {
        fail(.identity, "The content \(content) is in the cloud twice, as \(home) and as \(row.id).")
      }
    }
    writes.accept(content, by: row.id)
  }

  private mutating func checkPlace(of row: CloudItem) {
    for other in server.ledger.items where other.id != row.id && other.parent == row.parent {
      if other.name.lowercased() == row.name.lowercased() {
        fail(.structure, "The cloud's items \(row.id) and \(other.id) have the same name \(row.name) in \(row.parent).")
      }
    }
    var (folder, steps) = (row.parent, 0)
    while folder != CloudItem.root {
      steps += 1
      if folder == row.id || steps > server.ledger.count {
        fail(.structure, "The cloud's folder \(row.id) contains itself.")
        return
      }
      guard let parent = server.ledger.item(folder), !parent.isDeleted else {
        fail(.structure, "The cloud's item \(row.id) is in \(folder), which does not exist.")
        return
      }
      folder = parent.parent
    }
  }

  /// The ledger after a restart has what it had answered.
  mutating func checkLedger() {
    for device in devices where device.engine.anchor > server.ledger.revision {
      fail(
        .order,
        "The ledger goes back to \(server.ledger.revision), and \(device.name) has heard of \(device.engine.anchor).")
    }
  }

  /// A local act shows whole contents, and loses none.
  mutating func check(_ act: LocalAct, lost: String?, on d: Int) {
    let name = devices[d].name
    if let lost, !writes.isSafe(lost) {
      fail(.lost, "\(name) drops the content \(lost), which is neither in the cloud nor a conflict version.")
    }
    switch act {
    case .keep(_, let id, let content, _):
      writes.keep(content)
      devices[d].kept = (id, content)
    case .place, .replace:
      for node in devices[d].disk.nodes {
        guard let content = node.content else { continue }
        if !writes.isWhole(content) { fail(.whole, "\(name) shows the partial content \(content) as \(node.name).") }
        writes.show(content, on: d)
      }
      // A content that was kept in an earlier conflict may be current again later, and edited.
      if case .replace(let id, _, let staged) = act, devices[d].kept?.document == id, let lost, writes.isKept(lost),
        let new = devices[d].disk.nodes.first(where: { $0.id == staged })?.content, writes.descends(new, from: lost)
      {
        fail(.needless, "\(name) keeps \(lost) as a conflict version, and \(new) is based on it.")
      }
    case .move, .remove: return
    }
  }

  mutating func checkEnd() {
    let cloud = cloudListing
    for (d, device) in devices.enumerated() {
      let local = listing(of: d)
      if local != cloud { fail(.agreement, "\(device.name) has \(local), and the cloud has \(cloud).") }
    }
    if let lost = writes.firstLost(current: server.ledger.items.compactMap(\.content)) {
      fail(
        .lost,
        "The content \(lost) is lost: it is not current, not kept, not replaced and not deleted by a user who had it.")
    }
  }

  /// A line for each item: the path, and the content or a slash.
  package var cloudListing: [String] {
    lines(of: server.ledger.items.map { ($0.id, $0.parent, $0.name, $0.content) })
  }

  package func listing(of d: Int) -> [String] {
    lines(of: devices[d].disk.nodes.map { ($0.id, $0.parent, $0.name, $0.content) })
  }

  private func lines(of items: [(id: String, parent: String, name: String, content: String?)]) -> [String] {
    var result: [String] = []
    for item in items {
      var path = item.name
      var parent = item.parent
      var depth = 0
      while parent != CloudItem.root, depth < items.count, let folder = items.first(where: { $0.id == parent }) {
        path = folder.name + "/" + path
        parent = folder.parent
        depth += 1
      }
      if parent != CloudItem.root { path = "nowhere/" + path }
      result.append(item.content.map { "\(path) \($0)" } ?? path + "/")
    }
    return result.sorted()
  }
}
