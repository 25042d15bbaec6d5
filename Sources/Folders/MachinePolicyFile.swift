internal import Kernel
internal import Paths
internal import SystemPackage

/// A file with what this machine's owner lets any user's policy permit.
package struct MachinePolicyFile: Equatable, Sendable {
  package let path: String
  package let bytes: [UInt8]

  /// The one that holds for everybody.
  package static let ofTheMachine = "/etc/ambit/policy.toml"

  /// Larger ones are nobody's policy.
  private static let maximumSize = 1 << 20

  /// Those that there are.
  ///
  /// - Throws: a sentence, if one cannot be taken at its word. Then nothing may be launched: it may have permitted less.
  package static func all(_ folders: AmbitFolders) throws(StateError) -> [MachinePolicyFile] {
    var files: [MachinePolicyFile] = []
    if let file = try read(ofTheMachine, onlyFromRoot: true) { files.append(file) }
    // Whoever can write it is its user, who takes something from nobody else.
    if let path = folders.furtherMachinePolicy, let file = try read(path, onlyFromRoot: false) { files.append(file) }
    return files
  }

  /// - Parameter onlyFromRoot: what somebody else might have written is refused.
  /// - Returns: `nil` if there is none.
  package static func read(_ path: String, onlyFromRoot: Bool) throws(StateError) -> MachinePolicyFile? {
    let status: FileStatus
    let bytes: [UInt8]
    var root: UInt32 = 0
    do throws(KernelError) {
      // Whoever put a pipe there would otherwise keep us waiting.
      let file = try Descriptor.open(path, flags: [.read, .nonBlocking])
      status = try file.status()
      // In a user namespace root has no number of its own, and is whoever the top of the tree belongs to.
      root = try Descriptor.open("/", flags: [.path, .directory]).status().userID
      bytes = status.kind == .regular ? try file.readAll(limit: maximumSize) : []
    } catch {
      if error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory {
        guard let link = Self.link(in: path) else { return nil }
        throw refusal(path, "cannot be read (the link \(link) leads nowhere)")
      }
      throw refusal(path, "cannot be read (\(error))")
    }
    if let fault = fault(status, root: onlyFromRoot ? root : nil) { throw refusal(path, fault) }
    return MachinePolicyFile(path: path, bytes: bytes)
  }

  /// The last part of a path that is there, if that is a link: somebody meant the rest to be.
  private static func link(in path: String) -> String? {
    var path = path
    while path.utf8.count > 1 {
      if let found = try? Descriptor.open(path, flags: [.path, .noFollow]) {
        let leads = (try? Descriptor.open(path, flags: .path)) != nil
        return (try? found.status().kind) == .symlink && !leads ? path : nil
      }
      path = path.parentPath ?? ""
    }
    return nil
  }

  /// What is wrong with such a file, as the end of a sentence.
  ///
  /// - Parameter root: the only one who may have written it; `nil`: anybody.
  static func fault(_ status: FileStatus, root: UInt32?) -> String? {
    if status.kind != .regular { return "is no file" }
    guard let root else { return nil }
    if status.userID != root { return "belongs to user \(status.userID) and has to belong to root (chown root)" }
    if status.mode & 0o022 != 0 { return "can be written by others than root (chmod go-w)" }
    return nil
  }

  private static func refusal(_ path: String, _ reason: String) -> StateError {
    StateError(
      "The machine-wide policy \(path) \(reason). Nothing is launched until that is mended, since it may permit less.")
  }
}
