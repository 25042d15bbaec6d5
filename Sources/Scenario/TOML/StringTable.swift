internal import Kernel
internal import SystemPackage

/// A TOML file with one table of texts.
package enum StringTable {
  /// - Parameter table: the table's name; the file has no other.
  /// - Returns: its entries; none when there is no such file.
  /// - Throws: ``ScenarioError`` with the place of the fault.
  package static func read(path: String, table: String) throws(ScenarioError) -> [String: String] {
    let bytes: [UInt8]
    do throws(KernelError) { bytes = try Descriptor.content(ofFile: path, limit: 1 << 20) } catch {
      if error.errno == .noSuchFileOrDirectory { return [:] }
      throw ScenarioError(file: path, place: nil, message: "cannot be read: \(error.fileFault)")
    }
    var fields = try Fields(
      try TOMLFile.parse(String(decoding: bytes, as: UTF8.self), file: path), file: path, what: "the file")
    var texts: [String: String] = [:]
    if let node = fields.node(table) {
      var entries = try Fields(node, file: path, what: "`\(table)`")
      for key in entries.keysInOrder { texts[key] = try entries.string(key) }
    }
    try fields.finish(known: [table], what: "the file")
    return texts
  }
}
