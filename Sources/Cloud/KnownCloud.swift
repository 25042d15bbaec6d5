internal import Foundation
internal import Kernel
internal import Synchronization
internal import SystemPackage

/// The cloud that a device's folder is kept the same as.
///
/// Another cloud, or an older copy of this one, lacks revisions that the device has. With it, the device would take new documents for
/// deleted ones, and give revisions to contents that it has never seen.
final class KnownCloud: Sendable {
  private let state: Mutex<State>
  private let own: Descriptor

  private struct State {
    /// `nil`: the device has not met its cloud yet.
    var name: String?
    /// The latest one that the device has seen.
    var revision: Int
  }

  private static let file = "cloud"
  /// Bytes of a cloud's name.
  private static let longest = 100

  /// - Parameters:
  ///   - own: the device's own folder.
  ///   - revision: that the device has seen.
  init(in own: Descriptor, revision: Int) throws(KernelError) {
    self.own = own
    var name: String?
    do throws(KernelError) {
      let bytes = try Descriptor.open(Self.file, below: own, flags: [.read, .noFollow]).readAll(limit: Self.longest)
      name = bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    } catch { guard error.errno == .noSuchFileOrDirectory else { throw error } }
    state = Mutex(State(name: name, revision: revision))
  }

  /// Before anything is asked of a cloud.
  ///
  /// - Returns: why this device cannot go on with it, as the end of a sentence; `nil`: it can.
  func refusal(of cloud: String, at revision: Int) -> String? {
    state.withLock { state in
      if let name = state.name, name != cloud { return "is another one than the one that the device has met" }
      if revision < state.revision {
        return "is an older copy: it is at revision \(revision), and the device has seen \(state.revision)"
      }
      guard state.name == nil else { return nil }
      guard !cloud.isEmpty, cloud.utf8.count <= Self.longest else { return "has no name of its own" }
      do throws(KernelError) { try own.makeFile(Self.file, Array(cloud.utf8)) } catch {
        return "cannot be noted: \(error)"
      }
      state.name = cloud
      return nil
    }
  }

  func note(_ revision: Int) { state.withLock { $0.revision = max($0.revision, revision) } }
}

extension Descriptor {
  /// Makes a file of this folder, or puts it in another one's place. After a power failure it is whole, or as before, or not there.
  func makeFile(_ name: String, _ bytes: [UInt8]) throws(KernelError) {
    let unfinished = "\(name).new"
    let file = try Descriptor.open(
      unfinished, below: self, flags: [.write, .create, .truncate, .noFollow], mode: 0o600)
    try file.writeAll(bytes)
    try file.synchronizeFully()
    try? removeFile(name)
    try rename(unfinished, to: name)
    try synchronizeFully()
  }
}
