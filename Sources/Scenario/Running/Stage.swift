import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The scratch folder that a scenario plays in: a home for the "user", and a folder for all of Ambit's own state.
/// Nothing outside it is written.
package struct Stage {
  package let folder: String
  package var home: String { folder + "/home" }
  /// `AMBIT_HOME` of every command.
  package var ambitHome: String { folder + "/ambit" }
  /// Where Ambit keeps the apps' containers below `AMBIT_HOME`.
  package var containers: String { ambitHome + "/data/containers" }

  /// - Throws: ``KernelError``, or an error of FileManager.
  ///
  /// - Parameter base: the folder that it is made in; nil: the one for temporary files, of which an app has one of its own.
  package init(in base: String? = nil) throws {
    // Short, because sockets are made below it and a socket's path has at most 107 bytes.
    let base = base ?? FileManager.default.temporaryDirectory.path
    var template = Array((base + "/ambit-XXXXXX").utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw KernelError.last("mkdtemp", base) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    for path in [home, ambitHome, folder + "/answers"] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
  }

  /// The environment of commands and apps' launchers: this process's environment, with the user's own places replaced.
  package func environment(from inherited: [String: String]) -> [String: String] {
    var environment = inherited.filter { !$0.key.hasPrefix("AMBIT_") && !$0.key.hasPrefix("XDG_") }
    #if AMBIT_MUTANTS
      environment[Mutant.variable] = inherited[Mutant.variable]
    #endif
    environment["AMBIT_HOME"] = ambitHome
    environment["HOME"] = home
    // Where every program is started, so that a picker opens on the scenario's documents.
    environment["PWD"] = home
    environment["NO_COLOR"] = "1"
    return environment
  }

  /// - Returns: a remark when something could not be removed.
  package func remove() -> String? {
    do {
      try FileManager.default.removeItem(atPath: folder)
      return nil
    } catch {
      return "the scratch folder \(folder) could not be removed: \(error.localizedDescription)"
    }
  }
}
