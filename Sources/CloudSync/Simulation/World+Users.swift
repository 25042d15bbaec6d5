extension World {
  private static let names = ["note.txt", "Note.txt", "draft.txt", "letter", "plan.md"]
  private static let folderNames = ["Work", "Home", "work", "Old", "letter"]

  /// The user of a device does something in the folder, as any program does it.
  mutating func use(_ decision: Decision) {
    let d = decision.device
    guard change(decision, d) else { return }
    startScan(d)
  }

  private mutating func change(_ decision: Decision, _ d: Int) -> Bool {
    let documents = devices[d].disk.nodes.indices.filter { devices[d].disk.nodes[$0].kind == .document }
    let folders = devices[d].disk.nodes.indices.filter { devices[d].disk.nodes[$0].kind == .folder }
    func pick(_ list: [Int]) -> Int? { list.isEmpty ? nil : list[decision.first % list.count] }
    switch decision.kind {
    case .create, .createFolder:
      let choice = decision.first % (folders.count + 1)
      let parent = choice == 0 ? LocalItem.root : devices[d].disk.nodes[folders[choice - 1]].id
      return create(decision, in: parent, d)
    case .edit, .saveAsNewFile:
      guard let i = pick(documents) else { return false }
      edit(i, isNewFile: decision.kind == .saveAsNewFile, d)
      return true
    case .rename:
      guard let i = pick(Array(devices[d].disk.nodes.indices)) else { return false }
      let node = devices[d].disk.nodes[i]
      let names = node.kind == .folder ? Self.folderNames : Self.names
      return move(i, to: node.parent, names[decision.second % names.count], d)
    case .move:
      guard let i = pick(Array(devices[d].disk.nodes.indices)) else { return false }
      let choice = decision.second % (folders.count + 1)
      let parent = choice == 0 ? LocalItem.root : devices[d].disk.nodes[folders[choice - 1]].id
      return move(i, to: parent, devices[d].disk.nodes[i].name, d)
    case .nest:
      guard let i = pick(folders) else { return false }
      let parent = devices[d].disk.nodes[folders[decision.second % folders.count]].id
      return move(i, to: parent, devices[d].disk.nodes[i].name, d)
    case .delete:
      guard let i = pick(documents) else { return false }
      delete([devices[d].disk.nodes[i]], d)
      return true
    case .deleteFolder:
      guard let i = pick(folders) else { return false }
      delete(devices[d].disk.subtree(of: devices[d].disk.nodes[i].id), d)
      return true
    default: return false
    }
  }

  private mutating func create(_ decision: Decision, in parent: String, _ d: Int) -> Bool {
    let isFolder = decision.kind == .createFolder
    let names = isFolder ? Self.folderNames : Self.names
    let name = names[decision.second % names.count]
    guard devices[d].disk.isFree(name, in: parent) else { return false }
    let content = isFolder ? nil : writes.write(over: nil, on: d)
    note { "The user of \($0.devices[d].name) creates \(name) in \(parent) with \(content ?? "nothing")." }
    let place = path(of: parent, name, d)
    if let content { record(d, "write", place, content) } else { record(d, "mkdir", place) }
    devices[d].disk.add(isFolder ? .folder : .document, name, in: parent, content: content)
    return true
  }

  mutating func edit(_ i: Int, isNewFile: Bool, _ d: Int) {
    let node = devices[d].disk.nodes[i]
    let content = writes.write(over: node.content, on: d)
    note { "The user of \($0.devices[d].name) writes \(content) over \(node.content ?? "") of \(node.name)." }
    record(d, isNewFile ? "save" : "write", path(of: node.parent, node.name, d), content)
    devices[d].disk.nodes[i].content = content
    devices[d].disk.nodes[i].version = devices[d].disk.newVersion()
    if isNewFile { devices[d].disk.nodes[i].id = devices[d].disk.newID() }
  }

  mutating func move(_ i: Int, to parent: String, _ name: String, _ d: Int) -> Bool {
    let node = devices[d].disk.nodes[i]
    guard devices[d].disk.isFree(name, in: parent), !devices[d].disk.isInside(parent, node.id) else { return false }
    note { "The user of \($0.devices[d].name) moves \(node.name) of \(node.parent) to \(name) of \(parent)." }
    record(d, "move", path(of: node.parent, node.name, d), path(of: parent, name, d))
    devices[d].disk.nodes[i].parent = parent
    devices[d].disk.nodes[i].name = name
    devices[d].disk.nodes[i].version = devices[d].disk.newVersion()
    return true
  }

  mutating func delete(_ nodes: [ModelDisk.Node], _ d: Int) {
    note { "The user of \($0.devices[d].name) deletes \(nodes.map(\.name))." }
    // With a folder goes all that is in it.
    let ids = Set(nodes.map(\.id))
    for top in nodes where !ids.contains(top.parent) { record(d, "delete", path(of: top.parent, top.name, d)) }
    for node in nodes { if let content = node.content { writes.delete(content) } }
    devices[d].disk.nodes.removeAll { nodes.contains($0) }
  }

  private func path(of parent: String, _ name: String, _ d: Int) -> String {
    var (folder, path) = (parent, name)
    while folder != LocalItem.root, let i = devices[d].disk.position(of: folder) {
      path = "\(devices[d].disk.nodes[i].name)/\(path)"
      folder = devices[d].disk.nodes[i].parent
    }
    return path
  }
}
