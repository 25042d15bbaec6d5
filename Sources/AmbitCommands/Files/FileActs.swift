internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Terminal
internal import UserFiles
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The user's acts on files and folders. Apps that present them let go first, and are told; each act is about the very file that was
/// opened, even if another has its name by then.
struct FileActs {
  private let terms: CoordinatedAccess.Terms
  /// Asked from time to time by acts that take long; where it says no, they end and leave nothing.
  private let goesOn: () -> Bool
  let trash: UserTrash

  /// - Parameters:
  ///   - caller: the command, for people.
  ///   - timeout: seconds; `nil`: the broker's own patience.
  init(_ caller: String, timeout: Double? = nil, while goesOn: @escaping () -> Bool = { true }) throws {
    self.goesOn = goesOn
    terms = CoordinatedAccess.Terms(caller, timeout: timeout)
    trash = UserTrash(environment: ThisProcess.environment, home: try UserSide.folders.home)
  }

  /// The file or folder that a user names; the link itself is none.
  static func held(_ text: String) throws(Failure) -> HeldFile {
    let path = try HostPath.resolved(text, followsLink: false)
    do throws(KernelError) { return try HeldFile(try Descriptor.open(path, flags: .place)) } catch {
      throw failure(error, text)
    }
  }

  static func failure(_ error: KernelError, _ name: String) -> Failure {
    let name = printable(name)
    switch error.errno {
    case .noSuchFileOrDirectory: return Failure("\(name) is not there.", status: 1)
    case .staleNFSFileHandle: return Failure("\(name) is another file by now; nothing was done.", status: 1)
    case .fileExists: return Failure("a file of this name is there already; nothing was done.", status: 1)
    case .improperLink: return Failure("\(name) cannot be moved to another volume; copy it with “ambit cp”.", status: 1)
    case .resourceBusy: return Failure("\(name) is the top of a volume, and cannot be moved.", status: 1)
    case .notPermitted where error.subject.contains("no file and no folder"):
      return Failure("\(name) is no file and no folder; use “ambit rm” or “ambit mv”.", status: 1)
    default: return Failure("\(name): \(error.errno) (\(error.errno.symbol)); nothing was done.", status: 1)
    }
  }

  // MARK: Names and places

  /// - Returns: the new path.
  func rename(_ file: HeldFile, to name: String) throws -> String {
    if let refusal = FileNameRule.refusal(name) { throw Failure(refusal, status: 1) }
    if name.isSamePath(as: file.name) { return file.path }
    return try move(file, to: file.folder, as: name)
  }

  /// - Parameter folder: where it is to be, under its name.
  func move(_ file: HeldFile, toFolder folder: String) throws -> String {
    let path = try HostPath.resolved(folder)
    let target: Descriptor
    do throws(KernelError) { target = try Descriptor.open(path, flags: [.read, .directory]) } catch {
      throw Failure("\(printable(folder)) is no folder that files can be moved to: \(error.errno).", status: 1)
    }
    return try move(file, to: target, as: file.name)
  }

  private func move(_ file: HeldFile, to folder: Descriptor, as name: String) throws -> String {
    guard let place = folder.currentPath else { throw Failure("the folder is gone.", status: 1) }
    let target = place.path(of: name)
    return try moving(file, to: target) { () throws(KernelError) in
      try file.move(to: folder, as: name)
      return target
    }
  }

  /// - Returns: the copy's path.
  func duplicate(_ file: HeldFile) throws -> String {
    var intents = [CoordinatedAccess.Intent(path: file.path, use: .read, options: [])]
    let place = file.folder.currentPath ?? "/"
    // The copy gets the first free of these; no file is ever replaced.
    if let first = Array(NameProposals(duplicating: file.name).prefix(1)).first {
      intents.append(.init(path: place.path(of: first), use: .write, options: []))
    }
    let access = try CoordinatedAccess(intents, terms)
    defer { access.done() }
    do throws(KernelError) {
      try file.confirm()
      let copy = try ItemCopy(
        of: file.item, named: file.name, in: file.folder, owner: nil, duplicates: true, while: goesOn)
      return place.path(of: copy.name)
    } catch { throw Self.failure(error, file.path) }
  }

