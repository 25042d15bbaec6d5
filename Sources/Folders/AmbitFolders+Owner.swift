internal import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The owner of Ambit's folders. The owner decides their content: policies, grants, and the socket that
/// documents are handed to.
extension AmbitFolders {
  /// Refuses folders that another user than this one and root could have filled, or could exchange.
  ///
  /// Each folder on the way to them is looked at, and each link. The owner of a folder can make a missing one
  /// in it, so that is enough.
  ///
  /// - Parameter user: the asking user; root may be asked for as well.
  package func check(as user: UInt32) throws(StateError) {
    var way = Way(owners: [user])
    do throws(KernelError) {
      // In a user namespace root has no number of its own, and is the owner of the top of the tree.
      way.owners.insert(try Descriptor.open("/", flags: [.path, .directory]).status().userID)
    } catch { throw StateError("Ambit's folders cannot be looked at: \(error)") }
    for folder in [data, state, runtime, configuration] { try way.check(folder) }
  }
}

/// The folders that have been looked at.
private struct Way {
  var owners: Set<UInt32>
  private var seen: Set<PathKey> = []

  init(owners: Set<UInt32>) { self.owners = owners }

  /// Links on one way, as the kernel has it (`path_resolution(7)`).
  private static let mostLinks = 40

  mutating func check(_ path: String) throws(StateError) {
    var rest: [String] = path.pathNames.reversed()
    var reached = ""
    var links = 0
    while let name = rest.popLast() {
      if name == "." { continue }
      if name == ".." {
        reached = reached.parentPath.flatMap { $0 == "/" ? "" : $0 } ?? ""
        continue
      }
      let next = "\(reached)/\(name)"
      guard !seen.contains(PathKey(next)) else {
        reached = next
        continue
      }
      guard let (status, link) = try look(next, for: path) else { return }
      guard owners.contains(status.userID) else {
        throw Self.refusal(path, next, "belongs to user \(status.userID), and neither to you nor to root")
      }
      if let link {
        links += 1
        guard links <= Self.mostLinks else { throw Self.refusal(path, next, "leads from link to link without end") }
        rest += link.pathNames.reversed()
        if link.isAbsolutePath { reached = "" }
        continue
      }
      // In a folder such as /tmp each user has folders of their own.
      if status.kind == .directory, status.mode & 0o1002 == 0o002 {
        throw Self.refusal(path, next, "can be written by everybody, who could put something else there (chmod o-w)")
      }
      seen.insert(PathKey(next))
      reached = next
    }
  }

  /// - Returns: `nil` where nothing is there.
  private func look(_ place: String, for path: String) throws(StateError) -> (FileStatus, link: String?)? {
    do throws(KernelError) {
      let found = try Descriptor.open(place, flags: .place)
      let status = try found.status()
      return (status, status.kind == .symlink ? try found.linkText() : nil)
    } catch {
      if error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory { return nil }
      throw Self.refusal(path, place, "cannot be looked at (\(error.errno))")
    }
  }

  private static func refusal(_ path: String, _ place: String, _ fault: String) -> StateError {
    let subject = place.isSamePath(as: path) ? "it" : "\(place), on the way to it,"
    return StateError(
      "\(path): Ambit does not use this folder: \(subject) \(fault). Set AMBIT_HOME to a folder of your own, or be the user whose it is."
    )
  }
}
