internal import Kernel
internal import Paths
internal import Sandbox
internal import Terminal

/// The root that a plan makes, drawn as a tree.
struct RootTree {
  private final class Node {
    var entry: SandboxPlan.Entry?
    var children: [(name: String, node: Node)] = []

    func child(_ name: String) -> Node {
      if let found = children.first(where: { $0.name == name }) { return found.node }
      let made = Node()
      children.append((name, made))
      return made
    }
  }

  private let root = Node()
  private let style: Style

  init(_ plan: SandboxPlan, style: Style) {
    self.style = style
    for entry in plan.root {
      var node = root
      for part in entry.path.pathNames { node = node.child(part) }
      node.entry = entry
    }
  }

  /// One line an entry.
  var lines: [String] {
    var lines = [style.bold("/") + "  " + style.dim("a file system in memory, read-only")]
    draw(root, "", &lines)
    return lines
  }

  private func draw(_ node: Node, _ indent: String, _ lines: inout [String]) {
    let masked = node.children.filter { if case .masked = $0.node.entry { true } else { false } }.map(\.name)
    let children = node.children.filter { !masked.contains($0.name) }
    for start in stride(from: 0, to: masked.count, by: Self.maskedInLine) {
      let names = masked[start..<min(start + Self.maskedInLine, masked.count)].joined(separator: ", ")
      let isLast = children.isEmpty && start + Self.maskedInLine >= masked.count
      lines.append(style.dim(indent + (isLast ? "└── " : "├── ")) + names + style.dim("  hidden"))
    }
    for (index, child) in children.enumerated() {
      let isLast = index == children.count - 1
      let name = printable(child.name)
      lines.append(
        style.dim(indent + (isLast ? "└── " : "├── ")) + (child.node.children.isEmpty ? name : style.bold(name))
          + note(child.node.entry))
      draw(child.node, indent + (isLast ? "    " : "│   "), &lines)
    }
  }

  /// Hidden entries are many, and need no remarks one by one.
  private static let maskedInLine = 8

  private func note(_ entry: SandboxPlan.Entry?) -> String {
    switch entry {
    case .link(_, let target): return style.dim(" → ") + printable(target)
    case .file: return style.dim("  made for the sandbox")
    case .bind(let path, let source, _, let attributes):
      let from = path == source ? "the host's" : "← \(printable(source))"
      let rights = attributes.contains(.readOnly) ? "read-only" : style.green("writable")
      return "  " + style.dim(from) + "  " + rights
        + (attributes.contains(.noExecute) ? style.dim(", not executable") : "")
    case .temporary(_, _, let size, let inodes, let attributes):
      return "  " + style.green("writable") + style.dim(", in memory, \(size), \(inodes) files")
        + (attributes.contains(.noExecute) ? style.dim(", not executable") : "")
    case .documents: return style.dim("  documents appear here while their scope is started")
    case .processes: return style.dim("  the sandbox's own processes")
    case .terminals: return style.dim("  the sandbox's own terminals")
    case .listener: return style.dim("  the broker's socket, of this instance alone")
    case .masked: return style.dim("  hidden")
    case .readOnly: return style.dim("  read-only")
    case .directory, nil: return ""
    }
  }
}
