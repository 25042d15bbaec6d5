internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// The programs under test, at a place where any user can run them: the checkout may lie under a folder that only its
/// owner can enter.
package enum Products {
  package static let names = [
    "ambit", "ambit-tools", "ambitctl", "battery", "probe", "TextEdit", "ambit-agent", "plain-agent", "document-saver",
    "test-provider", "Snippets",
  ]

  /// The path of a program.
  package static func path(_ name: String) throws(HarnessError) -> String {
    let folder = try staged.get()
    let path = "\(folder)/\(name)"
    guard unsafe access(path, X_OK) == 0 else { throw missing(name) }
    return path
  }

  /// Copied once a process, and removed when it ends.
  private static let staged: Result<String, HarnessError> = {
    var template = Array("/tmp/ambit-products-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { return .failure(HarnessError("mkdtemp: errno \(errno)")) }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    _ = unsafe chmod(folder, 0o755)
    removeAtEnd()
    for name in names {
      let built = "\(buildFolder)/\(name)"
      let copy = "\(folder)/\(name)"
      if unsafe link(built, copy) == 0 { continue }
      // By a process of its own: what this one has open for writing others may be started with, and nobody could run it.
      let copying = Process()
      copying.executableURL = URL(fileURLWithPath: "/bin/cp")
      copying.arguments = ["--", built, copy]
      if (try? copying.run()) != nil { copying.waitUntilExit() }
      _ = unsafe chmod(copy, 0o755)
    }
    return .success(folder)
  }()

  private static func removeAtEnd() {
    atexit { if case .success(let folder) = Products.staged { try? FileManager.default.removeItem(atPath: folder) } }
  }

  /// Where the test bundle was built, and with it the programs: the bundle itself is the program that runs the tests.
  package static let buildFolder: String = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let folders = [
      (own as NSString).deletingLastPathComponent,
      ((CommandLine.arguments.first ?? "") as NSString).deletingLastPathComponent,
      URL(fileURLWithPath: "\(#filePath)/../../../.build/debug").standardizedFileURL.path,
    ]
    return folders.first { FileManager.default.fileExists(atPath: "\($0)/ambit") } ?? folders[2]
  }()

  private static func missing(_ name: String) -> HarnessError {
    HarnessError("\(buildFolder)/\(name) is not there: build first: make test")
  }
}
