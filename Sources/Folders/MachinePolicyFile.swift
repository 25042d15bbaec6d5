internal import Kernel
internal import Paths
internal import SystemPackage

/// A file with the limits that this machine's owner sets to any user's policy.
package struct MachinePolicyFile: Equatable, Sendable {
  package let path: String
  package let bytes: [UInt8]

  /// The one that holds for all users.
  package static let ofTheMachine = "/etc/ambit/policy.toml"

  /// Larger ones are no policy.
  private static let maximumSize = 1 << 20

  /// Those that there are.
  ///
  /// - Throws: a sentence, if one cannot be taken at its word. Then nothing may be launched: it may have permitted less.
  package static func all(_ folders: AmbitFolders) throws(StateError) -> [MachinePolicyFile] {
    var files: [MachinePolicyFile] = []
    if let file = try read(ofTheMachine, onlyFromRoot: true) { files.append(file) }
    // Its writer is the user that it applies to, and takes rights from no other user.
    if let path = folders.furtherMachinePolicy, let file = try read(path, onlyFromRoot: false) { files.append(file) }
    return files
  }

  /// - Parameter onlyFromRoot: a file that another user might have written is refused.
  /// - Returns: `nil` if there is none.
  package static func read(_ path: String, onlyFromRoot: Bool) throws(StateError) -> MachinePolicyFile? {
    let status: FileStatus
    let bytes: [UInt8]
    var root: UInt32 = 0
    do throws(KernelError) {
      // A pipe there would otherwise keep the reader waiting.
      let file = try Descriptor.open(path, flags: [.read, .nonBlocking])
      status = try file.status()
      // In a user namespace root has no number of its own, and is the owner of the top of the tree.
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

  /// The last existing part of a path, if that is a link: its maker meant the rest to be there.
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

  /// The fault of such a file, as the end of a sentence.
  ///
  /// - Parameter root: the only user that may have written it; `nil`: any.
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
