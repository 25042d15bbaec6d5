package import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// One trash of the user's (freedesktop.org Trash specification 1.0): the home trash, or that at the top of a volume.
package struct TrashFolder: Sendable {
  /// Where it is.
  package let path: String
  /// The top of its volume, which its records are relative to; `nil`: the home trash.
  package let top: Descriptor?
  fileprivate let files: Descriptor
  fileprivate let info: Descriptor

  /// Records that are read.
  package static let mostItems = 20_000

  /// - Parameter folder: the folder that has `files` and `info`.
  fileprivate init(_ folder: Descriptor, top: Descriptor?, makes: Bool) throws(KernelError) {
    let status = try folder.status()
    // Another user's folder here would get the files.
    guard status.userID == geteuid(), status.mode & 0o022 == 0 else {
      throw KernelError("open", "\(folder.currentPath ?? "the trash"), which others may change", errno: .notPermitted)
    }
    (files, info) = (
      try Self.part("files", of: folder, makes: makes), try Self.part("info", of: folder, makes: makes)
    )
    self.top = top
    path = folder.currentPath ?? ""
  }

  fileprivate static func part(_ name: String, of folder: Descriptor, makes: Bool) throws(KernelError) -> Descriptor {
    if makes {
      do throws(KernelError) { try folder.makeDirectory(name, mode: 0o700) } catch {
        guard error.errno == .fileExists else { throw error }
      }
    }
    return try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
  }

  // MARK: Putting away

  /// Puts a file in. The record is there first, so that no file lies in the trash without one.
  ///
  /// - Parameters:
  ///   - original: the path that the record is to have.
  ///   - date: local time, as ``TrashInfo`` has it.
  /// - Returns: its name in the trash.
  /// - Throws: `EXDEV`: this trash is on another volume; the file is as it was.
  package func put(_ file: HeldFile, original: String, date: String) throws(KernelError) -> String {
    let record = Array(TrashInfo(path: original, date: date).text.utf8)
    for name in NameProposals(file.name, longest: 255 - TrashInfo.suffix.utf8.count) {
      let made: Descriptor
      do throws(KernelError) {
        made = try Descriptor.open(
          name + TrashInfo.suffix, below: info, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
      } catch {
        if error.errno == .fileExists { continue }
        throw error
      }
      do throws(KernelError) {
        try made.writeAll(record)
        try made.synchronize()
        try file.move(to: files, as: name)
        return name
      } catch {
        try? info.removeFile(name + TrashInfo.suffix)
        // A file without a record has the name.
        if error.errno == .fileExists { continue }
        throw error
      }
    }
    throw KernelError("rename", file.path, errno: .fileExists)
  }

  // MARK: Items

  package struct Item: Sendable {
    /// In the trash.
    package let name: String
    /// Where it was, absolute; `nil`: its record says nothing that can be believed.
    package let original: String?
    /// Empty where the record has none.
    package let date: String
    package let trash: TrashFolder

    /// Where it lies now.
    package var path: String { trash.path.path(of: "files").path(of: name) }
    package var isFolder: Bool { (try? held.isFolder) ?? false }
    package var held: HeldFile {
      get throws(KernelError) { try HeldFile(try Descriptor.open(name, below: trash.files, flags: .place)) }
    }
  }

  /// All that lie in it, with their records.
  package func items() throws(KernelError) -> [Item] {
    try DirectoryReader.entries(of: files, limit: Self.mostItems).map { item(named: $0.name) }
  }

  package func item(named name: String) -> Item {
    let record = record(of: name)
    return Item(name: name, original: record.flatMap(original), date: record?.date ?? "", trash: self)
  }

  private func record(of name: String) -> TrashInfo? {
    guard name.utf8.count + TrashInfo.suffix.utf8.count <= 255,
      let file = try? Descriptor.open(
        name + TrashInfo.suffix, below: info, flags: [.read, .nonBlocking, .noControllingTerminal, .noFollow]),
      (try? file.status().kind) == .regular, let bytes = try? file.readAll(limit: TrashInfo.limit + 1)
    else { return nil }
    return TrashInfo(bytes)
  }

  /// A volume's records are another system's word perhaps: they lead to places on the volume alone.
  private func original(_ record: TrashInfo) -> String? {
    let names = record.path.pathNames
    guard !names.isEmpty, !names.contains("."), !names.contains("..") else { return nil }
    guard let top else { return record.path.isAbsolutePath ? record.path.withoutTrailingSlashes : nil }
    return record.path.isAbsolutePath ? nil : top.currentPath?.path(of: record.path.withoutTrailingSlashes)
  }

  // MARK: Taking back

  /// Opens the folder that an item was in.
  ///
  /// - Throws: `ELOOP` where a link stands on the way: an app with a folder around it can have put that there since.
  package func folder(of item: Item) throws(KernelError) -> Descriptor {
    guard let original = item.original, let parent = original.parentPath else {
      throw KernelError("open", item.name, errno: .noSuchFileOrDirectory)
    }
    guard let top, let inner = top.currentPath.flatMap({ parent.path(within: $0) }) else {
      return try Descriptor.open(parent, flags: [.read, .directory], resolve: .noSymlinks)
    }
    return try Descriptor.open(
      inner.isEmpty ? "." : inner, below: top, flags: [.read, .directory], resolve: [.beneath, .noSymlinks])
  }

  /// Takes an item out, into a folder. If its name is taken it gets a number.
  ///
  /// - Returns: the name that it got.
  package func restore(
    _ item: Item, _ held: HeldFile, to folder: Descriptor, as wanted: String
  ) throws(KernelError) -> String {
    for name in NameProposals(wanted) {
      do throws(KernelError) { try held.move(to: folder, as: name) } catch {
        if error.errno == .fileExists { continue }
        throw error
      }
      try? info.removeFile(item.name + TrashInfo.suffix)
      return name
    }
    throw KernelError("rename", wanted, errno: .fileExists)
  }

  /// Removes an item for good, and then its record.
  package func erase(_ item: Item) throws(KernelError) {
    do throws(KernelError) { try files.removeFile(item.name) } catch {
      guard error.errno == .isDirectory || error.errno == .notPermitted else { throw error }
      try files.removeTree(item.name)
    }
    try? info.removeFile(item.name + TrashInfo.suffix)
  }

  /// Removes records of files that are not there.
  package func eraseLostRecords() {
    guard let records = try? DirectoryReader.entries(of: info, limit: Self.mostItems) else { return }
    for record in records where record.name.hasSuffix(TrashInfo.suffix) {
      let name = String(record.name.dropLast(TrashInfo.suffix.count))
      if (try? Descriptor.open(name, below: files, flags: .place)) == nil { try? info.removeFile(record.name) }
    }
  }
}

/// The user's trashes.
package struct UserTrash: Sendable {
  /// `$XDG_DATA_HOME`, or its default.
  private let dataHome: String
  private let user: UInt32

  package init(dataHome: String, user: UInt32 = geteuid()) { (self.dataHome, self.user) = (dataHome, user) }

  package init(environment: [String: String], home: String) {
    self.init(
      dataHome: environment["XDG_DATA_HOME"].flatMap { $0.isAbsolutePath ? $0.withoutTrailingSlashes : nil }
        ?? "\(home == "/" ? "" : home)/.local/share")
  }

  package var rule: TrashRule { TrashRule(dataHomes: [dataHome], user: user) }

  /// Whether a path lies in one of them.
  package func holds(_ path: String) -> Bool {
    rule.holds(path) { place in
      let place = place.isEmpty ? "/" : place
      guard let here = try? Descriptor.open(place, flags: [.path, .directory]) else { return false }
      return place == "/" || Self.isTop(here)
    }
  }

  /// Puts a file into the home trash if that is on its volume, else into that of its volume.
  ///
  /// - Returns: where it is now, and by which name.
  /// - Throws: `EXDEV` where neither can have it.
  package func put(_ file: HeldFile, date: String) throws(KernelError) -> TrashFolder.Item {
    if let home = try? homeTrash(makes: true), (try? home.files.status().device) == (try? file.folder.status().device) {
      do throws(KernelError) {
        return home.item(named: try home.put(file, original: file.path, date: date))
      } catch {
        guard error.errno == .improperLink else { throw error }
      }
    }
    guard let (top, inner) = Self.top(of: file) else { throw KernelError("rename", file.path, errno: .improperLink) }
    let trash = try volumeTrash(at: top, makes: true)
    return trash.item(named: try trash.put(file, original: inner, date: date))
  }

  /// The trashes that there are.
  package func all() -> [TrashFolder] {
    var found: [TrashFolder] = []
    if let home = try? homeTrash(makes: false) { found.append(home) }
    for point in Set(MountTable.localMountPoints()).sorted() {
      guard let top = try? Descriptor.open(point, flags: [.path, .directory, .noFollow]) else { continue }
      for trash in volumeTrashes(at: top) where !found.contains(where: { $0.isSame(as: trash) }) {
        found.append(trash)
      }
    }
    return found
  }

  /// The items of all, the newest first.
  package func items() -> [TrashFolder.Item] {
    all().flatMap { (try? $0.items()) ?? [] }.sorted { ($0.date, $1.name) > ($1.date, $0.name) }
  }

  private func homeTrash(makes: Bool) throws(KernelError) -> TrashFolder {
    if makes {
      var reached = ""
      for name in "\(dataHome)/Trash".pathNames {
        reached += "/\(name)"
        if unsafe mkdir(reached.kernel, 0o700) == -1, errno != EEXIST, errno != EISDIR {
          throw KernelError.last("mkdir", reached)
        }
      }
    }
    return try TrashFolder(
      try Descriptor.open("\(dataHome)/Trash", flags: [.read, .directory]), top: nil, makes: makes)
  }

  /// `.Trash/UID` where the machine's owner has made the first with the sticky bit, else `.Trash-UID`.
  private func volumeTrash(at top: Descriptor, makes: Bool) throws(KernelError) -> TrashFolder {
    if let shared = shared(at: top) {
      if let trash = try? TrashFolder(
        try TrashFolder.part("\(user)", of: shared, makes: makes), top: top, makes: makes)
      {
        return trash
      }
    }
    return try TrashFolder(
      try TrashFolder.part(".Trash-\(user)", of: top, makes: makes), top: top, makes: makes)
  }

  private func volumeTrashes(at top: Descriptor) -> [TrashFolder] {
    let folders = [
      shared(at: top).flatMap { try? TrashFolder.part("\(user)", of: $0, makes: false) },
      try? TrashFolder.part(".Trash-\(user)", of: top, makes: false),
    ]
    return folders.compactMap { folder in folder.flatMap { try? TrashFolder($0, top: top, makes: false) } }
  }

  private func shared(at top: Descriptor) -> Descriptor? {
    guard let shared = try? Descriptor.open(".Trash", below: top, flags: [.read, .directory, .noFollow]),
      let mode = try? shared.status().mode, mode & UInt32(S_ISVTX) != 0
    else { return nil }
    return shared
  }

  /// The top of a file's volume, and the file's path from there.
  private static func top(of file: HeldFile) -> (top: Descriptor, inner: String)? {
    var here = file.folder
    var names = [file.name]
    for _ in 0..<256 {
      guard let path = here.currentPath else { return nil }
      if path == "/" || isTop(here) { return (here, names.reversed().joined(separator: "/")) }
      guard let above = try? Descriptor.open("..", below: here, flags: [.read, .directory]) else { return nil }
      names.append(path.lastPathName)
      here = above
    }
    return nil
  }

  /// Whether something is mounted at an open folder.
  private static func isTop(_ folder: Descriptor) -> Bool {
    guard let above = try? Descriptor.open("..", below: folder, flags: [.path, .directory]),
      let mine = try? folder.status(), let its = try? above.status()
    else { return false }
    return mine.device != its.device || mine.mount != its.mount || mine.inode == its.inode
  }
}

extension TrashFolder {
  fileprivate func isSame(as other: TrashFolder) -> Bool {
    guard let mine = try? files.status(), let its = try? other.files.status() else { return false }
    return mine.inode == its.inode && mine.device == its.device
  }
}

extension TrashInfo {
  /// A moment as records have it, in the time of this machine's user.
  ///
  /// - Parameter seconds: since 1970.
  package static func date(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return "" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (year, month, day) = unsafe (parts.tm_year + 1900, two(parts.tm_mon + 1), two(parts.tm_mday))
    let (hour, minute, second) = unsafe (two(parts.tm_hour), two(parts.tm_min), two(parts.tm_sec))
    return "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)"
  }
}
