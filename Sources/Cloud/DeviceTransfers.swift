internal import CloudSync
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Synchronization
internal import SystemPackage

/// Makes temporaries, from any thread.
final class DeviceStaging: Sendable {
  private let own: Descriptor
  /// Of those that were made since the start, by their identities.
  private let names = Mutex<[String: String]>([:])

  init(own: Descriptor) { self.own = own }

  func name(of id: String) -> String? { names.withLock { $0[id] } }
  func forget(_ id: String) { names.withLock { $0[id] = nil } }

  /// Bytes of a content that is copied into memory.
  private static let little: UInt64 = 256 << 10

  /// Copies a content into a file without a name; a small one into memory.
  ///
  /// - Parameter content: open at its start.
  func copy(_ content: Descriptor) throws(KernelError) -> Descriptor {
    if try content.status().size <= Self.little {
      let file = try MemoryFile.make("content")
      try content.copyContent(to: file)
      return try file.reopened(.read)
    }
    // A device that dies in this moment removes it at its next start.
    let name = "old-\(UInt64.random(in: 0...UInt64.max))"
    let file = try Descriptor.open(name, below: own, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    try own.removeFile(name)
    try content.copyContent(to: file)
    return try file.reopened(.read)
  }

  /// Makes copies of contents, which are checked, or empty folders. When this returns, they are on the disk.
  ///
  /// - Throws: where one cannot be made. None is left then.
  func stage(_ items: [(item: CloudItem, content: Descriptor?)]) throws -> [LocalItem] {
    var (made, files): ([String], [Descriptor]) = ([], [])
    do {
      for (item, content) in items {
        let name = DeviceFolder.temporaryName()
        guard let content else {
          try own.makeDirectory(name, mode: 0o755)
          made.append(name)
          continue
        }
        let file = try Descriptor.open(name, below: own, flags: [.write, .create, .exclusive, .noFollow], mode: 0o644)
        made.append(name)
        files.append(file)
        // The cloud's descriptor may be of anything, a device without an end too.
        let status = try content.status()
        guard status.kind == .regular, status.size == item.size,
          try CloudStore.copy(content, to: file, size: Int(item.size), while: { true }).name == item.content
        else {
          throw StateError("the cloud gave another content than “\(item.name)” has")
        }
      }
      try CloudStore.synchronize(files, in: own)
      return try made.map { name in
        let item = DeviceFolder.item(name, try Descriptor.open(name, below: own, flags: .place).status(), in: "")
        names.withLock { $0[item.id] = name }
        return item
      }
    } catch {
      for name in made where (try? own.removeFile(name)) == nil { try? own.removeDirectory(name) }
      throw error
    }
  }
}

/// Reads documents, from any thread.
struct DeviceReader: Sendable {
  let folder: String
  let root: Descriptor
  let access: any DeviceAccess

  /// Opens documents as they are at a stamp, after apps that present them have saved.
  ///
  /// - Parameters:
  ///   - documents: places below the folder, and stamps.
  ///   - body: reads all of the files. It gets those whose documents have their stamps.
  /// - Returns: for each document the body's value; `nil`: it has another stamp, before or after.
  func reading<Value>(
    _ documents: [(inner: String, stamp: String)], _ body: ([Descriptor]) throws -> [Value]
  ) throws -> [Value?] {
    try access.read(documents.map { folder.path(of: $0.inner) }) {
      var files: [Descriptor] = []
      let places = documents.map { document -> Descriptor? in
        guard
          let place = try? Descriptor.open(
            document.inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks]),
          let status = try? place.status(), DeviceFolder.stamp(status) == document.stamp,
          let file = try? place.reopened([.read, .nonBlocking])
        else { return nil }
        files.append(file)
        return place
      }
      guard !files.isEmpty else { return documents.map { _ in nil } }
      var values = try body(files)[...]
      return zip(documents, places).map { document, place -> Value? in
        guard let place else { return nil }
        guard let value = values.popFirst(), let status = try? place.status(),
          DeviceFolder.stamp(status) == document.stamp
        else { return nil }
        return value
      }
    }
  }
}

