package import Folders
package import Kernel
internal import Paths
internal import SystemPackage

/// The place of the files that one app instance makes beside its started documents: for each of them a folder of the app's own,
/// which lies on the disk, out of every container, and appears inside as the document's folder (`SBX-9`, `SBX-14`).
///
/// Beside these folders, out of the reach of any app, lie the files that are on their way from one of them to a document's place.
package final class Staging {
  private let parent: Descriptor
  private let instance: String
  private let hostID: UInt32?
  private var made: Descriptor?
  private var folders: [String: Descriptor] = [:]
  /// Files and folders that the reaper removes at a time: a process inside may go on making more.
  private static let most = 1_000_000

  /// - Parameters:
  ///   - parent: the folder of all instances.
  ///   - hostID: the app's host id, where it is not the broker's own.
  package init(in parent: Descriptor, instance: String, hostID: UInt32?) {
    self.parent = parent
    self.instance = instance
    self.hostID = hostID
  }

  /// This instance's part of it, which belongs to the broker alone.
  package func area() throws(KernelError) -> Descriptor {
    if let made { return made }
    do throws(KernelError) { try parent.makeDirectory(instance, mode: 0o700) } catch {
      if error.errno != .fileExists { throw error }
    }
    let area = try Descriptor.open(instance, below: parent, flags: [.read, .directory, .noFollow])
    made = area
    return area
  }

  /// Makes the folder of a grant, with a place for its document in it; the one that is there will do.
  ///
  /// - Parameter others: names under which the document appears as well.
  package func make(
    _ grant: String, name: String, also others: [String] = [], kind: DocumentKind = .file
  ) throws(KernelError) -> Descriptor {
    if let folder = folders[grant] {
      // A process inside may have been in the folder all the time.
      if isPlace(name, in: folder, kind) {
        for other in others where !isPlace(other, in: folder, kind) { try? makePlace(other, in: folder, kind) }
        return folder
      }
      discard(grant)
    }
    let area = try area()
    try area.makeDirectory(grant, mode: 0o755)
    let folder = try Descriptor.open(grant, below: area, flags: [.read, .directory, .noFollow])
    for name in [name] + others { try makePlace(name, in: folder, kind) }
    if let hostID { try folder.changeOwner(hostID) }
    folders[grant] = folder
    return folder
  }

  private func makePlace(_ name: String, in folder: Descriptor, _ kind: DocumentKind) throws(KernelError) {
    if kind == .file {
      _ = try Descriptor.open(name, below: folder, flags: [.create, .exclusive, .noFollow], mode: 0)
    } else {
      try folder.makeDirectory(name, mode: 0)
    }
  }

  private func isPlace(_ name: String, in folder: Descriptor, _ kind: DocumentKind) -> Bool {
    if kind == .file { return folder.hasRegularFile(name) }
    return (try? Descriptor.open(name, below: folder, flags: [.path, .noFollow]).status().kind) == .directory
  }

  /// Lets watchers of the folder see that the document has changed (`FSF-5`): the file that it stands over is written to.
  package func tell(_ grant: String, name: String) {
    #if AMBIT_MUTANTS
      if Mutant.folderWatchersUntold.isActive { return }
    #endif
    guard let folder = folders[grant] else { return }
    try? Descriptor.open(name, below: folder, flags: [.write, .noFollow, .nonBlocking]).writeAll([0])
  }

  package func folder(of grant: String) -> Descriptor? { folders[grant] }

  /// Whether the app has left anything in the folder of a grant besides the places of its document.
  package func holdsAnything(_ grant: String, names: [String]) -> Bool {
    guard let folder = folders[grant] else { return false }
    // At every stop: most have nothing in them but the place.
    var scan = FolderScan(room: 2048)
    let read = try? scan.read(folder, while: { $0 <= 8 + names.count }, where: { _, _ in true })
    guard read?.isWhole == true, let entries = read?.entries else { return true }
    return entries.contains { entry in !names.contains { $0.isSamePath(as: entry.name) } }
  }

  /// Removes the folder of a grant with the files that the app has made in it. An empty one may stay for the next start: the time
  /// of making and removing one depends on the journal of its file system.
  package func discard(_ grant: String) {
    guard let folder = folders.removeValue(forKey: grant), let area = made else { return }
    if DirectoryReaper.isLittle(folder) {
      // It was little a moment ago, and a process inside may be making more.
      _ = try? folder.removeContents(most: DirectoryReaper.few)
      if (try? area.removeDirectory(grant)) != nil { return }
    }
    // It is much, or a process inside is still in it and making more: then it goes with the instance at the latest.
    let old = "\(grant).\(Clock.monotonic())"
    guard (try? area.moveAside(grant, to: area, as: old)) != nil else { return }
    DirectoryReaper.shared.remove {
      _ = try? folder.removeContents(most: Self.most)
      try? area.removeDirectory(old)
    }
  }

  /// Removes everything. When the instance is over.
  package func removeAll() {
    folders = [:]
    guard let area = made else { return }
    made = nil
    Self.remove(instance, area, from: parent)
  }

  fileprivate static let oldPrefix = ".old-"

  fileprivate static func remove(_ instance: String, _ area: Descriptor, from parent: Descriptor) {
    if DirectoryReaper.isLittle(area) {
      _ = try? area.removeContents(most: DirectoryReaper.few)
      if (try? parent.removeDirectory(instance)) != nil { return }
    }
    guard let old = outOfTheWay(instance, in: parent) else { return }
    DirectoryReaper.shared.remove {
      _ = try? area.removeContents(most: Self.most)
      try? parent.removeDirectory(old)
    }
  }

  /// The remains of an instance of a dead broker.
  package struct Left {
    package let area: Descriptor
    package let name: String
    private let parent: Descriptor

    fileprivate init(_ area: Descriptor, _ name: String, _ parent: Descriptor) {
      (self.area, self.name, self.parent) = (area, name, parent)
    }

    /// Whether an instance has left it.
    package func isOf(_ instance: String) -> Bool {
      name == instance || name.hasPrefix("\(Staging.oldPrefix)\(instance).")
    }

    package func remove() { Staging.remove(name, area, from: parent) }
  }

  /// The remains of a dead broker's instances, out of the way of those of these names that may be handed over.
  package static func left(in parent: Descriptor) -> [Left] {
    ((try? DirectoryReader.entries(of: parent)) ?? []).compactMap { entry in
      guard let area = try? Descriptor.open(entry.name, below: parent, flags: [.read, .directory, .noFollow]) else {
        try? parent.removeFile(entry.name)
        return nil
      }
      return Left(area, outOfTheWay(entry.name, in: parent) ?? entry.name, parent)
    }
  }

  private static func outOfTheWay(_ instance: String, in parent: Descriptor) -> String? {
    if instance.hasPrefix(oldPrefix) { return instance }
    let old = "\(oldPrefix)\(instance).\(Clock.monotonic())"
    return (try? parent.moveAside(instance, to: parent, as: old)).map { old }
  }
}
