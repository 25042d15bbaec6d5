internal import CLinux
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The kernel's name for a file under any path (`name_to_handle_at(2)`): inode number and generation, in a form
/// of the file system's own.
package struct FileHandle: Hashable, Sendable {
  package let type: Int32
  package let bytes: [UInt8]

  package init(type: Int32, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }

  /// The handle of an open file. Needs no privilege.
  package init(of descriptor: Descriptor) throws(KernelError) {
    var type: Int32 = 0
    var mount: Int32 = 0
    var bytes = [UInt8](repeating: 0, count: 128)
    let length = try KernelError.checkNegative("name_to_handle_at", "descriptor \(descriptor.rawValue)") {
      unsafe ambit_file_handle(descriptor.rawValue, &type, &bytes, &mount)
    }
    self.type = type
    self.bytes = Array(bytes[..<Int(length)])
  }

  /// Whether the file system opens files by it; with those of others, one can only be compared.
  package var canBeOpened: Bool { type & Int32(AMBIT_HANDLE_COMPARABLE) == 0 }

  /// The inode number of the folder at the top of each subvolume.
  package static let topOfSubvolume: UInt64 = 256

  /// The subvolume that it is in, where the file system has such (`btrfs`): a part with inode numbers of its own, which a file never
  /// leaves. Those numbers, and generations and birth times with them, are the same in every snapshot.
  package var subvolume: UInt64? {
    // FILEID_BTRFS_WITHOUT_PARENT and the two with: inode, subvolume, generation, the parent's.
    guard (0x4d...0x4f).contains(type), bytes.count >= 20 else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
  }

  /// Whether overlayfs names a file of a lower layer by it, as it does also when that file has been copied to the upper layer since
  /// (`struct ovl_fh`: three bytes of padding, version, magic, length, flags; `OVL_FH_FLAG_PATH_UPPER`).
  package var isOfLowerLayer: Bool {
    type & ~Int32(AMBIT_HANDLE_COMPARABLE) == 0xf8 && bytes.count > 7 && bytes[4] == 0xfb && bytes[6] & 0x04 == 0
  }

  /// Opens the file, wherever it is now (`open_by_handle_at(2)`). Needs `CAP_DAC_READ_SEARCH` on the host.
  ///
  /// - Parameter volume: any descriptor on the same file system.
  package func open(on volume: Descriptor, flags: OpenFlags) throws(KernelError) -> Descriptor {
    var tries = 0
    while true {
      do throws(KernelError) {
        return Descriptor(
          owning: try KernelError.checkNegative("open_by_handle_at", "") {
            unsafe ambit_open_handle(
              volume.rawValue, type, bytes, UInt32(bytes.count), CInt(truncatingIfNeeded: flags.rawValue))
          })
      } catch {
        // The kernel says so for a moment while another file gets the same inode number.
        tries += 1
        guard error.errno == .noMemory, tries < Self.mostTries else { throw error }
        sched_yield()
      }
    }
  }

  private static let mostTries = 100
}

extension Descriptor {
  /// Sixteen bytes that name the file's volume, the same after a reboot: the file system's UUID where the kernel
  /// tells it (`FS_IOC_GETFSUUID`; XFS and btrfs have calls of their own), else `f_fsid` of `statfs(2)` and the file system's type.
  /// All subvolumes of btrfs are one volume.
  ///
  /// - Parameter mount: the file's mount, from ``status()``, where that is known.
  package func volumeIdentity(onMount mount: UInt64? = nil) throws(KernelError) -> [UInt8] {
    // A file that cannot be read has another name than the UUID, and it is the same each time, independent of earlier questions.
    if let mount, let known = KnownVolumes.all.volume(of: mount),
      !known.isForReadable || ambit_is_readable(rawValue) == 1
    {
      return known.name
    }
    var bytes = [UInt8](repeating: 0, count: 16)
    let answer = try KernelError.checkNegative("statfs", "descriptor \(rawValue)") {
      unsafe bytes.withUnsafeMutableBufferPointer { unsafe ambit_volume_identity(rawValue, $0.baseAddress) }
    }
    // Some names differ from folder to folder of one mount.
    if let mount, answer > 0 { KnownVolumes.all.note(.init(name: bytes, isForReadable: answer == 1), of: mount) }
    return bytes
  }
}

extension Descriptor {
  /// The UUID of an open file's volume as its kind of file system alone is asked for it, on kernels that have no call for all.
  var ownUUID: [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let answer = unsafe bytes.withUnsafeMutableBufferPointer {
      unsafe ambit_volume_own_uuid(rawValue, $0.baseAddress)
    }
    return answer == 1 ? bytes : nil
  }

  /// Whether this folder is the top of a subvolume (`BTRFS_FIRST_FREE_OBJECTID`).
  package var isSubvolume: Bool {
    (try? status().inode) == FileHandle.topOfSubvolume && (try? FileHandle(of: self))?.subvolume != nil
  }

  /// Whether the subvolume that this open folder is in has other subvolumes in it. Where this cannot be told, it may.
  package var mayHaveSubvolumes: Bool { ambit_has_subvolumes(rawValue) != 0 }
}

/// The names of volumes by mount: asking takes five calls, and a start asks each time.
private final class KnownVolumes: Sendable {
  struct Volume {
    let name: [UInt8]
    /// It is the name for files that can be read, and others have another.
    let isForReadable: Bool
  }

  static let all = KnownVolumes()
  private static let most = 1024
  private let volumes = Mutex<[UInt64: Volume]>([:])

  func volume(of mount: UInt64) -> Volume? { volumes.withLock { $0[mount] } }

  func note(_ volume: Volume, of mount: UInt64) {
    volumes.withLock { volumes in
      if volumes.count >= Self.most { volumes = [:] }
      volumes[mount] = volume
    }
  }
}
