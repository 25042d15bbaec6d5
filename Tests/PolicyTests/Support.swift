import Foundation

@testable import Policy

/// A folder that is removed with everything in it when the last reference goes.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("ambit-policy-\(UUID().uuidString)").resolvingSymlinksInPath()
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var path: String { url.path }

  func folder(_ name: String) throws -> URL {
    let folder = url.appendingPathComponent(name, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String {
    let file = url.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file.path
  }
}

/// What decoding a policy's text says: the error, or `nil`.
func complaint(_ text: String) -> String? {
  do {
    _ = try PolicyOverrides(StrictTOML.parse(text, file: "x.toml"))
    return nil
  } catch {
    return error.description
  }
}
