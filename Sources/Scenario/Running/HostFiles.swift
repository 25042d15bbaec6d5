import Foundation
import Kernel

/// The user's acts outside every sandbox, and their visible results.
extension Play {
  func performOnHost(_ verb: Verb) throws -> [String] {
    let manager = FileManager.default
    switch verb {
    case .write(let paths, let content):
      let content = Data(try variables.expand(content).utf8)
      for path in try expand(paths) {
        try manager.createDirectory(atPath: parent(of: path), withIntermediateDirectories: true)
        try content.write(to: URL(fileURLWithPath: path))
      }
      return ["\(content.count) bytes" + (paths.count > 1 ? " each" : "")]
    case .read(let template, let expect):
      let path = try variables.expand(template)
      let bytes: [UInt8]
      do throws(KernelError) { bytes = try Descriptor.content(ofFile: path, limit: 1 << 26) } catch {
        throw Failure(expected: "a readable file at \(path)", seen: error.fileFault)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      try expect.judge(text, variables)
      return [display.line(text)]
    case .move(let from, let to):
      let (from, to) = (try variables.expand(from), try variables.expand(to))
      try manager.createDirectory(atPath: parent(of: to), withIntermediateDirectories: true)
      try manager.moveItem(atPath: from, toPath: to)
      return []
    case .remove(let paths):
      for path in try expand(paths) { try manager.removeItem(atPath: path) }
      return []
    case .present(let paths):
      for path in try expand(paths) where !exists(path) {
        throw Failure(expected: "\(path) to exist", seen: neighbours(of: path))
      }
      return []
    case .absent(let paths):
      for path in try expand(paths) where exists(path) {
        throw Failure(expected: "\(path) not to exist", seen: "it does")
      }
      return []
    default: return []
    }
  }

  private func expand(_ templates: [Template]) throws -> [String] {
    try templates.map { try variables.expand($0) }
  }

  private func parent(of path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

  /// Whether anything has this name, a symbolic link to nowhere too.
  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
      || (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
  }

  private func neighbours(of path: String) -> String {
    let folder = parent(of: path)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return "there is no folder \(folder) either"
    }
    return names.isEmpty ? "\(folder) is empty" : "\(folder) holds \(names.sorted().joined(separator: ", "))"
  }
}