  private func moving(_ file: HeldFile, to target: String?, _ act: () throws(KernelError) -> String) throws -> String {
    var intents = [CoordinatedAccess.Intent(path: file.path, use: .write, options: ["forMoving"])]
    if let target { intents.append(.init(path: target, use: .write, options: ["forReplacing"])) }
    let access = try CoordinatedAccess(intents, terms)
    defer { access.done() }
    if let now = access.paths.first, !now.isSamePath(as: file.path) {
      throw Failure(
        "\(printable(file.path)) was moved to \(printable(now)) while it was waited for; nothing was done.", status: 1)
    }
    do throws(KernelError) {
      let new = try act()
      try? access.moved(from: file.path, to: new)
      return new
    } catch { throw Self.failure(error, file.path) }
  }

  // MARK: The trash

  /// Puts a file into the trash that other programs see as well.
  func putAway(_ file: HeldFile) throws -> TrashFolder.Item {
    let folders = try UserSide.folders
    if trash.holds(file.path) {
      throw Failure(
        "\(printable(file.path)) is in the trash already. “ambit trash empty” removes it for good.", status: 1)
    }
    guard !folders.grantRules.holdsOwn(file.path), !folders.home.lies(within: file.path) else {
      throw Failure("\(printable(file.path)) holds your home folder or Ambit's own files, and stays.", status: 1)
    }
    var item: TrashFolder.Item?
    _ = try moving(file, to: nil) { () throws(KernelError) in
      let put = try trash.put(file, date: TrashInfo.date(Clock.realtime() / 1_000_000_000))
      item = put
      return put.path
    }
    guard let item else { throw Failure("nothing was done.") }
    return item
  }

  /// Takes a file out of the trash.
  ///
  /// - Parameter folder: `nil`: the one that it was in.
  func restore(_ item: TrashFolder.Item, to folder: String? = nil) throws -> String {
    let held: HeldFile
    let target: Descriptor
    do throws(KernelError) { held = try item.held } catch { throw Self.failure(error, item.name) }
    do throws(KernelError) {
      target =
        if let folder { try Descriptor.open(folder, flags: [.read, .directory]) } else {
          try item.trash.folder(of: item)
        }
    } catch {
      let place = folder ?? item.original?.parentPath ?? "its folder, which no record names"
      throw Failure(
        "\(printable(item.name)) cannot go back to \(printable(place)): \(error.errno). Say another folder with --to.",
        status: 1)
    }
    let wanted = item.original?.lastPathName ?? item.name
    return try moving(held, to: nil) { () throws(KernelError) in
      let name = try item.trash.restore(item, held, to: target, as: wanted)
      return (target.currentPath ?? "/").path(of: name)
    }
  }

  /// The item that lies at a path of a trash.
  func item(at path: String) -> TrashFolder.Item? { trash.items().first { $0.path.isSamePath(as: path) } }

  // MARK: Tags

  /// Changes a file's tags. No content changes by it, and no date of it (`COO-20`).
  func tag(_ file: HeldFile, _ change: (inout FileTags) throws -> Void) throws -> FileTags {
    let access = try CoordinatedAccess(
      [.init(path: file.path, use: .write, options: ["contentIndependentMetadataOnly"])], terms)
    defer { access.done() }
    var tags = FileTags()
    do throws(KernelError) {
      tags = FileTags(try file.item.attribute(FileTags.attribute, limit: FileTags.limit) ?? [])
    } catch { throw Self.failure(error, file.path) }
    try change(&tags)
    do throws(KernelError) {
      try file.confirm()
      try file.item.setFileTags(tags)
    } catch {
      guard error.errno == .notSupported else { throw Self.failure(error, file.path) }
      throw Failure("the volume of \(printable(file.path)) keeps no tags (it has no extended attributes).", status: 1)
    }
    return tags
  }
}
