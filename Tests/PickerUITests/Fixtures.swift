import Foundation
import Glibc
import Testing

@testable import PickerUI

/// A folder for one test, removed with everything in it when the test is over.
final class TemporaryFolder: Sendable {
  let path: String

  /// - Parameter inMemory: on a file system in memory where there is one; for very many files.
  init(inMemory: Bool = false) throws {
    let shared = "/dev/shm"
    let made =
      inMemory && FileManager.default.isWritableFile(atPath: shared)
      ? shared : FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = "\(made)/picker-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Makes a file, and the folders on the way; answers its path.
  @discardableResult
  func file(_ name: String, _ content: String = "content") throws -> String {
    let file = "\(path)/\(name)"
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try content.write(toFile: file, atomically: false, encoding: .utf8)
    return file
  }

  @discardableResult
  func folder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    return "\(path)/\(name)"
  }

  @discardableResult
  func link(_ name: String, to target: String) throws -> String {
    try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    return "\(path)/\(name)"
  }

  @discardableResult
  func fifo(_ name: String) throws -> String {
    try #require(unsafe mkfifo("\(path)/\(name)", 0o600) == 0)
    return "\(path)/\(name)"
  }
}

func request(
  _ app: String = "TextEdit", message: String? = nil, multiple: Bool = false, kind: PickerRequest.Kind = .file,
  access: PickerRequest.Access = .readWrite, types: [String]? = nil, start: String = "/"
) -> PickerRequest {
  PickerRequest(
    appName: app, message: message, multiple: multiple, kind: kind, access: access, types: types, startFolder: start)
}

/// Entries by short notation: `name/` is a folder, `name|` a FIFO, `name?` a broken link, anything else a file.
func entries(_ names: String...) -> [Entry] {
  names.map { name in
    switch name.last {
    case "/": Entry(name: FileName(String(name.dropLast())), kind: .folder)
    case "|": Entry(name: FileName(String(name.dropLast())), kind: .special)
    case "?": Entry(name: FileName(String(name.dropLast())), kind: .broken, isLink: true)
    default: Entry(name: FileName(name), kind: .file)
    }
  }.sorted(by: Entry.precedes)
}

extension PickerModel {
  /// Presses keys and forgets the effects.
  mutating func type(_ text: String) { for scalar in text.unicodeScalars { _ = press(.text(scalar)) } }

  var rowNames: [String] {
    (0..<rowCount).map { index in
      if case .entry(let entry) = row(at: index) { return entries[entry].name.text }
      return "."
    }
  }

  var nameUnderCursor: String? { rowCount == 0 ? nil : rowNames[cursor] }
}

/// A model that shows these entries in `/home/ann/Documents`.
func model(_ request: PickerRequest, _ entries: [Entry], rows: Int = 10) -> PickerModel {
  var model = PickerModel(request)
  model.resize(listRows: rows)
  model.show(folder: "/home/ann/Documents", isTop: false, entries: entries)
  return model
}
