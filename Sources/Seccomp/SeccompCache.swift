internal import Cryptography
internal import Foundation
package import Kernel

/// Compiled filters by the content of their profile: compiling costs a millisecond that a launch need not spend twice.
///
/// The folder belongs to the user and no other user may write there; a file that is not whole is compiled anew.
package struct SeccompCache: Sendable {
  private let folder: String?

  /// - Parameter folder: made when it is missing; `nil` compiles every time.
  package init(folder: String?) { self.folder = folder }

  /// The compiler. The same rules may make different programs.
  package enum Compiler: String, Sendable {
    /// For Ambit's own profiles, which have no overlapping rules.
    case libseccomp
    /// For others' (``SeccompProgram/init(strictest:otherwise:)``).
    case strictest
  }

  package func program(for profile: SeccompProfile, by compiler: Compiler = .libseccomp) throws(KernelError)
    -> SeccompProgram
  {
    let key = "\(compiler.rawValue)\n\(profile.identity)"
    let path = folder.map { "\($0)/\(Hexadecimal.text(SHA256.digest(key))).bpf" }
    if let path, let stored = Self.read(path) { return stored }
    let compiled =
      switch compiler {
      case .libseccomp: try SeccompProgram(rules: profile.rules, otherwise: profile.otherwise)
      case .strictest: try SeccompProgram(strictest: profile.rules, otherwise: profile.otherwise)
      }
    if let path, let folder { Self.store(compiled, at: path, in: folder) }
    return compiled
  }

  /// Content, then its digest: a file cut short or changed by accident is not a filter.
  private static func read(_ path: String) -> SeccompProgram? {
    guard let data = FileManager.default.contents(atPath: path), data.count > 32, (data.count - 32) % 8 == 0 else {
      return nil
    }
    let content = Array(data.dropLast(SHA256.size))
    guard SHA256.digest(content) == Array(data.suffix(SHA256.size)) else { return nil }
    return SeccompProgram(bytes: content)
  }

  /// A cache that cannot be written is only slower, so failures are not reported.
  private static func store(_ program: SeccompProgram, at path: String, in folder: String) {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let data = Data(program.bytes + SHA256.digest(program.bytes))
    try? data.write(to: URL(fileURLWithPath: path), options: .atomic)
  }
}
