internal import CLinux
internal import Paths
internal import SystemPackage

/// A file that a process watches, as `fdinfo` of an inotify descriptor tells it (`proc_pid_fdinfo(5)`).
struct FileWatched: Hashable {
  let inode: UInt64
  /// The file system's number, as the kernel writes it there.
  let device: UInt64
  /// `nil` where the kernel tells none.
  let handle: FileHandle?

  static func == (one: Self, other: Self) -> Bool { one.inode == other.inode && one.device == other.device }
  func hash(into hasher: inout Hasher) {
    hasher.combine(inode)
    hasher.combine(device)
  }

  /// - Parameter line: `inotify wd:1 ino:2a sdev:800013 mask:fff ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:2a…`
  init?(_ line: ArraySlice<UInt8>) {
    let words = line.split(separator: UInt8(ascii: " "))
    guard let first = words.first, first.elementsEqual("inotify".utf8) else { return nil }
    var values: [String: String] = [:]
    for word in words.dropFirst() {
      let parts = word.split(separator: UInt8(ascii: ":"), maxSplits: 1)
      if parts.count == 2 {
        values[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
      }
    }
    guard let inode = values["ino"].flatMap({ UInt64($0, radix: 16) }),
      let device = values["sdev"].flatMap({ UInt64($0, radix: 16) })
    else { return nil }
    self.inode = inode
    self.device = device
    let type = values["fhandle-type"].flatMap { Int32($0, radix: 16) }
    let bytes = values["f_handle"].flatMap(Self.bytes)
    handle = type.flatMap { type in bytes.map { FileHandle(type: type, bytes: $0) } }
  }

  /// - Parameter device: as `stat(2)` has it: the major number above, the minor number in the lower half.
  init(_ inode: UInt64, onDevice device: UInt64) {
    self.inode = inode
    self.device = (device >> 32) << 20 | (device & 0xf_ffff)
    handle = nil
  }

  /// The kernel's description of a watch on an open file. `nil` where this process may not watch it.
  init?(of file: Descriptor) {
    guard let watcher = try? FolderWatcher(), ambit_watch_file(watcher.descriptor.rawValue, file.rawValue) >= 0,
      let facts = try? Descriptor.open("/proc/thread-self/fdinfo/\(watcher.descriptor.rawValue)", flags: .read),
      let text = try? facts.readAll(limit: 4096)
    else { return nil }
    guard let found = text.split(separator: UInt8(ascii: "\n")).lazy.compactMap({ FileWatched($0) }).first else {
      return nil
    }
    self = found
  }

  private static func bytes(_ digits: String) -> [UInt8]? {
    let digits = Array(digits.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for at in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[at..<(at + 2)], as: UTF8.self), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  // MARK: In a folder

  /// Whether the file lies in a folder, at any depth.
  ///
  /// - Returns: `nil` where it takes more than that to tell.
  func lies(in folder: Descriptor, within effort: Effort) -> Bool? {
    if let told = toldByHandle(in: folder) { return told }
    return isFound(below: folder, within: effort)
  }

  /// The kernel opens it by its handle and has its path; `nil` where it does not. A file of several names may have another one in
  /// the folder.
  private func toldByHandle(in folder: Descriptor) -> Bool? {
    guard let place = folder.currentPath, let handle, handle.canBeOpened,
      // A place is no descriptor for it.
      let volume = try? folder.reopened([.read, .directory]),
      let file = try? handle.open(on: volume, flags: [.path]), let status = try? file.status(),
      let path = file.currentPath, let there = try? Descriptor.open(path, flags: .place, resolve: .noSymlinks).status(),
      there.inode == status.inode, there.device == status.device
    else { return nil }
    if path.lies(within: place) { return true }
    return status.kind == .directory || status.links <= 1 ? false : nil
  }

  private func isFound(below folder: Descriptor, within effort: Effort) -> Bool? {
    var folders = [folder]
    var scan = FolderScan(room: 16384)
    while let next = folders.popLast() {
      guard !effort.isSpent else { return nil }
      guard let opened = try? Descriptor.open(".", below: next, flags: [.read, .directory]) else { continue }
      var (isHere, isTooMuch) = (false, false)
      _ = try? scan.eachPart(of: opened) { entries in
        for entry in entries {
          isHere = entry.inode == inode
          if isHere { return false }
          guard entry.kind == .directory || entry.kind == nil else { continue }
          isTooMuch = folders.count >= Self.mostFolders
          if isTooMuch { return false }
          if let inner = try? Descriptor.open(
            entry.name, below: next, flags: [.path, .directory, .noFollow], resolve: .noSymlinks)
          {
            folders.append(inner)
          }
        }
        // One folder may have a million entries.
        isTooMuch = effort.isSpent
        return !isTooMuch
      }
      if isHere { return true }
      if isTooMuch { return nil }
    }
    return false
  }

  /// Each takes a descriptor.
  private static let mostFolders = 256
}
