internal import Foundation

/// The kind of the file that a path itself names, a symbolic link not being followed.
enum FileKind: Equatable, CustomStringConvertible {
  case regular, folder, link, other

  /// `nil` when there is nothing there; an error when that cannot be known.
  init?(path: String) throws(AppBundleError) {
    let attributes: [FileAttributeKey: Any]
    do {
      attributes = try FileManager.default.attributesOfItem(atPath: path)
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      return nil
    } catch {
      throw .unreadable(path: path, reason: PropertyListFile.reason(error))
    }
    self =
      switch attributes[.type] as? FileAttributeType {
      case .typeRegular: .regular
      case .typeDirectory: .folder
      case .typeSymbolicLink: .link
      default: .other
      }
  }

  var description: String {
    switch self {
    case .regular: "a file"
    case .folder: "a folder"
    case .link: "a symbolic link"
    case .other: "a pipe, socket or device"
    }
  }
}
