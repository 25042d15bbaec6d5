internal import Foundation
internal import Kernel
internal import Launcher
internal import PickerUI
internal import Policy

/// `--answers FILE`: the answers to the app's requests for documents, in order.
///
///     [[answer]]
///     pick = ["notes.txt"]
///     [[answer]]
///     cancel = true
///     [[answer]]
///     fill = ["user=ada", "password=secret"]     # the form of a file provider
///     button = "signIn"                          # its first one, if none is named
///     [[answer]]
///     create = "folder"     # a new document in a browser; "": in no folder of the user's
///     [[answer]]
///     action = "export"     # an action of the app's own browser, on these
///     pick = ["notes.txt"]
enum AnswersFile {
  static func read(_ path: String) throws -> [ScriptedPicker.Answer] {
    let bytes: [UInt8]
    do throws(KernelError) { bytes = try Descriptor.content(ofFile: path, limit: StrictTOML.maximumSize) } catch {
      throw Failure(
        "\(path): cannot be read: \(error.fileFault). --answers takes a TOML file with [[answer]] entries.")
    }
    let root = try StrictTOML.parse(String(decoding: bytes, as: UTF8.self), file: path)
    let answers = try (try root.tables("answer") ?? []).map { table in
      let picks = try table.strings("pick")
      let cancel = try table.boolean("cancel") ?? false
      let create = try table.string("create")
      let action = try table.string("action")
      let fill = try table.strings("fill")
      let button = try table.string("button")
      try table.finish()
      if let fill {
        let pairs = try fill.map { pair in
          guard let sign = pair.firstIndex(of: "=") else {
            throw Failure("\(path): fill = [\"key=value\"]: “\(pair)” has no equals sign.")
          }
          return (String(pair[..<sign]), String(pair[pair.index(after: sign)...]))
        }
        return ScriptedPicker.Answer.fill(Dictionary(pairs) { $1 }, button: button)
      }
      if let create {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return ScriptedPicker.Answer.create(
          create.isEmpty ? nil : URL(fileURLWithPath: create, relativeTo: folder).standardizedFileURL.path)
      }
      if cancel { return ScriptedPicker.Answer.cancel }
      if let action {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return .act(
          action, (picks ?? []).map { URL(fileURLWithPath: $0, relativeTo: folder).standardizedFileURL.path })
      }
      guard let picks, !picks.isEmpty else {
        throw Failure("\(path): an [[answer]] has neither pick = [\"path\"] nor cancel = true.")
      }
      // Relative to the file that names them, so that a scenario can be moved about with its documents.
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      return .pick(picks.map { URL(fileURLWithPath: $0, relativeTo: folder).standardizedFileURL.path })
    }
    try root.finish()
    return answers
  }
}