extension DeviceReader {
  /// - Returns: why a document that has its stamp cannot be opened; `nil`: it can, or it has another stamp.
  func trouble(_ inner: String, _ stamp: String) -> String? {
    guard
      let place = try? Descriptor.open(inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks]),
      let status = try? place.status(), DeviceFolder.stamp(status) == stamp
    else { return nil }
    do throws(KernelError) { _ = try place.reopened([.read, .nonBlocking]) } catch { return error.errno.description }
    return nil
  }
}

/// Uploads and downloads of one device, several contents in one message. From any thread.
struct DeviceTransfers: Sendable {
  struct Upload: Sendable {
    let request: Int
    /// Below the folder; `nil`: the folder does not have it.
    let inner: String?
    let stamp: String
  }

  struct Download: Sendable {
    let request: Int
    let item: CloudItem
    let content: String
  }

  let reader: DeviceReader
  let staging: DeviceStaging

  /// Contents of one message: so many, and so many bytes. A larger one goes alone.
  static let most = 240
  private static let mostBytes: Int64 = 8 << 20

  /// In parts that go as one message each.
  static func parts<Item>(of items: [Item], size: (Item) -> Int64) -> [[Item]] {
    var (parts, bytes): ([[Item]], Int64) = ([], 0)
    for item in items {
      // One more byte is as good as any number of them, and has no overflow.
      let size = min(max(0, size(item)), mostBytes + 1)
      if let last = parts.last, last.count < most, bytes + size <= mostBytes {
        parts[parts.count - 1].append(item)
        bytes += size
      } else {
        parts.append([item])
        bytes = size
      }
    }
    return parts
  }

  /// - Returns: also, as sentences, the reasons why documents cannot be read or are too large.
  func upload(_ uploads: [Upload], to cloud: CloudConnection) -> (results: [SyncInput], troubles: [String]) {
    var (known, results): ([(upload: Upload, inner: String)], [SyncInput]) = ([], [])
    var troubles: [String] = []
    for one in uploads {
      // The cloud takes no larger one.
      if let inner = one.inner, DeviceFolder.size(one.stamp) <= CloudBounds.size {
        known.append((one, inner))
      } else {
        if let inner = one.inner { troubles.append("“\(inner)” is larger than the cloud takes") }
        results.append(.transferFailed(request: one.request))
      }
    }
    guard !known.isEmpty else { return (results, troubles) }
    let copies: [Descriptor?]
    do {
      // The access ends before the cloud is asked, which perhaps never answers.
      copies = try reader.reading(known.map { ($0.inner, $0.upload.stamp) }) { try $0.map { try staging.copy($0) } }
    } catch {
      // One of them is perhaps the reason.
      guard known.count == 1 else {
        for one in known {
          let (more, others) = upload([one.upload], to: cloud)
          results += more
          troubles += others
        }
        return (results, troubles)
      }
      troubles.append("“\(known[0].inner)” cannot be read: \(error)")
      return (results + [.transferFailed(request: known[0].upload.request)], troubles)
    }
    let sent = copies.compactMap(\.self)
    var contents: ArraySlice<(content: String, size: Int64)> = []
    if !sent.isEmpty, let kept = try? cloud.upload(sent) { contents = kept[...] }
    for ((one, inner), copy) in zip(known, copies) {
      if copy == nil, let reason = reader.trouble(inner, one.stamp) {
        troubles.append("“\(inner)” cannot be read: \(reason)")
      }
      if copy != nil, let content = contents.popFirst() {
        results.append(
          .uploaded(request: one.request, content: content.content, size: content.size, stamp: one.stamp))
      } else {
        results.append(.transferFailed(request: one.request))
      }
    }
    return (results, troubles)
  }

  func download(_ downloads: [Download], from cloud: CloudConnection) -> [SyncInput] {
    do {
      let files = try cloud.download(downloads.map(\.content))
      let items = try staging.stage(zip(downloads, files).map { ($0.item, $1) })
      return zip(downloads, items).map { .staged(request: $0.request, $1) }
    } catch {
      if case CloudConnection.Failure.lost = error {
      } else if downloads.count > 1 {
        return downloads.flatMap { download([$0], from: cloud) }
      }
      return downloads.map { .transferFailed(request: $0.request) }
    }
  }
}
