extension ModelDisk {
  enum Outcome {
    case done(LocalItem?, lost: String?)
    case refused
  }

  /// Carries out a local act, whole or not at all.
  mutating func perform(_ act: LocalAct, planted: PlantedFault?) -> Outcome {
    switch act {
    case .place(let staged, let parent, let name):
      guard isFolder(parent), isFree(name, in: parent) || planted == .placeOverwrites,
        var node = takeTemporary(staged)
      else { return .refused }
      var lost: String?
      if let old = nodes.firstIndex(where: { $0.parent == parent && $0.name == name }) {
        guard nodes[old].kind == .document else { return .refused }
        lost = nodes.remove(at: old).content
      }
      (node.parent, node.name, node.version) = (parent, name, newVersion())
      nodes.append(node)
      return .done(node.item, lost: lost)
    case .replace(let id, let stamp, let staged):
      guard let i = position(of: id), nodes[i].item.stamp == stamp || planted == .stampNotChecked,
        let new = takeTemporary(staged)
      else { return .refused }
      let lost = nodes[i].content
      (nodes[i].id, nodes[i].content, nodes[i].version) = (new.id, new.content, newVersion())
      return .done(nodes[i].item, lost: lost)
    case .move(let id, let from, let to):
      guard let i = position(of: id), nodes[i].parent == from.parent, nodes[i].name == from.name, isFolder(to.parent),
        isFree(to.name, in: to.parent), !isInside(to.parent, id)
      else { return .refused }
      (nodes[i].parent, nodes[i].name, nodes[i].version) = (to.parent, to.name, newVersion())
      return .done(nodes[i].item, lost: nil)
    case .remove(let id, let stamp):
      guard let i = position(of: id) else { return .refused }
      if nodes[i].kind == .folder {
        if planted == .fullFolderRemoved {
          let gone = subtree(of: id)
          nodes.removeAll { gone.contains($0) }
          return .done(nil, lost: gone.last { $0.kind == .document }?.content)
        }
        guard !nodes.contains(where: { $0.parent == id }) else { return .refused }
      } else if nodes[i].item.stamp != stamp, planted != .stampNotChecked {
        return .refused
      }
      return .done(nil, lost: nodes.remove(at: i).content)
    case .keep(_, let id, _, _):
      guard let i = position(of: id) else { return .refused }
      return .done(nodes[i].item, lost: nil)
    }
  }
}
