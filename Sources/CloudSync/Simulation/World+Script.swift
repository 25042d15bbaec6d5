internal import Paths

// Acts of users by path, for scripts.

extension World {
  /// - Returns: the name of the new content. `nil`: there is no such folder.
  package mutating func write(_ path: String, on d: Int, asNewFile: Bool = false) -> String? {
    startScan(d)
    if let i = position(of: path, on: d) {
      edit(i, isNewFile: asNewFile, d)
      return devices[d].disk.nodes[i].content
    }
    guard let (parent, name) = place(of: path, on: d) else { return nil }
    let content = writes.write(over: nil, on: d)
    devices[d].disk.add(.document, name, in: parent, content: content)
    return content
  }

  package mutating func makeFolder(_ path: String, on d: Int) -> Bool {
    startScan(d)
    guard let (parent, name) = place(of: path, on: d) else { return false }
    devices[d].disk.add(.folder, name, in: parent, content: nil)
    return true
  }

  package mutating func move(_ path: String, to target: String, on d: Int) -> Bool {
    startScan(d)
    guard let i = position(of: path, on: d), let (parent, name) = place(of: target, on: d) else { return false }
    return move(i, to: parent, name, d)
  }

  package mutating func delete(_ path: String, on d: Int) -> Bool {
    startScan(d)
    guard let i = position(of: path, on: d) else { return false }
    delete(devices[d].disk.subtree(of: devices[d].disk.nodes[i].id), d)
    return true
  }

  package var deviceCount: Int { devices.count }

  /// Contents that a device has kept as conflict versions.
  package var conflictVersions: [String] { (0..<writes.count).map { "c\($0)" }.filter(writes.isKept) }

  package mutating func restartServer() { take(Decision(.restartServer)) }
  package mutating func forgetTombstones() { take(Decision(.purge)) }

  private func position(of path: String, on d: Int) -> Int? {
    guard let (parent, name) = place(of: path, on: d) else { return nil }
    return devices[d].disk.nodes.firstIndex { $0.parent == parent && $0.name == name }
  }

  private func place(of path: String, on d: Int) -> (parent: String, name: String)? {
    var parts = path.pathNames
    guard let name = parts.popLast() else { return nil }
    var folder = LocalItem.root
    for part in parts {
      guard let node = devices[d].disk.nodes.first(where: { $0.parent == folder && $0.name == part }) else {
        return nil
      }
      folder = node.id
    }
    return (folder, name)
  }
}
