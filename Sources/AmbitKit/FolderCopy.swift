internal import Foundation

/// Copies a folder's content by reading and writing.
///
/// Foundation's `copyItem(at:to:)` needs sendfile(2) for each file and takes no other way. A sandbox refuses that call, since the
/// pages that it leaves in a pipe would show a document's later content.
struct FolderCopy {
  private static let chunk = 1 << 20
  private let files = FileManager.default

  /// - Parameters:
  ///   - source: a file, a folder or a symbolic link.
  ///   - target: where nothing is yet. What was made before an error stays.
  /// - Throws: CocoaError; `featureUnsupported` for anything else than these three.
  func copy(_ source: URL, to target: URL) throws {
    let attributes = try files.attributesOfItem(atPath: source.path)
    // Set-id bits are refused inside a sandbox, and none of them is a document's.
    let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o600
    let permissions: [FileAttributeKey: Any] = [.posixPermissions: mode & 0o777]
    switch attributes[.type] as? FileAttributeType {
    case .typeDirectory:
      try files.createDirectory(at: target, withIntermediateDirectories: false)
      for name in try files.contentsOfDirectory(atPath: source.path) {
        try copy(source.appendingPathComponent(name), to: target.appendingPathComponent(name))
      }
      try files.setAttributes(permissions, ofItemAtPath: target.path)
    case .typeSymbolicLink:
      let destination = try files.destinationOfSymbolicLink(atPath: source.path)
      try files.createSymbolicLink(atPath: target.path, withDestinationPath: destination)
    case .typeRegular:
      try copyContent(source, to: target)
      try files.setAttributes(permissions, ofItemAtPath: target.path)
    default:
      throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: source, NSFilePathErrorKey: source.path])
    }
  }

  private func copyContent(_ source: URL, to target: URL) throws {
    try Data().write(to: target, options: .withoutOverwriting)
    let input = try FileHandle(forReadingFrom: source)
    defer { try? input.close() }
    let output = try FileHandle(forWritingTo: target)
    defer { try? output.close() }
    while let bytes = try input.read(upToCount: Self.chunk), !bytes.isEmpty { try output.write(contentsOf: bytes) }
  }
}
